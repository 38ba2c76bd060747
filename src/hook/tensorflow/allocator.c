/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of TensorFlow's CPU allocators, of which its own tracing tells little. There are two: with oneDNN
 * MklCPUAllocator, else one that asks AlignedMalloc() for every tensor. The former does so, too, for what it
 * hands out in pieces; that is its own affair and not written. The allocators stay as they are.
 */
#include "hook/tensorflow/tensorflow.h"

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

/* True inside an allocator: only the outermost one tells. */
static _Thread_local bool is_inside __attribute__((tls_model("initial-exec")));

/* The original of one of the functions above: looked up once; several threads may do it at once, with the same
 * result. It is there, as it is called by its name. */
#define ORIGINAL(function, symbol)                                                      \
	({                                                                              \
		static _Atomic(__typeof__(&function)) known;                            \
		__typeof__(&function) original_ =                                       \
			atomic_load_explicit(&known, memory_order_relaxed);             \
		if (mr_unlikely(!original_)) {                                          \
			original_ = (__typeof__(&function))mr_symbol_find(symbol);      \
			atomic_store_explicit(&known, original_, memory_order_relaxed); \
		}                                                                       \
		original_;                                                              \
	})

/* Begins an allocation or a free; true if it shall be told: the level is on, and no other is around it. */
static bool enter(void)
{
	if (!mr_tensorflow_is_on() || is_inside)
		return false;
	is_inside = true;
	return true;
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
	if (is_told) {
		is_inside = false;
		if (memory)
			mr_emit(memory_allocate, .allocator = allocator(),
				.address = (uintptr_t)memory, .bytes = bytes);
	}
	return memory;
}

/* Told before it is done: another thread may get the same memory at once. */
static bool begin_free(uint32_t (*allocator)(void), const void *memory)
{
	bool is_told = enter();
	if (is_told && memory)
		mr_emit(memory_free, .allocator = allocator(), .address = (uintptr_t)memory);
	return is_told;
}

static void end_free(bool is_told)
{
	if (is_told)
		is_inside = false;
}

void *mr_mkl_allocate(void *allocator, size_t alignment, size_t bytes)
{
	bool is_told = enter();
	void *memory = ORIGINAL(mr_mkl_allocate, MKL_ALLOCATE)(allocator, alignment, bytes);
	return end_allocation(is_told, mkl_name, memory, bytes);
}

void mr_mkl_free(void *allocator, void *memory)
{
	bool is_told = begin_free(mkl_name, memory);
	ORIGINAL(mr_mkl_free, MKL_FREE)(allocator, memory);
	end_free(is_told);
}

void *mr_aligned_allocate(size_t bytes, int alignment)
{
	bool is_told = enter();
	void *memory = ORIGINAL(mr_aligned_allocate, ALIGNED_ALLOCATE)(bytes, alignment);
	return end_allocation(is_told, cpu_name, memory, bytes);
}

void *mr_aligned_allocate_2(size_t bytes, size_t alignment)
{
	bool is_told = enter();
	void *memory = ORIGINAL(mr_aligned_allocate_2, ALIGNED_ALLOCATE_2)(bytes, alignment);
	return end_allocation(is_told, cpu_name, memory, bytes);
}

void mr_aligned_free(void *memory)
{
	bool is_told = begin_free(cpu_name, memory);
	ORIGINAL(mr_aligned_free, ALIGNED_FREE)(memory);
	end_free(is_told);
}

void mr_aligned_free_size(void *memory, size_t alignment, size_t bytes)
{
	bool is_told = begin_free(cpu_name, memory);
	ORIGINAL(mr_aligned_free_size, ALIGNED_FREE_SIZE)(memory, alignment, bytes);
	end_free(is_told);
}

void mr_aligned_free_size_2(void *memory, size_t bytes, size_t alignment)
{
	bool is_told = begin_free(cpu_name, memory);
	ORIGINAL(mr_aligned_free_size_2, ALIGNED_FREE_SIZE_2)(memory, bytes, alignment);
	end_free(is_told);
}
