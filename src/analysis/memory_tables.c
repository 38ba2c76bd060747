/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory_tables.h"

#include <string.h>

#include "analysis/device_time.h"
#include "analysis/memory_holders.h"
#include "base/format.h"

enum {
	BRIEF_ROWS = 5,
};

static const struct mr_finding_column columns[] = {
	{"operation", "operation", MR_UNIT_TEXT, 0},
	{"type", "type", MR_UNIT_TEXT, 0},
	{"scope", "scope", MR_UNIT_TEXT, MR_COLUMN_DATA},
	{"function", "function", MR_UNIT_TEXT, MR_COLUMN_SPARE},
	{"pieces", "pieces", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"bytes", "bytes", MR_UNIT_BYTES, MR_COLUMN_BREAKDOWN},
};

/* What the name of a node has before its last slash. NULL without memory. */
static const char *scope_of(struct mr_findings *findings, const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? mr_region_print(&findings->region, "%.*s", (int)(slash - name), name) : "";
}

static int fill_row(const struct mr_model *model, struct mr_findings *findings,
		    const struct mr_memory_holder *holder, union mr_value *cells)
{
	const char *name = mr_model_text(model, holder->name);

	cells[0].text = holder->name ? name : "(for no operation)";
	cells[1].text = mr_model_text(model, holder->type);
	cells[2].text = scope_of(findings, name);
	cells[3].text = mr_model_text(model, holder->function);
	cells[4].number = holder->count;
	cells[5].number = holder->bytes;
	return cells[2].text ? 0 : -ENOMEM;
}

static int add_table(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, const char *id, const char *title,
		     const struct mr_memory_holders *holders)
{
	uint32_t count = (uint32_t)holders->list.count;
	struct mr_finding_table *table = mr_finding_add_table(findings, finding, id, title, columns,
							      mr_countof(columns), count);
	int result = table ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = fill_row(model, findings, &holders->list.items[i],
				  mr_finding_value(table, i, 0));
	if (result < 0)
		return result;
	table->brief_rows = BRIEF_ROWS;
	table->wholes[5] = holders->bytes;
	mr_finding_check(table);
	return 0;
}

/* "host", or the device; with the pid where there are several processes. */
static const char *name_account(const struct mr_model *model, struct mr_findings *findings,
				const struct mr_memory_account *account)
{
	return mr_region_print(&findings->region, "%s, pid %u, %s",
			       account->device ? mr_device_name(model, account->device) : "host",
			       model->survey->processes.items[account->process].pid,
			       account->teller == MR_MEMORY_RUNTIME ? "runtime" : "framework");
}

static int tell_growth(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding, const struct mr_memory_account *account,
		       const char *where, const struct mr_memory_growth *growth)
{
	mr_auto(memory_holders) struct mr_memory_holders grown = {0};
	char bytes[MR_FORMAT_BYTES];
	int result = mr_memory_holders_compare(mr_model_whole(model), account, growth->first_ns,
					       growth->last_ns, &grown);
	const char *title =
		mr_region_print(&findings->region, "Who holds more after the steps: %s", where);

	if (result < 0 || !title)
		return -ENOMEM;
	mr_format_bytes(bytes, growth->bytes_per_step);
	const char *holder = grown.list.count && grown.list.items[0].name
				     ? mr_model_text(model, grown.list.items[0].name)
				     : "allocations for no operation";
	result = mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
				"Memory (%s) grows by %s in each step, for %u steps; most of it is "
				"held by %s.",
				where, bytes, growth->step_count, holder);
	return result < 0 ? result : add_table(model, findings, finding, "growth", title, &grown);
}

int mr_memory_tell(const struct mr_model *model, struct mr_findings *findings,
		   struct mr_finding *finding, uint32_t account, int64_t peak_ns,
		   const struct mr_memory_growth *growth)
{
	const struct mr_memory_account of = mr_memory_account(model, account);
	const char *where = name_account(model, findings, &of);
	const char *title = where ? mr_region_print(&findings->region,
						    "Who holds memory at the peak: %s", where)
				  : NULL;
	mr_auto(memory_holders) struct mr_memory_holders holders = {0};
	int result = title ? mr_memory_holders_make(mr_model_whole(model), &of, peak_ns, &holders)
			   : -ENOMEM;

	if (result == 0 && holders.list.count)
		result = add_table(model, findings, finding, "holders", title, &holders);
	if (result == 0 && growth->is_growing)
		result = tell_growth(model, findings, finding, &of, where, growth);
	return result;
}
