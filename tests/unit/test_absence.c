/* SPDX-License-Identifier: Apache-2.0
 *
 * A run without a problem, on the simulator's programs: what is claimed of a piece is gone, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/whatif/absence.h"
#include "simulated_run.h"

enum {
	PROGRAMS = 60,
};

struct replayed {
	struct run run;
	struct mr_course course;
};

static struct replayed replayed_start(uint64_t seed)
{
	struct replayed replayed = {
		.run = run_start(seed, &(struct simulation_options){.is_calm = seed % 2 == 0})};

	assert_int_equal(mr_course_make(replayed.run.model, &replayed.course), 0);
	return replayed;
}

static void replayed_end(struct replayed *replayed)
{
	mr_course_free(&replayed->course);
	run_end(&replayed->run);
}

/* When the run ends if the claim is reduced to that part. */
static int64_t end_with(const struct mr_course *course, struct mr_claim claim, double factor)
{
	struct mr_claims claims = {.list = {.items = &claim, .count = 1}};
	struct mr_change change;
	struct mr_replay replay;

	assert_int_equal(mr_change_make(course, &change), 0);
	assert_int_equal(mr_claims_apply(&claims, "test*", factor, course, &change), 0);
	assert_int_equal(mr_replay_make(course, &change, &replay), 0);
	int64_t last_ns = mr_replay_last_ns(&replay);
	mr_replay_free(&replay);
	mr_change_free(&change);
	return last_ns;
}

/* When it ends if just this piece takes so long. */
static int64_t end_with_piece(const struct mr_course *course, uint32_t piece, int64_t duration_ns)
{
	struct mr_change change;
	struct mr_replay replay;

	assert_int_equal(mr_change_make(course, &change), 0);
	change.duration_ns[piece] = duration_ns;
	assert_int_equal(mr_replay_make(course, &change, &replay), 0);
	int64_t last_ns = mr_replay_last_ns(&replay);
	mr_replay_free(&replay);
	mr_change_free(&change);
	return last_ns;
}

/* All of a piece, half of it by its time, half of it by what is claimed. */
static void check_piece(const struct mr_course *course, uint32_t number)
{
	const struct mr_piece *piece = &course->pieces.items[number];
	struct mr_claim claim = {"test_problem",
				 piece->start_ns,
				 piece->duration_ns,
				 piece->duration_ns,
				 {.thread = piece->track}};

	assert_int_equal(end_with(course, claim, 0), end_with_piece(course, number, 0));
	assert_int_equal(end_with(course, claim, 1), course->last_ns);
	if (piece->duration_ns % 2)
		return;
	int64_t half_ns = end_with_piece(course, number, piece->duration_ns / 2);
	assert_int_equal(end_with(course, claim, 0.5), half_ns);
	claim.claimed_ns /= 2;
	assert_int_equal(end_with(course, claim, 0), half_ns);
	claim.duration_ns /= 2;
	assert_int_equal(end_with(course, claim, 0), half_ns);
}

static void test_pieces(void **state)
{
	uint32_t checked = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct replayed replayed = replayed_start(seed);
		const struct mr_course *course = &replayed.course;
		uint32_t stride = 1 + course->count / 20;

		for (uint32_t i = 0; i < course->count; i += stride)
			if (course->pieces.items[i].operation == MR_NO_ROW &&
			    course->pieces.items[i].duration_ns > 1) {
				check_piece(course, i);
				checked++;
			}
		replayed_end(&replayed);
	}
	assert_true(checked > PROGRAMS);
}

/* Who waits for a lock or a CPU in the moment no longer does; a piece that starts earlier makes no run longer. */
static void test_waits(void **state)
{
	uint32_t freed = 0;

	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct replayed replayed = replayed_start(seed);
		const struct mr_course *course = &replayed.course;

		for (uint32_t i = 0; i + 1 < course->count; i++) {
			const struct mr_piece *piece = &course->pieces.items[i];
			uint32_t place = mr_place_after(course, piece->track, piece->start_ns);
			int64_t end_ns = mr_piece_end_ns(piece);

			if (place == course->first_of_track[piece->track + 1] ||
			    piece->operation != MR_NO_ROW)
				continue;
			int64_t gap_ns =
				course->pieces.items[course->of_track[place]].start_ns - end_ns;
			struct mr_claim claim = {
				"test_wait", end_ns, gap_ns, gap_ns, {.thread = piece->track}};
			if (gap_ns <= 0 || freed > PROGRAMS * 20)
				continue;
			assert_true(end_with(course, claim, 0) <= course->last_ns);
			freed += end_with(course, claim, 0) < course->last_ns;
		}
		replayed_end(&replayed);
	}
	assert_true(freed > 0);
}

static void test_unknown(void **state)
{
	struct replayed replayed = replayed_start(1);
	const struct mr_claims none = {0};
	struct mr_change change;

	(void)state;
	assert_int_equal(mr_change_make(&replayed.course, &change), 0);
	assert_int_equal(mr_claims_apply(&none, "*", 0, &replayed.course, &change), -ENOENT);
	mr_change_free(&change);
	replayed_end(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_unknown),
	};

	run_prepare();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
