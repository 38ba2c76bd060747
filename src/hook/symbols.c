/* SPDX-License-Identifier: Apache-2.0
 *
 * The same lookup as the dynamic linker's, in the library's own hash table (DT_GNU_HASH):
 *
 *     hash of the name ──► bucket ──► chain of (hash, symbol) that ends with an odd hash
 *
 * There is one lookup per function, so the bloom filter, which saves little time, is not used. Libraries without such a
 * table are skipped.
 */
#include "hook/symbols.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

struct search {
	const char *name;
	void *found;
	size_t bytes;
	bool is_behind; /* ours was seen */
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The linker has made addresses of most entries, but not on every architecture. */
static const void *address_of(ElfW(Addr) base, ElfW(Addr) value)
{
	return (const void *)(value < base ? base + value : value);
}

static bool find_tables(const struct dl_phdr_info *library, struct tables *ret_tables)
{
	const ElfW(Dyn) *entry = NULL;
	for (int i = 0; i < library->dlpi_phnum; i++)
		if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)(library->dlpi_addr +
						    library->dlpi_phdr[i].p_vaddr);
	*ret_tables = (struct tables){0};
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *address = address_of(library->dlpi_addr, entry->d_un.d_ptr);
		if (entry->d_tag == DT_SYMTAB)
			ret_tables->symbols = address;
		else if (entry->d_tag == DT_STRTAB)
			ret_tables->names = address;
		else if (entry->d_tag == DT_GNU_HASH)
			ret_tables->hash = address;
	}
	return ret_tables->symbols && ret_tables->names && ret_tables->hash;
}

static const ElfW(Sym) * look_up(const struct tables *tables, const char *name)
{
	uint32_t bucket_count = tables->hash[0];
	uint32_t first_symbol = tables->hash[1];
	uint32_t bloom_words = tables->hash[2];
	const uint32_t *buckets =
		tables->hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + bucket_count;
	uint32_t hash = hash_of(name);
	uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;

	if (index < first_symbol)
		return NULL;
	for (;; index++) {
		uint32_t other = chains[index - first_symbol];
		const ElfW(Sym) *symbol = &tables->symbols[index];
		if ((other | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(tables->names + symbol->st_name, name) == 0)
			return symbol;
		if (other & 1)
			return NULL;
	}
}

static bool contains(const struct dl_phdr_info *library, uintptr_t address)
{
	for (int i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD &&
		    address - (library->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
			return true;
	}
	return false;
}

static bool is_ours(const struct dl_phdr_info *library)
{
	return contains(library, (uintptr_t)mr_symbol_find);
}

static int search_library(struct dl_phdr_info *library, size_t bytes, void *data)
{
	(void)bytes;
	struct search *search = data;
	struct tables tables;
	if (is_ours(library) || !find_tables(library, &tables))
		return 0;
	const ElfW(Sym) *symbol = look_up(&tables, search->name);
	if (symbol) {
		search->found = (void *)(library->dlpi_addr + symbol->st_value);
		search->bytes = symbol->st_size;
	}
	return search->found != NULL;
}

void *mr_symbol_find(const char *name)
{
	struct search search = {.name = name};
	dl_iterate_phdr(search_library, &search);
	return search.found;
}

static int search_behind(struct dl_phdr_info *library, size_t bytes, void *data)
{
	struct search *search = data;
	if (search->is_behind)
		return search_library(library, bytes, data);
	search->is_behind = is_ours(library);
	return 0;
}

void *mr_symbol_find_behind(const char *name)
{
	struct search search = {.name = name};
	dl_iterate_phdr(search_behind, &search);
	return search.found ? search.found : mr_symbol_find(name);
}

void *mr_symbol_find_object(const char *name, size_t *ret_bytes)
{
	struct search search = {.name = name};
	dl_iterate_phdr(search_library, &search);
	*ret_bytes = search.bytes;
	return search.found;
}

/* ---- in one library -------------------------------------------------------------------------------- */

struct search_in {
	struct search search;
	uintptr_t address;
	uintptr_t first;
	uintptr_t end;
};

static void find_range(const struct dl_phdr_info *library, struct search_in *search)
{
	search->first = UINTPTR_MAX;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
		uintptr_t first = library->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD)
			continue;
		if (first < search->first)
			search->first = first;
		if (first + segment->p_memsz > search->end)
			search->end = first + segment->p_memsz;
	}
}

static int search_containing(struct dl_phdr_info *library, size_t bytes, void *data)
{
	struct search_in *search = data;
	if (!contains(library, search->address))
		return 0;
	find_range(library, search);
	search_library(library, bytes, &search->search);
	return 1;
}

void *mr_symbol_find_in(const void *address, const char *name, uintptr_t *ret_first,
			uintptr_t *ret_bytes)
{
	struct search_in search = {.search.name = name, .address = (uintptr_t)address};
	dl_iterate_phdr(search_containing, &search);
	*ret_first = search.first;
	*ret_bytes = search.end - search.first;
	return search.search.found;
}
