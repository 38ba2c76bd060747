/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices are found to be one, in a model made by hand whose devices 1 and 2 are a runtime's: queue A feeds
 * device 1, QUEUE_C device 2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "hand_model.h"
#include "load/devices.h"
#include "load/operations.h"
#include "load/runtime.h"

static struct mr_model *model;

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	return mr_vec_push(&model->survey->processes, ((struct mr_process){.pid = 8}));
}

static int finish(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static uint32_t add_device(uint32_t process, const char *name, enum mr_device_kind kind)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	struct mr_device device = {.same = (uint32_t)definitions->devices.count,
				   .kind = (uint8_t)kind,
				   .process = process};

	assert_int_equal(mr_strings_intern(&definitions->strings, name, strlen(name), &device.name),
			 0);
	assert_int_equal(mr_vec_push(&definitions->devices, device), 0);
	return device.same;
}

static uint32_t add_identified(uint32_t process, const char *identity)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t device = add_device(process, "RX 9000", MR_device_kind_gpu);

	assert_int_equal(mr_strings_intern(&definitions->strings, identity, strlen(identity),
					   &definitions->devices.items[device].identity),
			 0);
	return device;
}

/* An execution of a node on that device, which launches something to a queue. */
static void launch(uint32_t device, uint32_t queue, const char *kernel)
{
	static uint64_t correlation;
	int64_t ns = 100 * (int64_t)++correlation;
	struct mr_definitions *definitions = &model->survey->definitions;

	hand_node(0, ns, ns + 50, kernel);
	definitions->nodes.items[definitions->nodes.count - 1].device = device;
	hand_launch(0, ns + 10, ns + 20, correlation);
	hand_operation(queue, ns + 30, ns + 40, kernel, correlation);
	model->device_operations.kind[model->device_operations.table.count - 1] =
		kernel[0] == '>' ? MR_operation_kind_copy_to_device : MR_operation_kind_kernel;
}

static uint32_t same(uint32_t device)
{
	return model->survey->definitions.devices.items[device].same;
}

static void unite(void)
{
	hand_model_load();
	assert_int_equal(mr_runtime_link_executions(model), 0);
	assert_int_equal(mr_operations_link(model), 0);
	assert_int_equal(mr_devices_unite(model), 0);
}

static void test_device_of_a_framework(void **state)
{
	(void)state;
	uint32_t xpu = add_device(0, "XPU:0", MR_device_kind_accelerator);
	uint32_t cpu = add_device(0, "CPU:0", MR_device_kind_cpu);

	launch(xpu, QUEUE_A, "matmul");
	launch(xpu, QUEUE_A, "relu");
	launch(cpu, QUEUE_A, "> a copy says nothing of where the node is");
	unite();
	assert_int_equal(same(xpu), 1);
	assert_int_equal(same(cpu), cpu);
	assert_int_equal(same(1), 1);
	assert_int_equal(same(2), 2);
}

static void test_device_that_launches_to_two(void **state)
{
	(void)state;
	uint32_t xpu = add_device(0, "XPU:0", MR_device_kind_accelerator);

	launch(xpu, QUEUE_A, "matmul");
	launch(xpu, QUEUE_C, "relu");
	launch(xpu, QUEUE_A, "matmul");
	unite();
	assert_int_equal(same(xpu), xpu);
}

static void test_devices_of_two_processes(void **state)
{
	(void)state;
	uint32_t cpu = add_device(0, "cpu-znver4", MR_device_kind_cpu);
	uint32_t gpu = add_device(0, "RX 9000", MR_device_kind_gpu);
	uint32_t again = add_device(1, "cpu-znver4", MR_device_kind_cpu);
	uint32_t another = add_device(1, "RX 9000", MR_device_kind_gpu);

	unite();
	assert_int_equal(same(cpu), cpu);
	assert_int_equal(same(again), cpu);
	assert_int_equal(same(gpu), gpu);
	assert_int_equal(same(another), another); /* there may be two */
}

/* Of a CPU that a process has in parts it is not known which another has. */
static void test_parts_of_a_cpu(void **state)
{
	(void)state;
	uint32_t part = add_device(0, "cpu", MR_device_kind_cpu);
	uint32_t other_part = add_device(0, "cpu", MR_device_kind_cpu);
	uint32_t of_another = add_device(1, "cpu", MR_device_kind_cpu);

	unite();
	assert_int_equal(same(part), part);
	assert_int_equal(same(other_part), other_part);
	assert_int_equal(same(of_another), of_another);
}

static void test_identities(void **state)
{
	(void)state;
	uint32_t first = add_identified(0, "pci 0000:3b:00.0");
	uint32_t second = add_identified(0, "pci 0000:af:00.0");
	uint32_t unknown = add_device(0, "RX 9000", MR_device_kind_gpu);
	uint32_t second_again = add_identified(1, "pci 0000:af:00.0");
	uint32_t first_again = add_identified(1, "pci 0000:3b:00.0");
	uint32_t elsewhere = add_identified(1, "pci 0000:3b:00.0");

	model->survey->definitions.devices.items[elsewhere].host = 1;
	unite();
	assert_int_equal(same(first), first);
	assert_int_equal(same(second), second);
	assert_int_equal(same(unknown), unknown);
	assert_int_equal(same(second_again), second);
	assert_int_equal(same(first_again), first);
	assert_int_equal(same(elsewhere), elsewhere);
}

static void test_parts_of_a_gpu(void **state)
{
	(void)state;
	uint32_t part = add_identified(0, "pci 0000:3b:00.0");
	uint32_t other_part = add_identified(0, "pci 0000:3b:00.0");
	uint32_t whole = add_identified(1, "pci 0000:3b:00.0");

	unite();
	assert_int_equal(same(part), part);
	assert_int_equal(same(other_part), other_part);
	assert_int_equal(same(whole), whole);
}

/* The framework of the second process has the device that the first defined. */
static void test_framework_of_another_process(void **state)
{
	(void)state;
	struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t gpu = add_identified(1, "uuid 1");

	definitions->devices.items[1].identity = definitions->devices.items[gpu].identity;
	definitions->queues.items[QUEUE_C].device = gpu;
	uint32_t xpu = add_device(1, "XPU:0", MR_device_kind_accelerator);
	launch(xpu, QUEUE_C, "matmul");
	unite();
	assert_int_equal(same(gpu), 1);
	assert_int_equal(same(xpu), 1);
}

static void test_hosts_differ(void **state)
{
	(void)state;
	uint32_t cpu = add_device(0, "cpu", MR_device_kind_cpu);
	uint32_t elsewhere = add_device(1, "cpu", MR_device_kind_cpu);

	model->survey->definitions.devices.items[elsewhere].host = 1;
	unite();
	assert_int_equal(same(cpu), cpu);
	assert_int_equal(same(elsewhere), elsewhere);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
	const struct CMUnitTest tests[] = {
		TEST(test_device_of_a_framework),
		TEST(test_device_that_launches_to_two),
		TEST(test_devices_of_two_processes),
		TEST(test_parts_of_a_cpu),
		TEST(test_identities),
		TEST(test_parts_of_a_gpu),
		TEST(test_framework_of_another_process),
		TEST(test_hosts_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
