/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of PyTorch's CPU allocator: alloc_cpu() and free_cpu(), through which every tensor on the host goes that PyTorch
 * itself allocates. An exception of the original passes through the stand-in, which has nothing to do then.
 */
#include "hook/python/python.h"
#include "hook/torch/torch.h"

#define ALLOCATE "_ZN3c109alloc_cpuEm"
#define FREE     "_ZN3c108free_cpuEPv"

void *mr_torch_allocate(size_t bytes) MR_STAND_IN(ALLOCATE);
void mr_torch_free(void *memory) MR_STAND_IN(FREE);

static uint32_t allocator(void)
{
	static _Atomic uint32_t known;
	uint32_t id = atomic_load_explicit(&known, memory_order_relaxed);
	if (mr_unlikely(id == 0)) {
		id = mr_define_string("c10::DefaultCPUAllocator");
		atomic_store_explicit(&known, id, memory_order_relaxed);
	}
	return id;
}

void *mr_torch_allocate(size_t bytes)
{
	void *memory = MR_ORIGINAL(mr_torch_allocate, ALLOCATE)(bytes);
	if (memory && mr_level_is_on(MR_LEVEL_dataflow)) {
		mr_python_note();
		mr_emit(memory_allocate, .allocator = allocator(), .address = (uintptr_t)memory,
			.bytes = bytes);
	}
	return memory;
}

/* Recorded before: afterwards another thread may get the same memory. */
void mr_torch_free(void *memory)
{
	if (memory && mr_level_is_on(MR_LEVEL_dataflow))
		mr_emit(memory_free, .allocator = allocator(), .address = (uintptr_t)memory);
	MR_ORIGINAL(mr_torch_free, FREE)(memory);
}
