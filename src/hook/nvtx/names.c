/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that programs give with NVTX: domains, registered strings, categories, threads, streams of CUDA.
 */
#include "hook/shared/names.h"
#include "hook/cuda/cuda.h"
#include "hook/nvtx/nvtx.h"
#include "record/steps.h"

/* ---- texts ---------------------------------------------------------------------------------------------- */

static char *put_character(char *at, uint32_t code)
{
	if (code < 0x80) {
		*at++ = (char)code;
	} else if (code < 0x800) {
		*at++ = (char)(0xC0 | code >> 6);
		*at++ = (char)(0x80 | (code & 0x3F));
	} else if (code < 0x10000) {
		*at++ = (char)(0xE0 | code >> 12);
		*at++ = (char)(0x80 | (code >> 6 & 0x3F));
		*at++ = (char)(0x80 | (code & 0x3F));
	} else {
		*at++ = (char)(0xF0 | code >> 18);
		*at++ = (char)(0x80 | (code >> 12 & 0x3F));
		*at++ = (char)(0x80 | (code >> 6 & 0x3F));
		*at++ = (char)(0x80 | (code & 0x3F));
	}
	return at;
}

void mr_nvtx_narrow(const wchar_t *text, char *ret_text, size_t bytes)
{
	enum {
		LONGEST = 4
	};
	char *at = ret_text;
	for (; text && *text && (size_t)(at - ret_text) + LONGEST < bytes; text++) {
		uint32_t code = (uint32_t)*text;
		bool is_character = code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
		at = put_character(at, is_character ? code : '?');
	}
	*at = 0;
}

uint64_t mr_nvtx_text(const char *text)
{
	if (!text)
		return 0;
	return mr_name_of(text) | (mr_steps_is_range(text) ? MR_NVTX_IS_STEP : 0);
}

uint64_t mr_nvtx_wide_text(const wchar_t *text)
{
	char narrow[MR_NAME_BYTES];
	mr_nvtx_narrow(text, narrow, sizeof narrow);
	return text ? mr_nvtx_text(narrow) : 0;
}

/* What is given wide is the same as what is given narrow. */
#define WIDE(type, name, parameters, ...)                    \
	static type name##_wide parameters                   \
	{                                                    \
		char narrow[MR_NAME_BYTES];                  \
		mr_nvtx_narrow(text, narrow, sizeof narrow); \
		return name(__VA_ARGS__);                    \
	}

/* ---- domains ---------------------------------------------------------------------------------------------- */

struct mr_nvtx_domain mr_nvtx_domains[MR_NVTX_DOMAINS];

uint32_t mr_nvtx_domain_number(const struct mr_nvtx_domain *domain)
{
	return domain ? (uint32_t)(domain - mr_nvtx_domains) + 1 : 0;
}

uint32_t mr_nvtx_domain_name(const struct mr_nvtx_domain *domain)
{
	return domain ? atomic_load_explicit(&domain->name, memory_order_relaxed) : 0;
}

/* Libraries that give the same name share the domain. */
struct mr_nvtx_domain *mr_nvtx_domain_named(const char *text)
{
	uint32_t name = mr_name_of(text && *text ? text : "unnamed");
	for (int i = 0; name && i < MR_NVTX_DOMAINS - 1; i++) {
		uint32_t there = 0;
		if (atomic_compare_exchange_strong(&mr_nvtx_domains[i].name, &there, name) ||
		    there == name)
			return &mr_nvtx_domains[i];
	}
	struct mr_nvtx_domain *last = &mr_nvtx_domains[MR_NVTX_DOMAINS - 1];
	atomic_store_explicit(&last->name, mr_define_string("further domains"),
			      memory_order_relaxed);
	return last;
}
WIDE(struct mr_nvtx_domain *, mr_nvtx_domain_named, (const wchar_t *text), narrow)

/* Its name may be given to a domain again. */
static void destroy_domain(struct mr_nvtx_domain *domain)
{
	(void)domain;
}

/* ---- registered strings ------------------------------------------------------------------------------------ */

static const void *register_string(struct mr_nvtx_domain *domain, const char *text)
{
	(void)domain;
	return (const void *)(uintptr_t)mr_nvtx_text(text);
}
WIDE(const void *, register_string, (struct mr_nvtx_domain * domain, const wchar_t *text), domain,
     narrow)

/* ---- categories -------------------------------------------------------------------------------------------- */

enum {
	CATEGORIES = 1024, /* with a name; further ones have only their number */
	NUMBER_BYTES = 16,
};

/* (domain number + 1) << 32 | category → string, in the first free place from its hash on. */
static struct {
	_Atomic uint64_t key;
	_Atomic uint32_t name;
} categories[CATEGORIES];

/* Its place, or the one where it belongs; CATEGORIES: there is none. */
static uint32_t find_category(uint64_t key)
{
	uint32_t first = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 54);
	for (uint32_t i = 0; i < CATEGORIES; i++) {
		uint32_t place = (first + i) % CATEGORIES;
		uint64_t there = atomic_load_explicit(&categories[place].key, memory_order_acquire);
		if (there == key || there == 0)
			return place;
	}
	return CATEGORIES;
}

static uint64_t key_of_category(const struct mr_nvtx_domain *domain, uint32_t category)
{
	return ((uint64_t)mr_nvtx_domain_number(domain) + 1) << 32 | category;
}

uint32_t mr_nvtx_category(const struct mr_nvtx_domain *domain, uint32_t category)
{
	uint64_t key = key_of_category(domain, category);
	if (category == 0)
		return 0;
	uint32_t place = find_category(key);
	uint32_t name = 0;
	if (place < CATEGORIES &&
	    atomic_load_explicit(&categories[place].key, memory_order_relaxed) == key)
		name = atomic_load_explicit(&categories[place].name, memory_order_acquire);
	if (name)
		return name;
	char text[NUMBER_BYTES], *at = text + sizeof text - 1;
	*at = 0;
	do
		*--at = (char)('0' + category % 10);
	while (category /= 10);
	return mr_name_of(at);
}

static void name_domain_category(struct mr_nvtx_domain *domain, uint32_t category, const char *text)
{
	uint64_t key = key_of_category(domain, category), there = 0;
	uint32_t place = find_category(key), name = text ? mr_name_of(text) : 0;
	if (place == CATEGORIES)
		return;
	if (atomic_compare_exchange_strong(&categories[place].key, &there, key) || there == key)
		atomic_store_explicit(&categories[place].name, name, memory_order_release);
}
WIDE(void, name_domain_category,
     (struct mr_nvtx_domain * domain, uint32_t category, const wchar_t *text), domain, category,
     narrow)

static void name_category(uint32_t category, const char *text)
{
	name_domain_category(NULL, category, text);
}
WIDE(void, name_category, (uint32_t category, const wchar_t *text), category, narrow)

/* ---- threads and streams ------------------------------------------------------------------------------------ */

static void name_thread(uint32_t tid, const char *text)
{
	const struct mr_event_thread_named named = {.tid = tid};
	if (text)
		mr_define_event(MR_EVENT_thread_named, &named, sizeof named, text);
}
WIDE(void, name_thread, (uint32_t tid, const wchar_t *text), tid, narrow)

static void name_stream(void *handle, const char *text)
{
	if (text)
		mr_cuda_stream_name(handle, text);
}
WIDE(void, name_stream, (void *handle, const wchar_t *text), handle, narrow)

#define ROW(module, place, function)                                    \
	{                                                               \
		MR_NVTX_##module, place, (mr_nvtx_function *)(function) \
	}
const struct mr_nvtx_row mr_nvtx_name_rows[] = {
	ROW(CORE, 12, name_category),         ROW(CORE, 13, name_category_wide),
	ROW(CORE, 14, name_thread),           ROW(CORE, 15, name_thread_wide),
	ROW(CORE2, 8, name_domain_category),  ROW(CORE2, 9, name_domain_category_wide),
	ROW(CORE2, 10, register_string),      ROW(CORE2, 11, register_string_wide),
	ROW(CORE2, 12, mr_nvtx_domain_named), ROW(CORE2, 13, mr_nvtx_domain_named_wide),
	ROW(CORE2, 14, destroy_domain),       ROW(CUDA, 5, name_stream),
	ROW(CUDA, 6, name_stream_wide),       ROW(CUDART, 3, name_stream),
	ROW(CUDART, 4, name_stream_wide),     {0},
};
