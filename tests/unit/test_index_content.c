/* SPDX-License-Identifier: Apache-2.0
 *
 * The saved index: a model that comes from it is the model that loading gives, whatever is asked of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel_trace.h"
#include "load/load.h"
#include "model/detail.h"
#include "model/index.h"
#include "small_trace.h"
#include "trace_writer.h"

static char *directory;

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

static void compare_details(const struct mr_table *one, const struct mr_table *other,
			    const struct mr_survey *survey)
{
	enum {
		PIXELS = 7
	};
	struct mr_detail_pixel pixels[PIXELS], other_pixels[PIXELS];

	assert_int_equal(mr_detail_bytes(one->detail), mr_detail_bytes(other->detail));
	for (uint32_t track = 0; track < survey->tracks.count; track++) {
		uint32_t lanes = mr_detail_lanes(one->detail, track);

		assert_int_equal(lanes, mr_detail_lanes(other->detail, track));
		for (uint32_t lane = 0; lane < lanes; lane++) {
			const struct mr_detail_view view = {track, lane, survey->first_ns,
							    survey->last_ns, PIXELS};
			uint32_t count = mr_detail_query(one->detail, &view, pixels);

			assert_int_equal(count,
					 mr_detail_query(other->detail, &view, other_pixels));
			for (uint32_t i = 0; i < count; i++) {
				assert_int_equal(pixels[i].count, other_pixels[i].count);
				assert_int_equal(pixels[i].busy_ns, other_pixels[i].busy_ns);
				assert_int_equal(pixels[i].longest, other_pixels[i].longest);
			}
		}
	}
}

static void compare_tables(struct mr_table *one, struct mr_table *other,
			   const struct mr_survey *survey)
{
	uint32_t track_count = (uint32_t)survey->tracks.count;

	assert_int_equal(one->count, other->count);
	assert_memory_equal(one->first_of_track, other->first_of_track,
			    (track_count + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; one->count && i < one->desc->column_count; i++)
		assert_memory_equal(mr_table_columns(one)[i], mr_table_columns(other)[i],
				    (size_t)one->count * one->desc->columns[i].bytes);
	assert_int_equal(mr_table_is_interval(one), one->detail != NULL);
	if (one->detail)
		compare_details(one, other, survey);
}

static void compare_strings(const struct mr_strings *one, const struct mr_strings *other)
{
	uint32_t number;

	assert_int_equal(mr_strings_count(one), mr_strings_count(other));
	for (uint32_t i = 0; i < mr_strings_count(one); i++) {
		assert_string_equal(mr_strings_text(one, i), mr_strings_text(other, i));
		assert_true(mr_strings_find(other, mr_strings_text(one, i), one->lengths.items[i],
					    &number));
		assert_int_equal(number, i);
	}
}

#define COMPARE_VEC(one, other)                                                 \
	do {                                                                    \
		assert_int_equal((one).count, (other).count);                   \
		if ((one).count)                                                \
			assert_memory_equal((one).items, (other).items,         \
					    (one).count * sizeof *(one).items); \
	} while (0)

static void compare_clocks(const struct mr_clocks *one, const struct mr_clocks *other)
{
	assert_int_equal(one->map_count, other->map_count);
	assert_int_equal(one->user - one->maps, other->user - other->maps);
	assert_int_equal(one->monotonic - one->maps, other->monotonic - other->maps);
	for (uint32_t i = 0; i < one->map_count; i++) {
		assert_int_equal(one->maps[i].knot_count, other->maps[i].knot_count);
		for (uint64_t ticks = 0; one->maps[i].knot_count && ticks < UINT64_C(1) << 40;
		     ticks += UINT64_C(1) << 33)
			assert_int_equal(mr_clock_to_ns(&one->maps[i], ticks),
					 mr_clock_to_ns(&other->maps[i], ticks));
	}
}

static void compare(struct mr_model *one, struct mr_model *other)
{
	struct mr_survey *survey = one->survey, *other_survey = other->survey;

	COMPARE_VEC(survey->tracks, other_survey->tracks);
	COMPARE_VEC(survey->processes, other_survey->processes);
	COMPARE_VEC(survey->gaps, other_survey->gaps);
	COMPARE_VEC(survey->tasks.list, other_survey->tasks.list);
	COMPARE_VEC(survey->definitions.nodes, other_survey->definitions.nodes);
	COMPARE_VEC(survey->definitions.queues, other_survey->definitions.queues);
	assert_memory_equal(&one->anomalies, &other->anomalies, sizeof one->anomalies);
	assert_memory_equal(one->constraints, other->constraints, sizeof one->constraints);
	assert_memory_equal(&survey->first_ns, &other_survey->first_ns,
			    sizeof *survey - offsetof(struct mr_survey, first_ns));
	compare_strings(&survey->definitions.strings, &other_survey->definitions.strings);
	compare_strings(&survey->track_keys, &other_survey->track_keys);
	compare_clocks(survey->clocks, other_survey->clocks);
#define COMPARE_TABLE(name) compare_tables(&one->name.table, &other->name.table, survey);
	MR_TABLES(COMPARE_TABLE)
#undef COMPARE_TABLE
}

static void check_same(void)
{
	mr_auto(model) struct mr_model *loaded = load();

	assert_null(loaded->index.bytes);
	assert_int_equal(mr_index_save(loaded), 0);
	mr_auto(model) struct mr_model *reopened = load();
	assert_non_null(reopened->index.bytes);
	compare(loaded, reopened);
}

static void test_same_model(void **state)
{
	char left_over[4096];

	(void)state;
	check_same();
	snprintf(left_over, sizeof left_over, "%s/" MR_INDEX_FILE ".new", directory);
	assert_int_not_equal(access(left_over, F_OK), 0);
}

static void test_same_kernel_level(void **state)
{
	static const char manifest[] = "{\"format\": 1, \"state\": \"complete\"}";

	(void)state;
	kernel_trace_begin(2);
	kernel_born(0, 1000, 0, 7, 7, "main");
	for (uint64_t ns = 2000; ns < 40000; ns += 1000) {
		kernel_switch(0, ns, 0, 7, MR_switch_reason_unknown);
		KERNEL(0, kernel_syscall, ns + 200, NULL, .tid = 7, .number = 1,
		       .duration_ns = {100, 0});
		kernel_switch(0, ns + 400, 7, 0, MR_switch_reason_interruptible);
		kernel_wake(1, ns + 800, 7, 0);
	}
	directory_write(kernel_trace_directory(), "manifest.json", manifest, sizeof manifest - 1);
	char *own = directory;
	struct mr_model *model = kernel_trace_load(50000);
	directory = (char *)kernel_trace_directory();
	assert_true(model->states.table.count > 100);
	check_same();
	directory = own;
	kernel_trace_end(model);
}

/* ---- damage ----------------------------------------------------------------------------------------- */

/* Whatever byte of the file changes, what comes out is the same: the index is not used, or nobody reads the byte. */
static void test_changed_bytes(void **state)
{
	enum {
		STEP = 331
	};
	char path[4096];
	struct stat status;
	uint32_t refused = 0;

	(void)state;
	mr_auto(model) struct mr_model *loaded = load();
	assert_int_equal(mr_index_save(loaded), 0);
	snprintf(path, sizeof path, "%s/" MR_INDEX_FILE, directory);
	mr_auto(close_fd) int fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t offset = 0; offset < status.st_size; offset += STEP) {
		uint8_t byte, changed;

		assert_int_equal(pread(fd, &byte, 1, offset), 1);
		changed = byte ^ 0x40;
		assert_int_equal(pwrite(fd, &changed, 1, offset), 1);
		mr_auto(model) struct mr_model *reopened = load();
		refused += !reopened->index.bytes;
		if (reopened->index.bytes)
			compare(loaded, reopened);
		assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	}
	assert_true(refused > 10);
}

/* Every byte that a column keeps is covered: the first one of each page that holds anything. */
static void test_changed_columns(void **state)
{
	char path[4096];
	uint8_t page[4096];
	uint32_t columns = 0;

	(void)state;
	mr_auto(model) struct mr_model *loaded = load();
	assert_int_equal(mr_index_save(loaded), 0);
	snprintf(path, sizeof path, "%s/" MR_INDEX_FILE, directory);
	mr_auto(close_fd) int fd = open(path, O_RDWR);
	for (off_t offset = sizeof page; pread(fd, page, sizeof page, offset) == sizeof page;
	     offset += (off_t)sizeof page) {
		size_t first = 0;

		while (first < sizeof page && page[first] == 0)
			first++;
		if (first == sizeof page)
			continue;
		page[first] ^= 1;
		assert_int_equal(pwrite(fd, &page[first], 1, offset + (off_t)first), 1);
		mr_auto(model) struct mr_model *reopened = load();
		assert_null(reopened->index.bytes);
		assert_int_equal(reopened->index_state.result, -EBADMSG);
		columns++;
		page[first] ^= 1;
		assert_int_equal(pwrite(fd, &page[first], 1, offset + (off_t)first), 1);
	}
	assert_true(columns > 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_trace, remove_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same_model),
		TEST(test_same_kernel_level),
		TEST(test_changed_bytes),
		TEST(test_changed_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
