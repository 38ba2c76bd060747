/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX, by which programs, frameworks and NCCL annotate what they do: ranges, marks, names. It is a header that each library
 * compiles in for itself. At its first use it loads the library that NVTX_INJECTION64_PATH names, and calls
 * InitializeInjectionNvtx2(), which puts our functions into its tables:
 *
 *     program ─► nvtxRangePushA() ─► table of its library ─► here ─► one event
 *
 *   - Ranges that are pushed and popped are nested, for each thread and domain. Their depth is counted while the level is
 *     off, too, because NVTX returns it.
 *   - A domain is a pointer to struct mr_nvtx_domain; NULL is the default domain. A registered string is what
 *     mr_nvtx_text() says of it.
 *   - Payloads of types that we do not know are not looked at: they may be pointers.
 *
 * No header of NVIDIA is needed to build. All places are part of NVTX's interface for tools since version 2;
 * tests/live/test_nvtx.py compiles programs with NVIDIA's own header.
 */
#ifndef MR_HOOK_NVTX_NVTX_H
#define MR_HOOK_NVTX_NVTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* ---- NVTX's types ---------------------------------------------------------------------------------------- */

enum mr_nvtx_module {
	MR_NVTX_CORE = 1,
	MR_NVTX_CUDA = 2,
	MR_NVTX_CUDART = 4,
	MR_NVTX_CORE2 = 5,
};

enum {
	MR_NVTX_TABLE_CALLBACKS = 1,
	MR_NVTX_NOT_TRACKED = -2,
};

enum mr_nvtx_message {
	MR_NVTX_MESSAGE_ASCII = 1,
	MR_NVTX_MESSAGE_UNICODE = 2,
	MR_NVTX_MESSAGE_REGISTERED = 3,
};

enum mr_nvtx_payload {
	MR_NVTX_PAYLOAD_UNSIGNED_64 = 1,
	MR_NVTX_PAYLOAD_SIGNED_64 = 2,
	MR_NVTX_PAYLOAD_DOUBLE = 3,
	MR_NVTX_PAYLOAD_UNSIGNED_32 = 4,
	MR_NVTX_PAYLOAD_SIGNED_32 = 5,
	MR_NVTX_PAYLOAD_FLOAT = 6,
};

/* nvtxEventAttributes_t */
struct mr_nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t unsigned_64;
		int64_t signed_64;
		double real;
		uint32_t unsigned_32;
		int32_t signed_32;
		float short_real;
	} payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *unicode;
		const void *registered;
	} message;
};

typedef void mr_nvtx_function(void);

/* NvtxExportTableCallbacks */
struct mr_nvtx_callbacks {
	size_t bytes;
	int (*get_table)(int module, mr_nvtx_function ****ret_table, unsigned int *ret_count);
};

typedef const void *mr_nvtx_get_table(uint32_t table);

/* ---- texts and domains (names.c) ---------------------------------------------------------------------------- */

enum {
	MR_NVTX_DOMAINS = 256, /* the last stands for all further ones */
};

struct mr_nvtx_domain {
	_Atomic uint32_t name; /* string; 0: this one and all after it are not used */
};

extern struct mr_nvtx_domain mr_nvtx_domains[MR_NVTX_DOMAINS];

/* By a handle: the number of a domain; the default domain has none of the table's. */
uint32_t mr_nvtx_domain_number(const struct mr_nvtx_domain *domain);
uint32_t mr_nvtx_domain_name(const struct mr_nvtx_domain *domain);
struct mr_nvtx_domain *mr_nvtx_domain_named(const char *name);

/* The string of a text; and, above its 32 bits, MR_NVTX_IS_STEP if ranges of that name are steps. */
#define MR_NVTX_IS_STEP (UINT64_C(1) << 32)
uint64_t mr_nvtx_text(const char *text);
uint64_t mr_nvtx_wide_text(const wchar_t *text);

/* The string of a category's name, or of its number; 0: none. */
uint32_t mr_nvtx_category(const struct mr_nvtx_domain *domain, uint32_t category);

/* Into UTF-8; characters that there are none for become question marks. */
void mr_nvtx_narrow(const wchar_t *text, char *ret_text, size_t bytes);

/* ---- for others who annotate in the same way (ranges.c) -------------------------------------------------------- */

void mr_nvtx_mark(const struct mr_nvtx_domain *domain, const char *text);

/* The depth of a nested range; MR_NVTX_NOT_TRACKED: there is no memory, or none was pushed. */
int mr_nvtx_push(const struct mr_nvtx_domain *domain, const char *text);
int mr_nvtx_pop(const struct mr_nvtx_domain *domain);

/* A range with a number of its own. */
void mr_nvtx_start(const struct mr_nvtx_domain *domain, const char *text, uint64_t range);
void mr_nvtx_stop(const struct mr_nvtx_domain *domain, uint64_t range);

/* ---- functions for the tables -------------------------------------------------------------------------------- */

/* A function of a table, at its place. */
struct mr_nvtx_row {
	uint8_t module; /* enum mr_nvtx_module */
	uint8_t place;
	mr_nvtx_function *function;
};

extern const struct mr_nvtx_row mr_nvtx_range_rows[]; /* (ranges.c); ends with module 0 */
extern const struct mr_nvtx_row mr_nvtx_name_rows[];  /* (names.c); likewise */

#endif
