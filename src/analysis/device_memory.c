/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that runtimes and frameworks report: how much each process held on each device at most, when, and at
 * the end. A window begins with what was live before it:
 *
 *     live bytes   ┌───┐   ┌───────┐                  what the last event before the window says, then
 *              ────┘   └───┘   ├───┴──────┤ window    what those in it say
 */
#include "analysis/analysis.h"

#include "analysis/device_time.h"
#include "analysis/memory_capacity.h"
#include "analysis/memory_tables.h"
#include "base/error.h"
#include "model/memory_accounts.h"

static const struct mr_finding_column columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"teller", "reported by", MR_UNIT_TEXT, 0},
	{"allocations", "allocations", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"allocated_bytes", "allocated", MR_UNIT_BYTES, MR_COLUMN_SUM},
	{"frees", "frees", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"peak_bytes", "peak", MR_UNIT_BYTES, 0},
	{"peak_after_ns", "peak after", MR_UNIT_NS, 0},
	{"capacity_bytes", "device has", MR_UNIT_BYTES, MR_COLUMN_RARE},
	{"live_bytes", "live at the end", MR_UNIT_BYTES, 0},
	{"growth_bytes", "growth per step", MR_UNIT_BYTES, MR_COLUMN_RARE},
};

struct account {
	uint32_t allocations;
	uint32_t frees;
	uint64_t allocated_bytes;
	struct mr_memory_peak peak;
	uint64_t live_bytes;
	int64_t last_ns; /* MR_NO_TIME: nothing was reported yet */
	struct mr_memory_growth growth;
};

/* ---- accounts ------------------------------------------------------------------------------------------- */

/* Of events at the same time the model has taken the first row first. */
static void go_on(const struct mr_memory *memory, uint32_t row, struct account *account)
{
	if (memory->start_ns[row] < account->last_ns)
		return;
	account->live_bytes = memory->live_bytes[row];
	account->last_ns = memory->start_ns[row];
}

/* Rows before the window, which are not in a cut, say what was live when it began. */
static void begin(const struct mr_model *model, struct account *accounts, uint32_t account_count)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_memory *memory = &whole->memory;
	int64_t first_ns = mr_model_window(model).first_ns;

	for (uint32_t i = 0; i < account_count; i++)
		accounts[i].last_ns = MR_NO_TIME;
	for (uint32_t row = 0; model->whole && row < memory->table.count; row++)
		if (memory->start_ns[row] < first_ns)
			go_on(memory, row, &accounts[mr_memory_account_of(whole, row)]);
}

static void enter(const struct mr_memory *memory, uint32_t row, struct account *account)
{
	account->frees += memory->is_free[row];
	account->allocations += !memory->is_free[row];
	if (!memory->is_free[row] && !memory->parent[row])
		account->allocated_bytes += memory->bytes[row];
	go_on(memory, row, account);
}

/* Of a part of the trace also what is live all the time, although no event of it says so. */
static bool is_shown(const struct mr_model *model, uint32_t number, const struct account *account)
{
	const bool *processes = model->part.processes;

	if (processes && !processes[mr_memory_account(model, number).process])
		return false;
	return account->allocations + account->frees || account->live_bytes;
}

static void fill_row(const struct mr_model *model, uint32_t number, const struct account *account,
		     union mr_value *cells)
{
	const struct mr_memory_account of = mr_memory_account(model, number);
	bool is_runtime = of.teller == MR_MEMORY_RUNTIME;

	(cells++)->text = of.device    ? mr_device_name(model, of.device)
			  : is_runtime ? "(not known)"
				       : "host";
	(cells++)->number = model->survey->processes.items[of.process].pid;
	(cells++)->text = is_runtime ? "runtime" : "framework";
	(cells++)->number = account->allocations;
	(cells++)->number = (int64_t)account->allocated_bytes;
	(cells++)->number = account->frees;
	(cells++)->number = (int64_t)account->peak.bytes;
	(cells++)->number = account->peak.ns - model->survey->first_ns;
	(cells++)->number = (int64_t)mr_device_capacity(model, of.device);
	(cells++)->number = (int64_t)account->live_bytes;
	(cells++)->number = account->growth.is_growing ? account->growth.bytes_per_step : 0;
}

static uint32_t fill(const struct mr_model *model, struct account *accounts, uint32_t account_count)
{
	const struct mr_memory *memory = &model->memory;
	uint32_t row_count = 0;

	begin(model, accounts, account_count);
	for (uint32_t row = 0; row < memory->table.count; row++)
		enter(memory, row, &accounts[mr_memory_account_of(model, row)]);
	for (uint32_t i = 0; i < account_count; i++)
		row_count += is_shown(model, i, &accounts[i]);
	return row_count;
}

static int measure(const struct mr_model *model, struct account *accounts, uint32_t account_count)
{
	mr_auto(free) struct mr_memory_growth *growths = calloc(account_count + 1, sizeof *growths);
	mr_auto(free) struct mr_memory_peak *peaks = calloc(account_count + 1, sizeof *peaks);
	int result = growths && peaks ? mr_memory_growth_make(model, growths) : -ENOMEM;

	if (result < 0)
		return result;
	mr_memory_peaks_find(model, peaks);
	for (uint32_t i = 0; i < account_count; i++) {
		accounts[i].growth = growths[i];
		accounts[i].peak = peaks[i];
	}
	return 0;
}

static int add_accounts(const struct mr_model *model, struct mr_findings *findings,
			struct mr_finding *finding, const struct account *accounts,
			uint32_t account_count, uint32_t row_count)
{
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, "memory", "By device", columns, mr_countof(columns), row_count);
	uint32_t row = 0;

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < account_count; i++)
		if (is_shown(model, i, &accounts[i]))
			fill_row(model, i, &accounts[i], mr_finding_value(table, row++, 0));
	return 0;
}

int mr_analyse_memory(const struct mr_model *model, struct mr_findings *findings)
{
	uint32_t account_count = mr_memory_account_count(model);
	mr_auto(free) struct account *accounts = calloc(account_count + 1, sizeof *accounts);

	if (!accounts)
		return mr_fail_errno(ENOMEM, "analyse the memory");
	uint32_t row_count = fill(model, accounts, account_count);
	if (row_count == 0)
		return 0;
	struct mr_finding *finding = mr_finding_begin(findings, "memory");
	int result = finding ? measure(model, accounts, account_count) : -ENOMEM;
	if (result == 0)
		result = add_accounts(model, findings, finding, accounts, account_count, row_count);
	for (uint32_t i = 0; result == 0 && i < account_count; i++)
		if (is_shown(model, i, &accounts[i]))
			result = mr_memory_tell(model, findings, finding, i, accounts[i].peak.ns,
						&accounts[i].growth);
	return result < 0 ? mr_fail_errno(-result, "analyse the memory") : 0;
}
