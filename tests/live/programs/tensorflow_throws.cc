/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocators named like TensorFlow's that throw, out of one another and into one another. play() prints what it
 * caught; the sizes say which allocations are the outermost ones, 10 and 20. Compiled by its test.
 */
#include <cstdio>
#include <cstdlib>
#include <new>

extern "C" {
const char *TF_Version();
void play(const char *scene);
void *allocate_whole(void *allocator, size_t alignment, size_t bytes) __asm__(
	"_ZN10tensorflow15MklCPUAllocator11AllocateRawEmm");
void release_whole(void *allocator, void *memory) __asm__(
	"_ZN10tensorflow15MklCPUAllocator13DeallocateRawEPv");
void *allocate_piece(size_t bytes, int alignment) __asm__("_ZN3tsl4port13AlignedMallocEmi");
void release_piece(void *memory) __asm__("_ZN3tsl4port11AlignedFreeEPv");
}

static int caught;

const char *TF_Version()
{
	return "2.0";
}

void *allocate_piece(size_t bytes, int alignment)
{
	if (bytes == 0)
		throw std::bad_alloc();
	return aligned_alloc((size_t)alignment, (bytes + 63) / 64 * 64);
}

void release_piece(void *memory)
{
	free(memory);
}

/* Survives that a piece cannot be had, if it is to give any. */
void *allocate_whole(void *, size_t, size_t bytes)
{
	try {
		allocate_piece(0, 64);
	} catch (const std::bad_alloc &) {
		caught++;
		if (bytes == 0)
			throw;
	}
	return allocate_piece(bytes, 64);
}

void release_whole(void *, void *memory)
{
	release_piece(memory);
}

static void fail_to_allocate()
{
	try {
		allocate_whole(nullptr, 64, 0);
	} catch (const std::bad_alloc &) {
		caught++;
	}
}

static void allocate_deeper(int deeper)
{
	volatile char frame[200];
	frame[0] = 1;
	if (deeper > 0)
		return allocate_deeper(deeper - frame[0]);
	release_piece(allocate_piece(10, 64));
}

void play(const char *scene)
{
	fail_to_allocate();
	allocate_deeper(0);
	fail_to_allocate();
	allocate_deeper(10);
	fail_to_allocate();
	release_whole(nullptr, allocate_whole(nullptr, 64, 20));
	printf("%s: %d caught\n", scene, caught);
}
