/* SPDX-License-Identifier: Apache-2.0
 *
 * What the viewer draws, against what going through all rows gives: lanes found by comparing every slice with
 * every earlier one, pixels by dividing. Tracks have so few rows that every pixel is exact (model/detail.h).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "ask.h"
#include "hand_model.h"
#include "timeline/labels.h"
#include "trace_writer.h"

enum {
	ROWS = 60, /* of a track and table: no block is full */
	CROWD = 700,
	MOST_ROWS = CROWD,
	SPAN_NS = 20000,
	LAST_LANE = MR_DETAIL_LANES - 1, /* takes all that finds no other */
	MOST_PIXELS = 8192,
	MOST_BANDS = 256,
};

static uint64_t random_state;

static int64_t random_below(int64_t limit)
{
	return (int64_t)(next_random(&random_state) % (uint64_t)limit);
}

/* ---- models --------------------------------------------------------------------------------------- */

/* Rows of all kinds, nested, overlapping and of no length, on some threads and queues. */
static struct mr_model *make_model(uint64_t seed)
{
	static const char *const names[] = {"matmul", "relu", "<script>", "sum"};
	struct mr_model *model = hand_model_start();

	random_state = seed;
	for (uint32_t i = 0; i < ROWS; i++)
		for (uint32_t thread = 0; thread < 5; thread += 2) {
			int64_t at = random_below(SPAN_NS);
			int64_t end = at + (random_below(5) ? random_below(3000) : 0);
			const char *name = names[random_below(4)];

			hand_node(thread, at, end, name);
			hand_call(thread, at + random_below(50), end + 50, name, i, MR_CALL_PLAIN,
				  0);
			hand_state(thread, at, end, (enum mr_thread_state)random_below(4),
				   MR_REASON_DISK);
			hand_operation(1 + thread / 2, at, end, name, 1000 * i + thread);
		}
	for (uint32_t i = 0; i < ROWS; i++)
		hand_cpu(i * 100, i * 100 + 90, i % 3 ? FOREIGN_TID : 0, MR_NO_TRACK);
	return model;
}

/* More of them at a time than there are lanes. */
static struct mr_model *make_crowd(uint64_t seed)
{
	struct mr_model *model = hand_model_start();

	random_state = seed;
	for (uint32_t i = 0; i < CROWD; i++) {
		int64_t at = random_below(SPAN_NS);

		hand_operation(1, at, at + random_below(3 * SPAN_NS / 4), "copy", 1 + i);
	}
	return model;
}

/* ---- the truth ------------------------------------------------------------------------------------ */

/* The slices of a band, as the model has them. */
struct truth {
	const int64_t *start_ns;
	const int64_t *duration_ns;
	uint32_t first;
	uint32_t count;
	uint32_t lane[MOST_ROWS];
};

static void find_columns(const struct mr_model *model, const struct mr_band *band,
			 struct truth *truth)
{
	const struct mr_table *table = NULL;
#define DERIVED(...)
#define TABLE(name, ...)                                      \
	if (band->table == MR_SLICED_##name) {                \
		table = &model->name.table;                   \
		truth->start_ns = model->name.start_ns;       \
		truth->duration_ns = model->name.duration_ns; \
	}
#include "timeline/tables.def"
#undef TABLE
#undef DERIVED
	assert_non_null(table);
	truth->first = table->first_of_track[band->group];
	truth->count = table->first_of_track[band->group + 1] - truth->first;
	assert_true(truth->count <= MOST_ROWS);
}

static int64_t end_of(const struct truth *truth, uint32_t i)
{
	return truth->start_ns[truth->first + i] + truth->duration_ns[truth->first + i];
}

static bool is_free(const struct truth *truth, uint32_t lane, uint32_t i)
{
	for (uint32_t before = 0; before < i; before++)
		if (truth->lane[before] == lane &&
		    end_of(truth, before) > truth->start_ns[truth->first + i])
			return false;
	return true;
}

static uint32_t find_lanes(struct truth *truth)
{
	uint32_t lanes = 0;

	for (uint32_t i = 0; i < truth->count; i++) {
		truth->lane[i] = 0;
		while (truth->lane[i] < LAST_LANE && !is_free(truth, truth->lane[i], i))
			truth->lane[i]++;
		lanes = mr_max(lanes, truth->lane[i] + 1);
	}
	return lanes;
}

static const char *label_of(const struct mr_model *model, enum mr_sliced table, uint32_t row)
{
	static const char *const states[] = {"running: disk sleep", "runnable: disk sleep",
					     "blocked: disk sleep", "unknown: disk sleep"};
	const struct mr_node *nodes = model->survey->definitions.nodes.items;

	switch (table) {
	case MR_SLICED_node_executions:
		return mr_model_text(model, nodes[model->node_executions.node[row]].name);
	case MR_SLICED_calls:
		return mr_model_text(model, model->calls.function[row]);
	case MR_SLICED_states:
		return states[model->states.state[row]];
	case MR_SLICED_device_operations:
		return mr_model_text(model, model->device_operations.name[row]);
	case MR_SLICED_cpu_runs:
		return model->cpu_runs.tid[row] ? "cc (900)" : "idle";
	default:
		fail_msg("no rows of that table were made");
		return NULL;
	}
}

/* ---- answers -------------------------------------------------------------------------------------- */

/* A lane of a band in an answer. */
struct part {
	uint32_t band, lane, count;
	const double *start, *end;
	const uint32_t *row, *slices, *label, *shade;
};

static const char *read_part(const char *at, struct part *part)
{
	const uint32_t *head = (const void *)at;

	*part = (struct part){head[0], head[1], head[2], .start = (const void *)(at + 16)};
	part->end = part->start + part->count;
	part->row = (const void *)(part->end + part->count);
	part->slices = part->row + part->count;
	part->label = part->slices + part->count;
	part->shade = part->label + part->count;
	return (const void *)(part->shade + part->count);
}

/* What one pixel of a lane must be. */
struct expected {
	int64_t start_ns, end_ns, busy_ns;
	uint32_t longest, count;
};

static void expect_row(const struct truth *truth, uint32_t i, struct expected *is)
{
	uint32_t row = truth->first + i;

	if (is->count++ == 0)
		*is = (struct expected){truth->start_ns[row], INT64_MIN, 0, row, 1};
	is->end_ns = mr_max(is->end_ns, end_of(truth, i));
	is->busy_ns += truth->duration_ns[row];
	if (truth->duration_ns[row] > truth->duration_ns[is->longest])
		is->longest = row;
}

/* By pixel. */
static void expect_lane(const struct truth *truth, uint32_t lane, const struct mr_pixels *pixels,
			struct expected *expected)
{
	uint32_t last = UINT32_MAX;

	memset(expected, 0, pixels->count * sizeof *expected);
	for (uint32_t i = 0; i < truth->count; i++) {
		int64_t start_ns = truth->start_ns[truth->first + i];

		if (truth->lane[i] != lane || start_ns >= pixels->end_ns)
			continue;
		if (start_ns >= pixels->begin_ns)
			expect_row(truth, i,
				   &expected[(start_ns - pixels->begin_ns) * pixels->count /
					     (pixels->end_ns - pixels->begin_ns)]);
		else if (end_of(truth, i) > pixels->begin_ns &&
			 (last == UINT32_MAX || end_of(truth, i) >= end_of(truth, last)))
			last = i;
	}
	if (last == UINT32_MAX)
		return;
	struct expected later = expected[0];
	expected[0] = (struct expected){0};
	expect_row(truth, last, &expected[0]);
	for (uint32_t i = 0; later.count && i < truth->count; i++)
		if (truth->lane[i] == lane && truth->start_ns[truth->first + i] >= later.start_ns &&
		    truth->start_ns[truth->first + i] - pixels->begin_ns <
			    (pixels->end_ns - pixels->begin_ns + pixels->count - 1) / pixels->count)
			expect_row(truth, i, &expected[0]);
}

static void check_part(struct mr_view *view, const struct part *part, const struct truth *truth,
		       const struct mr_pixels *pixels, json_t *texts)
{
	static struct expected expected[MOST_PIXELS];
	enum mr_sliced table = view->bands.list.items[part->band].table;
	int64_t latest_ns = INT64_MIN;
	uint32_t at = 0;

	expect_lane(truth, part->lane, pixels, expected);
	for (uint32_t pixel = 0; pixel < pixels->count; pixel++) {
		const struct expected *should = &expected[pixel];
		char buffer[MR_LABEL_BYTES], number[16];

		if (should->count == 0)
			continue;
		assert_true(at < part->count);
		latest_ns = mr_max(latest_ns, should->end_ns); /* in the last lane they overlap */
		int64_t span_ns = latest_ns - should->start_ns;
		assert_true(part->start[at] == (double)(should->start_ns - view->origin_ns));
		assert_true(part->end[at] == (double)(latest_ns - view->origin_ns));
		assert_int_equal(part->row[at], should->longest);
		assert_int_equal(part->slices[at], should->count);
		assert_int_equal(part->shade[at],
				 should->count == 1 || span_ns == 0
					 ? 1000
					 : mr_min((should->busy_ns * 1000 + span_ns / 2) / span_ns,
						  INT64_C(1000)));
		const char *text = label_of(view->model, table, should->longest);
		assert_string_equal(mr_label_text(view, table, part->label[at], buffer), text);
		snprintf(number, sizeof number, "%" PRIu32, part->label[at]);
		if (span_ns * pixels->count >= 24 * (pixels->end_ns - pixels->begin_ns))
			assert_string_equal(
				json_string_value(json_object_get(
					json_object_get(texts, mr_sliced_name(table)), number)),
				text);
		at++;
	}
	assert_int_equal(at, part->count);
}

/* Every lane before `lanes` that has anything to show is there, and no other. */
static uint32_t check_band(struct mr_view *view, uint32_t band, uint32_t lanes,
			   const struct mr_pixels *pixels, const struct part *parts,
			   uint32_t part_count, json_t *texts)
{
	static struct expected expected[MOST_PIXELS];
	const struct mr_band *of = &view->bands.list.items[band];
	struct truth truth;
	uint32_t at = 0;

	find_columns(view->model, of, &truth);
	assert_int_equal(find_lanes(&truth), of->lanes);
	assert_int_equal(truth.count, of->count);
	for (uint32_t lane = 0; lane < mr_min(of->lanes, lanes); lane++) {
		bool is_there = false;

		expect_lane(&truth, lane, pixels, expected);
		for (uint32_t i = 0; i < pixels->count; i++)
			is_there |= expected[i].count != 0;
		if (!is_there)
			continue;
		assert_true(at < part_count);
		assert_int_equal(parts[at].band, band);
		assert_int_equal(parts[at].lane, lane);
		check_part(view, &parts[at], &truth, pixels, texts);
		at++;
	}
	return at;
}

static uint32_t list_bands(const struct mr_view *view, uint32_t *bands, char *text)
{
	uint32_t count = 0;

	*text = '\0';
	for (uint32_t i = 0; i < view->bands.list.count; i++)
		if (!mr_sliced[view->bands.list.items[i].table].is_derived &&
		    !view->bands.list.items[i].is_series) {
			text += sprintf(text, "%s%u", count ? "," : "", i);
			bands[count++] = i;
		}
	return count;
}

/* A request for so many lanes of each band; 0: for all. */
static void list_lanes(uint32_t lanes, uint32_t band_count, char *text)
{
	*text = '\0';
	for (uint32_t i = 0; lanes && i < band_count; i++)
		text += sprintf(text, "%s%u", i ? "," : "&lanes=", lanes);
}

static void check_lanes(struct mr_view *view, int64_t from_ns, int64_t to_ns, uint32_t pixel_count,
			uint32_t lanes)
{
	const struct mr_pixels pixels = {from_ns, to_ns, pixel_count};
	static struct part parts[4096];
	uint32_t bands[MOST_BANDS], at = 0;
	char list[2048], lane_list[2048], target[8192];
	size_t bytes;
	int result;

	uint32_t band_count = list_bands(view, bands, list);
	list_lanes(lanes, band_count, lane_list);
	snprintf(target, sizeof target,
		 "slices?bands=%s%s&from=%" PRId64 "&to=%" PRId64 "&pixels=%u", list, lane_list,
		 from_ns - view->origin_ns, to_ns - view->origin_ns, pixel_count);
	char *answer = ask(view, target, &bytes, &result);
	assert_non_null(answer);
	const uint32_t *head = (const void *)answer;
	assert_int_equal(head[0], 0x3156524d);
	assert_true(head[1] <= mr_countof(parts));
	const char *next = answer + 16;
	for (uint32_t i = 0; i < head[1]; i++)
		next = read_part(next, &parts[i]);
	assert_int_equal(next + head[2] - answer, bytes);
	json_t *texts = json_loadb(next, head[2], 0, NULL);
	assert_non_null(texts);
	for (uint32_t i = 0; i < band_count; i++)
		at += check_band(view, bands[i], lanes ? lanes : UINT32_MAX, &pixels, parts + at,
				 head[1] - at, texts);
	assert_int_equal(at, head[1]);
	json_decref(texts);
	free(answer);
}

static void check_view(struct mr_view *view, int64_t from_ns, int64_t to_ns, uint32_t pixel_count)
{
	check_lanes(view, from_ns, to_ns, pixel_count, 0);
	check_lanes(view, from_ns, to_ns, pixel_count, 1 + (uint32_t)random_below(5));
}

static void test_all_views(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct mr_model *model = make_model(seed);
		struct mr_view *view = view_start(model, -100, SPAN_NS);

		check_view(view, -100, SPAN_NS, 1);
		check_view(view, -100, SPAN_NS, MOST_PIXELS);
		check_view(view, -1000000, -900000, 100);
		check_view(view, 10 * SPAN_NS, 11 * SPAN_NS, 100);
		check_view(view, -5 * SPAN_NS, 5 * SPAN_NS, 700);
		for (uint32_t i = 0; i < 60; i++) {
			int64_t from_ns = random_below(SPAN_NS) - 50;

			check_view(view, from_ns, from_ns + 1 + random_below(SPAN_NS >> (i % 8)),
				   1 + (uint32_t)random_below(i % 2 ? 20 : 2000));
		}
		view_end(model, view);
	}
}

static uint32_t most_lanes(const struct mr_view *view)
{
	uint32_t lanes = 0;

	for (uint32_t i = 0; i < view->bands.list.count; i++)
		lanes = mr_max(lanes, view->bands.list.items[i].lanes);
	return lanes;
}

static void test_crowd(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct mr_model *model = make_crowd(seed);
		struct mr_view *view = view_start(model, -100, 2 * SPAN_NS);

		assert_int_equal(most_lanes(view), MR_DETAIL_LANES);
		check_view(view, -100, 2 * SPAN_NS, 1);
		check_view(view, -100, 2 * SPAN_NS, 1500);
		for (uint32_t i = 0; i < 8; i++) {
			int64_t from_ns = random_below(SPAN_NS) - 50;

			check_lanes(view, from_ns, from_ns + 1 + random_below(SPAN_NS >> (i % 8)),
				    1 + (uint32_t)random_below(i % 2 ? 20 : 300),
				    i % 3 ? 1 + (uint32_t)random_below(MR_DETAIL_LANES) : 0);
		}
		view_end(model, view);
	}
}

static void test_one_slice(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_node(3, 0, SPAN_NS, "all");
	struct mr_view *view = view_start(model, -100, SPAN_NS);
	check_view(view, 0, SPAN_NS, 3);
	check_view(view, SPAN_NS - 1, SPAN_NS, 1);
	check_view(view, SPAN_NS, SPAN_NS + 1, 1);
	check_view(view, -1, 0, 1);
	view_end(model, view);
}

static void test_refused(void **state)
{
	static const char *const targets[] = {
		"slices?bands=0&from=0&to=0&pixels=1",
		"slices?bands=0&from=0&to=1",
		"slices?bands=0&from=0&to=1&pixels=8193",
		"slices?bands=0&from=0&to=1&pixels=0",
		"slices?bands=99&from=0&to=1&pixels=1",
		"slices?bands=-1&from=0&to=1&pixels=1",
		"slices?from=0&to=1&pixels=1",
		"slices?bands=0,&from=0&to=1&pixels=1",
		"slices?bands=0&lanes=0&from=0&to=1&pixels=1",
		"slices?bands=0&lanes=257&from=0&to=1&pixels=1",
		"slices?bands=0&lanes=1,1&from=0&to=1&pixels=1",
		"slices?bands=0,1&lanes=1&from=0&to=1&pixels=1",
		"series?bands=0&from=0&to=1&pixels=1",
		"slices?bands=0&to=1&pixels=1",
		"slices?bands=0&from=1e3&to=5000&pixels=10",
	};
	struct mr_model *model = make_model(1);
	struct mr_view *view = view_start(model, -100, SPAN_NS);
	size_t bytes;
	int result;

	(void)state;
	for (size_t i = 0; i < mr_countof(targets); i++) {
		assert_null(ask(view, targets[i], &bytes, &result));
		assert_int_equal(result, -EINVAL);
	}
	view_end(model, view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_views),
		cmocka_unit_test(test_crowd),
		cmocka_unit_test(test_one_slice),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
