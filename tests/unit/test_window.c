/* SPDX-License-Identifier: Apache-2.0
 *
 * Cutting a model: every row of the whole is compared with what became of it, one by one; and windows that
 * tile the trace must sum to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/device_time.h"
#include "kernel_trace.h"
#include "load/load.h"
#include "runtime_trace.h"
#include "small_trace.h"
#include "trace_writer.h"

#define TABLE_OFFSET(name) offsetof(struct mr_model, name),
static const size_t table_offsets[] = {MR_TABLES(TABLE_OFFSET)};

static struct mr_table *table_at(const struct mr_model *model, size_t i)
{
	return (struct mr_table *)((char *)model + table_offsets[i]);
}

static struct mr_table *table_named(const struct mr_model *model, const char *name)
{
	for (size_t i = 0; i < mr_countof(table_offsets); i++)
		if (strcmp(table_at(model, i)->desc->name, name) == 0)
			return table_at(model, i);
	fail_msg("no table %s", name);
	return NULL;
}

static void *column(struct mr_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		if (strcmp(table->desc->columns[i].name, name) == 0)
			return mr_table_columns(table)[i];
	return NULL;
}

static struct mr_model *cut_model(const struct mr_model *whole, int64_t first_ns, int64_t last_ns,
				  const bool *processes)
{
	const struct mr_part part = {{first_ns, last_ns}, processes};
	struct mr_model *cut = NULL;

	assert_int_equal(mr_model_cut(whole, &part, &cut), 0);
	assert_ptr_equal(mr_model_whole(cut), whole);
	assert_int_equal(mr_model_window(cut).first_ns, first_ns);
	return cut;
}

/* ---- row by row ----------------------------------------------------------------------------------- */

/* The row of the cut that this one of the whole became, or MR_NO_ROW. */
static uint32_t find_row(const struct mr_table *cut, uint32_t whole_row)
{
	for (uint32_t row = 0; row < cut->count; row++)
		if (cut->whole_rows[row] == whole_row)
			return row;
	return MR_NO_ROW;
}

static void check_links(const struct mr_model *cut, struct mr_table *whole, struct mr_table *to,
			uint32_t row)
{
	for (uint32_t i = 0; i < to->desc->column_count; i++) {
		const struct mr_column_desc *desc = &to->desc->columns[i];

		/* What overlaps in the whole may be nested in a part of it. */
		if (desc->meaning != MR_MEANS_row || strcmp(desc->name, "parent") == 0)
			continue;
		uint32_t link = ((uint32_t *)mr_table_columns(whole)[i])[to->whole_rows[row]];
		uint32_t expected =
			link == MR_NO_ROW ? MR_NO_ROW : find_row(table_named(cut, desc->of), link);
		assert_int_equal(((uint32_t *)mr_table_columns(to)[i])[row], expected);
	}
}

/* Values that are neither time nor link stay as they are. */
static void check_values(struct mr_table *whole, struct mr_table *to, uint32_t row)
{
	static const char *const kept[] = {"node", "step", "function", "correlation", "name",
					   "tid",  "cpu",  "number",   "file",        "value"};

	for (size_t i = 0; i < mr_countof(kept); i++) {
		const char *from = column(whole, kept[i]), *into = column(to, kept[i]);

		for (uint32_t c = 0; from && c < to->desc->column_count; c++) {
			uint32_t bytes = to->desc->columns[c].bytes;

			if (strcmp(to->desc->columns[c].name, kept[i]) == 0)
				assert_memory_equal(into + row * bytes,
						    from + to->whole_rows[row] * bytes, bytes);
		}
	}
}

static void check_table(const struct mr_model *cut, struct mr_table *whole, struct mr_table *to)
{
	const struct mr_window window = cut->part.window;
	const int64_t *start = column(whole, "start_ns"), *duration = column(whole, "duration_ns");
	const uint8_t *flags = column(to, "flags");
	uint32_t expected_count = 0;

	for (uint32_t row = 0; row < whole->count; row++) {
		int64_t begin = start[row], end = begin + (duration ? duration[row] : 0);
		bool is_inside = end > begin ? begin < window.last_ns && end > window.first_ns
					     : begin >= window.first_ns && begin < window.last_ns;
		uint32_t became = find_row(to, row);

		assert_int_equal(became != MR_NO_ROW, is_inside);
		if (!is_inside)
			continue;
		assert_int_equal(became, expected_count++);
		int64_t clipped_begin = mr_max(begin, window.first_ns);
		assert_int_equal(((int64_t *)column(to, "start_ns"))[became], clipped_begin);
		if (duration)
			assert_int_equal(((int64_t *)column(to, "duration_ns"))[became],
					 mr_min(end, window.last_ns) - clipped_begin);
		if (duration && flags)
			assert_int_equal((flags[became] & MR_ROW_CUT) != 0,
					 begin < window.first_ns || end > window.last_ns);
		check_links(cut, whole, to, became);
		check_values(whole, to, became);
	}
	assert_int_equal(to->count, expected_count);
}

static void check_tracks(const struct mr_model *cut, struct mr_table *to)
{
	const uint32_t *track = column(to, "track");

	for (uint32_t row = 0; row < to->count; row++) {
		assert_true(to->first_of_track[track[row]] <= row);
		assert_true(row < to->first_of_track[track[row] + 1]);
	}
	assert_int_equal(to->first_of_track[cut->survey->tracks.count], to->count);
}

/* All windows between `count` times. */
static void check_windows(const struct mr_model *whole, const int64_t *times, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			struct mr_model *cut = cut_model(whole, times[i], times[j], NULL);

			for (size_t table = 0; table < mr_countof(table_offsets); table++) {
				check_table(cut, table_at(whole, table), table_at(cut, table));
				check_tracks(cut, table_at(cut, table));
			}
			mr_model_free(cut);
		}
}

/* ---- sums ----------------------------------------------------------------------------------------- */

static int64_t sum(const struct mr_model *model, const char *table, const char *name)
{
	struct mr_table *at = table_named(model, table);
	const int64_t *values = column(at, name);
	int64_t total = 0;

	for (uint32_t row = 0; row < at->count; row++)
		total += values[row];
	return total;
}

static void check_sums(const struct mr_model *whole, const int64_t *times, size_t count,
		       const char *table, const char *name)
{
	int64_t total = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		struct mr_model *cut = cut_model(whole, times[i], times[i + 1], NULL);

		total += sum(cut, table, name);
		mr_model_free(cut);
	}
	assert_int_equal(total, sum(whole, table, name));
}

/* ---- the dataflow level --------------------------------------------------------------------------- */

static char *directory;
static struct mr_model *small;

static int load_small(void **state)
{
	(void)state;
	directory = directory_make();
	small_trace_write(directory);
	return mr_model_load(directory, &small);
}

static int unload_small(void **state)
{
	(void)state;
	mr_model_free(small);
	directory_remove(directory);
	return 0;
}

#define S(seconds) ((int64_t)((seconds)*1e9))
static const int64_t small_times[] = {S(0.5),  S(1.0),  S(1.05), S(1.15), S(1.2),  S(1.25), S(1.3),
				      S(1.37), S(1.45), S(1.5),  S(1.65), S(2.95), S(3.0),  S(4.0)};

static void test_rows_of_a_small_trace(void **state)
{
	(void)state;
	assert_true(small->node_executions.table.count > 5);
	check_windows(small, small_times, mr_countof(small_times));
}

static void test_sums_of_a_small_trace(void **state)
{
	static const char *const tables[] = {"node_executions", "steps", "calls",
					     "device_operations"};

	(void)state;
	for (size_t i = 0; i < mr_countof(tables); i++)
		check_sums(small, small_times, mr_countof(small_times), tables[i], "duration_ns");
	check_sums(small, small_times, mr_countof(small_times), "calls", "self_ns");
}

/* conv encloses load on the main thread: what load takes in the window is not conv's own. */
static void test_self_time_is_of_the_window(void **state)
{
	struct mr_model *cut = cut_model(small, S(1.25), S(1.27), NULL);
	const struct mr_node_executions *executions = &cut->node_executions;
	const uint32_t *first = executions->table.first_of_track;
	uint32_t track = MR_NO_TRACK;

	(void)state;
	for (uint32_t i = 0; i < cut->survey->tracks.count; i++)
		if (cut->survey->tracks.items[i].tid == 100)
			track = i;
	assert_int_not_equal(track, MR_NO_TRACK);
	assert_int_equal(first[track + 1] - first[track], 2);
	assert_int_equal(executions->self_ns[first[track]], 0);
	assert_int_equal(executions->self_ns[first[track] + 1], S(0.02));
	assert_int_equal(executions->parent[first[track] + 1], first[track]);
	assert_int_equal(cut->survey->tracks.items[track].first_ns, S(1.25));
	assert_int_equal(cut->survey->tracks.items[track].last_ns, S(1.27));
	mr_model_free(cut);
}

static void test_one_process(void **state)
{
	mr_auto(free) bool *processes = calloc(small->survey->processes.count, sizeof *processes);

	(void)state;
	for (size_t i = 0; i < small->survey->processes.count; i++)
		processes[i] = small->survey->processes.items[i].pid == 200;
	struct mr_model *cut =
		cut_model(small, small->survey->first_ns, small->survey->last_ns, processes);
	uint32_t expected = 0;
	for (uint32_t row = 0; row < small->node_executions.table.count; row++) {
		const struct mr_track *track =
			&small->survey->tracks.items[small->node_executions.track[row]];

		expected += small->survey->processes.items[track->process].pid == 200;
	}
	assert_int_equal(cut->node_executions.table.count, expected);
	assert_int_not_equal(expected, 0);
	assert_int_equal(cut->device_operations.table.count, 0);
	assert_int_equal(cut->steps.table.count, 0);
	mr_model_free(cut);
}

/* What happens at the very end of the trace is in no window but the one that goes so far. */
static void test_instants_at_the_end(void **state)
{
	int64_t last_ns = small->survey->last_ns;

	(void)state;
	for (size_t i = 0; i < mr_countof(table_offsets); i++) {
		struct mr_table *table = table_at(small, i);
		struct mr_model *cut = cut_model(small, small->survey->first_ns, last_ns, NULL);

		assert_int_equal(table_at(cut, i)->count, table->count);
		mr_model_free(cut);
	}
}

/* ---- the kernel level ----------------------------------------------------------------------------- */

enum {
	READ = 0,
	DATA = 1, /* file */
};

/* 7 runs, is interrupted, reads from a disk, wants its CPU back from 99, and runs. */
static struct mr_model *load_kernel(void)
{
	kernel_trace_begin(1);
	KERNEL(0, def_syscall, 50, "read", .number = READ);
	KERNEL(0, def_file, 50, "/data/train", .id = DATA);
	kernel_born(0, 90, 1, 7, 7, "reader");
	kernel_switch(0, 100, 0, 7, 0);
	KERNEL(0, kernel_interrupt, 150, NULL, .tid = 7, .number = 9, .kind = MR_interrupt_kind_irq,
	       .duration_ns = mr_u48_from(30));
	kernel_switch(0, 200, 7, 99, MR_switch_reason_disk);
	KERNEL(0, kernel_block_io, 390, NULL, .tid = 7, .device = 1, .bytes = 4096,
	       .queue_ns = mr_u48_from(60), .service_ns = mr_u48_from(120));
	KERNEL(0, kernel_waking, 400, NULL, .tid = 7, .waker_tid = 99,
	       .context = MR_wake_context_irq);
	kernel_switch(0, 500, 99, 7, MR_switch_reason_preempted);
	KERNEL(0, kernel_syscall, 520, NULL, .tid = 7, .number = READ, .file = DATA,
	       .duration_ns = mr_u48_from(330), .result = 1);
	kernel_switch(0, 600, 7, 0, MR_switch_reason_interruptible);
	return kernel_trace_load(700);
}

static const int64_t kernel_times[] = {50,  100, 110, 130, 180, 195, 205, 230, 240,
				       300, 380, 395, 400, 450, 510, 530, 650, 701};

static void test_rows_of_a_kernel_trace(void **state)
{
	struct mr_model *whole = load_kernel();

	(void)state;
	assert_true(whole->states.table.count >= 4);
	check_windows(whole, kernel_times, mr_countof(kernel_times));
	kernel_trace_end(whole);
}

static void test_sums_of_a_kernel_trace(void **state)
{
	static const char *const sums[][2] = {
		{"states", "duration_ns"},       {"states", "interrupted_ns"},
		{"system_calls", "blocked_ns"},  {"system_calls", "runnable_ns"},
		{"system_calls", "duration_ns"}, {"block_io", "queue_ns"},
		{"cpu_runs", "duration_ns"},     {"interrupts", "self_ns"},
	};
	struct mr_model *whole = load_kernel();

	(void)state;
	assert_int_equal(sum(whole, "system_calls", "blocked_ns"), 200);
	assert_int_equal(sum(whole, "system_calls", "runnable_ns"), 100);
	assert_int_equal(sum(whole, "states", "interrupted_ns"), 30);
	assert_int_equal(sum(whole, "block_io", "queue_ns"), 60);
	for (size_t i = 0; i < mr_countof(sums); i++)
		check_sums(whole, kernel_times, mr_countof(kernel_times), sums[i][0], sums[i][1]);
	kernel_trace_end(whole);
}

/* Who ended a wait is known, though it was after the window. */
static void test_wait_that_ends_later(void **state)
{
	struct mr_model *whole = load_kernel(), *cut = cut_model(whole, 210, 300, NULL);
	struct mr_findings findings = {0};

	(void)state;
	assert_int_equal(mr_analyse_waits(cut, &findings), 0);
	const struct mr_finding_table *table =
		mr_findings_find_table(&findings, "waits", "by_waker");
	assert_non_null(table);
	assert_int_equal(table->row_count, 1);
	assert_string_equal(mr_finding_value(table, 0, 1)->text, "interrupt");
	assert_int_equal(mr_finding_value(table, 0, mr_finding_column(table, "total_ns"))->number,
			 90);
	mr_findings_free(&findings);
	mr_model_free(cut);
	kernel_trace_end(whole);
}

/* ---- the runtime level ---------------------------------------------------------------------------- */

/* Two kernels: 2000 to 3000 and 5000 to 6000 ns after BASE. */
static void test_device_time_is_of_the_window(void **state)
{
	static const int64_t base = TRACE_BEGIN + 1000000;
	static const int64_t windows[][3] = {/* first, last, busy */
					     {0, 1000, 0},    {2500, 2600, 100}, {2500, 5500, 1000},
					     {3000, 5000, 0}, {0, 9000, 2000},   {5999, 6001, 1}};

	(void)state;
	runtime_trace_start();
	uint32_t device = define_device("gpu0", 0);
	uint32_t queue = define_queue(device, "q0", MR_queue_order_in_order, false);
	for (uint32_t i = 0; i < 2; i++)
		EMIT(device_operation, (uint64_t)base + 8000, .queue = queue, .correlation = i + 1,
		     .start = DEVICE_TIME(base + 2000 + 3000 * i),
		     .end = DEVICE_TIME(base + 3000 + 3000 * i), .kind = MR_operation_kind_kernel);
	struct mr_model *whole = runtime_trace_load();
	for (size_t i = 0; i < mr_countof(windows); i++) {
		struct mr_model *cut =
			cut_model(whole, base + windows[i][0], base + windows[i][1], NULL);
		struct mr_device_time time;
		uint32_t one = 1;

		assert_int_equal(mr_device_time_make(cut, &one, 1, &time), 0);
		assert_int_equal(mr_device_span_ns(&time), windows[i][1] - windows[i][0]);
		assert_int_equal(time.busy_ns, windows[i][2]);
		mr_model_free(cut);
	}
	runtime_trace_end(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_of_a_small_trace, load_small,
						unload_small),
		cmocka_unit_test_setup_teardown(test_sums_of_a_small_trace, load_small,
						unload_small),
		cmocka_unit_test_setup_teardown(test_self_time_is_of_the_window, load_small,
						unload_small),
		cmocka_unit_test_setup_teardown(test_one_process, load_small, unload_small),
		cmocka_unit_test_setup_teardown(test_instants_at_the_end, load_small, unload_small),
		cmocka_unit_test(test_rows_of_a_kernel_trace),
		cmocka_unit_test(test_sums_of_a_kernel_trace),
		cmocka_unit_test(test_wait_that_ends_later),
		cmocka_unit_test(test_device_time_is_of_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
