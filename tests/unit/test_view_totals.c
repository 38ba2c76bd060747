/* SPDX-License-Identifier: Apache-2.0
 *
 * What stretches of time consist of, against counting nanosecond by nanosecond; and how long things of one name
 * took, against sorting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_model.h"
#include "timeline/durations.h"
#include "timeline/labels.h"
#include "timeline/totals.h"
#include "trace_writer.h"

enum {
	TRACKS = 3,
	SPAN_NS = 300,
	LABELS = 64, /* more than there are */
	ROUNDS = 60,
};

static uint64_t random_state = 1;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next_random(&random_state) % limit);
}

static struct mr_view *look(struct mr_model *model)
{
	struct mr_view *view;

	hand_model_load();
	model->survey->last_ns = SPAN_NS;
	assert_int_equal(mr_view_make(model, &view), 0);
	return view;
}

/* ---- groups ------------------------------------------------------------------------------------------ */

/* Nested intervals: between `begin` and `end` some, and in each of them some. */
static void nest(struct mr_model *model, uint32_t thread, int64_t begin_ns, int64_t end_ns,
		 uint32_t depth)
{
	while (begin_ns < end_ns) {
		int64_t start_ns = begin_ns + below(20);
		int64_t stop_ns = start_ns + below(80);

		if (stop_ns > end_ns)
			return;
		hand_node(thread, start_ns, stop_ns, "");
		model->node_executions.node[model->node_executions.table.count - 1] = below(5);
		if (depth < 3)
			nest(model, thread, start_ns, stop_ns, depth + 1);
		begin_ns = stop_ns;
	}
}

/* States that tile the time. */
static void tile(uint32_t thread)
{
	for (int64_t ns = 0, next; ns < SPAN_NS; ns = next) {
		next = mr_min(ns + 1 + below(40), (int64_t)SPAN_NS);
		hand_state(thread, ns, next, below(2), below(3));
	}
}

struct count {
	int64_t total_ns[LABELS];
	int64_t self_ns[LABELS];
	uint32_t rows[LABELS];
};

static bool covers(const struct mr_slices *slices, uint32_t row, int64_t ns)
{
	return slices->start_ns[row] <= ns && ns < mr_slice_end_ns(slices, row);
}

/* Of the rows that cover an instant the last is the innermost. */
static void count_instant(struct mr_view *view, enum mr_sliced table, uint32_t group, int64_t ns,
			  struct count *count)
{
	const struct mr_slices *slices = mr_view_slices(view, table);
	uint32_t innermost = MR_NO_ROW;

	for (uint32_t row = slices->first_of_group[group]; row < slices->first_of_group[group + 1];
	     row++)
		if (covers(slices, row, ns)) {
			count->total_ns[mr_label_of(view, table, row)]++;
			innermost = row;
		}
	if (innermost != MR_NO_ROW)
		count->self_ns[mr_label_of(view, table, innermost)]++;
}

/* Empty ones count where they are. */
static void count_rows(struct mr_view *view, const struct mr_totals_scope *scope,
		       struct count *count)
{
	const struct mr_slices *slices = mr_view_slices(view, scope->table);

	for (uint32_t row = 0; row < slices->count; row++) {
		int64_t start_ns = slices->start_ns[row], end_ns = mr_slice_end_ns(slices, row);

		if ((!scope->groups || scope->groups[slices->track[row]]) &&
		    start_ns < scope->window.last_ns &&
		    (end_ns > scope->window.first_ns ||
		     (start_ns == end_ns && start_ns >= scope->window.first_ns)))
			count->rows[mr_label_of(view, scope->table, row)]++;
	}
}

static void check_totals(struct mr_view *view, const struct mr_totals_scope *scope)
{
	struct count count = {0};
	struct mr_label_sums sums;
	int64_t all_ns = 0, instants = 0;

	for (uint32_t group = 0; group < TRACKS; group++)
		for (int64_t ns = scope->window.first_ns; ns < scope->window.last_ns; ns++)
			if (!scope->groups || scope->groups[group]) {
				count_instant(view, scope->table, group, ns, &count);
				instants += ns >= 0 && ns < SPAN_NS;
			}
	count_rows(view, scope, &count);
	assert_int_equal(mr_totals_make(view, scope, &sums), 0);
	for (size_t i = 0; i < sums.list.count; i++) {
		const struct mr_label_sum *sum = &sums.list.items[i];

		assert_int_equal(sum->total_ns, count.total_ns[sum->label]);
		assert_int_equal(sum->count, count.rows[sum->label]);
		if (scope->table == MR_SLICED_node_executions)
			assert_int_equal(sum->self_ns, count.self_ns[sum->label]);
		assert_true(i == 0 || sum->total_ns <= sum[-1].total_ns);
		assert_ptr_equal(mr_label_sums_find(&sums, sum->label), sum);
		all_ns += sum->total_ns;
		count.rows[sum->label] = 0;
	}
	for (uint32_t label = 0; label < LABELS; label++)
		assert_int_equal(count.rows[label], 0); /* all were found */
	if (scope->table == MR_SLICED_states)
		assert_int_equal(all_ns, instants);
	mr_label_sums_free(&sums);
}

static void windows_consist_of_their_parts(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct mr_model *model = hand_model_start();
		int64_t from_ns = (int64_t)below(SPAN_NS + 40) - 20;
		bool groups[THREADS + QUEUES + CPUS] = {below(2), below(2), below(2)};

		hand_node(0, 0, 0, ""); /* so that all nodes are defined */
		for (uint32_t i = 1; i < 5; i++)
			hand_node(0, 0, 0, "");
		for (uint32_t track = 0; track < TRACKS; track++) {
			nest(model, track, 0, SPAN_NS, 0);
			tile(track);
		}
		struct mr_view *view = look(model);
		struct mr_totals_scope scope = {
			.window = {from_ns, from_ns + 1 + below(SPAN_NS)},
			.groups = below(2) ? groups : NULL,
		};
		scope.table = MR_SLICED_node_executions;
		check_totals(view, &scope);
		scope.table = MR_SLICED_states;
		check_totals(view, &scope);
		mr_view_free(view);
		mr_model_free(model);
	}
}

static void groups_answers_for_some_tracks(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_run(0, 0, 100);
	hand_run(1, 0, 100);
	hand_blocked(1, 100, 300, NULL, 0);
	struct mr_view *view = look(model);
	json_t *answer = ask_json(view, "groups?table=states&from=50&to=150&tracks=1,2");
	const json_t *rows = json_object_get(answer, "rows");

	assert_int_equal(json_array_size(rows), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(number_of(json_array_get(rows, i), "total_ns"), 50);
		assert_true(json_is_null(json_object_get(json_array_get(rows, i), "self_ns")));
	}
	json_decref(answer);
	assert_int_equal(ask_in_vain(view, "groups?table=states&from=50&to=50"), -EINVAL);
	assert_int_equal(ask_in_vain(view, "groups?table=states&from=50"), -EINVAL);
	assert_int_equal(ask_in_vain(view, "groups?table=states&tracks=1,"), -EINVAL);
	assert_int_equal(ask_in_vain(view, "groups?table=states&tracks=44"), -EINVAL);
	mr_view_free(view);
	mr_model_free(model);
}

/* ---- durations --------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static void check_durations(struct mr_durations *durations)
{
	size_t count = durations->list.count;
	struct mr_bucket buckets[MR_BUCKETS_MAX];
	int64_t *sorted = malloc(count * sizeof *sorted);
	uint64_t counted = 0;

	memcpy(sorted, durations->list.items, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare);
	for (uint32_t percent = 1; percent <= 100; percent++)
		assert_int_equal(mr_durations_percentile(durations, percent),
				 sorted[(count * percent + 99) / 100 - 1]);
	uint32_t bucket_count = mr_durations_histogram(durations, buckets);
	assert_in_range(bucket_count, 1, MR_BUCKETS_MAX);
	for (uint32_t i = 0; i < bucket_count; i++) {
		uint64_t inside = 0;

		for (size_t j = 0; j < count; j++)
			inside += sorted[j] >= buckets[i].low_ns && sorted[j] < buckets[i].high_ns;
		assert_int_equal(buckets[i].count, inside);
		assert_true(i == 0 || buckets[i].low_ns == buckets[i - 1].high_ns);
		counted += inside;
	}
	assert_int_equal(counted, count);
	assert_true(buckets[0].count > 0 && buckets[bucket_count - 1].count > 0);
	free(sorted);
}

static void percentiles_and_histograms_are_exact(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct mr_durations durations = {.sum = {.min_ns = INT64_MAX, .max_ns = INT64_MIN}};
		uint32_t count = 1 + below(200), first_shift = 1 + below(60),
			 spread = 1 + below(60);

		for (uint32_t i = 0; i < count; i++) {
			uint32_t shift = mr_min(first_shift + below(spread), UINT32_C(63));
			int64_t ns = (int64_t)(next_random(&random_state) >> shift);

			mr_label_sum_add(&durations.sum, i, 0, ns);
			assert_int_equal(mr_vec_push(&durations.list, ns), 0);
		}
		check_durations(&durations);
		mr_durations_free(&durations);
	}
}

/* ---- names ------------------------------------------------------------------------------------------- */

static const char *found(const json_t *answer, size_t index, const char *name)
{
	return text_of(json_array_get(json_object_get(answer, "results"), index), name);
}

/* Not all that a device does is a kernel. */
static void kinds_of_device_operations(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_operation(QUEUE_A, 100, 105, "conv", 1);
	hand_marker(QUEUE_A, 110, 120, 2);
	struct mr_view *view = look(model);
	json_t *conv = ask_json(view, "find?text=conv"),
	       *marker = ask_json(view, "find?text=marker");

	assert_string_equal(found(conv, 0, "kind"), "device kernel");
	assert_string_equal(found(marker, 0, "kind"), "device operation");
	json_decref(conv);
	json_decref(marker);
	mr_view_free(view);
	mr_model_free(model);
}

static void names_are_found(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_node(0, 0, 10, "MatMul");
	hand_node(0, 20, 90, "gradients/matmul_grad");
	hand_operation(QUEUE_A, 100, 105, "matmul", 1);
	hand_call(1, 0, 5, "launchMatmul", 1, MR_CALL_LAUNCH, 0);
	hand_blocked(2, 10, 40, "read", hand_file("/data/matmul.bin"));
	struct mr_view *view = look(model);
	json_t *answer = ask_json(view, "find?text=matMUL");

	/* Exactly so first, then by time. */
	assert_int_equal(json_array_size(json_object_get(answer, "results")), 5);
	assert_string_equal(found(answer, 0, "kind"), "operation");
	assert_string_equal(found(answer, 0, "text"), "MatMul");
	assert_string_equal(found(answer, 1, "kind"), "device kernel");
	assert_string_equal(found(answer, 2, "text"), "gradients/matmul_grad");
	assert_string_equal(found(answer, 3, "kind"), "file");
	assert_string_equal(found(answer, 4, "kind"), "function");
	assert_false(json_boolean_value(json_object_get(answer, "more")));
	json_decref(answer);

	answer = ask_json(view, "find?text=matmul&limit=2");
	assert_int_equal(json_array_size(json_object_get(answer, "results")), 2);
	assert_true(json_boolean_value(json_object_get(answer, "more")));
	json_decref(answer);

	answer = ask_json(view, "find?text=thread%%20139");
	assert_string_equal(found(answer, 0, "kind"), "thread");
	json_decref(answer);

	answer = ask_json(view, "find?text=nothing+is+called+so");
	assert_int_equal(json_array_size(json_object_get(answer, "results")), 0);
	json_decref(answer);
	assert_int_equal(ask_in_vain(view, "find?text="), -EINVAL);
	mr_view_free(view);
	mr_model_free(model);
}

/* From each slice to the next of its name and back, as going through all of them in order of time does. */
static void next_goes_through_all_of_a_name(void **state)
{
	struct mr_model *model = hand_model_start();
	int64_t at_ns = -1, back_ns = SPAN_NS;
	uint32_t seen = 0;

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		hand_call(i % 4, 10 * i, 10 * i + 1 + i % 3, i % 3 ? "other" : "wanted", 0,
			  MR_CALL_PLAIN, 0);
	struct mr_view *view = look(model);
	const struct mr_calls *calls = &model->calls;
	uint32_t label = calls->function[0];

	for (uint32_t i = 0; i < 30; i += 3, seen++) {
		json_t *answer = ask_json(view, "next?table=calls&label=%u&from=%lld", label,
					  (long long)at_ns);

		at_ns = number_of(answer, "time");
		assert_int_equal(at_ns, 10 * i);
		json_decref(answer);
		answer = ask_json(view, "next?table=calls&label=%u&from=%lld&backward=1", label,
				  (long long)back_ns);
		back_ns = number_of(answer, "time");
		assert_int_equal(back_ns, 270 - 10 * i);
		json_decref(answer);
	}
	assert_int_equal(seen, 10);
	json_t *answer = ask_json(view, "next?table=calls&label=%u&from=60&track=2", label);
	assert_int_equal(number_of(answer, "time"), 180);
	json_decref(answer);
	char target[64];
	snprintf(target, sizeof target, "next?table=calls&label=%u&from=180&track=2", label);
	assert_int_equal(ask_in_vain(view, target), -ENOENT);
	mr_view_free(view);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_consist_of_their_parts),
		cmocka_unit_test(groups_answers_for_some_tracks),
		cmocka_unit_test(percentiles_and_histograms_are_exact),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(kinds_of_device_operations),
		cmocka_unit_test(next_goes_through_all_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
