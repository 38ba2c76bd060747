/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device of the host the OpenCL layer says that a device is, by what its driver offers.
 */
#include "opencl_fixture.h"

/* What the layer says of a device that it has not met before. */
static const char *identify(const char *extensions)
{
	static struct mr_cl_device_id others[16];
	static uint32_t other_count;
	static struct seen seen;
	uint64_t before = look().identities;
	offered.extensions = extensions;
	struct mr_opencl_device *device = mr_opencl_device_find(&others[other_count++]);
	assert_non_null(device);
	seen = look();
	if (seen.identities == before)
		return "";
	assert_int_equal(seen.identities, before + 1);
	assert_int_equal(seen.identified, device->id);
	return seen.identity;
}

static void test_identity(void **state)
{
	(void)state;
	static const cl_device_uuid uuid = {
		{0x8c, 0x51, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff}};
	offered.uuid = uuid;
	offered.bus_info = (cl_device_pci_bus_info){1, 0x3b, 2, 3};
	offered.topology = (cl_device_topology_amd){.type = 1, .bus = 0xc3, .device = 4};
	offered.nv_domain = 0x12;
	offered.nv_bus = 0xaf;
	offered.nv_slot = 5 << 3 | 6;
	assert_string_equal(identify(""), "");
	assert_string_equal(identify("cl_khr_pci_bus_info_2 xcl_khr_device_uuid cl_khr_fp64"), "");
	assert_string_equal(identify("cl_khr_fp64 cl_khr_device_uuid cl_khr_pci_bus_info"),
			    "uuid 8c51030405060708090a0b0c0d0e0fff");
	assert_string_equal(identify("cl_khr_pci_bus_info"), "pci 0001:3b:02.3");
	assert_string_equal(identify("cl_nv_device_attribute_query cl_khr_fp64"),
			    "pci 0012:af:05.6");
	assert_string_equal(identify("cl_amd_device_attribute_query"), "pci 0000:c3:04.0");
	offered.topology.type = 2;
	assert_string_equal(identify("cl_amd_device_attribute_query"), "");
	offered.uuid = (cl_device_uuid){{0}};
	assert_string_equal(identify("cl_khr_device_uuid cl_khr_pci_bus_info"), "pci 0001:3b:02.3");
	assert_string_equal(identify("cl_khr_device_uuid"), "");
}

/* A driver that says nothing harms nothing. */
static void test_no_identity(void **state)
{
	(void)state;
	fill(NULL);
	mr_opencl_clFinish(queue);
	assert_int_equal(look().operations, 1);
	assert_int_equal(look().identities, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_identity),
		TEST(test_identity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
