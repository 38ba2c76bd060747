/* SPDX-License-Identifier: Apache-2.0
 *
 * What the trace's health and the notes below the findings say about a framework that was traced from the inside, and
 * about millrace itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/cause/cause.h"
#include "analysis/framework_health.h"
#include "analysis/kernel_health.h"
#include "hand_model.h"

static struct mr_model *model;

static int make_model(void **state)
{
	(void)state;
	model = hand_model_start();
	hand_node(0, 100, 200, "MatMul");
	hand_model_load();
	model->survey->event_counts[MR_EVENT_traceme_numbers] = 10;
	return 0;
}

static int free_model(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static bool says_in(const char *id, const char *words)
{
	struct mr_findings findings = {0};
	struct mr_finding *health = mr_finding_begin(&findings, "health");
	bool is_said = false;

	assert_non_null(health);
	assert_int_equal(mr_tell_framework_health(model, &findings, health), 0);
	assert_int_equal(mr_analyse_notes(model, &findings), 0);
	const struct mr_finding *finding = mr_findings_find(&findings, id);
	for (size_t i = 0; finding && i < finding->sentences.count; i++)
		is_said |= strstr(finding->sentences.items[i].text, words) != NULL;
	mr_findings_free(&findings);
	return is_said;
}

static void test_traced_from_the_first_step(void **state)
{
	(void)state;
	assert_true(says_in("notes", "traced from its first step"));
	assert_false(says_in("notes", "before it was traced"));
	assert_false(says_in("health", "TensorFlow"));
}

static void test_traced_later(void **state)
{
	(void)state;
	model->manifest->first_step = 7;
	assert_true(says_in("notes", "which operations are cheap before it was traced"));
	assert_false(says_in("notes", "from its first step"));
	model->manifest->first_step = 0;
	model->manifest->delay_ns = 1;
	assert_true(says_in("notes", "which operations are cheap before it was traced"));
}

static void test_no_framework(void **state)
{
	(void)state;
	model->survey->event_counts[MR_EVENT_traceme_numbers] = 0;
	assert_false(says_in("notes", "TensorFlow"));
}

/* Of nodes of a graph: those that a program executes by themselves have no run. */
static void test_unknown_device(void **state)
{
	(void)state;
	assert_false(says_in("health", "The device is not known"));
	model->node_executions.run[0] = 5;
	assert_true(
		says_in("health", "The device is not known for 1 of 1 executions of graph nodes."));
}

/* millrace's own threads have the name of the recorder's program: here of what the model calls "cc". */
static void test_threads_of_millrace(void **state)
{
	struct mr_model *other = hand_model_start();
	struct mr_region region = {0};
	struct mr_process recorder = {.number = MR_RECORDER_PROCESS, .pid = 5};

	(void)state;
	hand_run(0, 0, 600);
	hand_cpu(0, 600, 100, 0);
	hand_cpu(600, 700, FOREIGN_TID, MR_NO_TRACK);
	hand_cpu(700, 1000, 100, 0);
	hand_model_load();
	other->survey->first_ns = 0;
	other->survey->last_ns = 1000;
	for (uint32_t is_recorder = 0; is_recorder < 2; is_recorder++) {
		uint32_t cc = mr_task_name_at(&other->survey->tasks, MR_OWN_HOST, FOREIGN_TID, 600);
		const struct mr_link link =
			mr_link_make(MR_CAUSE_PREEMPTED, MR_CULPRIT_TASK, FOREIGN_TID, cc);

		assert_string_equal(mr_link_culprit(other, &region, link),
				    is_recorder ? "millrace itself"
						: "thread 900 'cc' of another process");
		recorder.program = cc;
		assert_int_equal(mr_vec_push(&other->survey->processes, recorder), 0);
	}
	mr_region_free(&region);
	mr_model_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_traced_from_the_first_step, make_model,
						free_model),
		cmocka_unit_test_setup_teardown(test_traced_later, make_model, free_model),
		cmocka_unit_test_setup_teardown(test_no_framework, make_model, free_model),
		cmocka_unit_test_setup_teardown(test_unknown_device, make_model, free_model),
		cmocka_unit_test(test_threads_of_millrace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
