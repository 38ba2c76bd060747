/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/macros.h"

_Static_assert(MR_PYTHON_PAGES <= 64, "a bit for each place");

void mr_python_memory_start(struct mr_python_memory *memory, pid_t pid)
{
	memory->pid = pid;
	memory->error = 0;
	memory->expected.count = memory->used.count = 0;
	mr_python_memory_forget(memory);
}

void mr_python_memory_expect(struct mr_python_memory *memory, const struct mr_python_pages *pages)
{
	memory->expected = *pages;
	memory->used.count = 0;
}

void mr_python_memory_forget(struct mr_python_memory *memory)
{
	if (++memory->generation != 0)
		return;
	memset(memory->known, 0, sizeof memory->known);
	memory->generation = 1;
}

static size_t place_of(uintptr_t at)
{
	return at / MR_PYTHON_PAGE_BYTES % MR_PYTHON_PAGES;
}

static bool is_known(const struct mr_python_memory *memory, uintptr_t at)
{
	size_t place = place_of(at);
	return memory->known[place].at == at &&
	       memory->known[place].generation == memory->generation;
}

static void note_used(struct mr_python_memory *memory, uintptr_t at)
{
	struct mr_python_pages *used = &memory->used;
	for (uint32_t i = 0; i < used->count; i++)
		if (used->at[i] == at)
			return;
	if (used->count < MR_PYTHON_EXPECTED)
		used->at[used->count++] = at;
}

/* A page and those that are expected and not there yet; of two that have one place, the first. */
static uint32_t list_wanted(const struct mr_python_memory *memory, uintptr_t at,
			    uintptr_t wanted[MR_PYTHON_EXPECTED + 1])
{
	uint64_t places = UINT64_C(1) << place_of(at);
	uint32_t count = 1;
	wanted[0] = at;
	for (uint32_t i = 0; i < memory->expected.count; i++) {
		uintptr_t other = memory->expected.at[i];
		uint64_t place = UINT64_C(1) << place_of(other);
		if (places & place || is_known(memory, other))
			continue;
		places |= place;
		wanted[count++] = other;
	}
	return count;
}

/* How many of them could be read, from the first on; less than 0: none, and errno says why. */
static ssize_t read_wanted(struct mr_python_memory *memory, const uintptr_t *wanted, uint32_t count)
{
	struct iovec to[MR_PYTHON_EXPECTED + 1], from[MR_PYTHON_EXPECTED + 1];
	for (uint32_t i = 0; i < count; i++) {
		size_t place = place_of(wanted[i]);
		memory->known[place].generation = memory->generation - 1;
		to[i] = (struct iovec){memory->pages[place], MR_PYTHON_PAGE_BYTES};
		from[i] = (struct iovec){(void *)wanted[i], MR_PYTHON_PAGE_BYTES};
	}
	ssize_t bytes = process_vm_readv(memory->pid, to, count, from, count, 0);
	for (ssize_t i = 0; i < bytes / MR_PYTHON_PAGE_BYTES; i++) {
		size_t place = place_of(wanted[i]);
		memory->known[place].at = wanted[i];
		memory->known[place].generation = memory->generation;
	}
	return bytes < 0 ? bytes : bytes / MR_PYTHON_PAGE_BYTES;
}

/* NULL if it cannot be read. */
static const uint8_t *find_page(struct mr_python_memory *memory, uintptr_t at)
{
	uintptr_t wanted[MR_PYTHON_EXPECTED + 1];
	note_used(memory, at);
	if (is_known(memory, at))
		return memory->pages[place_of(at)];
	ssize_t count = read_wanted(memory, wanted, list_wanted(memory, at, wanted));
	if (count <= 0) {
		memory->error = count < 0 ? errno : EFAULT;
		return NULL;
	}
	return memory->pages[place_of(at)];
}

static bool read_pages(void *context, void *to, uintptr_t from, size_t bytes)
{
	struct mr_python_memory *memory = context;
	if (from > UINTPTR_MAX - bytes) {
		memory->error = EFAULT;
		return false;
	}
	for (uint8_t *next = to; bytes > 0;) {
		size_t offset = from % MR_PYTHON_PAGE_BYTES;
		size_t count = mr_min(bytes, MR_PYTHON_PAGE_BYTES - offset);
		const uint8_t *page = find_page(memory, from - offset);
		if (!page)
			return false;
		memcpy(next, page + offset, count);
		next += count;
		from += count;
		bytes -= count;
	}
	return true;
}

struct mr_python_reader mr_python_memory_reader(struct mr_python_memory *memory)
{
	return (struct mr_python_reader){.read = read_pages, .context = memory};
}
