/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of a small trace whose times can be checked by hand (small_trace.h), and manifests that
 * are broken in many ways. With a folder as argument, writes the small trace there instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "load/load.h"
#include "small_trace.h"
#include "trace_writer.h"

#define MS(milliseconds) ((int64_t)(milliseconds)*1000000)

static char *directory;
static struct mr_model *model;

static int load_small(void **state)
{
	(void)state;
	directory = directory_make();
	small_trace_write(directory);
	return mr_model_load(directory, &model);
}

static int free_small(void **state)
{
	(void)state;
	mr_model_free(model);
	directory_remove(directory);
	return 0;
}

/* The track of a thread, by pid and tid. */
static uint32_t track_of(uint32_t pid, uint32_t tid)
{
	for (uint32_t i = 0; i < model->survey->tracks.count; i++) {
		const struct mr_track *track = &model->survey->tracks.items[i];

		if (track->kind == MR_TRACK_THREAD && track->tid == tid &&
		    model->survey->processes.items[track->process].pid == pid)
			return i;
	}
	fail_msg("no track %u/%u", pid, tid);
	return 0;
}

static const char *node_name(uint32_t node)
{
	return mr_model_text(model, model->survey->definitions.nodes.items[node].name);
}

static void test_who_took_part(void **state)
{
	const struct mr_survey *survey = model->survey;

	(void)state;
	assert_int_equal(survey->processes.count, 3);
	assert_int_equal(survey->tracks.count, 4);
	assert_int_equal(survey->first_queue_track, 3);
	assert_string_equal(mr_model_text(model, survey->tracks.items[track_of(100, 101)].name),
			    "worker");
	const struct mr_process *child =
		&survey->processes.items[survey->tracks.items[track_of(200, 200)].process];
	assert_int_equal(child->number, 3);
	assert_int_equal(survey->processes.items[child->parent].number, 2);
	assert_int_equal(child->end, MR_PROCESS_EXIT);
	assert_int_equal(survey->processes.items[child->parent].end, MR_PROCESS_END_NOT_SEEN);
	assert_string_equal(mr_model_text(model, child->program), "/bin/train");
	assert_int_equal(survey->first_ns, MS(1000));
	assert_int_equal(survey->last_ns, MS(3000));
	assert_string_equal(mr_model_text(model, survey->runtimes_seen.items[0]), "libOpenCL.so.1");
	assert_int_equal(survey->losses[MR_loss_reason_no_free_packet], 3);
	assert_int_equal(survey->event_counts[MR_EVENT_node_interval], 7);
	assert_int_equal(survey->definitions.edges.count, 1);
	assert_string_equal(node_name(survey->definitions.edges.items[0].target), "conv");
}

struct expected {
	const char *name;
	int64_t start_ms, duration_ms, self_ms;
	int parent; /* row in the track; -1: none */
	uint8_t flags;
	uint32_t step;
};

static void check_executions(uint32_t track, const struct expected *expected, uint32_t count)
{
	const struct mr_node_executions *rows = &model->node_executions;
	uint32_t first = rows->table.first_of_track[track];

	assert_int_equal(rows->table.first_of_track[track + 1] - first, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = first + i;

		assert_int_equal(rows->track[row], track);
		assert_string_equal(node_name(rows->node[row]), expected[i].name);
		assert_int_equal(rows->start_ns[row], MS(expected[i].start_ms));
		assert_int_equal(rows->duration_ns[row], MS(expected[i].duration_ms));
		assert_int_equal(rows->self_ns[row], MS(expected[i].self_ms));
		assert_int_equal(rows->parent[row], expected[i].parent < 0
							    ? MR_NO_ROW
							    : first + (uint32_t)expected[i].parent);
		assert_int_equal(rows->flags[row], expected[i].flags);
		assert_int_equal(rows->step[row], expected[i].step);
	}
}

static void test_executions(void **state)
{
	static const struct expected of_main[] = {
		{"conv", 1100, 400, 300, -1, 0, 7},
		{"load", 1200, 100, 100, 0, 0, 7},
		{"load", 2900, 100, 100, -1, MR_ROW_UNFINISHED, 8},
	};
	static const struct expected of_worker[] = {
		{"load", 1100, 300, 300, -1, 0, 7},
		{"conv", 1300, 300, 300, -1, MR_ROW_OVERLAPS, 7},
		{"", 1650, 0, 0, -1, 0, 7},
	};
	static const struct expected of_child[] = {
		{"save", 1180, 120, 120, -1, 0, 7},
		{"load", 1310, 100, 100, -1, 0, 7},
		{"save", 1415, 3, 3, -1, 0, 9},
	};

	(void)state;
	check_executions(track_of(100, 100), of_main, mr_countof(of_main));
	check_executions(track_of(100, 101), of_worker, mr_countof(of_worker));
	check_executions(track_of(200, 200), of_child, mr_countof(of_child));
	assert_int_equal(model->anomalies.overlapping, 1);
	assert_int_equal(model->anomalies.unfinished, 1);
	assert_int_equal(model->anomalies.undefined, 1);
	assert_int_equal(model->anomalies.unplaced, 1);
	assert_int_equal(model->anomalies.backwards, 0);
}

static void test_other_tables(void **state)
{
	const struct mr_device_operations *operations = &model->device_operations;

	(void)state;
	assert_int_equal(model->calls.table.count, 1);
	assert_int_equal(model->calls.start_ns[0], MS(1320));
	assert_int_equal(model->calls.duration_ns[0], MS(40));
	assert_int_equal(model->calls.result[0], -5);
	assert_string_equal(mr_model_text(model, model->calls.function[0]), "clEnqueue");
	assert_int_equal(operations->table.count, 1);
	assert_int_equal(operations->track[0], 3);
	assert_int_equal(operations->start_ns[0], MS(1350));
	assert_int_equal(operations->duration_ns[0], MS(100));
	assert_int_equal(operations->queued_ns[0], MR_NO_TIME);
	assert_int_equal(operations->submitted_ns[0], MS(1340));
	assert_int_equal(operations->correlation[0], model->calls.correlation[0]);
	assert_int_equal(model->steps.table.count, 1);
	assert_int_equal(model->steps.start_ns[0], MS(1050));
	assert_int_equal(model->counters.value[0], -3);
	assert_int_equal(model->memory.table.count, 2);
	assert_int_equal(model->memory.bytes[0], 1 << 20);
	assert_true(model->memory.is_free[1]);
	assert_int_equal(model->messages.table.count, 2);
	assert_int_equal(model->messages.channel[0], model->messages.channel[1]);
	assert_int_equal(model->node_instants.table.count, 1);
	assert_int_equal(model->states.table.count, 0);
}

/* Everything is of the host that the trace was recorded on. */
static void test_hosts(void **state)
{
	const struct mr_survey *survey = model->survey;

	(void)state;
	assert_int_equal(survey->hosts.count, 1);
	assert_string_equal(mr_model_text(model, survey->hosts.items[0].name), "mill");
	assert_string_equal(mr_model_text(model, survey->hosts.items[0].boot_id), "1159a3f1");
	for (size_t i = 0; i < survey->processes.count; i++) {
		uint32_t found;

		assert_int_equal(survey->processes.items[i].host, MR_OWN_HOST);
		assert_true(mr_survey_find_process(survey, MR_OWN_HOST,
						   survey->processes.items[i].number, &found));
		assert_int_equal(found, i);
		assert_false(mr_survey_find_process(survey, MR_OWN_HOST + 1,
						    survey->processes.items[i].number, &found));
	}
	for (size_t i = 0; i < survey->tracks.count; i++)
		assert_int_equal(survey->tracks.items[i].host, MR_OWN_HOST);
}

/* ---- manifests ---------------------------------------------------------------------------------- */

static void test_manifest(void **state)
{
	const struct mr_manifest *manifest = model->manifest;

	(void)state;
	assert_null(manifest->problem);
	assert_int_equal(manifest->command_count, 3);
	assert_string_equal(manifest->command[2], "two words");
	assert_int_equal(manifest->exit_kind, MR_EXIT_SIGNAL);
	assert_int_equal(manifest->exit_value, 9);
	assert_int_equal(manifest->process_count, 2);
	assert_false(manifest->processes[1].traced);
	assert_string_equal(manifest->processes[1].reason, "static program");
	assert_int_equal(manifest->lost_events, 5);
	assert_true(manifest->unseen_processes_possible);
}

static void check_problem(const char *folder, const char *text, const char *problem)
{
	struct mr_manifest *manifest;

	directory_write(folder, "manifest.json", text, strlen(text));
	assert_int_equal(mr_manifest_read(folder, &manifest), 0);
	assert_non_null(manifest->problem);
	assert_non_null(strstr(manifest->problem, problem));
	mr_manifest_free(manifest);
}

static void test_manifest_of_kernel_level(void **state)
{
	static const char text[] =
		"{\"format\": 1, \"kernel\": \"6.1\", \"kernel_level\": {\"mode\": \"perf\", "
		"\"reason\": \"why\", \"syscalls\": \"none\", \"events\": 7, \"not_followed\": 2, "
		"\"lost_by_cpu\": [0, 3], \"off\": [{\"what\": \"a\", \"why\": \"b\"}]}}";
	char *folder = directory_make();
	struct mr_manifest *manifest;

	(void)state;
	directory_write(folder, "manifest.json", text, strlen(text));
	assert_int_equal(mr_manifest_read(folder, &manifest), 0);
	const struct mr_manifest_kernel *kernel = &manifest->kernel_level;
	assert_null(manifest->problem);
	assert_string_equal(manifest->kernel, "6.1");
	assert_string_equal(kernel->mode, "perf");
	assert_string_equal(kernel->reason, "why");
	assert_string_equal(kernel->syscalls, "none");
	assert_int_equal(kernel->events, 7);
	assert_int_equal(kernel->not_followed, 2);
	assert_int_equal(kernel->cpu_count, 2);
	assert_int_equal(kernel->lost_by_cpu[1], 3);
	assert_int_equal(kernel->off_count, 1);
	assert_string_equal(kernel->off[0].what, "a");
	assert_string_equal(kernel->off[0].why, "b");
	mr_manifest_free(manifest);
	directory_remove(folder);
}

static void test_broken_manifests(void **state)
{
	char *folder = directory_make();
	struct mr_manifest *manifest;

	(void)state;
	assert_int_equal(mr_manifest_read(folder, &manifest), 0);
	assert_string_equal(manifest->problem, "manifest.json is absent");
	mr_manifest_free(manifest);
	check_problem(folder, "", "cannot be read");
	check_problem(folder, "{\"format\": 1", "cannot be read");
	check_problem(folder, "[1]", "format");
	check_problem(folder, "{\"format\": \"1\"}", "format");
	check_problem(folder, "{\"format\": 2}", "format");
	check_problem(folder, "{\"format\": 1, \"host\": 5}", "host");
	check_problem(folder, "{\"format\": 1, \"command\": \"ls\"}", "command");
	check_problem(folder, "{\"format\": 1, \"command\": [1, \"x\"]}", "command");
	check_problem(folder, "{\"format\": 1, \"exit\": [0]}", "exit");
	check_problem(folder, "{\"format\": 1, \"exit\": {\"code\": \"0\"}}", "code");
	check_problem(folder, "{\"format\": 1, \"processes\": [7, {}]}", "processes");
	check_problem(folder, "{\"format\": 1, \"processes\": [{\"pid\": -4}]}", "pid");
	check_problem(folder, "{\"format\": 1, \"losses\": {\"events\": 1.5}}", "events");
	check_problem(folder, "{\"format\": 1, \"started_realtime_ns\": true}", "started");
	check_problem(folder, "{\"format\": 1, \"kernel_level\": 1}", "kernel_level");
	check_problem(folder, "{\"format\": 1, \"kernel_level\": {\"lost_by_cpu\": [-1]}}",
		      "lost_by_cpu");
	check_problem(folder, "{\"format\": 1, \"kernel_level\": {\"off\": [{}]}}", "off");
	directory_remove(folder);
}

/* Cut anywhere, it is read or refused, never more. */
static void test_cut_manifests(void **state)
{
	char *folder = directory_make();
	struct mr_manifest *manifest;

	(void)state;
	for (size_t length = 0; length < strlen(small_trace_manifest) - 2; length += 7) {
		directory_write(folder, "manifest.json", small_trace_manifest, length);
		assert_int_equal(mr_manifest_read(folder, &manifest), 0);
		assert_non_null(manifest->problem);
		assert_int_equal(manifest->process_count, 0);
		mr_manifest_free(manifest);
	}
	directory_remove(folder);
}

/* Whatever lies in an imported folder: it is not millrace's manifest. */
static void test_manifest_of_imported_folder(void **state)
{
	char *folder = directory_make();
	struct mr_trace trace = {.path = folder};
	struct mr_manifest *manifest;

	(void)state;
	directory_write(folder, "manifest.json", "{\"format\": 7}", 13);
	assert_int_equal(mr_manifest_of(&trace, &manifest), 0);
	assert_non_null(manifest->problem);
	mr_manifest_free(manifest);
	trace.is_imported = true;
	assert_int_equal(mr_manifest_of(&trace, &manifest), 0);
	assert_null(manifest->problem);
	assert_string_equal(manifest->state, "imported");
	mr_manifest_free(manifest);
	directory_remove(folder);
}

/* ---- other traces ------------------------------------------------------------------------------- */

static void test_empty_trace(void **state)
{
	char *folder = directory_make();
	struct mr_model *empty;

	(void)state;
	directory_write_metadata(folder);
	assert_int_equal(mr_model_load(folder, &empty), 0);
	assert_int_equal(empty->survey->event_count, 0);
	assert_int_equal(empty->survey->tracks.count, 0);
	mr_model_free(empty);
	directory_remove(folder);
	assert_true(mr_model_load("/nonexistent.mill", &empty) < 0);
	assert_non_null(strstr(mr_error_text(), "nonexistent"));
}

/* Any event with any fields, whatever the ids and times say. */
static void test_arbitrary_events(void **state)
{
	static struct packet packet;
	static struct sample sample;
	uint64_t random = 21;

	(void)state;
	for (int round = 0; round < 50; round++) {
		char *folder = directory_make();
		struct mr_model *any = NULL;

		directory_write_metadata(folder);
		for (uint32_t stream = 0; stream < 3; stream++) {
			packet = (struct packet){.begin = 100,
						 .end = 100000,
						 .stream = stream,
						 .process = stream,
						 .pid = 7,
						 .kind = stream == 0};
			packet_start(&packet);
			for (uint64_t i = 0; i < 200; i++) {
				uint8_t id;

				do
					id = (uint8_t)next_random(&random);
				while (!mr_event_table[id].name);
				sample_fill(&sample, id, 100 + i, &random);
				/* Ids that may well be defined. */
				if (mr_event_table[id].fixed_bytes >= 4 && i % 2)
					put_number(sample.payload, next_random(&random) % 60, 4);
				packet_event(&packet, id, 100 + i, sample.payload, sample.size);
			}
			packet_finish(&packet);
			char name[] = {'c', 't', 'f', '/', (char)('a' + stream), 0};
			directory_write(folder, name, packet.bytes, packet.size);
		}
		assert_int_equal(mr_model_load(folder, &any), 0);
		assert_true(any->survey->event_count > 100);
		mr_model_free(any);
		directory_remove(folder);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest of_small[] = {
		cmocka_unit_test(test_who_took_part), cmocka_unit_test(test_executions),
		cmocka_unit_test(test_other_tables),  cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_manifest),
	};
	const struct CMUnitTest of_others[] = {
		cmocka_unit_test(test_manifest_of_kernel_level),
		cmocka_unit_test(test_broken_manifests),
		cmocka_unit_test(test_cut_manifests),
		cmocka_unit_test(test_manifest_of_imported_folder),
		cmocka_unit_test(test_empty_trace),
		cmocka_unit_test(test_arbitrary_events),
	};

	if (argc == 2) {
		small_trace_write(argv[1]);
		return 0;
	}
	return cmocka_run_group_tests(of_small, load_small, free_small) +
	       cmocka_run_group_tests(of_others, NULL, NULL);
}
