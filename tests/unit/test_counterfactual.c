/* SPDX-License-Identifier: Apache-2.0
 *
 * Is the critical path critical? What lies on it is made shorter in the simulator, and the program must become shorter;
 * what does not lie on it, and it must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/cause/critical_path.h"
#include "simulated_run.h"

enum {
	PROGRAMS = 250,
};

/* ---- in the same order ---------------------------------------------------------------------------- */

static bool is_of(const struct mr_model *model, const struct mr_path_segment *segment,
		  const struct part *part)
{
	const struct mr_survey *survey = model->survey;
	uint32_t row = segment->operation;

	if (part->tid)
		return row == MR_NO_ROW && segment->track != MR_NO_TRACK &&
		       survey->tracks.items[segment->track].tid == part->tid;
	if (row == MR_NO_ROW)
		return false;
	uint32_t process = model->device_operations.process[row];
	return model->device_operations.correlation[row] == part->correlation &&
	       survey->processes.items[process].pid == part->pid;
}

/* So much of the part lies on the path. */
static int64_t covered_ns(const struct mr_model *model, const struct mr_critical_path *path,
			  const struct part *part)
{
	int64_t covered_ns = 0;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct mr_path_segment *segment = &path->segments.items[i];
		int64_t begin_ns = mr_max(segment->start_ns, part->begin_ns);
		int64_t end_ns = mr_min(segment->start_ns + segment->duration_ns, part->end_ns);

		if (begin_ns < end_ns && is_of(model, segment, part))
			covered_ns += end_ns - begin_ns;
	}
	return covered_ns;
}

static void perturb(const struct run *run, const struct mr_critical_path *path,
		    const struct part *part, bool is_unique)
{
	int64_t length_ns = part->end_ns - part->begin_ns, end_ns = run->truth->last_ns;
	int64_t on_path_ns = covered_ns(run->model, path, part);
	int64_t gain_ns = end_ns - simulation_replay(run->simulation, part, 1);
	int64_t all_ns = end_ns - simulation_replay(run->simulation, part, length_ns);

	if ((on_path_ns != 0 && on_path_ns != length_ns) || gain_ns < 0 ||
	    gain_ns > (on_path_ns != 0) || all_ns > on_path_ns ||
	    (is_unique && on_path_ns && gain_ns == 0))
		fail_msg(
			"seed %u: %lld ns of [%lld, %lld) of %u %u %llu are on the path; 1 ns less "
			"gains %lld, all of it %lld",
			(unsigned)run->seed, (long long)on_path_ns, (long long)part->begin_ns,
			(long long)part->end_ns, part->pid, part->tid,
			(unsigned long long)part->correlation, (long long)gain_ns,
			(long long)all_ns);
}

/* What lies on the path and is made shorter makes the program shorter, what does not lie there does not. Where
 * several paths are equally long each of them will do. */
static void test_perturbation(void **state)
{
	uint32_t unique_count = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct run run =
			run_start(seed, &(struct simulation_options){.is_calm = true,
								     .is_coarse = seed % 3 == 0});
		bool is_unique = simulation_is_unique(run.simulation);
		struct mr_critical_path path;
		size_t count;
		struct part *parts = simulation_parts(run.simulation, &count);

		assert_int_equal(mr_critical_path_make(run.model, &path), 0);
		for (size_t i = 0; i < count; i++)
			perturb(&run, &path, &parts[i], is_unique);
		unique_count += is_unique;
		mr_critical_path_free(&path);
		free(parts);
		run_end(&run);
	}
	assert_true(unique_count > PROGRAMS / 2);
}

/* ---- and if the program is run again? ----------------------------------------------------------- */

enum {
	LESS_PERCENT = 10
};

static enum simulation_work work_of(const struct mr_link *link)
{
	bool sleeps = link->kind == MR_CAUSE_SLEEP ||
		      (link->kind == MR_CAUSE_LOCK && link->in == MR_CAUSE_SLEEP);

	return link->kind == MR_CAUSE_DEVICE ? WORK_DEVICE : sleeps ? WORK_SLEEP : WORK_RUN;
}

/* The path says that so much of the time is work of that kind of the thread; what the machine itself takes is not. */
static int64_t promised_ns(const struct mr_model *model, const struct mr_critical_path *path,
			   uint32_t tid, enum simulation_work work)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct mr_path_segment *segment = &path->segments.items[i];
		uint32_t track = segment->track;

		if (segment->operation != MR_NO_ROW)
			track = model->calls
					.track[model->device_operations.call[segment->operation]];
		if (track != MR_NO_TRACK && model->survey->tracks.items[track].tid == tid &&
		    work_of(&segment->link) == work)
			sum_ns += segment->duration_ns;
	}
	return sum_ns;
}

/* All work of a kind is made shorter by a tenth, and the program is run again: it becomes shorter by a tenth of what of it
 * lies on the path. */
static void run_again(const struct run *run, const struct mr_critical_path *path,
		      struct simulation_options options)
{
	int64_t length_ns = run->truth->last_ns - run->truth->first_ns;
	int64_t promised =
		promised_ns(run->model, path, options.shorter_tid, options.shorter_work) *
		LESS_PERCENT / 100;

	options.shorter_percent = LESS_PERCENT;
	struct simulation *again = simulate(run->seed, &options, NULL);
	int64_t gained = run->truth->last_ns - simulation_truth(again)->last_ns;

	simulation_free(again);
	if (llabs(gained - promised) > mr_max(gained, promised) / 5 + length_ns / 100)
		fail_msg("shape %d, seed %u, work %d of %u: the path promises %.2f %%, but the "
			 "program gains "
			 "%.2f %%",
			 (int)options.shape, (unsigned)run->seed, (int)options.shorter_work,
			 options.shorter_tid, 100.0 * (double)promised / (double)length_ns,
			 100.0 * (double)gained / (double)length_ns);
}

static void test_shapes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct simulation_options options = {.shape = run_shape_of(seed)};
		struct run run = run_start(seed, &options);
		struct mr_critical_path path;

		assert_int_equal(mr_critical_path_make(run.model, &path), 0);
		for (options.shorter_tid = 1000; options.shorter_tid < 1004; options.shorter_tid++)
			for (options.shorter_work = 0; options.shorter_work < WORK_COUNT;
			     options.shorter_work++)
				run_again(&run, &path, options);
		mr_critical_path_free(&path);
		run_end(&run);
	}
}

int main(void)
{
	run_prepare();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perturbation),
		cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
