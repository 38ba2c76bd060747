/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that HSA hands out: all that HIP allocates comes from here, too, and is then HIP's call's.
 */
#include "hook/hsa/hsa.h"

static void write_allocation(enum mr_hsa_number function, uint64_t pool, uint64_t bytes,
			     uint64_t flags, const void *address)
{
	const struct mr_hsa_device *device = mr_hsa_device_of_pool(pool);
	mr_emit(runtime_allocate,
		.function = mr_hsa_caller ? mr_hsa_caller->function : mr_hsa_names[function],
		.device = device && !device->is_cpu ? device->id : 0, .object = (uintptr_t)address,
		.bytes = bytes, .flags = flags);
}

/* Arguments: pool or region, bytes, then flags (of a pool), and where the address goes. */
static uint64_t allocate(enum mr_hsa_number function, uint64_t flags, uint64_t ret_address,
			 MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	if (!mr_hsa_begin(&call, function, 0))
		return mr_hsa_next[function](MR_HSA_ARGUMENTS);
	if (!mr_hsa_caller)
		mr_hsa_worker_note();
	uint64_t result = mr_hsa_next[function](MR_HSA_ARGUMENTS);
	const void *address = mr_hsa_is_success(result) ? *(const void **)ret_address : NULL;
	if (address)
		write_allocation(function, a0, a1, flags, address);
	mr_hsa_end_about(&call, (int32_t)result,
			 &(struct mr_hsa_about){.object = (uintptr_t)address, .bytes = a1});
	return result;
}

uint64_t mr_hsa_own_hsa_amd_memory_pool_allocate(MR_HSA_PARAMETERS)
{
	return allocate(MR_HSA_hsa_amd_memory_pool_allocate, (uint32_t)a2, a3, MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_memory_allocate(MR_HSA_PARAMETERS)
{
	return allocate(MR_HSA_hsa_memory_allocate, 0, a2, MR_HSA_ARGUMENTS);
}

/* Before it is free: another thread may get the same address at once. */
static uint64_t free_memory(enum mr_hsa_number function, MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	if (!mr_hsa_begin(&call, function, 0))
		return mr_hsa_next[function](MR_HSA_ARGUMENTS);
	if (a0)
		mr_emit(runtime_free, .object = a0);
	uint64_t result = mr_hsa_next[function](MR_HSA_ARGUMENTS);
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}

uint64_t mr_hsa_own_hsa_amd_memory_pool_free(MR_HSA_PARAMETERS)
{
	return free_memory(MR_HSA_hsa_amd_memory_pool_free, MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_memory_free(MR_HSA_PARAMETERS)
{
	return free_memory(MR_HSA_hsa_memory_free, MR_HSA_ARGUMENTS);
}
