/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations by shape: how much work they are, how fast the device did it, and what part of its limits that is.
 *
 *     device time of an operation   that of all device kernels launched in it; its work counts once
 *     of the limit                  the better of arithmetic and memory, as both cannot be the limit at once
 *
 * Work is what the profile's compiler says of a device operation, or follows from the shapes of the inputs (work.h).
 * Operations that are far from the limits, and take much of the time, are worth a look.
 */
#include "analysis/analysis.h"

#include <stdlib.h>

#include "analysis/device_time.h"
#include "analysis/work.h"
#include "base/error.h"
#include "base/format.h"
#include "base/strings.h"

enum {
	SMALL_NS = 10000,      /* a device needs some work to fill it */
	FAR_PERMILLE = 500,    /* less of the limit is far from it */
	MATTERS_PERMILLE = 20, /* of the time of all device kernels */
	SENTENCES_MAX = 3,
};

static const struct mr_finding_column columns[] = {
	{"operation", "operation", MR_UNIT_TEXT, 0},
	{"shapes", "inputs", MR_UNIT_TEXT, MR_COLUMN_RARE},
	{"device", "device", MR_UNIT_TEXT, MR_COLUMN_SPARE},
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},
	{"total_ns", "device time", MR_UNIT_NS, MR_COLUMN_SUM},
	{"permille", "% of kernels", MR_UNIT_PERMILLE, 0},
	{"gflops_per_second", "GFLOP/s", MR_UNIT_COUNT, MR_COLUMN_RARE},
	{"bytes_per_second", "memory", MR_UNIT_BYTES_PER_SECOND, MR_COLUMN_RARE},
	{"limit_permille", "of limit", MR_UNIT_PERMILLE, 0},
	{"reason", "look at", MR_UNIT_TEXT, 0},
};

/* All executions of one operation with the same inputs on one device. */
struct group {
	uint32_t device;
	uint32_t name;   /* string */
	uint32_t shapes; /* string */
	uint64_t count;
	int64_t total_ns;
	double flops;
	double bytes;
	enum mr_precision precision;
	/* When all is known. */
	int64_t limit_permille; /* MR_NO_VALUE: not known */
	const char *reason;     /* "" if there is none to look at it */
};

struct study {
	const struct mr_model *model;
	struct mr_strings keys; /* of (device, name, shapes) */
	mr_vec(struct group) groups;
	uint8_t *is_counted; /* by execution: its work is */
	int64_t kernels_ns;
};

/* ---- groups -------------------------------------------------------------------------------------------------- */

static struct group *find_group(struct study *study, uint32_t device, uint32_t name,
				uint32_t shapes)
{
	const uint32_t key[] = {device, name, shapes};
	const struct group added = {.device = device, .name = name, .shapes = shapes};
	uint32_t number;

	if (mr_strings_intern(&study->keys, key, sizeof key, &number) < 0 ||
	    (number == study->groups.count && mr_vec_push(&study->groups, added) < 0))
		return NULL;
	return &study->groups.items[number];
}

/* A device kernel whose work its compiler knows. */
static int add_known(struct study *study, uint32_t row)
{
	const struct mr_device_operations *operations = &study->model->device_operations;
	struct group *group =
		find_group(study, mr_operation_device(study->model, row), operations->name[row], 0);

	if (!group)
		return -ENOMEM;
	group->count++;
	group->total_ns += operations->duration_ns[row];
	group->flops += (double)operations->flops[row];
	group->bytes += (double)operations->accessed_bytes[row];
	return 0;
}

static int add_launched(struct study *study, uint32_t row)
{
	const struct mr_model *model = study->model;
	uint32_t execution = model->device_operations.execution[row];
	struct mr_work work;

	if (execution == MR_NO_ROW || model->node_executions.shapes[execution] == 0)
		return 0;
	uint32_t shapes = model->node_executions.shapes[execution];
	uint32_t node = model->node_executions.node[execution];
	uint32_t name = model->survey->definitions.nodes.items[node].name;
	if (!mr_work_of(mr_model_text(model, name), mr_model_text(model, shapes), &work))
		return 0;
	struct group *group = find_group(study, mr_operation_device(model, row), name, shapes);
	if (!group)
		return -ENOMEM;
	group->total_ns += model->device_operations.duration_ns[row];
	group->precision = work.precision;
	if (study->is_counted[execution])
		return 0;
	study->is_counted[execution] = 1;
	group->count++;
	group->flops += (double)work.flops;
	group->bytes += (double)work.bytes;
	return 0;
}

static int collect(struct study *study)
{
	const struct mr_device_operations *operations = &study->model->device_operations;
	int result = 0;

	study->is_counted = calloc((size_t)study->model->node_executions.table.count + 1, 1);
	if (!study->is_counted)
		return -ENOMEM;
	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++) {
		if (operations->kind[row] != MR_operation_kind_kernel)
			continue;
		study->kernels_ns += operations->duration_ns[row];
		result = operations->flops[row] || operations->accessed_bytes[row]
				 ? add_known(study, row)
				 : add_launched(study, row);
	}
	return result;
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static double arithmetic_limit(const struct mr_device_limit *limit, enum mr_precision precision)
{
	switch (precision) {
	case MR_PRECISION_8:
		return limit->matrix_8;
	case MR_PRECISION_16:
		return limit->matrix_16;
	case MR_PRECISION_32:
		return limit->matrix_32 > 0 ? limit->matrix_32 : limit->vector_32;
	default:
		return 0;
	}
}

static void judge(const struct study *study, struct group *group)
{
	const struct mr_device_limit *limit =
		mr_device_limit_of(mr_device_name(study->model, group->device));
	double seconds = (double)group->total_ns / 1e9;
	double teraflops = seconds > 0 ? group->flops / seconds / 1e12 : 0;
	double gigabytes = seconds > 0 ? group->bytes / seconds / 1e9 : 0;
	double most = limit ? arithmetic_limit(limit, group->precision) : 0;
	double arithmetic = most > 0 ? teraflops / most : 0;
	double memory = limit && limit->gigabytes > 0 ? gigabytes / limit->gigabytes : 0;
	double used = arithmetic > memory ? arithmetic : memory;

	group->reason = "";
	group->limit_permille = used > 0 && used < 1e6 ? (int64_t)(used * 1000 + 0.5) : MR_NO_VALUE;
	if (group->limit_permille == MR_NO_VALUE || group->limit_permille >= FAR_PERMILLE ||
	    mr_permille(group->total_ns, study->kernels_ns) < MATTERS_PERMILLE)
		return;
	if (group->count && group->total_ns / (int64_t)group->count < SMALL_NS)
		group->reason = "too small to fill the device";
	else if (memory >= arithmetic)
		group->reason = "memory bound, far from its bandwidth";
	else if (group->precision == MR_PRECISION_32 && limit->matrix_32 > limit->vector_32 &&
		 teraflops <= limit->vector_32)
		group->reason = "32 bits, without the units for matrices";
	else
		group->reason = "far from the device's arithmetic";
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->name != b->name ? (a->name > b->name) - (a->name < b->name)
				  : (a->shapes > b->shapes) - (a->shapes < b->shapes);
}

/* ---- the finding ---------------------------------------------------------------------------------------------- */

static int say(const struct study *study, struct mr_findings *findings, struct mr_finding *finding)
{
	uint32_t said = 0;
	int result = 0;

	for (size_t i = 0; result == 0 && said < SENTENCES_MAX && i < study->groups.count; i++) {
		const struct group *group = &study->groups.items[i];
		char time[MR_FORMAT_BYTES], used[MR_FORMAT_BYTES], share[MR_FORMAT_BYTES];

		if (!*group->reason)
			continue;
		mr_format_ns(time, group->total_ns, false);
		mr_format_percent(used, group->limit_permille, 1000);
		mr_format_percent(share, group->total_ns, study->kernels_ns);
		result = mr_finding_say(findings, finding, MR_SEVERITY_NOTE,
					"%s%s takes %s, %s of the device kernels, at %s of the "
					"device's limit: %s.",
					mr_model_text(study->model, group->name),
					mr_model_text(study->model, group->shapes), time, share,
					used, group->reason);
		said++;
	}
	return result;
}

static int64_t rate(double amount, int64_t ns, double scale)
{
	double value = ns > 0 ? amount * 1e9 / (double)ns / scale : 0;

	return value > 0 && value < 0x1p62 ? (int64_t)(value + 0.5) : 0;
}

static int add_table(const struct study *study, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	uint32_t count = (uint32_t)study->groups.count;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "by_shape", "By operation and inputs",
				     columns, mr_countof(columns), count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct group *group = &study->groups.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		(cells++)->text = mr_model_text(study->model, group->name);
		(cells++)->text = mr_model_text(study->model, group->shapes);
		(cells++)->text = mr_device_name(study->model, group->device);
		(cells++)->number = (int64_t)group->count;
		(cells++)->number = group->total_ns;
		(cells++)->number = mr_permille(group->total_ns, study->kernels_ns);
		(cells++)->number = rate(group->flops, group->total_ns, 1e9);
		(cells++)->number = rate(group->bytes, group->total_ns, 1);
		(cells++)->number = group->limit_permille;
		(cells++)->text = group->reason;
	}
	return 0;
}

static int report(struct study *study, struct mr_findings *findings)
{
	struct mr_finding *finding;
	int result = collect(study);

	if (result < 0 || study->groups.count == 0)
		return result;
	for (size_t i = 0; i < study->groups.count; i++)
		judge(study, &study->groups.items[i]);
	qsort(study->groups.items, study->groups.count, sizeof *study->groups.items,
	      compare_groups);
	finding = mr_finding_begin(findings, "efficiency");
	result = finding ? say(study, findings, finding) : -ENOMEM;
	return result < 0 ? result : add_table(study, findings, finding);
}

int mr_analyse_efficiency(const struct mr_model *model, struct mr_findings *findings)
{
	struct study study = {.model = model};
	int result = report(&study, findings);

	mr_strings_free(&study.keys);
	mr_vec_free(&study.groups);
	free(study.is_counted);
	return result < 0 ? mr_fail_errno(-result, "analyse the work of operations") : 0;
}
