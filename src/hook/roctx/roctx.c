/* SPDX-License-Identifier: Apache-2.0
 *
 * roctx (libroctx64, librocprofiler-sdk-roctx), by which programs for AMD's GPUs annotate what they do: ranges and marks.
 * They are recorded as those of NVTX are, in a domain called roctx. The library is called as if we were not there: tools that
 * use it see the same.
 *
 *     program ─► roctxRangePushA() of ours ─► roctx's
 *                  └ one event (hook/nvtx)
 */
#include "hook/roctx/roctx.h"

#include "hook/hook.h"
#include "hook/nvtx/nvtx.h"
#include "hook/shared/stand_in.h"
#include "record/recorder.h"

/* Numbers of ranges are roctx's, and apart from NVTX's. */
#define OF_ROCTX (UINT64_C(1) << 63)

#define EXPORT __attribute__((visibility("default")))

EXPORT void roctxMarkA(const char *text);
EXPORT int roctxRangePushA(const char *text);
EXPORT int roctxRangePop(void);
EXPORT uint64_t roctxRangeStartA(const char *text);
EXPORT void roctxRangeStop(uint64_t range);

/* NULL: the process is not traced. */
static const struct mr_nvtx_domain *domain_of(void)
{
	static _Atomic(const struct mr_nvtx_domain *) known;
	const struct mr_nvtx_domain *domain = atomic_load_explicit(&known, memory_order_relaxed);
	if (mr_likely(domain != NULL))
		return domain;
	mr_hook_start();
	if (mr_arena) {
		domain = mr_nvtx_domain_named("roctx");
		atomic_store_explicit(&known, domain, memory_order_relaxed);
	}
	return domain;
}

/* A program can call these by their names though there is no roctx: then they do what roctx does without a tool. */
void roctxMarkA(const char *text)
{
	const struct mr_nvtx_domain *domain = domain_of();
	__typeof__(&roctxMarkA) original = MR_ORIGINAL(roctxMarkA, "roctxMarkA");
	if (domain)
		mr_nvtx_mark(domain, text);
	if (original)
		original(text);
}

int roctxRangePushA(const char *text)
{
	const struct mr_nvtx_domain *domain = domain_of();
	__typeof__(&roctxRangePushA) original = MR_ORIGINAL(roctxRangePushA, "roctxRangePushA");
	int depth = domain ? mr_nvtx_push(domain, text) : -1;
	return original ? original(text) : depth;
}

int roctxRangePop(void)
{
	const struct mr_nvtx_domain *domain = domain_of();
	__typeof__(&roctxRangePop) original = MR_ORIGINAL(roctxRangePop, "roctxRangePop");
	int depth = domain ? mr_nvtx_pop(domain) : -1;
	return original ? original() : depth;
}

uint64_t roctxRangeStartA(const char *text)
{
	static _Atomic uint64_t last;
	const struct mr_nvtx_domain *domain = domain_of();
	__typeof__(&roctxRangeStartA) original = MR_ORIGINAL(roctxRangeStartA, "roctxRangeStartA");
	uint64_t range = original ? original(text)
				  : atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	if (domain)
		mr_nvtx_start(domain, text, range | OF_ROCTX);
	return range;
}

void roctxRangeStop(uint64_t range)
{
	const struct mr_nvtx_domain *domain = domain_of();
	__typeof__(&roctxRangeStop) original = MR_ORIGINAL(roctxRangeStop, "roctxRangeStop");
	if (domain)
		mr_nvtx_stop(domain, range | OF_ROCTX);
	if (original)
		original(range);
}

void *mr_roctx_stub_of(const char *name, void *found)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"roctxMarkA", roctxMarkA},         {"roctxRangePushA", roctxRangePushA},
		{"roctxRangePop", roctxRangePop},   {"roctxRangeStartA", roctxRangeStartA},
		{"roctxRangeStop", roctxRangeStop},
	};
	for (size_t i = 0; i < mr_countof(functions); i++) {
		if (strcmp(functions[i].name, name) != 0)
			continue;
		void *original = mr_symbol_find(name);
		bool is_ours = found == functions[i].function;
		if (!original)
			return is_ours ? NULL : found;
		return found == original || is_ours ? functions[i].function : found;
	}
	return found;
}

const struct mr_hook_functions mr_roctx_functions = {0};
