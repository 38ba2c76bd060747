/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/idle_tables.h"

#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "analysis/finding/tally.h"

enum {
	BRIEF_ROWS = 8,
};

struct study {
	const struct mr_model *model;
	const struct mr_idle *idle;
	const struct mr_step_index *steps;
	struct mr_findings *findings;
	struct mr_finding *finding;
	int64_t idle_ns; /* of all devices */
};

/* ---- by device ---------------------------------------------------------------------------------- */

static void fill_device(const struct mr_model *model, const struct mr_idle_device *device,
			union mr_value *cells)
{
	uint64_t bound_ns = mr_device_bound_ns(model, device->device);
	int64_t span_ns = device->end_ns - device->first_ns;

	(cells++)->number = device->device;
	(cells++)->text = mr_device_name(model, device->device);
	(cells++)->number = mr_device_pid_value(model, device->device);
	(cells++)->number = span_ns;
	(cells++)->number = mr_idle_busy_ns(device);
	(cells++)->number = device->idle_ns;
	(cells++)->number = mr_permille(device->idle_ns, span_ns);
	(cells++)->number = mr_permille(device->explained_ns, device->idle_ns);
	(cells++)->number = device->gap_count;
	(cells++)->number = device->dispatch_ns;
	(cells++)->number = device->dispatch_gaps;
	(cells++)->number = mr_bound_value(model, bound_ns);
}

static int add_devices(const struct study *study)
{
	static const struct mr_finding_column columns[] = {
		{"device_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
		{"device", "device", MR_UNIT_TEXT, 0},
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"span_ns", "span", MR_UNIT_NS, 0},
		{"busy_ns", "busy", MR_UNIT_NS, 0},
		{"idle_ns", "idle", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
		{"idle_permille", "% idle", MR_UNIT_PERMILLE, 0},
		{"explained_permille", "% explained", MR_UNIT_PERMILLE, 0},
		{"gaps", "gaps", MR_UNIT_COUNT, MR_COLUMN_SUM},
		{"dispatch_ns", "dispatch", MR_UNIT_NS, 0},
		{"dispatch_gaps", "known from gaps", MR_UNIT_COUNT, MR_COLUMN_SPARE},
		{"bound_ns", "exact within", MR_UNIT_NS, MR_COLUMN_SPARE},
	};
	uint32_t count = (uint32_t)study->idle->devices.count;
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "devices", "By device",
				     columns, mr_countof(columns), count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		fill_device(study->model, &study->idle->devices.items[i],
			    mr_finding_value(table, i, 0));
	table->wholes[5] = study->idle_ns;
	mr_finding_check(table);
	return 0;
}

/* ---- by cause ----------------------------------------------------------------------------------- */

struct device_causes {
	struct mr_idle_cause *list;
	uint32_t count;
};

static int fill_cause(const struct study *study, const struct mr_idle_device *device,
		      const struct mr_idle_cause *cause, union mr_value *cells)
{
	const struct mr_chains *chains = &study->idle->chains;

	(cells++)->number = device->device;
	(cells++)->text = mr_device_name(study->model, device->device);
	(cells++)->text = mr_cause_name(mr_chain_link(chains, cause->headline)->kind);
	cells->text =
		mr_chain_culprit(study->model, &study->findings->region, chains, cause->headline);
	if (!(cells++)->text)
		return -ENOMEM;
	(cells++)->number = cause->count;
	(cells++)->number = cause->total_ns;
	(cells++)->number = mr_permille(cause->total_ns, device->idle_ns);
	(cells++)->number = cause->max_ns;
	(cells++)->number = mr_bound_value(study->model, cause->uncertain_ns);
	return 0;
}

static int fill_causes(const struct study *study, const struct device_causes *of_devices,
		       uint32_t row_count)
{
	static const struct mr_finding_column columns[] = {
		{"device_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
		{"device", "device", MR_UNIT_TEXT, MR_COLUMN_SPARE},
		{"cause", "cause", MR_UNIT_TEXT, 0},
		{"culprit", "culprit", MR_UNIT_TEXT, 0},
		{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},
		{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
		{"idle_permille", "% of idle", MR_UNIT_PERMILLE, MR_COLUMN_DATA},
		{"max_ns", "longest", MR_UNIT_NS, 0},
		{"uncertain_ns", "give or take", MR_UNIT_NS, MR_COLUMN_RARE},
	};
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "causes", "By cause", columns,
				     mr_countof(columns), row_count);
	uint32_t row = 0;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < study->idle->devices.count; i++)
		for (uint32_t j = 0; j < of_devices[i].count; j++)
			if (fill_cause(study, &study->idle->devices.items[i],
				       &of_devices[i].list[j],
				       mr_finding_value(table, row++, 0)) < 0)
				return -ENOMEM;
	table->wholes[5] = study->idle_ns;
	table->brief_rows = BRIEF_ROWS;
	mr_finding_check(table);
	return 0;
}

static int add_causes(const struct study *study)
{
	size_t device_count = study->idle->devices.count;
	struct device_causes *of_devices = calloc(device_count + 1, sizeof *of_devices);
	uint32_t row_count = 0;
	int result = of_devices ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && i < device_count; i++) {
		const struct mr_idle_device *device = &study->idle->devices.items[i];

		result = mr_idle_causes(study->idle, device->first_piece, device->piece_count,
					&of_devices[i].list, &of_devices[i].count);
		row_count += of_devices[i].count;
	}
	if (result == 0)
		result = fill_causes(study, of_devices, row_count);
	for (size_t i = 0; of_devices && i < device_count; i++)
		free(of_devices[i].list);
	free(of_devices);
	return result;
}

/* ---- by anything -------------------------------------------------------------------------------- */

/* What a piece belongs to; what a table does not divide by is left 0. */
struct piece_key {
	uint32_t device;
	uint32_t chain;
	uint32_t node; /* that launched what did not start */
	uint32_t name; /* string, of an operation that no node launched */
	uint32_t kind; /* of one without name */
	uint32_t thread;
	uint32_t step;
	uint32_t is_operation;
};

static const char *name_operation(const struct mr_model *model, const struct piece_key *key)
{
	if (!key->is_operation)
		return "(nothing came)";
	if (key->node)
		return mr_model_text(model, model->survey->definitions.nodes.items[key->node].name);
	return key->name ? mr_model_text(model, key->name)
			 : mr_enum_value_name("operation_kind", key->kind);
}

static void set_operation(const struct mr_model *model, uint32_t operation, struct piece_key *key)
{
	const struct mr_device_operations *operations = &model->device_operations;

	if (operation == MR_NO_ROW)
		return;
	key->is_operation = true;
	if (operations->node[operation])
		key->node = operations->node[operation];
	else if (operations->name[operation])
		key->name = operations->name[operation];
	else
		key->kind = operations->kind[operation];
}

const char *mr_operation_text(const struct mr_model *model, uint32_t operation)
{
	struct piece_key key = {0};

	set_operation(model, operation, &key);
	return name_operation(model, &key);
}

/* What to divide by. */
enum {
	BY_DEVICE = 1 << 0,
	BY_CAUSE = 1 << 1,
	BY_CHAIN = 1 << 2,
	BY_OPERATION = 1 << 3,
	BY_THREAD = 1 << 4,
	BY_STEP = 1 << 5,
};

static struct piece_key make_key(const struct study *study, const struct mr_idle_device *device,
				 const struct mr_idle_piece *piece, uint32_t by)
{
	struct piece_key key = {0};

	if (by & BY_DEVICE)
		key.device = device->device;
	if (by & BY_CAUSE)
		key.chain = mr_idle_headline(study->idle, piece->chain);
	if (by & BY_CHAIN)
		key.chain = piece->chain;
	if (by & BY_OPERATION)
		set_operation(study->model, piece->operation, &key);
	if (by & BY_THREAD)
		key.thread = piece->thread;
	if (by & BY_STEP)
		key.step = piece->operation == MR_NO_ROW
				   ? MR_NO_ROW
				   : study->model->device_operations.step_row[piece->operation];
	return key;
}

static union mr_value *name_thread(const struct mr_model *model, uint32_t thread,
				   union mr_value *cells)
{
	bool is_known = thread != MR_NO_TRACK;

	(cells++)->text = is_known ? mr_track_text(model, thread) : "(the device)";
	(cells++)->number = is_known ? mr_track_pid(model, thread) : MR_NO_VALUE;
	(cells++)->number = is_known ? model->survey->tracks.items[thread].tid : MR_NO_VALUE;
	return cells;
}

/* Fills the cells that name a key, in the order of the bits. NULL without memory. */
static union mr_value *name_key(const struct study *study, const struct piece_key *key, uint32_t by,
				union mr_value *cells)
{
	struct mr_region *region = &study->findings->region;
	const struct mr_chains *chains = &study->idle->chains;

	if (by & BY_DEVICE) {
		(cells++)->number = key->device;
		(cells++)->text = mr_device_name(study->model, key->device);
	}
	if (by & BY_CAUSE) {
		(cells++)->text = mr_cause_name(mr_chain_link(chains, key->chain)->kind);
		cells->text = mr_chain_culprit(study->model, region, chains, key->chain);
		if (!(cells++)->text)
			return NULL;
	}
	if (by & BY_CHAIN) {
		cells->text = mr_chain_text(study->model, region, chains, key->chain);
		if (!(cells++)->text)
			return NULL;
	}
	if (by & BY_OPERATION)
		(cells++)->text = name_operation(study->model, key);
	if (by & BY_THREAD)
		cells = name_thread(study->model, key->thread, cells);
	if (by & BY_STEP)
		(cells++)->number =
			key->step == MR_NO_ROW
				? MR_NO_VALUE
				: (int64_t)study->steps->list.steps.items[key->step].number;
	return cells;
}

struct division {
	const char *id;
	const char *title;
	const struct mr_finding_column *columns;
	uint32_t column_count;
	uint32_t by;
};

static int add_up(const struct study *study, uint32_t by, struct mr_tally *tally)
{
	for (size_t i = 0; i < study->idle->devices.count; i++) {
		const struct mr_idle_device *device = &study->idle->devices.items[i];

		for (uint32_t j = 0; j < device->piece_count; j++) {
			uint32_t number = device->first_piece + j;
			const struct mr_idle_piece *piece = &study->idle->pieces.items[number];
			const struct piece_key key = make_key(study, device, piece, by);

			if (mr_tally_add(tally, &key, sizeof key, piece->duration_ns, number) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int divide(const struct study *study, const struct division *division,
		  struct mr_finding_table **ret_table)
{
	mr_auto(tally) struct mr_tally tally = {0};
	mr_auto(free) struct mr_sort_item *order = NULL;

	if (add_up(study, division->by, &tally) < 0 || mr_tally_sort(&tally, &order) < 0)
		return -ENOMEM;
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, division->id, division->title, division->columns,
		division->column_count, (uint32_t)tally.entries.count);
	if (!table)
		return -ENOMEM;
	for (uint32_t row = 0; row < table->row_count; row++) {
		const struct mr_tally_entry *entry = &tally.entries.items[order[row].index];
		union mr_value *cells = name_key(study, mr_tally_key(&tally, order[row].index),
						 division->by, mr_finding_value(table, row, 0));

		if (!cells)
			return -ENOMEM;
		cells[0].number = (int64_t)entry->count;
		cells[1].number = entry->total_ns;
		cells[2].number = entry->max_ns;
	}
	table->wholes[division->column_count - 2] = study->idle_ns;
	table->brief_rows = BRIEF_ROWS;
	mr_finding_check(table);
	*ret_table = table;
	return 0;
}

/* Chains of one link are what the table of causes says. */
static bool has_long_chains(const struct mr_chains *chains)
{
	for (uint32_t i = 0; i < mr_strings_count(&chains->links); i++)
		if (mr_chain_link(chains, i)->next != MR_NO_CHAIN)
			return true;
	return false;
}

/* clang-format off */
#define CAUSE_COLUMNS \
	{"cause", "cause", MR_UNIT_TEXT, 0}, \
	{"culprit", "culprit", MR_UNIT_TEXT, 0}
#define OPERATION_COLUMN \
	{"operation", "operation", MR_UNIT_TEXT, 0}
#define THREAD_COLUMNS \
	{"thread", "thread", MR_UNIT_TEXT, 0}, \
	{"pid", "pid", MR_UNIT_NUMBER, 0}, \
	{"tid", "tid", MR_UNIT_NUMBER, 0}
#define STEP_COLUMN \
	{"step", "step", MR_UNIT_NUMBER, 0}
/* clang-format on */

static int add_divisions(const struct study *study)
{
	static const struct mr_finding_column by_chain[] = {
		{"chain", "chain of causes", MR_UNIT_TEXT, 0}, MR_TALLY_COLUMNS};
	static const struct mr_finding_column by_operation[] = {OPERATION_COLUMN, MR_TALLY_COLUMNS};
	static const struct mr_finding_column by_thread[] = {THREAD_COLUMNS, MR_TALLY_COLUMNS};
	static const struct mr_finding_column by_step[] = {STEP_COLUMN, MR_TALLY_COLUMNS};
	static const struct mr_finding_column by_all[] = {
		{"device_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
		{"device", "device", MR_UNIT_TEXT, 0},
		CAUSE_COLUMNS,
		OPERATION_COLUMN,
		THREAD_COLUMNS,
		STEP_COLUMN,
		MR_TALLY_COLUMNS,
	};
	static const struct division divisions[] = {
		{"by_chain", "By chain", by_chain, mr_countof(by_chain), BY_CHAIN},
		{"by_operation", "By the operation that did not start yet", by_operation,
		 mr_countof(by_operation), BY_OPERATION},
		{"by_thread", "By thread", by_thread, mr_countof(by_thread), BY_THREAD},
		{"by_step", "By step", by_step, mr_countof(by_step), BY_STEP},
		{"by_all", "By cause, operation, thread and step", by_all, mr_countof(by_all),
		 BY_DEVICE | BY_CAUSE | BY_OPERATION | BY_THREAD | BY_STEP},
	};

	for (size_t i = 0; i < mr_countof(divisions); i++) {
		struct mr_finding_table *table;

		if (divisions[i].by == BY_STEP && study->steps->list.steps.count == 0)
			continue;
		if (divide(study, &divisions[i], &table) < 0)
			return -ENOMEM;
		table->is_repetition =
			divisions[i].columns == by_all ||
			(divisions[i].by == BY_CHAIN && !has_long_chains(&study->idle->chains));
	}
	return 0;
}

int mr_idle_tabulate(const struct mr_model *model, const struct mr_idle *idle,
		     const struct mr_step_index *steps, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	struct study study = {model, idle, steps, findings, finding, 0};

	for (size_t i = 0; i < idle->devices.count; i++)
		study.idle_ns += idle->devices.items[i].idle_ns;
	if (add_devices(&study) < 0 || add_causes(&study) < 0 || add_divisions(&study) < 0)
		return -ENOMEM;
	return 0;
}
