/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of the graph and the device: operation latency, device time by node, and how many operations queues
 * held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/finding/breakdown.h"
#include "runtime_trace.h"
#include "trace_writer.h"

#define AT(ns) (UINT64_C(1010000000) + (uint64_t)(ns))

static struct mr_model *model;
static struct mr_findings findings;

/* An execution that ends at `until`, as events must be emitted in that order. */
static void execute(uint32_t node, uint32_t step, uint64_t from, uint64_t until)
{
	EMIT(node_interval, AT(until), .node = node, .step = step,
	     .duration_ticks = mr_u48_from(until - from));
}

static void analyse(int (*analysis)(const struct mr_model *, struct mr_findings *))
{
	model = runtime_trace_load();
	findings = (struct mr_findings){0};
	assert_int_equal(analysis(model, &findings), 0);
}

static void unload(void)
{
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

static int64_t number_of(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	for (uint32_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].key, key) == 0)
			return mr_finding_value(table, row, i)->number;
	fail_msg("no column %s", key);
	return 0;
}

static uint32_t find_row(const struct mr_finding_table *table, uint32_t column, const char *text)
{
	for (uint32_t i = 0; i < table->row_count; i++)
		if (strcmp(mr_finding_value(table, i, column)->text, text) == 0)
			return i;
	fail_msg("no row %s", text);
	return 0;
}

/* ---- latency ------------------------------------------------------------------------------------ */

static void check_latency(const char *node, int64_t count, int64_t total_ns, int64_t max_ns,
			  int64_t negative, int64_t unknown)
{
	const struct mr_finding_table *table = findings_table(&findings, "by_node");
	uint32_t row = find_row(table, 0, node);

	assert_int_equal(number_of(table, row, "count"), count);
	assert_int_equal(number_of(table, row, "total_ns"), total_ns);
	assert_int_equal(number_of(table, row, "max_ns"), max_ns);
	assert_int_equal(number_of(table, row, "negative"), negative);
	assert_int_equal(number_of(table, row, "unknown"), unknown);
}

static void test_latency(void **state)
{
	(void)state;
	runtime_trace_start();
	uint32_t a = define_node("a", "Source"), b = define_node("b", "Source");
	uint32_t c = define_node("c", "Join"), d = define_node("d", "Join");
	uint32_t never = define_node("never", "Source"), constant = define_node("k", "Const");
	define_edge(a, c, MR_edge_kind_data);
	define_edge(b, c, MR_edge_kind_control);
	define_edge(c, d, MR_edge_kind_data);
	define_edge(constant, c, MR_edge_kind_data); /* is not executed, and keeps nobody waiting */
	execute(a, 1, 0, 100);
	execute(b, 1, 50, 200);
	execute(c, 1, 230, 300); /* 30 after b, whose edge is a control edge */
	execute(d, 1, 300, 400); /* at once */
	execute(a, 2, 1000, 1100);
	execute(b, 2, 1150, 1200);
	execute(c, 2, 1190, 1300); /* began before b had ended */
	execute(d, 3, 1350, 1400); /* c was not executed in this step */
	execute(a, 4, 2000, 2010);
	execute(b, 4, 2010, 2020);
	execute(c, 4, 2030, 2040); /* 10 after b */
	execute(b, 4, 2100, 2200); /* once more: too late for the next */
	execute(c, 4, 2090, 2210); /* 70 after the first b */
	execute(c, 5, 3000, 3010); /* neither input was executed */
	(void)never;
	analyse(mr_analyse_latency);
	check_latency("c", 3, 30 + 10 + 70, 70, 1, 1);
	check_latency("d", 1, 0, 0, 0, 1);
	const struct mr_finding_table *types = findings_table(&findings, "by_type");
	assert_int_equal(types->row_count, 1);
	assert_int_equal(number_of(types, 0, "count"), 4);
	assert_int_equal(number_of(types, 0, "negative"), 1);
	assert_int_equal(number_of(types, 0, "unknown"), 2);
	const struct mr_finding *finding = findings.list.items[0];
	assert_non_null(strstr(finding->sentences.items[0].text,
			       "known for 4 executions, 1 of which began"));
	assert_non_null(strstr(finding->sentences.items[0].text, "other than constants (7)"));
	assert_int_equal(finding->evidence.items[0].start_ns, AT(2020));
	assert_int_equal(finding->evidence.items[0].duration_ns, 70);
	unload();
}

/* All constant folding is one run, in which the same names stand for nodes of many functions. */
static void test_latency_of_folding(void **state)
{
	(void)state;
	runtime_trace_start();
	uint32_t a = define_node("a", "Source"), b = define_node("b", "Join");
	define_edge(a, b, MR_edge_kind_data);
	execute(a, 1, 0, 100);
	execute(b, 1, 130, 200);
	execute(b, 1, 900, 950);
	model = runtime_trace_load();
	for (uint32_t row = 0; row < model->node_executions.table.count; row++)
		model->node_executions.run[row] = MR_FOLDING_RUN;
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_latency(model, &findings), 0);
	assert_int_equal(findings.list.count, 1);
	assert_non_null(
		strstr(findings.list.items[0]->sentences.items[0].text, "known for 0 executions"));
	unload();
}

/* ---- device time by node -------------------------------------------------------------------------- */

static uint32_t queue, function;

static void launch(uint64_t from, uint64_t until, uint64_t correlation)
{
	EMIT(runtime_launch, AT(until), .function = function,
	     .duration_ticks = mr_u48_from(until - from), .correlation = correlation,
	     .queue = queue, .kind = MR_operation_kind_copy_to_device);
}

static void operate(uint64_t correlation, uint64_t from, uint64_t until)
{
	EMIT(device_operation, AT(90000000), .queue = queue, .correlation = correlation,
	     .start = DEVICE_TIME(AT(from)), .end = DEVICE_TIME(AT(until)),
	     .kind = MR_operation_kind_copy_to_device);
}

static void start_device(void)
{
	runtime_trace_start();
	uint32_t device = define_device("gpu0", 0);
	queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
	function = define_string("launch");
}

static void test_device_time_by_node(void **state)
{
	static const struct {
		const char *node;
		int64_t count, total_ns;
	} expected[] = {{"inner", 2, 100 + 50},
			{"outer", 1, 7},
			{"(launched outside any operation)", 1, 20},
			{"(launch not known)", 1, 1000}};

	(void)state;
	start_device();
	uint32_t outer = define_node("outer", "Graph"), inner = define_node("inner", "MatMul");
	launch(100, 110, 1);
	launch(120, 130, 2);
	execute(inner, 0, 90, 140);
	launch(150, 160, 3);
	execute(outer, 0, 80, 170);
	launch(200, 210, 4);
	operate(1, 300, 400);
	operate(2, 400, 450);
	operate(3, 450, 457);
	operate(4, 500, 520);
	operate(99, 600, 1600);
	analyse(mr_analyse_device_operations);
	const struct mr_finding_table *table = findings_table(&findings, "by_node");
	assert_int_equal(table->row_count, mr_countof(expected));
	for (size_t i = 0; i < mr_countof(expected); i++) {
		uint32_t row = find_row(table, 0, expected[i].node);

		assert_int_equal(number_of(table, row, "count"), expected[i].count);
		assert_int_equal(number_of(table, row, "total_ns"), expected[i].total_ns);
	}
	assert_int_equal(table->wholes[MR_NODE_CELLS + 1], 100 + 50 + 7 + 20 + 1000);
	unload();
}

/* ---- depth of queues ------------------------------------------------------------------------------ */

static int64_t time_at(const char *depth)
{
	const struct mr_finding_table *table = findings_table(&findings, "queue_depth_times");

	return number_of(table, find_row(table, 3, depth), "time_ns");
}

static void test_queue_depth(void **state)
{
	(void)state;
	start_device();
	for (uint64_t i = 0; i < 4; i++)
		launch(100 * i, 100 * i + 50, i + 1); /* in the queue from 50, 150, 250, 350 */
	operate(1, 60, 400);
	operate(2, 400, 500);
	operate(3, 500, 600);
	operate(4, 600, 700);
	operate(5, 900, 1000); /* its launch is lost */
	analyse(mr_analyse_device_operations);
	const struct mr_finding_table *table = findings_table(&findings, "queue_depth");
	assert_int_equal(table->row_count, 1);
	assert_int_equal(number_of(table, 0, "span_ns"), 950);
	assert_int_equal(number_of(table, 0, "empty_ns"), 200);
	assert_int_equal(number_of(table, 0, "max"), 4);
	/* 1 × 100, 2 × 100, 3 × 100, 4 × 50, 3 × 100, 2 × 100, 1 × 100, 0 × 200, 1 × 100 */
	assert_int_equal(number_of(table, 0, "mean_thousandths"), 1500 * 1000 / 950);
	assert_int_equal(time_at("0"), 200);
	assert_int_equal(time_at("1"), 300);
	assert_int_equal(time_at("2"), 200);
	assert_int_equal(time_at("3 to 4"), 250);
	assert_int_equal(findings_table(&findings, "queue_depth_times")->wholes[4], 950);
	unload();
}

/* Depth in a part of the trace: what is launched before and runs after it counts. */
static void test_queue_depth_of_window(void **state)
{
	struct mr_model *cut;

	(void)state;
	start_device();
	launch(0, 10, 1);
	launch(20, 30, 2);
	launch(1500, 1510, 3);
	operate(1, 40, 1000);
	operate(2, 2000, 3000);
	operate(3, 3000, 3010);
	analyse(mr_analyse_device_operations);
	mr_findings_free(&findings);
	const struct mr_part part = {{(int64_t)AT(500), (int64_t)AT(1600)}, NULL};
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	findings = (struct mr_findings){0};
	assert_int_equal(mr_analyse_device_operations(cut, &findings), 0);
	assert_int_equal(number_of(findings_table(&findings, "queue_depth"), 0, "span_ns"), 1100);
	assert_int_equal(time_at("1"), 510);
	assert_int_equal(time_at("2"), 590);
	mr_model_free(cut);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_latency_of_folding),
		cmocka_unit_test(test_device_time_by_node),
		cmocka_unit_test(test_queue_depth),
		cmocka_unit_test(test_queue_depth_of_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
