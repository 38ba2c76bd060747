/* SPDX-License-Identifier: Apache-2.0
 *
 * How long devices exchanged data with others, and how much of that was hidden behind other device kernels:
 *
 *     compute          ├─────────────┤        ├──────┤
 *     communication          ├──────────────────────────────┤
 *                            ├hidden─┤exposed ├hidden┤ exp. ┤
 */
#include "analysis/analysis.h"

#include <stdlib.h>

#include "analysis/device_time.h"
#include "analysis/finding/tally.h"
#include "base/error.h"
#include "base/format.h"

static const struct mr_finding_column device_columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"device_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"span_ns", "span", MR_UNIT_NS, 0},
	{"compute_ns", "compute", MR_UNIT_NS, 0},
	{"communication_ns", "communication", MR_UNIT_NS, 0},
	{"exposed_ns", "exposed", MR_UNIT_NS, 0},
	{"exposed_permille", "%", MR_UNIT_PERMILLE, 0},
	{"hidden_ns", "hidden", MR_UNIT_NS, 0},
};
static const struct mr_finding_column name_columns[] = {
	{"name", "device kernel", MR_UNIT_TEXT, 0},
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"max_ns", "max", MR_UNIT_NS, 0},
	{"bytes", "bytes", MR_UNIT_BYTES, MR_COLUMN_SUM | MR_COLUMN_RARE},
	{"bytes_per_second", "bandwidth", MR_UNIT_BYTES_PER_SECOND, MR_COLUMN_RARE},
};

/* A device kernel. */
struct work {
	uint32_t device;
	int64_t start_ns;
	int64_t end_ns;
	bool is_communication;
};

struct share {
	uint32_t device;
	int64_t first_ns;
	int64_t end_ns;
	int64_t compute_ns;
	int64_t communication_ns;
	int64_t busy_ns; /* with either */
};

struct study {
	const struct mr_model *model;
	mr_vec(struct work) work;    /* by device and time */
	mr_vec(struct share) shares; /* of devices that communicate */
	struct mr_tally tally;       /* by name */
	mr_vec(uint64_t) bytes;      /* by entry of the tally; 0: not known of all */
};

static bool is_communication(const struct mr_device_operations *operations, uint32_t row)
{
	return operations->purpose[row] == MR_PURPOSE_COMMUNICATE;
}

static int compare(const void *left, const void *right)
{
	const struct work *a = left, *b = right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int add_name(struct study *study, uint32_t row)
{
	const struct mr_device_operations *operations = &study->model->device_operations;
	uint32_t name = operations->name[row], known = (uint32_t)study->bytes.count, entry;
	int result =
		mr_tally_add(&study->tally, &name, sizeof name, operations->duration_ns[row], row);

	if (result < 0 || mr_strings_intern(&study->tally.keys, &name, sizeof name, &entry) < 0)
		return -ENOMEM;
	if (entry == known)
		return mr_vec_push(&study->bytes, operations->bytes[row]);
	study->bytes.items[entry] += operations->bytes[row];
	return 0;
}

static int collect(struct study *study)
{
	const struct mr_device_operations *operations = &study->model->device_operations;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++) {
		if (operations->kind[row] != MR_operation_kind_kernel ||
		    !mr_operation_is_timed(study->model, row))
			continue;
		const struct work work = {
			mr_operation_device(study->model, row), operations->start_ns[row],
			mr_operation_end_ns(study->model, row), is_communication(operations, row)};

		result = mr_vec_push(&study->work, work);
		if (result == 0 && work.is_communication)
			result = add_name(study, row);
	}
	if (study->work.count)
		qsort(study->work.items, study->work.count, sizeof *study->work.items, compare);
	return result;
}

/* Adds what an interval covers beyond `*until_ns`, which moves on. */
static void cover(int64_t *total_ns, int64_t *until_ns, const struct work *work)
{
	int64_t from_ns = mr_max(*until_ns, work->start_ns);

	if (from_ns < work->end_ns) {
		*total_ns += work->end_ns - from_ns;
		*until_ns = work->end_ns;
	}
}

/* From that place on the work of one device; returns where that of the next begins. */
static size_t take_share(const struct study *study, size_t i, struct share *share)
{
	const struct work *work = study->work.items;
	int64_t compute_until = INT64_MIN, communication_until = INT64_MIN, until = INT64_MIN;

	*share = (struct share){
		.device = work[i].device, .first_ns = work[i].start_ns, .end_ns = work[i].end_ns};
	for (; i < study->work.count && work[i].device == share->device; i++) {
		share->end_ns = mr_max(share->end_ns, work[i].end_ns);
		cover(&share->busy_ns, &until, &work[i]);
		if (work[i].is_communication)
			cover(&share->communication_ns, &communication_until, &work[i]);
		else
			cover(&share->compute_ns, &compute_until, &work[i]);
	}
	return i;
}

static int take_shares(struct study *study)
{
	struct share share;
	int result = 0;

	for (size_t i = 0; result == 0 && i < study->work.count;) {
		i = take_share(study, i, &share);
		if (study->model->whole) {
			share.first_ns = study->model->part.window.first_ns;
			share.end_ns = study->model->part.window.last_ns;
		}
		if (share.communication_ns)
			result = mr_vec_push(&study->shares, share);
	}
	return result;
}

/* ---- in words and tables -------------------------------------------------------------------------- */

static int say_share(const struct study *study, struct mr_findings *findings,
		     struct mr_finding *finding, const struct share *share)
{
	int64_t span_ns = share->end_ns - share->first_ns;
	int64_t exposed_ns = share->busy_ns - share->compute_ns;
	char compute[MR_FORMAT_BYTES], all[MR_FORMAT_BYTES], exposed[MR_FORMAT_BYTES];

	mr_format_percent(compute, share->compute_ns, span_ns);
	mr_format_percent(all, share->communication_ns, span_ns);
	mr_format_percent(exposed, exposed_ns, span_ns);
	return mr_finding_say(
		findings, finding, MR_SEVERITY_NOTE,
		"%s computed %s of the time and exchanged data with other devices %s; "
		"%s while it computed nothing.",
		mr_device_name(study->model, share->device), compute, all, exposed);
}

static int add_devices(const struct study *study, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "devices", "By device", device_columns,
				     mr_countof(device_columns), (uint32_t)study->shares.count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < study->shares.count; i++) {
		const struct share *share = &study->shares.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);
		int64_t span_ns = share->end_ns - share->first_ns;
		int64_t exposed_ns = share->busy_ns - share->compute_ns;

		(cells++)->text = mr_device_name(study->model, share->device);
		(cells++)->number = share->device;
		(cells++)->number = span_ns;
		(cells++)->number = share->compute_ns;
		(cells++)->number = share->communication_ns;
		(cells++)->number = exposed_ns;
		(cells++)->number = mr_permille(exposed_ns, span_ns);
		(cells++)->number = share->communication_ns - exposed_ns;
	}
	return 0;
}

static int64_t bandwidth(uint64_t bytes, int64_t ns)
{
	unsigned __int128 rate = ns > 0 ? (unsigned __int128)bytes * 1000000000 / (uint64_t)ns : 0;

	return rate > INT64_MAX ? INT64_MAX : (int64_t)rate;
}

static int add_names(const struct study *study, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	mr_auto(free) struct mr_sort_item *order = NULL;
	uint32_t count = (uint32_t)study->tally.entries.count;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "names", "By device kernel", name_columns,
				     mr_countof(name_columns), count);

	if (!table || mr_tally_sort(&study->tally, &order) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t entry = order[i].index, name;
		const struct mr_tally_entry *sums = &study->tally.entries.items[entry];
		uint64_t bytes = study->bytes.items[entry];
		union mr_value *cells = mr_finding_value(table, i, 0);

		memcpy(&name, mr_tally_key(&study->tally, entry), sizeof name);
		cells[0].text = mr_model_text(study->model, name);
		cells[1].number = (int64_t)sums->count;
		cells[2].number = sums->total_ns;
		cells[3].number = sums->max_ns;
		cells[4].number = (int64_t)mr_min(bytes, (uint64_t)INT64_MAX);
		cells[5].number = bandwidth(bytes, sums->total_ns);
		mr_ns_add(&table->wholes[2], sums->total_ns);
	}
	mr_finding_check(table);
	return 0;
}

static int tell(const struct study *study, struct mr_findings *findings)
{
	struct mr_finding *finding = mr_finding_begin(findings, "communication");
	int result = finding ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && i < study->shares.count; i++)
		result = say_share(study, findings, finding, &study->shares.items[i]);
	if (result == 0)
		result = add_devices(study, findings, finding);
	return result < 0 ? result : add_names(study, findings, finding);
}

int mr_analyse_communication(const struct mr_model *model, struct mr_findings *findings)
{
	struct study study = {.model = model};
	int result = collect(&study);

	if (result == 0 && study.tally.entries.count)
		result = take_shares(&study);
	if (result == 0 && study.shares.count)
		result = tell(&study, findings);
	mr_vec_free(&study.work);
	mr_vec_free(&study.shares);
	mr_vec_free(&study.bytes);
	mr_tally_free(&study.tally);
	return result < 0 ? mr_fail_errno(-result, "analyse the communication") : 0;
}
