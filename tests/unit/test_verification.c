/* SPDX-License-Identifier: Apache-2.0
 *
 * What `info --verify` finds, of a small trace whose files are changed byte by byte; and files that become shorter while
 * they are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "base/error.h"
#include "load/load.h"
#include "model/index.h"
#include "small_trace.h"
#include "trace_writer.h"

static char *directory;

static int make_trace(void **state)
{
	(void)state;
	directory = small_trace_make();
	return 0;
}

static int remove_trace(void **state)
{
	(void)state;
	directory_remove(directory);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

/* The severity of the finding; `text` must occur in one of its sentences. */
static enum mr_severity verify(const char *text, uint32_t *ret_rows)
{
	mr_auto(model) struct mr_model *model = NULL;
	struct mr_findings findings = {0};
	bool is_said = false;

	assert_int_equal(mr_model_load(directory, &model), 0);
	assert_int_equal(mr_analyse_verification(model, &findings), 0);
	const struct mr_finding *finding = mr_findings_find(&findings, "verification");
	for (size_t i = 0; i < finding->sentences.count; i++)
		is_said |= strstr(finding->sentences.items[i].text, text) != NULL;
	if (!is_said)
		fail_msg("nobody says '%s'", text);
	enum mr_severity severity = finding->severity;
	const struct mr_finding_table *table =
		mr_findings_find_table(&findings, "verification", "invalid_packets");
	*ret_rows = table ? table->row_count : 0;
	mr_findings_free(&findings);
	return severity;
}

static void save_index(void)
{
	mr_auto(model) struct mr_model *model = NULL;

	assert_int_equal(mr_model_load(directory, &model), 0);
	assert_int_equal(mr_index_save(model), 0);
}

static void change(const char *name, off_t offset, uint8_t byte)
{
	mr_auto(close_fd) int fd = open(path_of(name), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

static void test_sound(void **state)
{
	uint32_t rows;

	(void)state;
	assert_int_equal(verify("can be read", &rows), MR_SEVERITY_FINE);
	assert_int_equal(rows, 0);
	assert_int_equal(verify("no saved index", &rows), MR_SEVERITY_FINE);
	save_index();
	assert_int_equal(verify("matches its checksums", &rows), MR_SEVERITY_FINE);
}

static void test_index(void **state)
{
	uint32_t rows;

	(void)state;
	save_index();
	change(MR_INDEX_FILE, 4096, 0xA5);
	assert_int_equal(verify("damaged at byte 4096 of", &rows), MR_SEVERITY_WARNING);
	save_index();
	assert_int_equal(chmod(path_of("manifest.json"), 0600), 0);
	assert_int_equal(verify("was not used", &rows), MR_SEVERITY_NOTE);
}

/* A packet whose second event has a number that no event has. */
static void test_invalid_event(void **state)
{
	static struct packet packet = {.begin = 100, .end = 200, .stream = 77, .process = 2};
	const uint8_t payload[8] = {0};
	uint32_t rows;

	(void)state;
	packet_start(&packet);
	packet_event(&packet, 250, 150, payload, sizeof payload);
	packet_finish(&packet);
	directory_write(directory, "ctf/invalid", packet.bytes, packet.size);
	assert_int_equal(verify("packets contain an invalid event", &rows), MR_SEVERITY_WARNING);
	assert_int_equal(rows, 1);
}

static void test_rubbish(void **state)
{
	uint32_t rows;

	(void)state;
	directory_write(directory, "ctf/rubbish", "not a packet", 12);
	assert_int_equal(verify("cannot be read", &rows), MR_SEVERITY_WARNING);
}

/* ---- files that become shorter -------------------------------------------------------------------- */

static void test_truncated_mapping(void **state)
{
	struct mr_mapping mapping, other;
	static uint8_t bytes[5 * 4096];
	uint64_t sum = 0;

	(void)state;
	memset(bytes, 1, sizeof bytes);
	directory_write(directory, "file", bytes, sizeof bytes);
	directory_write(directory, "other", bytes, sizeof bytes);
	assert_int_equal(mr_mapping_open(AT_FDCWD, path_of("file"), &mapping), 0);
	assert_int_equal(mr_mapping_open(AT_FDCWD, path_of("other"), &other), 0);
	assert_int_equal(truncate(path_of("file"), 4096), 0);
	assert_int_equal(mr_mappings_check(), 0); /* nobody has looked */
	for (size_t i = 0; i < mapping.size; i++)
		sum += mapping.bytes[i] + (uint64_t)other.bytes[i];
	assert_int_equal(sum, 4096 + sizeof bytes);
	assert_int_equal(mr_mappings_check(), -EIO);
	assert_non_null(strstr(mr_error_text(), "file was truncated"));
	mr_mapping_close(&mapping);
	assert_int_equal(mr_mappings_check(), 0);
	mr_mapping_close(&other);
}

static void die_of_bus_error(void)
{
	struct mr_mapping mapping;

	directory_write(directory, "other", "x", 1);
	signal(SIGBUS, SIG_DFL);
	if (mr_mapping_open(AT_FDCWD, path_of("other"), &mapping) == 0)
		kill(getpid(), SIGBUS);
	_exit(1);
}

/* A bus error of somebody else ends the process as ever. */
static void test_other_bus_error(void **state)
{
	int status;

	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		die_of_bus_error();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* Between the survey and the rows, say: what was valid when the trace was opened is gone. */
static void test_truncated_trace(void **state)
{
	struct mr_trace *trace;
	struct mr_cursor cursor;
	struct mr_event event;

	(void)state;
	assert_int_equal(mr_trace_open(directory, &trace), 0);
	for (uint32_t i = 0; i < trace->file_count; i++) {
		char name[300];

		snprintf(name, sizeof name, "ctf/%s", trace->files[i]);
		assert_int_equal(truncate(path_of(name), 0), 0);
	}
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		while (mr_cursor_next(&cursor, &event))
			;
	}
	assert_int_equal(mr_mappings_check(), -EIO);
	mr_trace_close(trace);
}

/* The columns lie in the index; what an analysis makes of them then is worthless, and known to be. */
static void test_truncated_index(void **state)
{
	mr_auto(model) struct mr_model *model = NULL;
	struct mr_findings findings = {0};

	(void)state;
	save_index();
	assert_int_equal(mr_model_load(directory, &model), 0);
	assert_non_null(model->index.bytes);
	assert_int_equal(truncate(path_of(MR_INDEX_FILE), 4096), 0);
	assert_int_equal(mr_analyse_all(model, &findings), 0);
	assert_int_equal(mr_mappings_check(), -EIO);
	assert_non_null(strstr(mr_error_text(), MR_INDEX_FILE));
	mr_findings_free(&findings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_trace, remove_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sound),
		TEST(test_index),
		TEST(test_invalid_event),
		TEST(test_rubbish),
		TEST(test_truncated_mapping),
		TEST(test_other_bus_error),
		TEST(test_truncated_trace),
		TEST(test_truncated_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
