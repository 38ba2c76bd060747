/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory nearly full: at its peak the program holds nearly all memory of a device, or the runtime could not give it what it
 * asked for. The next larger batch, or another program on the device, ends it. Costs no time by itself.
 */
#include "analysis/device_time.h"
#include "analysis/memory_capacity.h"
#include "analysis/memory_holders.h"
#include "analysis/problem/problem.h"
#include "base/format.h"

enum {
	FULL_PERCENT = 90,
};

/* ---- allocations that failed ---------------------------------------------------------------------------- */

struct failed {
	uint32_t count;
	uint32_t last; /* row of calls */
};

/* Some functions return the memory itself. */
static bool is_error(const struct mr_calls *calls, uint32_t row)
{
	return calls->result[row] != 0 && (uint64_t)calls->result[row] != calls->object[row];
}

/* Calls of the subject's process that ask for memory and return an error. */
static struct failed find_failed(const struct mr_case *of, const bool *is_allocator)
{
	const struct mr_calls *calls = &of->cut->calls;
	struct failed failed = {0};

	for (uint32_t row = 0; row < calls->table.count; row++)
		if (is_error(calls, row) && is_allocator[calls->function[row]] &&
		    of->cut->survey->tracks.items[calls->track[row]].process ==
			    of->subject.process) {
			failed.count++;
			failed.last = row;
		}
	return failed;
}

/* ---- peaks ------------------------------------------------------------------------------------------------ */

struct peak {
	struct mr_memory_account account;
	uint64_t bytes;
	uint64_t capacity_bytes; /* 0: there is none of which that is known */
	int64_t ns;
};

/* Is a the fuller one? Of one device what the framework holds counts: it may have asked the runtime for all at once. */
static bool is_fuller(const struct mr_case *of, const struct peak *a, const struct peak *b)
{
	const struct mr_device *devices = of->model->survey->definitions.devices.items;

	if (b->capacity_bytes == 0)
		return true;
	if (devices[a->account.device].same == devices[b->account.device].same &&
	    a->account.teller != b->account.teller)
		return a->account.teller != MR_MEMORY_RUNTIME;
	return (unsigned __int128)a->bytes * b->capacity_bytes >
	       (unsigned __int128)b->bytes * a->capacity_bytes;
}

static int find_peak(const struct mr_case *of, struct peak *ret_peak)
{
	uint32_t count = mr_memory_account_count(of->model);
	mr_auto(free) struct mr_memory_peak *peaks = calloc(count + 1, sizeof *peaks);

	if (!peaks)
		return -ENOMEM;
	mr_memory_peaks_find(of->cut, peaks);
	*ret_peak = (struct peak){0};
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_memory_account account = mr_memory_account(of->model, i);
		const struct peak peak = {account, peaks[i].bytes,
					  mr_device_capacity(of->model, account.device),
					  peaks[i].ns};

		if (account.process == of->subject.process && peak.capacity_bytes && peak.bytes &&
		    is_fuller(of, &peak, ret_peak))
			*ret_peak = peak;
	}
	return 0;
}

/* ---- in words --------------------------------------------------------------------------------------------- */

/* "Most of it, 3.2 GiB, was allocated by dense/MatMul."; "" if nothing is known. */
static const char *describe_holder(struct mr_case *of, const struct peak *peak)
{
	mr_auto(memory_holders) struct mr_memory_holders holders = {0};
	char bytes[MR_FORMAT_BYTES];

	if (peak->bytes == 0)
		return "";
	if (mr_memory_holders_make(of->model, &peak->account, peak->ns, &holders) < 0)
		return NULL;
	if (holders.list.count == 0 || !holders.list.items[0].name)
		return "";
	mr_format_bytes(bytes, holders.list.items[0].bytes);
	return mr_region_print(&of->findings->region, " The largest part, %s, was allocated by %s.",
			       bytes, mr_model_text(of->model, holders.list.items[0].name));
}

static int describe_full(struct mr_case *of, const struct peak *peak, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	char held[MR_FORMAT_BYTES], all[MR_FORMAT_BYTES], share[MR_FORMAT_BYTES];
	const char *holder = describe_holder(of, peak);

	mr_format_bytes(held, (int64_t)peak->bytes);
	mr_format_bytes(all, (int64_t)peak->capacity_bytes);
	mr_format_percent(share, (int64_t)peak->bytes, (int64_t)peak->capacity_bytes);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->cost = mr_region_print(region, "%s of %s", held, all);
	problem->where = mr_device_name(of->model, peak->account.device);
	problem->why = mr_region_print(region,
				       "At its peak, after %s, the program holds %s of the %s of "
				       "%s.%s",
				       mr_case_time(of, peak->ns - of->model->survey->first_ns),
				       share, all, problem->where, holder ? holder : "");
	return holder && problem->cost && problem->why ? 0 : -ENOMEM;
}

static int describe_failed(struct mr_case *of, struct failed failed, const struct peak *peak,
			   struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	const struct mr_calls *calls = &of->cut->calls;
	const char *function = mr_model_text(of->model, calls->function[failed.last]);
	const char *holder = describe_holder(of, peak);
	char held[MR_FORMAT_BYTES];

	mr_format_bytes(held, (int64_t)peak->bytes);
	problem->title = "Allocations fail";
	problem->is_urgent = true;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->cost = mr_region_print(region, "%u allocation%s failed", failed.count,
					mr_plural(failed.count));
	problem->where = function;
	problem->why = mr_region_print(
		region,
		"The runtime could not allocate memory: %s returned %lld, the last time "
		"after %s.%s%s%s%s",
		function, (long long)calls->result[failed.last],
		mr_case_time(of, calls->start_ns[failed.last] - of->model->survey->first_ns),
		peak->bytes ? " At its peak the program holds " : "", peak->bytes ? held : "",
		peak->bytes ? "." : "", holder ? holder : "");
	return holder && problem->cost && problem->why ? 0 : -ENOMEM;
}

int mr_find_memory_peak(struct mr_case *of, struct mr_problem *problem)
{
	mr_auto(free) bool *is_allocator = mr_find_allocators(of->model);
	struct peak peak;

	if (!is_allocator || find_peak(of, &peak) < 0)
		return -ENOMEM;
	struct failed failed = find_failed(of, is_allocator);
	if (failed.count)
		return describe_failed(of, failed, &peak, problem);
	if ((unsigned __int128)peak.bytes * 100 <
		    (unsigned __int128)peak.capacity_bytes * FULL_PERCENT ||
	    peak.capacity_bytes == 0)
		return 0;
	return describe_full(of, &peak, problem);
}
