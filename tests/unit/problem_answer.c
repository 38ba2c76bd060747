/* SPDX-License-Identifier: Apache-2.0 */
#include "problem_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/steps.h"
#include "load/memory.h"
#include "model/window.h"

enum {
	WAIT = 0,
	WAKE = 1,
	WAIT_BITSET = 9,
};

void problem_wait(uint32_t thread, int64_t from_ns, int64_t to_ns, uint64_t word, uint32_t waker)
{
	hand_futex(thread, from_ns, to_ns, word, WAIT_BITSET, true);
	hand_woken(thread, to_ns, MR_wake_context_task, waker, "");
	hand_futex(waker, to_ns, to_ns + 10, word, WAKE, false);
}

void problem_lock(uint32_t thread, int64_t from_ns, int64_t to_ns, uint64_t word, uint32_t holder,
		  int64_t back_ns)
{
	hand_futex(thread, from_ns, to_ns, word, WAIT, true);
	hand_woken(thread, to_ns, MR_wake_context_task, holder, "");
	hand_futex(holder, to_ns, to_ns + 10, word, WAKE, false);
	hand_futex(thread, back_ns, back_ns + 10, word, WAKE, false);
}

void problem_preempt(uint32_t thread, int64_t from_ns, int64_t to_ns, uint32_t tid)
{
	hand_runnable(thread, from_ns, to_ns, MR_REASON_PREEMPTED);
	hand_cpu(from_ns, to_ns, tid, tid < FOREIGN_TID ? tid - 100 : MR_NO_TRACK);
}

void problem_copy(struct mr_model *model, int64_t from_ns, int64_t to_ns, uint8_t kind,
		  uint64_t bytes, uint64_t correlation)
{
	hand_operation(QUEUE_A, from_ns, to_ns, "copy", correlation);
	model->device_operations.kind[model->device_operations.table.count - 1] = kind;
	model->device_operations.bytes[model->device_operations.table.count - 1] = bytes;
	hand_call(0, from_ns, to_ns, "copy", correlation, MR_CALL_LAUNCH, correlation);
	model->calls.kind[model->calls.table.count - 1] = kind;
}

/* The main thread's number is that of its process. */
static struct mr_model *start(void)
{
	struct mr_model *model = hand_model_start();
	struct mr_survey *survey = model->survey;

	survey->processes.items[0].pid = survey->tracks.items[0].tid;
	survey->first_ns = 0;
	survey->last_ns = ROUND(ROUNDS);
	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		survey->tracks.items[i].first_ns = 0;
		survey->tracks.items[i].last_ns = ROUND(ROUNDS);
	}
	return model;
}

static const struct mr_problem *find(const struct mr_findings *findings, const char *key)
{
	for (size_t i = 0; i < findings->diagnosis.problems.count; i++)
		if (strcmp(findings->diagnosis.problems.items[i].key, key) == 0)
			return &findings->diagnosis.problems.items[i];
	return NULL;
}

static void check(const struct problem_program *program, const struct mr_findings *findings)
{
	const struct mr_problem *problem = find(findings, program->key);

	for (size_t i = 0; i < findings->diagnosis.problems.count; i++)
		print_message("%s: %s %lld, %s\n", program->name,
			      findings->diagnosis.problems.items[i].key,
			      (long long)findings->diagnosis.problems.items[i].time_ns,
			      findings->diagnosis.problems.items[i].why);
	if (program->cost_ns == 0) {
		assert_null(problem);
		return;
	}
	assert_non_null(problem);
	assert_ptr_equal(problem, &findings->diagnosis.problems.items[0]);
	assert_int_equal(problem->time_ns, program->cost_ns);
	if (program->says)
		assert_non_null(strstr(problem->why, program->says));
}

/* What a report looks at if the program has steps. */
static struct mr_model *cut_to_steps(const struct mr_model *model)
{
	struct mr_step_list list = {0};
	struct mr_steady steady;
	struct mr_model *cut;

	assert_int_equal(mr_step_list_make(model, NULL, &list), 0);
	assert_int_equal(mr_steps_steady(model, &list, &steady), 1);
	mr_step_list_free(&list);
	assert_int_equal(mr_model_cut(model, &(struct mr_part){.window = steady.window}, &cut), 0);
	return cut;
}

static void diagnose(const struct problem_program *program, const struct mr_model *model)
{
	struct mr_findings findings = {0};

	assert_int_equal(mr_analyse_threads(model, &findings), 0);
	assert_int_equal(mr_analyse_problems(model, &findings), 0);
	check(program, &findings);
	mr_findings_free(&findings);
}

void problem_check(const struct problem_program *programs, size_t count, bool is_of_steps)
{
	for (size_t i = 0; i < count; i++) {
		struct mr_model *model = start();
		struct mr_model *cut = NULL;

		programs[i].make(model);
		hand_model_load();
		assert_int_equal(mr_memory_join(model), 0);
		if (is_of_steps)
			cut = cut_to_steps(model);
		diagnose(&programs[i], cut ? cut : model);
		mr_model_free(cut);
		mr_model_free(model);
	}
}
