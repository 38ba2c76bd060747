/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that stand in front of HIP's. Words that are no arguments are read from the stack of the caller and passed
 * on: so few that they are there.
 */
#include "hook/hip/hip.h"
#include "hook/hook.h"
#include "hook/symbols.h"

enum {
	NO_DEVICE = 100, /* hipErrorNoDevice: what HIP would say if it were there */
};

#define SHORT_PARAMETERS \
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5
#define SHORT_ARGUMENTS a0, a1, a2, a3, a4, a5
#define LONG_PARAMETERS                                                                       \
	SHORT_PARAMETERS, uint64_t b0, uint64_t b1, uint64_t b2, uint64_t b3, uint64_t b4,    \
		uint64_t b5, uint64_t b6, uint64_t b7, uint64_t b8, uint64_t b9, uint64_t c0, \
		uint64_t c1, uint64_t c2, uint64_t c3, uint64_t c4, uint64_t c5
#define LONG_ARGUMENTS \
	SHORT_ARGUMENTS, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5

typedef uint64_t short_function(SHORT_PARAMETERS);
typedef uint64_t long_function(LONG_PARAMETERS);

static _Atomic(void *) originals[MR_HIP_FUNCTIONS];

const char *const mr_hip_names[MR_HIP_FUNCTIONS] = {
#define SHORT(name, ...) #name,
#define LONG(name, ...)  #name,
#include "hook/hip/functions.def"
#undef SHORT
#undef LONG
};

const struct mr_hip_about mr_hip_abouts[MR_HIP_FUNCTIONS] = {
#define SHORT(name, version, ...) {__VA_ARGS__},
#define LONG(name, version, ...)  {__VA_ARGS__},
#include "hook/hip/functions.def"
#undef SHORT
#undef LONG
};

/* What is called behind us; NULL if there is no HIP, though a program was linked with it. */
static void *original_of(enum mr_hip_number number)
{
	void *original = atomic_load_explicit(&originals[number], memory_order_relaxed);
	if (mr_unlikely(!original)) {
		mr_hook_start();
		original = mr_symbol_find(mr_hip_names[number]);
		atomic_store_explicit(&originals[number], original, memory_order_relaxed);
	}
	return original;
}

/* The second name is what programs that were linked with HIP are bound to (versions.map). */
#define STUB(name, version, function, parameters, arguments)                  \
	static uint64_t stub_##name parameters                                \
	{                                                                     \
		function *original = (function *)original_of(MR_HIP_##name);  \
		if (mr_unlikely(!original))                                   \
			return NO_DEVICE;                                     \
		const uint64_t words[] = {arguments};                         \
		struct mr_hip_call call;                                      \
		if (!mr_hip_begin(&call, MR_HIP_##name, words))               \
			return original(arguments);                           \
		uint64_t result = original(arguments);                        \
		mr_hip_end(&call, result);                                    \
		return result;                                                \
	}                                                                     \
	extern __typeof__(stub_##name) exported_##name                        \
		__attribute__((visibility("default"), alias("stub_" #name))); \
	__asm__(".symver exported_" #name ", " #name "@hip_" version ", remove");

#define SHORT(name, version, ...) \
	STUB(name, version, short_function, (SHORT_PARAMETERS), SHORT_ARGUMENTS)
#define LONG(name, version, ...) \
	STUB(name, version, long_function, (LONG_PARAMETERS), LONG_ARGUMENTS)
#include "hook/hip/functions.def"
#undef SHORT
#undef LONG

static void *const stubs[MR_HIP_FUNCTIONS] = {
#define SHORT(name, ...) stub_##name,
#define LONG(name, ...)  stub_##name,
#include "hook/hip/functions.def"
#undef SHORT
#undef LONG
};

/* HIP may have been loaded anew since somebody asked. */
void *mr_hip_stub_of(const char *name, void *found)
{
	for (int i = 0; i < MR_HIP_FUNCTIONS; i++) {
		if (strcmp(mr_hip_names[i], name) != 0)
			continue;
		if (mr_symbol_find(name) != found)
			return found;
		atomic_store_explicit(&originals[i], found, memory_order_relaxed);
		return stubs[i];
	}
	return found;
}
