/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings of the small trace (small_trace.h), numbers for people, and tables as text.
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
#include "analysis/loss.h"
#include "base/format.h"
#include "load/load.h"
#include "report/report.h"
#include "small_trace.h"
#include "trace_writer.h"

#define MS(milliseconds) ((int64_t)(milliseconds)*1000000)

static char *directory;
static struct mr_model *model;
static struct mr_findings findings;

static int analyse_small(void **state)
{
	(void)state;
	directory = directory_make();
	small_trace_write(directory);
	if (mr_model_load(directory, &model) < 0 || mr_analyse_health(model, &findings) < 0 ||
	    mr_analyse_contents(model, &findings) < 0 ||
	    mr_analyse_device_operations(model, &findings) < 0 ||
	    mr_analyse_calls(model, &findings) < 0)
		return -1;
	return mr_analyse_operations(model, &findings) || mr_analyse_steps(model, &findings);
}

static int free_small(void **state)
{
	(void)state;
	mr_findings_free(&findings);
	mr_model_free(model);
	directory_remove(directory);
	return 0;
}

static const struct mr_finding *find(const char *id)
{
	for (size_t i = 0; i < findings.list.count; i++)
		if (strcmp(findings.list.items[i]->id, id) == 0)
			return findings.list.items[i];
	fail_msg("no finding %s", id);
	return NULL;
}

static const struct mr_finding_table *find_table(const char *finding_id, const char *id)
{
	const struct mr_finding *finding = find(finding_id);

	for (size_t i = 0; i < finding->tables.count; i++)
		if (strcmp(finding->tables.items[i]->id, id) == 0)
			return finding->tables.items[i];
	fail_msg("no table %s", id);
	return NULL;
}

/* The cell of a column, in the row whose first cell is `name`. */
static const union mr_value *cell(const struct mr_finding_table *table, const char *name,
				  const char *key)
{
	for (uint32_t row = 0; row < table->row_count; row++)
		for (uint32_t column = 0; column < table->column_count; column++)
			if (strcmp(mr_finding_value(table, row, 0)->text, name) == 0 &&
			    strcmp(table->columns[column].key, key) == 0)
				return mr_finding_value(table, row, column);
	fail_msg("no row %s, column %s", name, key);
	return NULL;
}

static bool says(const char *finding_id, enum mr_severity severity, const char *part)
{
	const struct mr_finding *finding = find(finding_id);

	for (size_t i = 0; i < finding->sentences.count; i++)
		if (finding->sentences.items[i].severity == severity &&
		    strstr(finding->sentences.items[i].text, part))
			return true;
	return false;
}

static void test_health(void **state)
{
	const struct mr_finding_table *losses = find_table("health", "losses");

	(void)state;
	assert_string_equal(findings.list.items[0]->id, "health");
	assert_int_equal(find("health")->severity, MR_SEVERITY_WARNING);
	/* 5 by the manifest, of which the trace itself explains 3. */
	assert_true(says("health", MR_SEVERITY_WARNING, "5 events could not be recorded"));
	assert_int_equal(cell(losses, "no_free_packet", "events")->number, 3);
	assert_int_equal(cell(losses, "reason not recorded", "events")->number, 2);
	assert_true(says("health", MR_SEVERITY_WARNING, "1 process was not instrumented"));
	assert_string_equal(mr_finding_value(find_table("health", "untraced"), 0, 2)->text,
			    "static program");
	assert_true(says("health", MR_SEVERITY_NOTE, "1 interval was open"));
	assert_true(says("health", MR_SEVERITY_NOTE, "1 interval overlaps"));
	assert_true(says("health", MR_SEVERITY_WARNING, "1 execution belongs to a node"));
	assert_true(says("health", MR_SEVERITY_WARNING,
			 "1 event is left out: its times are of a clock"));
	assert_true(says("health", MR_SEVERITY_FINE, "Levels not recorded: kernel."));
	assert_true(says("health", MR_SEVERITY_FINE, "exact within"));
	assert_false(says("health", MR_SEVERITY_FINE, "Nothing was lost"));
}

static void test_missing_packets(void **state)
{
	static const char *const texts[] = {
		"1 packet of events is missing from the middle of a stream.",
		"2 packets of events are missing from the middle of a stream."};
	struct mr_survey *survey = (struct mr_survey *)model->survey;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct mr_findings found = {0};
		bool is_said = false;

		survey->missing_packets = i + 1;
		assert_int_equal(mr_analyse_health(model, &found), 0);
		for (size_t j = 0; j < found.list.items[0]->sentences.count; j++)
			is_said |=
				strcmp(found.list.items[0]->sentences.items[j].text, texts[i]) == 0;
		assert_true(is_said);
		mr_findings_free(&found);
	}
	survey->missing_packets = 0;
}

static void test_operations(void **state)
{
	const struct mr_finding_table *by_node = find_table("operations", "by_node");
	const struct mr_finding_table *by_thread = find_table("operations", "by_thread");

	(void)state;
	/* load: 100 + 100 (unfinished) + 300 + 100; conv: 400 (300 self) + 300; save: 120 + 3 */
	assert_int_equal(cell(by_node, "load", "count")->number, 4);
	assert_int_equal(cell(by_node, "load", "self_ns")->number, MS(600));
	assert_int_equal(cell(by_node, "load", "mean_ns")->number, MS(150));
	assert_int_equal(cell(by_node, "load", "p50_ns")->number, MS(100));
	assert_int_equal(cell(by_node, "load", "p95_ns")->number, MS(300));
	assert_int_equal(cell(by_node, "conv", "total_ns")->number, MS(700));
	assert_int_equal(cell(by_node, "conv", "self_ns")->number, MS(600));
	assert_int_equal(cell(by_node, "save", "total_ns")->number, MS(123));
	assert_string_equal(cell(by_node, "save", "graph")->text, "net");
	assert_int_equal(by_node->wholes[MR_NODE_CELLS + 1], MS(1323));
	assert_int_equal(cell(by_thread, "main", "self_ns")->number, MS(500));
	assert_int_equal(cell(by_thread, "worker", "total_ns")->number, MS(600));
	assert_int_equal(cell(by_thread, "child", "count")->number, 3);
	/* Every type has one node, so the table by type says nothing new. */
	assert_int_equal(find("operations")->tables.count, 3);
	assert_true(find_table("operations", "by_type")->is_repetition);
	assert_int_equal(cell(by_thread, "main", "span_ns")->number, MS(2000));
	assert_int_equal(cell(by_thread, "main", "busy_permille")->number, 250);
	assert_int_equal(find("operations")->evidence.items[1].duration_ns, MS(400));
	assert_int_equal(
		cell(find_table("device_operations", "by_name"), "kernel", "total_ns")->number,
		MS(100));
	assert_int_equal(cell(find_table("calls", "by_name"), "clEnqueue", "self_ns")->number,
			 MS(40));
	assert_int_equal(cell(find_table("steps", "by_thread"), "main", "max_ns")->number, MS(550));
}

static void test_contents(void **state)
{
	const struct mr_finding_table *clocks = find_table("contents", "clocks");

	(void)state;
	assert_int_equal(cell(find_table("contents", "events"), "node_interval", "count")->number,
			 7);
	assert_int_equal(cell(clocks, "tsc", "knots")->number, 3);
	assert_int_equal(cell(clocks, "tsc", "ticks_per_second")->number, 2000000000);
	assert_int_equal(cell(clocks, "gpu clock", "samples")->number, 2);
	assert_true(cell(clocks, "gpu clock", "bound_ns")->number >= 100);
	assert_int_equal(cell(clocks, "monotonic", "bound_ns")->number, 0);
}

static void test_summary(void **state)
{
	struct mr_region region = {0};
	struct mr_summary summary;

	(void)state;
	assert_int_equal(mr_summary_make(model, &region, &summary), 0);
	assert_string_equal(summary.command, "./train --name 'two words'");
	assert_int_equal(summary.wall_ns, 2000000000);
	assert_int_equal(summary.process_count, 2);
	assert_int_equal(summary.thread_count, 3);
	mr_region_free(&region);
}

/* ---- nothing in the trace ----------------------------------------------------------------------- */

/* A trace in which a process was seen, perhaps loaded a runtime, and did nothing. */
static void write_idle_trace(const char *path, const char *manifest, const char *runtime)
{
	static struct packet packet;
	/* Of an older kind: it does not say its process's number. */
	const struct mr_event_process_start start = {.pid = 100};
	uint8_t payload[sizeof start + 1] = {0};

	memcpy(payload, &start, sizeof start);
	packet = (struct packet){.begin = 100, .end = 200, .process = 2, .pid = 100, .tid = 100};
	packet_start(&packet);
	packet_event(&packet, MR_EVENT_process_start, 150, payload, sizeof payload);
	if (runtime)
		packet_event(&packet, MR_EVENT_runtime_seen, 160, runtime, strlen(runtime) + 1);
	if (runtime && strcmp(runtime, "libcuda.so.1") == 0)
		packet_event(&packet, MR_EVENT_runtime_not_traced, 161, "CUDA", sizeof "CUDA");
	packet_finish(&packet);
	directory_write_metadata(path);
	directory_write(path, "ctf/stream", packet.bytes, packet.size);
	directory_write(path, "manifest.json", manifest, strlen(manifest));
}

static void check_idle(const char *members, const char *runtime, const char *reason)
{
	mr_auto(model) struct mr_model *idle = NULL;
	char manifest[512], sentence[MR_EMPTY_BYTES];
	char *path = directory_make();

	snprintf(manifest, sizeof manifest, "{\"format\": 1%s}", members);
	write_idle_trace(path, manifest, runtime);
	assert_int_equal(mr_model_load(path, &idle), 0);
	assert_int_equal(idle->survey->processes.count, 1);
	assert_true(mr_explain_empty(idle, sentence));
	if (!strstr(sentence, reason))
		fail_msg("%s: %s", members, sentence);
	directory_remove(path);
}

static void check_empty(const char *members, const char *reason)
{
	check_idle(members, NULL, reason);
}

#define ALL_LEVELS ", \"levels\": [\"runtime\", \"dataflow\"]"

static struct mr_window window_of(const char *members)
{
	mr_auto(model) struct mr_model *idle = NULL;
	char manifest[512];
	char *path = directory_make();

	snprintf(manifest, sizeof manifest, "{\"format\": 1%s}", members);
	write_idle_trace(path, manifest, NULL);
	assert_int_equal(mr_model_load(path, &idle), 0);
	directory_remove(path);
	return mr_model_window(idle);
}

/* A manifest that was tampered with cannot make the trace longer than it is, nor turn it round. */
static void test_impossible_window(void **state)
{
	static const char *const impossible[] = {
		", \"window\": {\"from_ticks\": 1, \"to_ticks\": 9000000000000000000}",
		", \"window\": {\"from_ticks\": 9000000000000000000, \"to_ticks\": 1}",
		", \"window\": {\"from_ticks\": 9000000000000000000, \"to_ticks\": 0}",
		", \"window\": {\"from_ticks\": -5, \"to_ticks\": \"x\"}",
	};
	const struct mr_window whole = window_of("");

	(void)state;
	assert_true(whole.first_ns < whole.last_ns);
	for (size_t i = 0; i < mr_countof(impossible); i++) {
		const struct mr_window window = window_of(impossible[i]);

		assert_int_equal(window.first_ns, whole.first_ns);
		assert_int_equal(window.last_ns, whole.last_ns);
	}
}

static void test_empty(void **state)
{
	char sentence[MR_EMPTY_BYTES];

	(void)state;
	assert_false(mr_explain_empty(model, sentence));
	check_empty(ALL_LEVELS, "has no annotations");
	check_empty(ALL_LEVELS ", \"state\": \"complete\"", "has no annotations");
	check_empty(ALL_LEVELS ", \"state\": \"recording\"", "is not finished");
	check_empty(ALL_LEVELS ", \"state\": \"lost\"", "buffer is gone");
	check_empty(ALL_LEVELS ", \"state\": \"stopped\"", "was stopped");
	check_empty(ALL_LEVELS ", \"losses\": {\"events\": 1}", "were lost");
	check_empty(ALL_LEVELS ", \"kept\": {\"overwritten_packets\": 9}", "were overwritten");
	check_empty(ALL_LEVELS ", \"kept\": {\"bytes\": 99999}", "is damaged");
	check_empty(ALL_LEVELS ", \"kept\": {\"overwritten_packets\": 9, "
			       "\"overwritten_user_packets\": 0}",
		    "has no annotations");
	check_empty(ALL_LEVELS ", \"options\": {\"delay_ns\": 5}", "has no annotations");
	check_empty(ALL_LEVELS ", \"duration_ns\": 4, \"options\": {\"delay_ns\": 5}",
		    "ended before the time of --delay");
	check_idle(ALL_LEVELS ", \"options\": {\"delay_ns\": 5}", "libOpenCL.so.1",
		   "after the time of --delay");
	check_empty(", \"levels\": [\"runtime\"]", "dataflow was not recorded");
	check_idle(ALL_LEVELS, "libOpenCL.so.1",
		   "libOpenCL.so.1, but no call of it reached millrace");
	check_idle(ALL_LEVELS ", \"options\": {\"delay_ns\": 5}", "libcuda.so.1",
		   "libcuda.so.1, and this version of millrace does not trace CUDA.");
}

/* ---- for people --------------------------------------------------------------------------------- */

static void check_ns(int64_t ns, const char *expected)
{
	char text[MR_FORMAT_BYTES];

	mr_format_ns(text, ns, false);
	assert_string_equal(text, expected);
}

static void test_formats(void **state)
{
	char text[MR_FORMAT_BYTES];

	(void)state;
	check_ns(0, "0 ns");
	check_ns(999, "999 ns");
	check_ns(1000, "1.00 us");
	check_ns(9994, "9.99 us");
	check_ns(9996, "10.0 us");
	check_ns(99960, "100 us");
	check_ns(999499, "999 us");
	check_ns(999500, "1.00 ms");
	check_ns(12345678, "12.3 ms");
	check_ns(1234567890123, "1235 s");
	mr_format_count(text, 1234567);
	assert_string_equal(text, "1,234,567");
	mr_format_count(text, -1000);
	assert_string_equal(text, "-1,000");
	mr_format_count(text, 999);
	assert_string_equal(text, "999");
	mr_format_bytes(text, 1023);
	assert_string_equal(text, "1023 B");
	mr_format_bytes(text, 1536);
	assert_string_equal(text, "1.50 KiB");
	mr_format_percent(text, 1, 3);
	assert_string_equal(text, "33.3%");
	mr_format_percent(text, 1, 0);
	assert_string_equal(text, "");
}

static void check_fit(const char *from, size_t width, const char *expected)
{
	char text[256];

	mr_text_fit(text, from, width);
	assert_string_equal(text, expected);
}

static void test_fit(void **state)
{
	(void)state;
	check_fit("abcdef", 6, "abcdef");
	check_fit("abcdefgh", 6, "ab..gh");
	check_fit("a\033[31mb", 20, "a?[31mb");
	check_fit("äöüäöü", 6, "äöüäöü");
	check_fit("äöüäöüß", 6, "äö..üß");
	check_fit("abc", 0, "..");
	check_fit("a\x80\x80", 6, "a??");
	check_fit("a\xc2\x85z", 6, "a?z");
	char flood[4000];
	memset(flood, 0x80, sizeof flood - 1);
	flood[sizeof flood - 1] = 0;
	check_fit(flood, 6, "??..??"); /* bytes that begin no character count as well */
	char path[64];
	mr_path_fit(path, "a/long/path/to/a/file", 14);
	assert_string_equal(path, "a/l..to/a/file");
	mr_path_fit(path, "a/file", 6);
	assert_string_equal(path, "a/file");
	mr_path_fit(path, "a/file", 3);
	assert_string_equal(path, "a..");
}

static char *print_table(const struct mr_finding_table *table, uint32_t width)
{
	const struct mr_text_style style = {.width = width, .max_rows = 20};
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	mr_finding_table_print(table, &style, file);
	fclose(file);
	return text;
}

static void test_long_table(void **state)
{
	static const struct mr_finding_column columns[] = {
		{"name", "name", MR_UNIT_TEXT, 0},
		{"same", "same", MR_UNIT_TEXT, 0},
		{"ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	};
	struct mr_findings own = {0};
	struct mr_finding *finding = mr_findings_add(&own, "x", "X");
	struct mr_finding_table *table =
		mr_finding_add_table(&own, finding, "t", "T", columns, 3, 30);

	(void)state;
	for (uint32_t row = 0; row < 30; row++) {
		mr_finding_value(table, row, 0)->text = "a rather long name of something";
		mr_finding_value(table, row, 1)->text = "always";
		mr_finding_value(table, row, 2)->number = 10;
	}
	table->wholes[2] = 300;
	mr_finding_check(table);
	char *text = print_table(table, 40);
	uint32_t lines = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
		assert_true(strlen(line) <= 40);
		assert_null(strstr(line, "always"));
		if (lines == 1)
			assert_string_equal(line, "  a rather lo.. something   10 ns   3.3%");
		if (lines == 21)
			assert_string_equal(line, "  (10 others)              100 ns  33.3%");
	}
	assert_int_equal(lines, 22);
	free(text);
	mr_findings_free(&own);
}

/* What a page of 80 columns does not hold goes in this order: repeated totals, then spare columns. */
static void test_narrow_table(void **state)
{
	const struct mr_finding_table *by_node = find_table("operations", "by_node");

	(void)state;
	for (uint32_t width = 80; width <= 120; width += 20) {
		char *text = print_table(by_node, width);
		assert_int_equal(strstr(text, "graph") != NULL, width == 120);
		assert_int_equal(strstr(text, "mean") != NULL, width >= 100);
		assert_int_equal(strstr(text, "p95") != NULL, width >= 100);
		assert_non_null(strstr(text, "total")); /* differs from self */
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= width);
		free(text);
	}
	char *text = print_table(find_table("calls", "by_name"), 120);
	assert_null(strstr(text, "total"));
	free(text);
}

/* The same reason for all of them is still a reason. */
static void test_equal_reasons(void **state)
{
	struct mr_manifest *manifest = model->manifest;
	struct mr_manifest_process *processes = manifest->processes;
	size_t count = manifest->process_count;
	struct mr_manifest_process own[3];
	struct mr_findings found = {0};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		own[i] = (struct mr_manifest_process){
			.pid = 300 + i, .program = "/bin/busybox", .reason = "static program"};
	manifest->processes = own;
	manifest->process_count = 3;
	assert_int_equal(mr_analyse_health(model, &found), 0);
	manifest->processes = processes;
	manifest->process_count = count;
	char *text = print_table(mr_findings_find_table(&found, "health", "untraced"), 80);
	assert_non_null(strstr(text, "  302  /bin/busybox  static program\n"));
	free(text);
	mr_findings_free(&found);
}

int main(void)
{
	const struct CMUnitTest of_small[] = {
		cmocka_unit_test(test_missing_packets),   cmocka_unit_test(test_health),
		cmocka_unit_test(test_operations),        cmocka_unit_test(test_contents),
		cmocka_unit_test(test_summary),           cmocka_unit_test(test_empty),
		cmocka_unit_test(test_impossible_window), cmocka_unit_test(test_narrow_table),
		cmocka_unit_test(test_equal_reasons),
	};
	const struct CMUnitTest of_rendering[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_long_table),
	};

	return cmocka_run_group_tests(of_small, analyse_small, free_small) +
	       cmocka_run_group_tests(of_rendering, NULL, NULL);
}
