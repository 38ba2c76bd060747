/* SPDX-License-Identifier: Apache-2.0
 *
 * What bands there are and in which order, also of threads by the thousand; and answers to many askers at once.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "ask.h"
#include "hand_model.h"
#include "kernel_trace.h"
#include "load/load.h"

enum {
	SPAN_NS = 20000,
	ASKERS = 8,
	MANY = 5000,
	ROUNDS = 8,
};

static void test_nothing(void **state)
{
	struct mr_model *model = hand_model_start();
	struct mr_view *view = NULL;

	(void)state;
	hand_model_load();
	assert_int_equal(mr_view_make(model, &view), 0);
	assert_int_equal(view->bands.list.count, 0);
	assert_int_equal(view->bands.groups.count, 0);
	view_end(model, view);
}

static void test_one_slice(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_node(3, 0, SPAN_NS, "all");
	struct mr_view *view = view_start(model, 0, SPAN_NS);
	uint32_t band = mr_band_of(&view->bands, MR_SLICED_node_executions, 3);
	assert_int_equal(view->bands.list.items[band].first_ns, 0);
	assert_int_equal(view->bands.list.items[band].last_ns, SPAN_NS);
	assert_int_equal(view->bands.list.items[band].lanes, 1);
	assert_int_equal(mr_band_of(&view->bands, MR_SLICED_node_executions, 4), MR_NO_BAND);
	assert_int_equal(mr_band_of(&view->bands, MR_SLICED_calls, 3), MR_NO_BAND);
	view_end(model, view);
}

/* First the threads with most operations and calls, then those that used a CPU most, then the rest. */
static void test_order_of_threads(void **state)
{
	static const uint32_t order[] = {5, 2, 7, 1, 0};
	struct mr_model *model = hand_model_start();
	uint32_t at = 0;

	(void)state;
	hand_call(5, 0, 100, "call", 1, MR_CALL_PLAIN, 0);
	hand_node(2, 0, 90, "node");
	hand_run(2, 0, 20);
	hand_run(7, 0, 50);
	hand_run(1, 0, 40);
	hand_state(1, 40, 5000, MR_STATE_BLOCKED, MR_REASON_DISK);
	hand_state(0, 0, 100, MR_STATE_BLOCKED, MR_REASON_DISK);
	struct mr_view *view = view_start(model, 0, SPAN_NS);
	for (size_t i = 0; i < view->bands.groups.count; i++) {
		const struct mr_band_group *group = &view->bands.groups.items[i];

		if (group->kind == MR_GROUP_PROCESS)
			assert_int_equal(group->busy_ns, 100 + 20 + 50 + 40);
		if (group->kind != MR_GROUP_THREAD)
			continue;
		assert_true(at < mr_countof(order));
		assert_int_equal(group->of, order[at]);
		assert_int_equal(view->bands.groups.items[group->parent].kind, MR_GROUP_PROCESS);
		assert_true(group->parent < i && group->band_count > 0);
		at++;
	}
	assert_int_equal(at, mr_countof(order));
	view_end(model, view);
}

/* Two threads launch the same two kernels by turns: nobody marks a step, and every other one is of the other. */
static void test_steps_of_two_threads(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		int64_t ns = 1000 * (int64_t)i;

		hand_launch(i % 2, ns, ns + 10, 2 * i + 1);
		hand_launch(i % 2, ns + 20, ns + 30, 2 * i + 2);
		hand_operation(QUEUE_A, ns + 40, ns + 50, "first", 2 * i + 1);
		hand_operation(QUEUE_A, ns + 60, ns + 70, "second", 2 * i + 2);
	}
	struct mr_view *view = view_start(model, 0, SPAN_NS);
	const struct mr_slices *steps = mr_view_slices(view, MR_SLICED_steps);
	for (uint32_t track = 0; track < 2; track++) {
		uint32_t first = steps->first_of_group[track];

		assert_true(mr_slices_in(steps, track) >= ROUNDS - 1);
		assert_int_not_equal(mr_band_of(&view->bands, MR_SLICED_steps, track), MR_NO_BAND);
		for (uint32_t i = 0; i < mr_slices_in(steps, track); i++) {
			assert_int_equal(steps->track[first + i], track);
			assert_true(i == 0 || steps->start_ns[first + i] ==
						      steps->start_ns[first + i - 1] + 2000);
		}
	}
	view_end(model, view);
}

/* Each is born, runs once, reads a little and is gone. */
static struct mr_model *make_threads(uint32_t count)
{
	kernel_trace_begin(KERNEL_TRACE_CPUS);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t cpu = i % KERNEL_TRACE_CPUS, tid = 1000 + i;
		uint64_t ns = 1000 + 1000 * (uint64_t)i;

		kernel_born(cpu, ns, 0, tid, 1000, "worker");
		kernel_switch(cpu, ns + 100, 0, tid, MR_switch_reason_preempted);
		KERNEL(cpu, kernel_syscall_wide, ns + 500, NULL, .tid = tid, .duration_ns = 200);
		kernel_switch(cpu, ns + 900, tid, 0, MR_switch_reason_interruptible);
		if (i % 1000 >= 1000 - KERNEL_TRACE_CPUS)
			kernel_trace_cut(cpu, ns + 901, 0);
	}
	return kernel_trace_load(1000 * (count + UINT64_C(10)));
}

/* Threads by the thousand must not make a page that no browser can hold. */
static void test_many_threads(void **state)
{
	struct mr_model *model = make_threads(MANY);
	struct mr_view *view = NULL;
	uint32_t threads = 0;
	size_t bytes, i;
	json_t *group;
	int result;

	(void)state;
	assert_int_equal(mr_view_make(model, &view), 0);
	char *answer = ask(view, "trace", &bytes, &result);
	assert_non_null(answer);
	json_t *trace = json_loadb(answer, bytes, 0, NULL);
	json_array_foreach(json_object_get(trace, "groups"), i, group) threads +=
		strcmp(json_string_value(json_object_get(group, "kind")), "thread") == 0;
	assert_int_equal(threads, MANY);
	assert_int_equal(json_array_size(json_object_get(trace, "bands")), view->bands.list.count);
	assert_true(view->bands.list.count >= 2 * MANY);
	assert_true(bytes < 5000000);
	json_decref(trace);
	free(answer);
	mr_view_free(view);
	kernel_trace_end(model);
}

/* ---- many askers ---------------------------------------------------------------------------------- */

enum {
	QUESTIONS = 3
};

struct asker {
	pthread_t thread;
	struct mr_view *view;
	const struct mr_findings *findings;
	char *answers[QUESTIONS];
	size_t bytes[QUESTIONS];
};

static void list_all(const struct mr_view *view, bool is_series, const char *name, char *target)
{
	char *at = target + sprintf(target, "%s?bands=", name);

	for (uint32_t i = 0; i < view->bands.list.count; i++)
		if (view->bands.list.items[i].is_series == is_series)
			at += sprintf(at, "%s%u", at[-1] == '=' ? "" : ",", i);
	sprintf(at, "&from=-1000&to=1000000000&pixels=500");
}

static void *ask_for_all(void *argument)
{
	struct asker *asker = argument;
	char targets[QUESTIONS][512] = {"trace"};
	int result;

	list_all(asker->view, false, "slices", targets[1]);
	list_all(asker->view, true, "series", targets[2]);
	for (uint32_t i = 0; i < QUESTIONS; i++)
		asker->answers[i] = ask(asker->view, targets[i], &asker->bytes[i], &result);
	asker->findings = mr_view_findings(asker->view, MR_SCOPE_WHOLE);
	return NULL;
}

static void check_alike(const struct asker *asker, const struct asker *other)
{
	assert_non_null(asker->findings);
	assert_ptr_equal(asker->findings, other->findings);
	for (uint32_t i = 0; i < QUESTIONS; i++) {
		assert_non_null(asker->answers[i]);
		assert_int_equal(asker->bytes[i], other->bytes[i]);
		assert_memory_equal(asker->answers[i], other->answers[i], other->bytes[i]);
	}
}

/* Idle time, critical path, values and findings are made by whoever comes first, once. */
static void test_many_askers(void **state)
{
	mr_auto(model) struct mr_model *model = NULL;
	mr_auto(view) struct mr_view *view = NULL;
	struct asker askers[ASKERS] = {0};
	char path[4096];

	(void)state;
	snprintf(path, sizeof path, "%s/tests/golden/small.mill", getenv("SOURCE_DIR"));
	assert_int_equal(mr_model_load(path, &model), 0);
	assert_int_equal(mr_view_make(model, &view), 0);
	for (uint32_t i = 0; i < ASKERS; i++) {
		askers[i].view = view;
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_for_all, &askers[i]),
				 0);
	}
	for (uint32_t i = 0; i < ASKERS; i++)
		pthread_join(askers[i].thread, NULL);
	for (uint32_t i = 0; i < ASKERS; i++)
		check_alike(&askers[i], &askers[0]);
	for (uint32_t i = 0; i < ASKERS * QUESTIONS; i++)
		free(askers[i / QUESTIONS].answers[i % QUESTIONS]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_one_slice),
		cmocka_unit_test(test_order_of_threads),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_many_askers),
		cmocka_unit_test(test_steps_of_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
