/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies: the device copies data to or from the host, computes nothing meanwhile, and the step waits for that. A call that
 * returns when the copy is done belongs to the copy, as long as no device kernel runs. It says what makes the copies slow:
 * they are small, the memory of the host is pageable, or the same memory is copied again and again.
 */
#include <string.h>

#include "analysis/finding/tally.h"
#include "analysis/problem/exposed.h"
#include "base/format.h"
#include "base/sort.h"

enum {
	SMALL_BYTES = 64 << 10, /* a copy of so many takes hardly longer than one of a byte */
	FEW_COPIES = 100,       /* so many small ones are worth a word */
	FEWEST_AGAIN = 3,       /* once or twice is chance */
};

struct copies {
	uint32_t count;
	uint32_t to_device_count;
	uint32_t pageable_count;
	uint64_t median_bytes;
	uint64_t bytes;
	uint32_t
		again_count; /* of the same memory, as many bytes, the same way: most of what is copied; or 0 */
	uint64_t again_bytes; /* each time */
};

/* ---- time ----------------------------------------------------------------------------------------- */

/* Is it a launch of a copy that returns when that is done? */
static bool is_blocking_copy(const struct mr_calls *calls, uint32_t call)
{
	switch (calls->kind[call]) {
	case MR_operation_kind_copy_to_device:
	case MR_operation_kind_copy_from_device:
	case MR_operation_kind_copy_on_device:
		return calls->role[call] == MR_CALL_LAUNCH && calls->is_blocking[call];
	default:
		return false;
	}
}

/* A thread is in such a call, and the device does not work. */
static bool is_in_copy(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);
	const struct mr_station *last = mr_last_station(&of->subject, moment);
	const struct mr_calls *calls = &of->model->calls;

	if (last->thread == MR_NO_TRACK && last->link.kind != MR_CAUSE_DISPATCH)
		return false;
	for (uint32_t i = 0; i < moment->station_count; i++)
		for (uint32_t call = stations[i].call; call != MR_NO_ROW;
		     call = calls->parent[call])
			if (is_blocking_copy(calls, call))
				return true;
	return false;
}

/* ---- what is wrong with them ------------------------------------------------------------------------ */

/* What is the same about copies of the same memory; without padding. */
struct again_key {
	uint64_t object;
	uint64_t bytes;
	uint32_t node;
	uint32_t kind;
};

static int add_again(const struct mr_model *model, struct mr_tally *tally, uint32_t row)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t call = operations->call[row];
	const struct again_key key = {
		.object = call == MR_NO_ROW ? 0 : model->calls.object[call],
		.bytes = operations->bytes[row],
		.node = operations->node[row],
		.kind = operations->kind[row],
	};

	return key.object || key.node
		       ? mr_tally_add(tally, &key, sizeof key, (int64_t)key.bytes, row)
		       : 0;
}

static void find_again(const struct mr_case *of, const struct mr_tally *tally,
		       struct copies *copies)
{
	for (uint32_t i = 0; i < tally->entries.count; i++) {
		const struct mr_tally_entry *entry = &tally->entries.items[i];

		if ((uint64_t)entry->total_ns * 2 > copies->bytes && entry->count >= FEWEST_AGAIN &&
		    entry->count * 2 >= of->subject.steps.count) {
			copies->again_count = (uint32_t)entry->count;
			copies->again_bytes = of->cut->device_operations.bytes[entry->longest];
		}
	}
}

static int study_copies(const struct mr_case *of, struct copies *ret_copies)
{
	const struct mr_device_operations *operations = &of->cut->device_operations;
	mr_auto(tally) struct mr_tally tally = {0};
	struct copies copies = {0};
	mr_auto(free) struct mr_sort_item *items =
		malloc((2 * (size_t)operations->table.count + 1) * sizeof *items);

	if (!items)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++) {
		if (operations->process[row] != of->subject.process ||
		    mr_device_role_of(of, of->cut, row) != MR_DEVICE_COPIES)
			continue;
		const char *name = mr_model_text(of->cut, operations->name[row]);
		items[copies.count++] = (struct mr_sort_item){operations->bytes[row], row};
		copies.bytes += operations->bytes[row];
		copies.to_device_count += operations->kind[row] == MR_operation_kind_copy_to_device;
		copies.pageable_count += strstr(name, "Pageable") != NULL;
		if (add_again(of->cut, &tally, row) < 0)
			return -ENOMEM;
	}
	mr_sort(items, items + copies.count, copies.count);
	if (copies.count)
		copies.median_bytes = operations->bytes[items[copies.count / 2].index];
	find_again(of, &tally, &copies);
	*ret_copies = copies;
	return 0;
}

/* What is wrong with most of them, and what helps. */
static const char *judge(struct mr_case *of, const struct copies *copies, const char **ret_remedy)
{
	if (copies->median_bytes < SMALL_BYTES && copies->count >= FEW_COPIES) {
		*ret_remedy = "Put small copies together: one buffer and one copy per step.";
		return " Most of them are small.";
	}
	if (copies->pageable_count * 2 > copies->count) {
		*ret_remedy = "Copy from pinned memory: DataLoader(..., pin_memory=True) and "
			      ".to(device, non_blocking=True).";
		return " Most of them are from or to pageable memory.";
	}
	if (copies->again_count) {
		char bytes[MR_FORMAT_BYTES];

		mr_format_bytes(bytes, (int64_t)copies->again_bytes);
		return mr_region_print(
			&of->findings->region,
			" The same %s are copied %s times: keep them where they are, "
			"if they do not change.",
			bytes, mr_case_count(of, copies->again_count));
	}
	return "";
}

int mr_find_copies(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	char bytes[MR_FORMAT_BYTES], median[MR_FORMAT_BYTES];
	struct copies copies;

	if (mr_claim_exposed(of, MR_DEVICE_COPIES) < 0 || study_copies(of, &copies) < 0)
		return -ENOMEM;
	mr_claim_if(of, is_in_copy);
	mr_format_bytes(bytes, (int64_t)copies.bytes);
	mr_format_bytes(median, (int64_t)copies.median_bytes);
	const char *judgement = judge(of, &copies, &problem->remedy);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = copies.to_device_count * 2 > copies.count ? "copies to the device"
								   : "copies to the host";
	problem->why = mr_region_print(
		region,
		"For %s of the time the device copies and computes nothing: %s copies of %s "
		"each, %s in all.%s",
		mr_case_share(of, mr_claimed_ns(of)), mr_case_count(of, copies.count), median,
		bytes, judgement);
	return judgement && problem->why ? 0 : -ENOMEM;
}
