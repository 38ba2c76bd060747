/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays of the simulator's programs. Without a change all happens when it happened; with one, what the simulator says
 * that would have happened: it computes that from what it knew, or runs the program again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/device_time.h"
#include "analysis/whatif/replay.h"
#include "simulated_run.h"

enum {
	PROGRAMS = 250,
};

struct replayed {
	struct run run;
	struct mr_course course;
	struct mr_change change;
};

static struct replayed replayed_start(uint64_t seed, const struct simulation_options *options)
{
	struct replayed replayed = {.run = run_start(seed, options)};

	assert_int_equal(mr_course_make(replayed.run.model, &replayed.course), 0);
	assert_int_equal(mr_change_make(&replayed.course, &replayed.change), 0);
	return replayed;
}

static void replayed_end(struct replayed *replayed)
{
	mr_change_free(&replayed->change);
	mr_course_free(&replayed->course);
	run_end(&replayed->run);
}

static int64_t replayed_last_ns(const struct replayed *replayed)
{
	struct mr_replay replay;

	assert_int_equal(mr_replay_make(&replayed->course, &replayed->change, &replay), 0);
	int64_t last_ns = mr_replay_last_ns(&replay);
	mr_replay_free(&replay);
	return last_ns;
}

/* ---- without a change ------------------------------------------------------------------------------- */

static void check_identity(uint64_t seed, const struct simulation_options *options)
{
	struct replayed replayed = replayed_start(seed, options);
	const struct mr_course *course = &replayed.course;
	struct mr_replay replay;

	assert_int_equal(mr_replay_make(course, &replayed.change, &replay), 0);
	for (uint32_t i = 0; i < course->count; i++) {
		const struct mr_piece *piece = &course->pieces.items[i];

		assert_true(piece->delay_ns >= 0);
		assert_int_equal(replay.end_ns[i], mr_piece_end_ns(piece));
	}
	assert_int_equal(mr_replay_last_ns(&replay), course->last_ns);
	if (!options->no_kernel_level)
		assert_int_equal(course->last_ns, replayed.run.truth->last_ns);
	mr_replay_free(&replay);
	replayed_end(&replayed);
}

static void test_identity(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		check_identity(seed,
			       &(struct simulation_options){.is_coarse = seed % 2 == 0,
							    .no_kernel_level = seed % 5 == 4});
		check_identity(seed, &(struct simulation_options){.is_calm = true});
		check_identity(seed, &(struct simulation_options){.shape = run_shape_of(seed)});
	}
}

/* ---- one part shorter, in the same order --------------------------------------------------------------- */

/* Takes at most so much of what lies in the part from a time; returns what it took. */
static int64_t take(const struct part *part, int64_t begin_ns, int64_t end_ns, int64_t most_ns,
		    int64_t *ns, int64_t *found_ns)
{
	int64_t inside_ns = mr_min(end_ns, part->end_ns) - mr_max(begin_ns, part->begin_ns);
	int64_t taken_ns = mr_max(0, mr_min(inside_ns, most_ns));

	*ns -= taken_ns;
	*found_ns += mr_max(0, inside_ns);
	return taken_ns;
}

static bool is_of(const struct mr_model *model, const struct mr_piece *piece,
		  const struct part *part)
{
	uint32_t row = piece->operation;

	if (part->tid)
		return row == MR_NO_ROW &&
		       model->survey->tracks.items[piece->track].tid == part->tid;
	return row != MR_NO_ROW && model->device_operations.correlation[row] == part->correlation &&
	       mr_operation_pid(model, row) == part->pid;
}

/* Takes so much from the pieces that the part consists of, and their delays; false if they do not make it up. */
static bool shorten(struct replayed *replayed, const struct part *part, int64_t shorter_ns)
{
	const struct mr_course *course = &replayed->course;
	int64_t found_ns = 0;

	for (uint32_t i = 0; i < course->count; i++) {
		const struct mr_piece *piece = &course->pieces.items[i];

		if (!is_of(replayed->run.model, piece, part))
			continue;
		shorter_ns -= take(part, piece->start_ns - piece->delay_ns, piece->start_ns,
				   shorter_ns, &replayed->change.delay_ns[i], &found_ns);
		shorter_ns -= take(part, piece->start_ns, mr_piece_end_ns(piece), shorter_ns,
				   &replayed->change.duration_ns[i], &found_ns);
	}
	return found_ns == part->end_ns - part->begin_ns;
}

static void restore(struct replayed *replayed)
{
	for (uint32_t i = 0; i < replayed->course.count; i++) {
		replayed->change.duration_ns[i] = replayed->course.pieces.items[i].duration_ns;
		replayed->change.delay_ns[i] = replayed->course.pieces.items[i].delay_ns;
	}
}

/* Whether a device had room for an operation while it was busy cannot be seen: the simulator has, here. */
static bool has_full_device(const struct mr_course *course)
{
	for (size_t i = 0; i < course->follows.count; i++)
		if (course->follows.items[i].kind == MR_FOLLOW_ROOM)
			return true;
	return false;
}

/* By so little that nothing which did not matter begins to. */
static void check_part(struct replayed *replayed, const struct part *part)
{
	int64_t truth_ns = simulation_replay(replayed->run.simulation, part, 1);

	if (!shorten(replayed, part, 1))
		fail_msg("seed %u: no pieces for [%lld, %lld) of %u %llu",
			 (unsigned)replayed->run.seed, (long long)part->begin_ns,
			 (long long)part->end_ns, part->tid, (unsigned long long)part->correlation);
	int64_t got_ns = replayed_last_ns(replayed);
	if (got_ns != truth_ns)
		fprintf(stderr,
			"seed %u: 1 ns less of [%lld, %lld) of %u %llu gains %lld, not %lld\n",
			(unsigned)replayed->run.seed, (long long)part->begin_ns,
			(long long)part->end_ns, part->tid, (unsigned long long)part->correlation,
			(long long)(replayed->run.truth->last_ns - got_ns),
			(long long)(replayed->run.truth->last_ns - truth_ns));
	restore(replayed);
}

static void test_parts(void **state)
{
	uint32_t checked = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct replayed replayed =
			replayed_start(seed, &(struct simulation_options){.is_calm = true});
		size_t count;
		struct part *parts = simulation_parts(replayed.run.simulation, &count);
		bool is_checked = !has_full_device(&replayed.course);

		for (size_t i = 0; is_checked && i < count; i++)
			check_part(&replayed, &parts[i]);
		checked += is_checked;
		free(parts);
		replayed_end(&replayed);
	}
	assert_true(checked > PROGRAMS / 2);
}

/* ---- the program run again ------------------------------------------------------------------------------ */

enum {
	LESS_PERCENT = 10,
};

static bool is_work(const struct replayed *replayed, const struct mr_piece *piece, uint32_t tid,
		    enum simulation_work work)
{
	const struct mr_model *model = replayed->run.model;
	uint32_t track = piece->track;

	if (piece->operation != MR_NO_ROW) {
		uint32_t call = model->device_operations.call[piece->operation];

		return work == WORK_DEVICE && call != MR_NO_ROW &&
		       model->survey->tracks.items[model->calls.track[call]].tid == tid;
	}
	return model->survey->tracks.items[track].tid == tid &&
	       (piece->link.kind == MR_CAUSE_SLEEP
			? work == WORK_SLEEP
			: piece->link.kind != MR_CAUSE_WAKE_UP && work == WORK_RUN);
}

/* How far the prediction is from the truth, as a part of the whole time. */
static double run_again(struct replayed *replayed, struct simulation_options options)
{
	const struct truth *truth = replayed->run.truth;
	int64_t length_ns = truth->last_ns - truth->first_ns;

	for (uint32_t i = 0; i < replayed->course.count; i++) {
		const struct mr_piece *piece = &replayed->course.pieces.items[i];

		if (is_work(replayed, piece, options.shorter_tid, options.shorter_work))
			replayed->change.duration_ns[i] -= piece->duration_ns * LESS_PERCENT / 100;
	}
	options.shorter_percent = LESS_PERCENT;
	struct simulation *again = simulate(replayed->run.seed, &options, NULL);
	int64_t truth_ns = simulation_truth(again)->last_ns;
	int64_t got_ns = replayed_last_ns(replayed);
	simulation_free(again);
	restore(replayed);
	return (double)llabs(got_ns - truth_ns) / (double)length_ns;
}

/* All programs that have the shape of a real one. Those that differ are pollers, whose loops become fewer, and threads that
 * meet at a lock in another order. */
static void test_again(void **state)
{
	uint32_t all = 0, close = 0, exact = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct simulation_options options = {.shape = run_shape_of(seed)};
		struct replayed replayed = replayed_start(seed, &options);

		for (options.shorter_tid = 1000; options.shorter_tid < 1004; options.shorter_tid++)
			for (options.shorter_work = 0; options.shorter_work < WORK_COUNT;
			     options.shorter_work++) {
				double error = run_again(&replayed, options);

				all++;
				close += error <= 0.02;
				exact += error <= 0.0001;
			}
		replayed_end(&replayed);
	}
	print_message("%u replays: %u within 2 %%, %u within 0.01 %%\n", all, close, exact);
	assert_true(close * 100 >= all * 97);
	assert_true(exact * 100 >= all * 80);
}

int main(void)
{
	run_prepare();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
