/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of TensorFlow's CPU allocators, about which its own tracing says little. There are two: with oneDNN
 * MklCPUAllocator, otherwise one that calls AlignedMalloc() for every tensor. The former also calls it for memory
 * that it then hands out in pieces; these internal calls are not recorded. The allocators themselves are unchanged.
 */
#include "hook/tensorflow/tensorflow.h"

#include <unwind.h>

#include "hook/python/python.h"
#include "hook/symbols.h"

#define MKL_ALLOCATE      "_ZN10tensorflow15MklCPUAllocator11AllocateRawEmm"
#define MKL_FREE          "_ZN10tensorflow15MklCPUAllocator13DeallocateRawEPv"
#define ALIGNED_ALLOCATE  "_ZN3tsl4port13AlignedMallocEmi"
#define ALIGNED_FREE      "_ZN3tsl4port11AlignedFreeEPv"
#define ALIGNED_FREE_SIZE "_ZN3tsl4port16AlignedSizedFreeEPvmm"
/* 2.19 and later: the alignment has a type of its own. */
#define ALIGNED_ALLOCATE_2  "_ZN3tsl4port13AlignedMallocEmSt11align_val_t"
#define ALIGNED_FREE_SIZE_2 "_ZN3tsl4port16AlignedSizedFreeEPvmSt11align_val_t"

void *mr_mkl_allocate(void *allocator, size_t alignment, size_t bytes) MR_STAND_IN(MKL_ALLOCATE);
void mr_mkl_free(void *allocator, void *memory) MR_STAND_IN(MKL_FREE);
void *mr_aligned_allocate(size_t bytes, int alignment) MR_STAND_IN(ALIGNED_ALLOCATE);
void *mr_aligned_allocate_2(size_t bytes, size_t alignment) MR_STAND_IN(ALIGNED_ALLOCATE_2);
void mr_aligned_free(void *memory) MR_STAND_IN(ALIGNED_FREE);
void mr_aligned_free_size(void *memory, size_t alignment, size_t bytes)
	MR_STAND_IN(ALIGNED_FREE_SIZE);
void mr_aligned_free_size_2(void *memory, size_t bytes, size_t alignment)
	MR_STAND_IN(ALIGNED_FREE_SIZE_2);

/* How many allocators are nested: only the outermost one records. */
static _Thread_local uint32_t depth __attribute__((tls_model("initial-exec")));

/* An allocator may throw, and the exception passes through its stand-in, which is C and has nothing to catch it with.
 * So the stand-in has what compilers give to C++ functions: a "personality", called when its frame is unwound.
 * It does what the stand-in no longer will, and lets the exception pass. */
_Unwind_Reason_Code
mr_allocator_unwind(int version, _Unwind_Action actions, _Unwind_Exception_Class exception_class,
		    struct _Unwind_Exception *exception, struct _Unwind_Context *context)
	__attribute__((visibility("hidden"), used));

_Unwind_Reason_Code mr_allocator_unwind(int version, _Unwind_Action actions,
					_Unwind_Exception_Class exception_class,
					struct _Unwind_Exception *exception,
					struct _Unwind_Context *context)
{
	(void)version, (void)exception_class, (void)exception, (void)context;
	if (actions & _UA_CLEANUP_PHASE)
		depth--;
	return _URC_CONTINUE_UNWIND;
}

/* Stands in each stand-in. 0x1b: by a signed offset of 32 bits. */
#define MAY_BE_UNWOUND() __asm__ volatile(".cfi_personality 0x1b, mr_allocator_unwind")

/* Begins an allocation or a free; true if it is to be recorded: the level is on, and it is the outermost one. */
static bool enter(void)
{
	return depth++ == 0 && mr_tensorflow_is_on();
}

static void leave(void)
{
	depth--;
}

static uint32_t name_of_allocator(const char *name, _Atomic uint32_t *known)
{
	uint32_t id = atomic_load_explicit(known, memory_order_relaxed);
	if (mr_unlikely(id == 0)) {
		id = mr_define_string(name);
		atomic_store_explicit(known, id, memory_order_relaxed);
	}
	return id;
}

static uint32_t mkl_name(void)
{
	static _Atomic uint32_t known;
	return name_of_allocator("mklcpu", &known);
}

static uint32_t cpu_name(void)
{
	static _Atomic uint32_t known;
	return name_of_allocator("cpu", &known);
}

static void *end_allocation(bool is_told, uint32_t (*allocator)(void), void *memory, size_t bytes)
{
	leave();
	if (is_told && memory) {
		mr_python_note();
		mr_emit(memory_allocate, .allocator = allocator(), .address = (uintptr_t)memory,
			.bytes = bytes);
	}
	return memory;
}

/* Told before it is done: another thread may get the same memory at once. */
static void begin_free(uint32_t (*allocator)(void), const void *memory)
{
	if (enter() && memory)
		mr_emit(memory_free, .allocator = allocator(), .address = (uintptr_t)memory);
}

void *mr_mkl_allocate(void *allocator, size_t alignment, size_t bytes)
{
	MAY_BE_UNWOUND();
	bool is_told = enter();
	void *memory = MR_ORIGINAL(mr_mkl_allocate, MKL_ALLOCATE)(allocator, alignment, bytes);
	return end_allocation(is_told, mkl_name, memory, bytes);
}

void mr_mkl_free(void *allocator, void *memory)
{
	MAY_BE_UNWOUND();
	begin_free(mkl_name, memory);
	MR_ORIGINAL(mr_mkl_free, MKL_FREE)(allocator, memory);
	leave();
}

void *mr_aligned_allocate(size_t bytes, int alignment)
{
	MAY_BE_UNWOUND();
	bool is_told = enter();
	void *memory = MR_ORIGINAL(mr_aligned_allocate, ALIGNED_ALLOCATE)(bytes, alignment);
	return end_allocation(is_told, cpu_name, memory, bytes);
}

void *mr_aligned_allocate_2(size_t bytes, size_t alignment)
{
	MAY_BE_UNWOUND();
	bool is_told = enter();
	void *memory = MR_ORIGINAL(mr_aligned_allocate_2, ALIGNED_ALLOCATE_2)(bytes, alignment);
	return end_allocation(is_told, cpu_name, memory, bytes);
}

void mr_aligned_free(void *memory)
{
	MAY_BE_UNWOUND();
	begin_free(cpu_name, memory);
	MR_ORIGINAL(mr_aligned_free, ALIGNED_FREE)(memory);
	leave();
}

void mr_aligned_free_size(void *memory, size_t alignment, size_t bytes)
{
	MAY_BE_UNWOUND();
	begin_free(cpu_name, memory);
	MR_ORIGINAL(mr_aligned_free_size, ALIGNED_FREE_SIZE)(memory, alignment, bytes);
	leave();
}

void mr_aligned_free_size_2(void *memory, size_t bytes, size_t alignment)
{
	MAY_BE_UNWOUND();
	begin_free(cpu_name, memory);
	MR_ORIGINAL(mr_aligned_free_size_2, ALIGNED_FREE_SIZE_2)(memory, bytes, alignment);
	leave();
}
