/* SPDX-License-Identifier: Apache-2.0
 *
 * The level-of-detail index against what going through all rows gives. Lanes are known by construction, or
 * found by comparing every row with every earlier one.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "model/archive.h"
#include "model/detail.h"
#include "trace_writer.h"

enum {
	MOST_ROWS = 300000,
	MOST_PIXELS = 2000,
};

/* Rows of one or more tracks, and the lane where each belongs. */
static struct {
	int64_t start_ns[MOST_ROWS];
	int64_t duration_ns[MOST_ROWS];
	uint32_t lane[MOST_ROWS];
	uint32_t first_of_track[8];
	uint32_t track_count;
	uint32_t count;
} made;

static uint64_t random_state;

static int64_t random_below(int64_t limit)
{
	return (int64_t)(next_random(&random_state) % (uint64_t)limit);
}

static void start_rows(uint64_t seed)
{
	random_state = seed;
	made.count = made.track_count = 0;
}

static void add(int64_t start_ns, int64_t duration_ns, uint32_t lane)
{
	assert_true(made.count < MOST_ROWS);
	made.start_ns[made.count] = start_ns;
	made.duration_ns[made.count] = duration_ns;
	made.lane[made.count++] = lane;
}

static void end_track(void)
{
	made.first_of_track[0] = 0;
	made.first_of_track[++made.track_count] = made.count;
}

/* One slice of that length, and others inside it. */
static void add_family(int64_t start_ns, int64_t duration_ns, uint32_t lane, uint32_t depth,
		       uint32_t limit)
{
	add(start_ns, duration_ns, lane);
	for (int64_t at = start_ns; lane + 1 < depth && made.count < limit;) {
		int64_t left_ns = start_ns + duration_ns - at;

		if (left_ns <= 0)
			break;
		int64_t child_ns = random_below(4) ? random_below(left_ns + 1) / 2 : 0;
		add_family(at, child_ns, lane + 1, depth, limit);
		at += child_ns + random_below(left_ns / 2 + 2);
	}
}

static void add_nested(uint32_t count, uint32_t depth)
{
	uint32_t limit = made.count + count;

	for (int64_t at = -5000; made.count < limit;) {
		int64_t duration_ns = random_below(3) ? random_below(1000) : 0;

		add_family(at, duration_ns, 0, depth, limit);
		at += duration_ns + (random_below(2) ? random_below(300) : 1);
	}
	end_track();
}

/* Whether an earlier row has the lane of this one when it begins. */
static bool is_taken(uint32_t first, uint32_t row)
{
	for (uint32_t i = first; i < row; i++)
		if (made.lane[i] == made.lane[row] &&
		    made.start_ns[i] + made.duration_ns[i] > made.start_ns[row])
			return true;
	return false;
}

/* Slices that overlap as they like. */
static void add_overlapping(uint32_t count)
{
	uint32_t first = made.count;
	int64_t at = 1000;

	for (uint32_t i = 0; i < count; i++) {
		at += 1 + random_below(100);
		add(at, random_below(5) ? random_below(400) : 0, 0);
		while (is_taken(first, made.count - 1))
			made.lane[made.count - 1]++;
	}
	end_track();
}

static int64_t end_of(uint32_t row)
{
	return made.start_ns[row] + made.duration_ns[row];
}

/* Rows of the lane that the view shows: what lasts into it, then what begins in it. */
struct truth {
	uint32_t rows[MOST_ROWS];
	uint32_t count;
	bool has_open; /* the first began before */
};

static void find_truth(const struct mr_detail_view *view, struct truth *truth)
{
	uint32_t row = made.first_of_track[view->track], end = made.first_of_track[view->track + 1];
	int64_t latest_ns = INT64_MIN;

	truth->count = 0;
	for (; row < end && made.start_ns[row] < view->begin_ns; row++)
		if (made.lane[row] == view->lane && end_of(row) >= latest_ns) {
			truth->rows[0] = row;
			latest_ns = end_of(row);
		}
	truth->has_open = latest_ns > view->begin_ns;
	truth->count = truth->has_open;
	for (; row < end && made.start_ns[row] < view->end_ns; row++)
		if (made.lane[row] == view->lane)
			truth->rows[truth->count++] = row;
}

static uint32_t pixel_of(const struct mr_detail_view *view, uint32_t row)
{
	__int128 span_ns = (__int128)view->end_ns - view->begin_ns;

	return (uint32_t)(((__int128)made.start_ns[row] - view->begin_ns) * view->pixels / span_ns);
}

/* A row may count for the pixel before its own, if it begins in the first half and so do many others. */
static void check_late(const struct mr_detail_view *view, uint32_t row, uint32_t pixel)
{
	__int128 span_ns = (__int128)view->end_ns - view->begin_ns;
	__int128 late = ((__int128)made.start_ns[row] - view->begin_ns) * view->pixels -
			span_ns * (pixel + 1);
	uint32_t first = made.first_of_track[view->track];
	uint32_t last = made.first_of_track[view->track + 1] - 1;
	int64_t before_ns = made.start_ns[row - mr_min(row - first, 32u)];
	int64_t after_ns = made.start_ns[row + mr_min(last - row, 32u)];

	assert_true(late * 2 <= span_ns);
	assert_true(last - first >= 63);
	assert_true(((__int128)made.start_ns[row] - before_ns) * 2 * view->pixels <= span_ns ||
		    ((__int128)after_ns - made.start_ns[row]) * 2 * view->pixels <= span_ns);
}

/* The pixel has the next `is->count` rows, from `rows` on. */
static void check_pixel(const struct mr_detail_view *view, const struct mr_detail_pixel *is,
			const uint32_t *rows, bool has_open, int64_t *latest_ns)
{
	uint32_t longest = rows[0];
	int64_t busy_ns = 0;

	assert_int_equal(is->pixel, has_open ? 0 : pixel_of(view, rows[0]));
	for (uint32_t i = 0; i < is->count; i++) {
		if ((i > 0 || !has_open) && pixel_of(view, rows[i]) != is->pixel)
			check_late(view, rows[i], is->pixel);
		if (made.duration_ns[rows[i]] > made.duration_ns[longest])
			longest = rows[i];
		busy_ns += made.duration_ns[rows[i]];
		*latest_ns = mr_max(*latest_ns, end_of(rows[i]));
	}
	assert_int_equal(is->longest, longest);
	assert_int_equal(is->busy_ns, busy_ns);
	assert_int_equal(is->start_ns, made.start_ns[rows[0]]);
	assert_int_equal(is->end_ns, *latest_ns);
}

/* The pixels divide all the rows, in order. */
static void check_view(const struct mr_detail *detail, const struct mr_detail_view *view)
{
	static struct mr_detail_pixel pixels[MOST_PIXELS];
	static struct truth truth;
	uint32_t filled = mr_detail_query(detail, view, pixels), at = 0;
	int64_t latest_ns = INT64_MIN;

	find_truth(view, &truth);
	for (uint32_t i = 0; i < filled; i++) {
		assert_true(pixels[i].count > 0 && pixels[i].count <= truth.count - at);
		assert_true(pixels[i].pixel < view->pixels);
		assert_true(i == 0 || pixels[i].pixel > pixels[i - 1].pixel);
		check_pixel(view, &pixels[i], truth.rows + at, at == 0 && truth.has_open,
			    &latest_ns);
		at += pixels[i].count;
	}
	assert_int_equal(at, truth.count);
}

static bool is_same_pixel(const struct mr_detail_pixel *a, const struct mr_detail_pixel *b)
{
	return a->pixel == b->pixel && a->lane == b->lane && a->count == b->count &&
	       a->longest == b->longest && a->busy_ns == b->busy_ns && a->start_ns == b->start_ns &&
	       a->end_ns == b->end_ns;
}

/* Several lanes in one go are what they are one by one. */
static void check_lanes_at_once(const struct mr_detail *detail, const struct mr_detail_view *view,
				uint32_t lanes)
{
	static struct mr_detail_pixel pixels[MOST_PIXELS];
	struct mr_detail_pixels all = {0};
	size_t at = 0;

	for (uint32_t round = 0; round < 2; round++, at = 0) {
		assert_int_equal(mr_detail_query_lanes(detail, view, lanes, &all), 0);
		for (uint32_t i = 0; i < lanes; i++) {
			struct mr_detail_view one = *view;

			one.lane += i;
			uint32_t filled = mr_detail_query(detail, &one, pixels);
			assert_true(filled <= all.count - at);
			for (uint32_t j = 0; j < filled; j++)
				assert_true(is_same_pixel(&pixels[j], &all.items[at++]));
		}
		assert_int_equal(at, all.count);
	}
	free(all.items);
}

static struct mr_detail *build(void)
{
	const struct mr_detail_rows rows = {made.start_ns, made.duration_ns, made.first_of_track,
					    made.track_count};
	struct mr_detail *detail = NULL;

	assert_int_equal(mr_detail_build(&rows, &detail), 0);
	return detail;
}

static void check_lanes(const struct mr_detail *detail, uint32_t track)
{
	uint32_t lanes = 0;

	for (uint32_t row = made.first_of_track[track]; row < made.first_of_track[track + 1];
	     row++) {
		lanes = mr_max(lanes, made.lane[row] + 1);
		if (row % 7 == 0 || row + 1 == made.first_of_track[track + 1])
			assert_int_equal(mr_detail_lane(detail, track, row), made.lane[row]);
	}
	assert_int_equal(mr_detail_lanes(detail, track), lanes);
}

/* Looks from all distances, at random places and at those where a slice begins or ends. */
static void check_track(const struct mr_detail *detail, uint32_t track, uint32_t looks)
{
	uint32_t first = made.first_of_track[track], last = made.first_of_track[track + 1] - 1;
	int64_t begin_ns = made.start_ns[first] - 10;
	int64_t whole_ns = made.start_ns[last] + 1000 - begin_ns;
	uint32_t lanes = mr_detail_lanes(detail, track);

	check_lanes(detail, track);
	for (uint32_t i = 0; i < looks; i++) {
		uint32_t row = first + (uint32_t)random_below(last - first + 1);
		struct mr_detail_view view = {
			.track = track,
			.lane = i % 3 ? (uint32_t)random_below(lanes + 1) : lanes - 1,
			.pixels = 1 + (uint32_t)random_below(i % 2 ? 10 : MOST_PIXELS),
		};
		const int64_t begins[] = {begin_ns, begin_ns + random_below(whole_ns),
					  made.start_ns[row], end_of(row)};

		view.begin_ns = begins[random_below(4)];
		view.end_ns = view.begin_ns + 1 + random_below((whole_ns >> random_below(12)) + 1);
		check_view(detail, &view);
		if (i % 16 == 0) {
			view.lane = (uint32_t)random_below(i % 32 ? lanes : 1);
			check_lanes_at_once(detail, &view, 1 + (uint32_t)random_below(lanes + 1));
		}
	}
}

static void check_tracks(const struct mr_detail *detail, uint32_t looks)
{
	for (uint32_t track = 0; track < made.track_count; track++)
		if (made.first_of_track[track] < made.first_of_track[track + 1])
			check_track(detail, track, looks);
	assert_true(mr_detail_bytes(detail) <= made.count + 32 * made.track_count + 256);
}

static void check(uint32_t looks)
{
	mr_auto(detail) struct mr_detail *detail = build();

	check_tracks(detail, looks);
}

/* One that was kept in a file is as good. */
static void check_kept(uint32_t looks)
{
	const struct mr_detail_rows rows = {made.start_ns, made.duration_ns, made.first_of_track,
					    made.track_count};
	mr_auto(detail) struct mr_detail *detail = build();
	mr_auto(detail) struct mr_detail *found = NULL;
	mr_auto(mapping) struct mr_mapping mapping = {0};
	char path[] = "/tmp/millrace-detail-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct mr_archive archive;

	assert_non_null(file);
	mr_archive_start_writing(&archive);
	mr_detail_archive(&archive, &rows, &detail);
	assert_int_equal(archive.error, 0);
	assert_int_equal(mr_archive_write(&archive, file), 0);
	mr_archive_end(&archive);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(mr_mapping_open(AT_FDCWD, path, &mapping), 0);
	unlink(path);
	assert_int_equal(mr_archive_start_reading(&archive, &mapping), 0);
	mr_detail_archive(&archive, &rows, &found);
	assert_int_equal(archive.error, 0);
	mr_archive_end(&archive);
	check_tracks(found, looks);
}

static void test_nested(void **state)
{
	static const uint32_t counts[] = {1, 2, 63, 64, 65, 500, 4096, 20000};

	(void)state;
	for (uint32_t i = 0; i < mr_countof(counts); i++)
		for (uint32_t depth = 1; depth < 8; depth += 3) {
			start_rows(i * 100 + depth);
			add_nested(counts[i], depth);
			check(200);
		}
}

static void test_three_levels(void **state)
{
	(void)state;
	start_rows(7);
	add_nested(MOST_ROWS - 1, 1);
	check(100);
	check_kept(100);
}

static void test_several_tracks(void **state)
{
	(void)state;
	start_rows(3);
	add_nested(300, 2);
	end_track();
	add_overlapping(700);
	add_nested(5000, 5);
	check(300);
	check_kept(300);
}

static void test_overlapping(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 10; seed++) {
		start_rows(seed);
		add_overlapping(seed % 2 ? 1500 : 90);
		check(300);
	}
}

/* More slices side by side than there are lanes. */
static void test_too_many_lanes(void **state)
{
	(void)state;
	start_rows(5);
	for (uint32_t i = 0; i < 30000; i++)
		add(i, 100000 + random_below(1000), mr_min(i, MR_DETAIL_LANES - 1u));
	end_track();
	check(300);
}

static void test_times_far_apart(void **state)
{
	(void)state;
	start_rows(9);
	for (int64_t at = INT64_MIN / 4; at < INT64_MAX / 4 - 2000; at += INT64_MAX / 4000)
		add(at, random_below(INT64_MAX / 4000), 0);
	end_track();
	mr_auto(detail) struct mr_detail *detail = build();
	check_track(detail, 0, 300);
	check_view(detail, &(struct mr_detail_view){0, 0, INT64_MIN, INT64_MAX, MOST_PIXELS});
}

static void test_nothing_to_see(void **state)
{
	struct mr_detail_pixel pixel;

	(void)state;
	start_rows(1);
	end_track();
	mr_auto(detail) struct mr_detail *detail = build();
	assert_int_equal(mr_detail_lanes(detail, 0), 0);
	for (uint32_t track = 0; track < 3; track++)
		assert_int_equal(mr_detail_query(detail,
						 &(struct mr_detail_view){track, 0, 0, 100, 1},
						 &pixel),
				 0);
}

static void test_empty_views(void **state)
{
	struct mr_detail_pixel pixel;

	(void)state;
	start_rows(1);
	add(10, 80, 0);
	end_track();
	mr_auto(detail) struct mr_detail *detail = build();
	const struct mr_detail_view views[] = {
		{0, 0, 20, 20, 1}, {0, 0, 20, 19, 1}, {0, 0, 0, 50, 0}, {0, 1, 0, 50, 1},
		{0, 0, 90, 99, 1}, {0, 0, 0, 10, 1},  {1, 0, 0, 50, 1}};
	for (uint32_t i = 0; i < mr_countof(views); i++)
		assert_int_equal(mr_detail_query(detail, &views[i], &pixel), 0);
	assert_int_equal(mr_detail_query(detail, &(struct mr_detail_view){0, 0, 89, 90, 1}, &pixel),
			 1);
	assert_int_equal(pixel.start_ns, 10);
	assert_int_equal(pixel.end_ns, 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),         cmocka_unit_test(test_three_levels),
		cmocka_unit_test(test_several_tracks), cmocka_unit_test(test_overlapping),
		cmocka_unit_test(test_too_many_lanes), cmocka_unit_test(test_times_far_apart),
		cmocka_unit_test(test_nothing_to_see), cmocka_unit_test(test_empty_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
