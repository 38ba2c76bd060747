/* SPDX-License-Identifier: Apache-2.0
 *
 * What the devices did: busy and idle, queue by queue, and how much of the copying was hidden.
 */
#include "analysis/analysis.h"

#include <assert.h>
#include <inttypes.h>

#include "analysis/device_time.h"
#include "base/error.h"
#include "base/sort.h"

enum {
	EVIDENCE = 3,
	STATES = 3,
};

static const struct mr_finding_column device_columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"device_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"kind", "kind", MR_UNIT_TEXT, MR_COLUMN_SPARE},
	{"queues", "queues", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
	{"operations", "operations", MR_UNIT_COUNT, 0},
	{"span_ns", "span", MR_UNIT_NS, 0},
	{"busy_ns", "busy", MR_UNIT_NS, 0},
	{"busy_permille", "%", MR_UNIT_PERMILLE, 0},
	{"compute_ns", "device kernels", MR_UNIT_NS, 0},
	{"transfer_ns", "copies", MR_UNIT_NS, 0},
	{"hidden_ns", "hidden", MR_UNIT_NS, 0},
	{"exposed_ns", "exposed", MR_UNIT_NS, 0},
	{"idle_ns", "idle", MR_UNIT_NS, 0},
	{"longest_idle_ns", "longest idle", MR_UNIT_NS, MR_COLUMN_SPARE},
	{"bound_ns", "exact within", MR_UNIT_NS, MR_COLUMN_SPARE},
};
static const struct mr_finding_column state_columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"state", "state", MR_UNIT_TEXT, 0},
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
};
static const struct mr_finding_column queue_columns[] = {
	{"queue", "queue", MR_UNIT_TEXT, 0},
	{"device", "device", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"order", "order", MR_UNIT_TEXT, 0},
	{"operations", "operations", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"busy_ns", "busy", MR_UNIT_NS, 0},
	{"busy_permille", "%", MR_UNIT_PERMILLE, 0},
	{"empty_ns", "empty", MR_UNIT_NS, 0},
	{"compute_ns", "device kernels", MR_UNIT_NS, 0},
	{"transfer_ns", "copies", MR_UNIT_NS, 0},
};

/* A device that did something. Its queues are queues[first_queue .. first_queue + queue_count). */
struct device {
	uint32_t device;
	uint32_t first_queue;
	uint32_t queue_count;
	struct mr_device_time time;
};

struct study {
	const struct mr_model *model;
	const struct mr_model *all; /* the same with all processes, as they share devices */
	struct mr_findings *findings;
	struct mr_finding *finding;
	uint32_t *queues; /* by device */
	uint32_t queue_count;
	struct device *devices; /* the longest busy first */
	uint32_t device_count;
};

/* ---- taking the times ---------------------------------------------------------------------------- */

/* In a part of the trace a device can be idle all the time. */
static bool is_used(const struct mr_model *model, uint32_t queue)
{
	const uint32_t *rows = mr_queue_rows(model, queue);
	const uint32_t *all_rows = mr_queue_rows(mr_model_whole(model), queue);
	uint32_t process = model->survey->definitions.queues.items[queue].process;

	return rows[0] < rows[1] || (all_rows[0] < all_rows[1] &&
				     (!model->part.processes || model->part.processes[process]));
}

/* The queues that have operations, those of one device together. */
static int list_queues(struct study *study)
{
	const struct mr_definitions *definitions = &study->model->survey->definitions;
	size_t count = definitions->queues.count;
	mr_auto(free) struct mr_sort_item *items = malloc(2 * count * sizeof *items);

	study->queues = malloc(count * sizeof *study->queues);
	study->devices = calloc(count, sizeof *study->devices);
	if (!items || !study->queues || !study->devices)
		return -ENOMEM;
	for (uint32_t queue = 1; queue < count; queue++)
		if (is_used(study->model, queue))
			items[study->queue_count++] = (struct mr_sort_item){
				mr_device_canonical(study->model,
						    definitions->queues.items[queue].device),
				queue};
	mr_sort(items, items + count, study->queue_count);
	for (uint32_t i = 0; i < study->queue_count; i++) {
		study->queues[i] = items[i].index;
		if (i == 0 || items[i].key != items[i - 1].key)
			study->devices[study->device_count++] =
				(struct device){.device = (uint32_t)items[i].key, .first_queue = i};
		study->devices[study->device_count - 1].queue_count++;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct device *a = left, *b = right;

	if (a->time.busy_ns != b->time.busy_ns)
		return a->time.busy_ns < b->time.busy_ns ? 1 : -1;
	return (a->device > b->device) - (a->device < b->device);
}

/* Also on the queues of processes that are not looked at: then it is not idle. */
static int take_time(const struct study *study, uint32_t *queues, struct device *device)
{
	const struct mr_definitions *definitions = &study->model->survey->definitions;
	uint32_t count = 0;

	for (uint32_t queue = 1; queue < definitions->queues.count; queue++)
		if (mr_device_canonical(study->model, definitions->queues.items[queue].device) ==
		    device->device)
			queues[count++] = queue;
	return mr_device_time_make(study->all, queues, count, &device->time);
}

static int take_times(struct study *study)
{
	mr_auto(free) uint32_t *queues =
		calloc(study->model->survey->definitions.queues.count + 1, sizeof *queues);
	int result = queues ? list_queues(study) : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < study->device_count; i++)
		result = take_time(study, queues, &study->devices[i]);
	if (result == 0)
		qsort(study->devices, study->device_count, sizeof *study->devices, compare);
	return result;
}

/* ---- in words and tables ------------------------------------------------------------------------- */

/* ", 12.3% with copies alone"; nothing where there is nothing to say. NULL without memory. */
static const char *share(const struct study *study, const char *before, int64_t part_ns,
			 int64_t whole_ns, const char *after)
{
	int64_t value = mr_permille(part_ns, whole_ns);

	if (part_ns == 0)
		return "";
	return mr_region_print(&study->findings->region, "%s%" PRId64 ".%" PRId64 "%%%s", before,
			       value / 10, value % 10, after);
}

static int say_times(const struct study *study, const struct device *device)
{
	const struct mr_device_time *time = &device->time;
	int64_t span_ns = mr_device_span_ns(time), exposed_ns = mr_device_exposed_ns(time);
	const char *compute = share(study, ", ", time->compute_ns, span_ns, " with device kernels");
	const char *exposed = share(study, ", ", exposed_ns, span_ns, " with copies alone");
	const char *hidden = share(study, "; copies of another ", time->transfer_ns - exposed_ns,
				   span_ns, " were hidden behind device kernels");
	int64_t busy = mr_permille(time->busy_ns, span_ns);
	bool is_short = span_ns < 1000000000;
	int64_t thousandths = span_ns / (is_short ? 1000 : 1000000);

	if (!compute || !exposed || !hidden)
		return -ENOMEM;
	if (span_ns <= 0)
		return 0;
	return mr_finding_say(study->findings, study->finding, MR_SEVERITY_FINE,
			      "%s was busy %" PRId64 ".%" PRId64 "%% of its %" PRId64 ".%03" PRId64
			      " %s%s%s%s.",
			      mr_device_name(study->model, device->device), busy / 10, busy % 10,
			      thousandths / 1000, thousandths % 1000, is_short ? "ms" : "s",
			      compute, exposed, hidden);
}

static void fill_device(const struct mr_model *model, const struct device *device,
			union mr_value *cells)
{
	const struct mr_device *defined = &model->survey->definitions.devices.items[device->device];
	const struct mr_device_time *time = &device->time;
	uint64_t bound_ns = mr_device_bound_ns(model, device->device);
	int64_t span_ns = mr_device_span_ns(time), exposed_ns = mr_device_exposed_ns(time);

	assert(time->busy_ns <= span_ns && exposed_ns <= time->transfer_ns);
	(cells++)->text = mr_device_name(model, device->device);
	(cells++)->number = device->device;
	(cells++)->number = mr_device_pid_value(model, device->device);
	(cells++)->text = mr_enum_value_name("device_kind", defined->kind);
	(cells++)->number = device->queue_count;
	(cells++)->number = time->operation_count;
	(cells++)->number = span_ns;
	(cells++)->number = time->busy_ns;
	(cells++)->number = mr_permille(time->busy_ns, span_ns);
	(cells++)->number = time->compute_ns;
	(cells++)->number = time->transfer_ns;
	(cells++)->number = time->transfer_ns - exposed_ns;
	(cells++)->number = exposed_ns;
	(cells++)->number = span_ns - time->busy_ns;
	(cells++)->number = time->longest_idle_ns;
	(cells++)->number = mr_bound_value(model, bound_ns);
}

static int add_devices(const struct study *study)
{
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "devices", "By device", device_columns,
		mr_countof(device_columns), study->device_count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < study->device_count; i++)
		fill_device(study->model, &study->devices[i], mr_finding_value(table, i, 0));
	return 0;
}

/* The same as a breakdown of all the time that devices had. */
static int add_states(const struct study *study)
{
	static const char *const names[STATES] = {"device kernels", "copies alone", "idle"};
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "states", "States of devices", state_columns,
		mr_countof(state_columns), STATES * study->device_count);

	if (!table)
		return -ENOMEM;
	table->is_repetition = true;
	for (uint32_t i = 0; i < study->device_count; i++) {
		const struct device *device = &study->devices[i];
		const struct mr_device_time *time = &device->time;
		const int64_t times_ns[STATES] = {time->compute_ns, mr_device_exposed_ns(time),
						  mr_device_span_ns(time) - time->busy_ns};

		for (uint32_t state = 0; state < STATES; state++) {
			union mr_value *cells = mr_finding_value(table, STATES * i + state, 0);

			cells[0].text = mr_device_name(study->model, device->device);
			cells[1].number = mr_device_pid_value(study->model, device->device);
			cells[2].text = names[state];
			cells[3].number = times_ns[state];
		}
		table->wholes[3] =
			(int64_t)((uint64_t)table->wholes[3] + (uint64_t)mr_device_span_ns(time));
	}
	mr_finding_check(table);
	return 0;
}

static int fill_queue(const struct study *study, const struct device *device, uint32_t queue,
		      union mr_value *cells)
{
	const struct mr_queue *defined = &study->model->survey->definitions.queues.items[queue];
	int64_t span_ns = mr_device_span_ns(&device->time);
	struct mr_device_time time;
	int result = mr_device_time_make(study->model, &queue, 1, &time);

	if (result < 0)
		return result;
	(cells++)->text = defined->name ? mr_model_text(study->model, defined->name) : "(no name)";
	(cells++)->text = mr_device_name(study->model, device->device);
	(cells++)->number = mr_device_pid(study->model, defined->device);
	(cells++)->text = mr_enum_value_name("queue_order", defined->order);
	(cells++)->number = time.operation_count;
	(cells++)->number = time.busy_ns;
	(cells++)->number = mr_permille(time.busy_ns, span_ns);
	(cells++)->number = span_ns - time.busy_ns;
	(cells++)->number = time.compute_ns;
	(cells++)->number = time.transfer_ns;
	return 0;
}

static int add_queues(const struct study *study)
{
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "queues", "By queue",
				     queue_columns, mr_countof(queue_columns), study->queue_count);
	uint32_t row = 0;
	int result = table ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < study->device_count; i++) {
		const struct device *device = &study->devices[i];

		for (uint32_t j = 0; result == 0 && j < device->queue_count; j++)
			result = fill_queue(study, device, study->queues[device->first_queue + j],
					    mr_finding_value(table, row++, 0));
	}
	if (result == 0)
		table->is_repetition = study->queue_count == study->device_count;
	return result;
}

static int prove_idle(const struct study *study, const struct device *device)
{
	const struct mr_model *model = study->all;
	uint32_t row = device->time.longest_idle_row;

	if (row == MR_NO_ROW)
		return 0;
	uint32_t name = model->device_operations.name[row];
	uint8_t kind = model->device_operations.kind[row];
	char *what = mr_region_print(&study->findings->region, "%s idle before %s",
				     mr_device_name(model, device->device),
				     name ? mr_model_text(model, name)
					  : mr_enum_value_name("operation_kind", kind));
	if (!what)
		return -ENOMEM;
	return mr_finding_prove(study->finding,
				(struct mr_evidence){
					.what = what,
					.track = model->device_operations.track[row],
					.pid = mr_operation_pid(model, row),
					.start_ns = device->time.longest_idle_start_ns,
					.duration_ns = device->time.longest_idle_ns,
				});
}

static int tell(const struct study *study)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < study->device_count; i++)
		result = say_times(study, &study->devices[i]);
	if (result == 0)
		result = add_devices(study);
	if (result == 0)
		result = add_states(study);
	if (result == 0)
		result = add_queues(study);
	for (uint32_t i = 0; result == 0 && i < study->device_count && i < EVIDENCE; i++)
		result = prove_idle(study, &study->devices[i]);
	return result;
}

int mr_analyse_devices(const struct mr_model *model, struct mr_findings *findings)
{
	struct study study = {.model = model, .all = model, .findings = findings};
	const struct mr_part window = {model->part.window, NULL};
	mr_auto(model) struct mr_model *of_all = NULL;
	int result = 0;

	if (mr_model_whole(model)->device_operations.table.count == 0)
		return 0;
	if (model->part.processes) {
		result = mr_model_cut(model->whole, &window, &of_all);
		study.all = of_all;
	}
	study.finding = mr_finding_begin(findings, "devices");
	if (!study.finding)
		result = -ENOMEM;
	if (result == 0)
		result = take_times(&study);
	if (result == 0)
		result = tell(&study);
	free(study.queues);
	free(study.devices);
	return result < 0 ? mr_fail_errno(-result, "analyse the devices") : 0;
}
