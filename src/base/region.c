/* SPDX-License-Identifier: Apache-2.0 */
#include "base/region.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_BLOCK_BYTES = 4 * 1024,
	BLOCK_BYTES_MAX = 64 * 1024,
	ALIGNMENT = _Alignof(max_align_t),
};

struct mr_region_block {
	struct mr_region_block *older;
	size_t used;
	size_t capacity;
	_Alignas(max_align_t) unsigned char bytes[];
};

/* Each is twice as large as the one before: many regions hold little. */
static struct mr_region_block *add_block(struct mr_region *region, size_t bytes)
{
	struct mr_region_block *older = region->newest;
	size_t usual = older ? mr_min(2 * older->capacity, (size_t)BLOCK_BYTES_MAX)
			     : (size_t)FIRST_BLOCK_BYTES;
	size_t capacity = mr_max(bytes, usual);
	struct mr_region_block *block = calloc(1, sizeof *block + capacity);

	if (!block)
		return NULL;
	block->capacity = capacity;
	block->older = older;
	region->newest = block;
	return block;
}

void *mr_region_allocate(struct mr_region *region, size_t bytes)
{
	struct mr_region_block *block = region->newest;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = mr_align_up(bytes, (size_t)ALIGNMENT);
	if (!block || block->capacity - block->used < bytes)
		block = add_block(region, bytes);
	if (!block)
		return NULL;
	void *memory = block->bytes + block->used;
	block->used += bytes;
	return memory;
}

char *mr_region_copy(struct mr_region *region, const void *bytes, size_t count)
{
	char *copy = mr_region_allocate(region, count + 1);

	if (copy && count)
		memcpy(copy, bytes, count);
	return copy;
}

char *mr_region_print(struct mr_region *region, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	char *text = length < 0 ? NULL : mr_region_allocate(region, (size_t)length + 1);
	if (!text)
		return NULL;
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

void mr_region_free(struct mr_region *region)
{
	for (struct mr_region_block *block = region->newest, *older; block; block = older) {
		older = block->older;
		free(block);
	}
	region->newest = NULL;
}
