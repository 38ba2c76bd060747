/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses HSA without HIP: agents, memory pools, a queue, a code object, dispatches and copies. With a second argument the
 * program profiles itself, and says whether the times lie where they must.
 */
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	COUNT = 10000,
	DISPATCHES = 3,
	ROUNDS = 20,
};

#define MUST(call)                                                    \
	do {                                                          \
		hsa_status_t status_ = (call);                        \
		if (status_ != HSA_STATUS_SUCCESS) {                  \
			printf("%s: %x\n", #call, (unsigned)status_); \
			exit(1);                                      \
		}                                                     \
	} while (0)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t of_gpu, of_cpu, of_arguments;

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	(void)data;
	hsa_device_type_t type;
	MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		cpu = agent;
	else if (!gpu.handle)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *is_gpu)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;
	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (is_gpu)
		of_gpu = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		of_arguments = pool;
	else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		of_cpu = pool;
	return HSA_STATUS_SUCCESS;
}

static uint64_t load_kernel(const char *path, hsa_executable_t *ret_executable)
{
	hsa_code_object_reader_t reader;
	hsa_executable_symbol_t symbol;
	uint64_t object;
	int file = open(path, O_RDONLY);
	MUST(hsa_code_object_reader_create_from_file(file, &reader));
	MUST(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, NULL,
				       ret_executable));
	MUST(hsa_executable_load_agent_code_object(*ret_executable, gpu, reader, NULL, NULL));
	MUST(hsa_executable_freeze(*ret_executable, NULL));
	MUST(hsa_executable_get_symbol_by_name(*ret_executable, "triple.kd", &gpu, &symbol));
	MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					    &object));
	return object;
}

static void dispatch(hsa_queue_t *queue, uint64_t object, void *arguments, hsa_signal_t signal)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));
	const uint32_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
				HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
				HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	memset((char *)packet + 4, 0, sizeof *packet - 4);
	packet->workgroup_size_x = 64;
	packet->workgroup_size_y = packet->workgroup_size_z = 1;
	packet->grid_size_x = (COUNT + 63) / 64 * 64;
	packet->grid_size_y = packet->grid_size_z = 1;
	packet->kernel_object = object;
	packet->kernarg_address = arguments;
	packet->completion_signal = signal;
	__atomic_store_n((uint32_t *)packet, header | 1 << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void wait_for(hsa_signal_t signal)
{
	hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
}

static uint64_t now(void)
{
	uint64_t time;
	MUST(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time));
	return time;
}

/* Whether the times of a dispatch lie between those of launching it and of having waited for it, but for a microsecond by
 * which translations may be wrong. */
static bool is_within(uint64_t before, uint64_t start, uint64_t end, uint64_t after)
{
	return before <= start + 1000 && start < end && end <= after + 1000;
}

static bool check_dispatch(uint64_t before, hsa_signal_t signal)
{
	hsa_amd_profiling_dispatch_time_t time;
	uint64_t after = now();
	MUST(hsa_amd_profiling_get_dispatch_time(gpu, signal, &time));
	return is_within(before, time.start, time.end, after);
}

static bool check_copy(uint64_t before, hsa_signal_t signal)
{
	hsa_amd_profiling_async_copy_time_t time;
	uint64_t after = now();
	MUST(hsa_amd_profiling_get_async_copy_time(signal, &time));
	return is_within(before, time.start, time.end, after);
}

int main(int argc, char **argv)
{
	bool is_profiling = argc > 2;
	hsa_queue_t *queue;
	hsa_executable_t executable;
	hsa_signal_t signal;
	float *host, *device;
	char *arguments;
	int count = COUNT, wrong = 0, untimed = 0;
	MUST(hsa_init());
	MUST(hsa_iterate_agents(on_agent, NULL));
	MUST(hsa_amd_agent_iterate_memory_pools(cpu, on_pool, NULL));
	MUST(hsa_amd_agent_iterate_memory_pools(gpu, on_pool, (void *)1));
	MUST(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			      &queue));
	if (is_profiling) {
		MUST(hsa_amd_profiling_set_profiler_enabled(queue, 1));
		MUST(hsa_amd_profiling_async_copy_enable(true));
	}
	uint64_t object = load_kernel(argv[1], &executable);
	MUST(hsa_amd_memory_pool_allocate(of_cpu, COUNT * sizeof *host, 0, (void **)&host));
	MUST(hsa_amd_memory_pool_allocate(of_gpu, COUNT * sizeof *host, 0, (void **)&device));
	MUST(hsa_amd_memory_pool_allocate(of_arguments, 4096, 0, (void **)&arguments));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, host));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, arguments));
	MUST(hsa_signal_create(1, 0, NULL, &signal));
	memcpy(arguments, &device, sizeof device);
	memcpy(arguments + sizeof device, &count, sizeof count);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < COUNT; i++)
			host[i] = (float)i;
		uint64_t before = now();
		MUST(hsa_amd_memory_async_copy(device, gpu, host, cpu, COUNT * sizeof *host, 0,
					       NULL, signal));
		wait_for(signal);
		untimed += is_profiling && !check_copy(before, signal);
		hsa_signal_store_relaxed(signal, 1);
		before = now();
		for (int i = 0; i < DISPATCHES; i++) /* the last one has the signal */
			dispatch(queue, object, arguments,
				 i + 1 < DISPATCHES ? (hsa_signal_t){0} : signal);
		wait_for(signal);
		untimed += is_profiling && !check_dispatch(before, signal);
		hsa_signal_store_relaxed(signal, 1);
		MUST(hsa_amd_memory_async_copy(host, cpu, device, gpu, COUNT * sizeof *host, 0,
					       NULL, signal));
		wait_for(signal);
		hsa_signal_store_relaxed(signal, 1);
		for (int i = 0; i < COUNT; i++)
			wrong += host[i] != 27.0f * (float)i;
	}
	printf("hsa: %d wrong, %d times wrong\n", wrong, untimed);
	MUST(hsa_signal_destroy(signal));
	MUST(hsa_queue_destroy(queue));
	MUST(hsa_executable_destroy(executable));
	MUST(hsa_shut_down());
	return wrong != 0;
}
