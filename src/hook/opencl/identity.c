/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device of the host a device is, in words that are the same in every process: "uuid 8c51…", or where it is on
 * the PCI bus, "pci 0000:3b:00.0". Only what the device's extensions promise is asked for: drivers answer anything to
 * other questions. The UUID comes first, as parts of one GPU (MIG) have one each and share a place on the bus.
 */
#include "hook/opencl/layer.h"

enum {
	EXTENSIONS_BYTES = 16 << 10,
};

static bool ask(cl_device_id device, cl_uint what, void *ret_value, size_t bytes)
{
	size_t answered = 0;
	return mr_opencl_next.clGetDeviceInfo(device, what, bytes, ret_value, &answered) ==
		       CL_SUCCESS &&
	       answered == bytes;
}

/* Names are separated by spaces. */
static bool is_listed(const char *extensions, const char *name)
{
	size_t bytes = strlen(name);
	for (const char *at = extensions; (at = strstr(at, name)); at += bytes)
		if ((at == extensions || at[-1] == ' ') && (at[bytes] == ' ' || !at[bytes]))
			return true;
	return false;
}

/* Without a UUID to give, some answer zeroes. */
static bool by_uuid(cl_device_id device, char *ret_identity)
{
	static const cl_device_uuid none;
	cl_device_uuid uuid;
	if (!ask(device, CL_DEVICE_UUID_KHR, &uuid, sizeof uuid) ||
	    memcmp(&uuid, &none, sizeof uuid) == 0)
		return false;
	ret_identity += sprintf(ret_identity, "uuid ");
	for (size_t i = 0; i < sizeof uuid.bytes; i++)
		ret_identity += sprintf(ret_identity, "%02x", uuid.bytes[i]);
	return true;
}

static bool print_place(const cl_device_pci_bus_info *at, char *ret_identity)
{
	snprintf(ret_identity, MR_OPENCL_IDENTITY_BYTES, "pci %04x:%02x:%02x.%x", at->domain,
		 at->bus, at->device, at->function);
	return true;
}

static bool by_bus_info(cl_device_id device, char *ret_identity)
{
	cl_device_pci_bus_info at;
	return ask(device, CL_DEVICE_PCI_BUS_INFO_KHR, &at, sizeof at) &&
	       print_place(&at, ret_identity);
}

/* A slot is device and function, as in the addresses of the bus. */
static bool by_nvidia(cl_device_id device, char *ret_identity)
{
	cl_uint domain, bus, slot;
	if (!ask(device, CL_DEVICE_PCI_DOMAIN_ID_NV, &domain, sizeof domain) ||
	    !ask(device, CL_DEVICE_PCI_BUS_ID_NV, &bus, sizeof bus) ||
	    !ask(device, CL_DEVICE_PCI_SLOT_ID_NV, &slot, sizeof slot))
		return false;
	const cl_device_pci_bus_info at = {domain, bus, slot >> 3, slot & 7};
	return print_place(&at, ret_identity);
}

/* It does not say the domain; hosts with GPUs in several have drivers that know the others. */
static bool by_amd(cl_device_id device, char *ret_identity)
{
	cl_device_topology_amd topology;
	if (!ask(device, CL_DEVICE_TOPOLOGY_AMD, &topology, sizeof topology) ||
	    topology.type != CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD)
		return false;
	const cl_device_pci_bus_info at = {0, topology.bus, topology.device, topology.function};
	return print_place(&at, ret_identity);
}

static const struct {
	const char *extension;
	bool (*identify)(cl_device_id device, char *ret_identity);
} ways[] = {
	{"cl_khr_device_uuid", by_uuid},
	{"cl_khr_pci_bus_info", by_bus_info},
	{"cl_nv_device_attribute_query", by_nvidia},
	{"cl_amd_device_attribute_query", by_amd},
};

bool mr_opencl_identify(cl_device_id device, char *ret_identity)
{
	static char extensions[EXTENSIONS_BYTES];
	memset(extensions, 0, sizeof extensions);
	if (mr_opencl_next.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1,
					   extensions, NULL) != CL_SUCCESS)
		return false;
	for (size_t i = 0; i < mr_countof(ways); i++)
		if (is_listed(extensions, ways[i].extension) &&
		    ways[i].identify(device, ret_identity))
			return true;
	return false;
}
