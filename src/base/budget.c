/* SPDX-License-Identifier: Apache-2.0 */
#include "base/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/format.h"

static uint64_t budget; /* 0: there is none */

/* Bytes that the process has allocated, touched or not, as RLIMIT_DATA counts them. */
static uint64_t allocated_now(void)
{
	mr_auto(close_file) FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!file || fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void mr_budget_set(uint64_t bytes)
{
	struct rlimit limit;
	rlim_t wanted;

	if (getrlimit(RLIMIT_DATA, &limit) < 0 ||
	    __builtin_add_overflow(allocated_now(), bytes, &wanted) || wanted >= limit.rlim_cur)
		return;
	limit.rlim_cur = wanted;
	if (setrlimit(RLIMIT_DATA, &limit) == 0)
		budget = bytes;
}

int mr_budget_explain(int error, const char *what)
{
	char text[MR_FORMAT_BYTES];

	if (error != -ENOMEM || !budget)
		return error;
	mr_format_bytes(text, (int64_t)budget);
	return mr_fail(ENOMEM,
		       "%s: reading this needs more than %s of memory, the limit for an input of "
		       "its size: --max-memory=SIZE allows more",
		       what, text);
}
