/* SPDX-License-Identifier: Apache-2.0
 *
 * The saved index: it is not believed when anything has changed, not saved where that would be wrong, and others
 * may do the same at the same time. That it holds the model: test_index_content.c.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "load/load.h"
#include "model/index.h"
#include "small_trace.h"
#include "trace_writer.h"

#define NEW_FILE MR_INDEX_FILE ".new"

static char *directory;

static const char *path_of(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static const char *index_path(void)
{
	return path_of(MR_INDEX_FILE);
}

static bool exists(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static struct mr_model *load(void)
{
	struct mr_model *model = NULL;

	assert_int_equal(mr_model_load(directory, &model), 0);
	return model;
}

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

static void save(void)
{
	mr_auto(model) struct mr_model *model = load();

	assert_null(model->index.bytes);
	assert_int_equal(mr_index_save(model), 0);
}

static bool is_believed(void)
{
	mr_auto(model) struct mr_model *model = load();

	return model->index.bytes;
}

/* ---- not believed ------------------------------------------------------------------------------- */

static void test_changed_files(void **state)
{
	static const char *const names[] = {"manifest.json", "ctf/metadata"};

	(void)state;
	for (size_t i = 0; i < mr_countof(names); i++) {
		save();
		assert_true(is_believed());
		assert_int_equal(chmod(path_of(names[i]), 0640 + (mode_t)i), 0); /* new ctime */
		assert_false(is_believed());
	}
	save();
	directory_write(directory, "ctf/another", "", 0);
	assert_false(is_believed());
}

/* As when the trace is still being copied here. */
static void test_changed_while_loading(void **state)
{
	(void)state;
	mr_auto(model) struct mr_model *model = load();
	assert_int_equal(chmod(path_of("ctf/metadata"), 0640), 0);
	assert_int_equal(mr_index_save(model), 0);
	assert_false(is_believed());
}

static void test_truncated(void **state)
{
	struct stat status;

	(void)state;
	save();
	assert_int_equal(stat(index_path(), &status), 0);
	const off_t sizes[] = {status.st_size - 1, status.st_size / 2, 4096, 20, 0};
	for (size_t i = 0; i < mr_countof(sizes); i++) {
		assert_int_equal(truncate(index_path(), sizes[i]), 0);
		assert_false(is_believed());
	}
	save();
	assert_true(is_believed());
}

static void flip(int fd, off_t offset)
{
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, offset), 1);
	byte ^= 1 << offset % 8;
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
}

/* Every bit that matters of the heading, and some of the head at the end of the file. */
static void test_flipped_bits(void **state)
{
	struct stat status;

	(void)state;
	save();
	int fd = open(index_path(), O_RDWR);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t offset = 0; offset < 40; offset++) {
		flip(fd, offset);
		assert_false(is_believed());
		flip(fd, offset);
	}
	for (off_t back = 1; back < 4000; back += 97) {
		flip(fd, status.st_size - back);
		assert_false(is_believed());
		flip(fd, status.st_size - back);
	}
	assert_true(is_believed());
	close(fd);
}

/* A trace that was copied with its index: other inodes. */
static void test_copied(void **state)
{
	char command[9000];
	char *own = directory;

	(void)state;
	save();
	directory = directory_make();
	snprintf(command, sizeof command, "cp -a %s/. %s", own, directory);
	assert_int_equal(system(command), 0);
	assert_true(exists(MR_INDEX_FILE));
	assert_false(is_believed());
	directory_remove(directory);
	directory = own;
}

static void test_writable_by_others(void **state)
{
	(void)state;
	save();
	assert_int_equal(chmod(index_path(), 0602), 0);
	assert_false(is_believed());
}

static void test_symbolic_link(void **state)
{
	char elsewhere[4096];

	(void)state;
	save();
	snprintf(elsewhere, sizeof elsewhere, "%s", path_of("elsewhere"));
	assert_int_equal(rename(index_path(), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, index_path()), 0);
	assert_false(is_believed());
}

static void test_somebody_elses(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("only root can give a file to somebody else\n");
		skip();
	}
	save();
	assert_int_equal(chown(index_path(), 1, 1), 0);
	assert_false(is_believed());
	assert_int_equal(chown(index_path(), 0, 0), 0);
	assert_true(is_believed());
	assert_int_equal(chown(directory, 1, 1), 0);
	assert_false(is_believed());
	mr_auto(model) struct mr_model *model = load();
	assert_int_equal(mr_index_save(model), -EPERM);
}

/* ---- not saved ---------------------------------------------------------------------------------- */

static void test_small_trace_is_not_worth_it(void **state)
{
	(void)state;
	mr_model_free(load());
	assert_false(exists(MR_INDEX_FILE));
}

static void refuse(void)
{
	mr_auto(model) struct mr_model *model = load();

	assert_true(mr_index_save(model) < 0);
	assert_false(exists(MR_INDEX_FILE));
	assert_false(exists(NEW_FILE));
}

static void test_live_trace(void **state)
{
	char *text = text_replace(strdup(small_trace_manifest), "\"complete\"", "\"recording\"");

	(void)state;
	directory_write(directory, "manifest.json", text, strlen(text));
	refuse();
	free(text);
	assert_int_equal(unlink(path_of("manifest.json")), 0);
	refuse();
}

static void test_damaged_trace(void **state)
{
	(void)state;
	directory_write(directory, "ctf/damaged", "not a packet", 12);
	refuse();
}

static void test_folder_of_streams(void **state)
{
	struct mr_model *model = NULL;

	(void)state;
	assert_int_equal(mr_model_load(path_of("ctf"), &model), 0);
	assert_true(mr_index_save(model) < 0);
	mr_model_free(model);
}

/* ---- others at the same time -------------------------------------------------------------------- */

/* What a killed process has left is used again; what another is writing is left alone. */
static void test_left_over(void **state)
{
	(void)state;
	directory_write(directory, NEW_FILE, "half", 4);
	int other = open(path_of(NEW_FILE), O_RDWR);
	assert_int_equal(flock(other, LOCK_EX), 0);
	mr_auto(model) struct mr_model *model = load();
	assert_true(mr_index_save(model) < 0);
	close(other);
	assert_int_equal(mr_index_save(model), 0);
	assert_true(is_believed());
	assert_false(exists(NEW_FILE));
}

static void test_link_instead_of_new_file(void **state)
{
	(void)state;
	directory_write(directory, "precious", "gold", 4);
	mr_auto(model) struct mr_model *model = load();
	for (int is_hard = 0; is_hard < 2; is_hard++) {
		int directory_fd = open(directory, O_RDONLY | O_DIRECTORY);
		int result = is_hard ? linkat(directory_fd, "precious", directory_fd, NEW_FILE, 0)
				     : symlinkat("precious", directory_fd, NEW_FILE);
		struct stat status;

		close(directory_fd);
		assert_int_equal(result, 0);
		assert_true(mr_index_save(model) < 0);
		assert_int_equal(stat(path_of("precious"), &status), 0);
		assert_int_equal(status.st_size, 4);
		assert_int_equal(unlink(path_of(NEW_FILE)), 0);
	}
}

/* Opening a pipe for writing waits for a reader. */
static void test_pipe_instead_of_new_file(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(path_of(NEW_FILE), 0600), 0);
	mr_auto(model) struct mr_model *model = load();
	alarm(10);
	assert_true(mr_index_save(model) < 0);
	alarm(0);
}

/* Loads and saves again and again; what it is given must always be whole. */
static int work(const struct mr_model *expected)
{
	for (int i = 0; i < 40; i++) {
		mr_auto(model) struct mr_model *model = NULL;

		if (mr_model_load(directory, &model) < 0 ||
		    model->calls.table.count != expected->calls.table.count ||
		    model->survey->event_count != expected->survey->event_count)
			return 1;
		unlink(index_path());
		mr_index_save(model);
	}
	return 0;
}

static void test_concurrent_processes(void **state)
{
	enum {
		PROCESSES = 4
	};
	mr_auto(model) struct mr_model *model = load();
	pid_t pids[PROCESSES];

	(void)state;
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(work(model));
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_false(exists(NEW_FILE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_trace, remove_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_changed_files),
		TEST(test_changed_while_loading),
		TEST(test_truncated),
		TEST(test_flipped_bits),
		TEST(test_copied),
		TEST(test_writable_by_others),
		TEST(test_symbolic_link),
		TEST(test_somebody_elses),
		TEST(test_small_trace_is_not_worth_it),
		TEST(test_live_trace),
		TEST(test_damaged_trace),
		TEST(test_folder_of_streams),
		TEST(test_left_over),
		TEST(test_link_instead_of_new_file),
		TEST(test_pipe_instead_of_new_file),
		TEST(test_concurrent_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
