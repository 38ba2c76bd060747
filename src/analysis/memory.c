/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runtimes and frameworks tell of: how much was live at most, when, and at the end.
 */
#include "analysis/analysis.h"

#include "analysis/device_time.h"
#include "base/error.h"

enum {
	TELLERS = 2
};

static const struct mr_finding_column columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"teller", "told by", MR_UNIT_TEXT, 0},
	{"allocations", "allocations", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"allocated_bytes", "allocated", MR_UNIT_BYTES, MR_COLUMN_SUM},
	{"frees", "frees", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"peak_bytes", "peak", MR_UNIT_BYTES, 0},
	{"peak_after_ns", "peak after", MR_UNIT_NS, 0},
	{"live_bytes", "live at the end", MR_UNIT_BYTES, 0},
};

/* What one teller says of one device. */
struct account {
	uint32_t allocations;
	uint32_t frees;
	uint64_t allocated_bytes;
	uint64_t peak_bytes;
	int64_t peak_ns;
	uint64_t live_bytes;
	int64_t last_ns;
};

static void enter(const struct mr_memory *memory, uint32_t row, struct account *account)
{
	bool is_first = account->allocations + account->frees == 0;
	int64_t start_ns = memory->start_ns[row];
	uint64_t live_bytes = memory->live_bytes[row];

	account->frees += memory->is_free[row];
	account->allocations += !memory->is_free[row];
	if (!memory->is_free[row] && !memory->parent[row])
		account->allocated_bytes += memory->bytes[row];
	if (is_first || live_bytes > account->peak_bytes ||
	    (live_bytes == account->peak_bytes && start_ns < account->peak_ns)) {
		account->peak_bytes = live_bytes;
		account->peak_ns = start_ns;
	}
	/* Of events at the same time the model has taken the first row first. */
	if (is_first || start_ns >= account->last_ns) {
		account->live_bytes = live_bytes;
		account->last_ns = start_ns;
	}
}

static void fill_row(const struct mr_model *model, uint32_t index, const struct account *account,
		     union mr_value *cells)
{
	uint32_t device = index / TELLERS;
	bool is_runtime = index % TELLERS == MR_MEMORY_RUNTIME;

	(cells++)->text = device       ? mr_device_name(model, device)
			  : is_runtime ? "(not known)"
				       : "host";
	(cells++)->number = device ? mr_device_pid(model, device) : MR_NO_VALUE;
	(cells++)->text = is_runtime ? "runtime" : "framework";
	(cells++)->number = account->allocations;
	(cells++)->number = (int64_t)account->allocated_bytes;
	(cells++)->number = account->frees;
	(cells++)->number = (int64_t)account->peak_bytes;
	(cells++)->number = account->peak_ns - model->survey->first_ns;
	(cells++)->number = (int64_t)account->live_bytes;
}

static int add_accounts(const struct mr_model *model, struct mr_findings *findings,
			struct mr_finding *finding)
{
	const struct mr_memory *memory = &model->memory;
	uint32_t account_count = (uint32_t)model->survey->definitions.devices.count * TELLERS;
	mr_auto(free) struct account *accounts = calloc(account_count, sizeof *accounts);
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "memory", "By device", columns,
				     mr_countof(columns), account_count);
	uint32_t row_count = 0;

	if (!accounts || !table)
		return -ENOMEM;
	for (uint32_t row = 0; row < memory->table.count; row++)
		enter(memory, row, &accounts[memory->device[row] * TELLERS + memory->teller[row]]);
	for (uint32_t i = 0; i < account_count; i++)
		if (accounts[i].allocations + accounts[i].frees)
			fill_row(model, i, &accounts[i], mr_finding_value(table, row_count++, 0));
	table->row_count = row_count;
	return 0;
}

int mr_analyse_memory(const struct mr_model *model, struct mr_findings *findings)
{
	if (model->memory.table.count == 0)
		return 0;
	struct mr_finding *finding = mr_findings_add(findings, "memory", "Memory");
	if (!finding || add_accounts(model, findings, finding) < 0)
		return mr_fail_errno(ENOMEM, "analyse the memory");
	return 0;
}
