/* SPDX-License-Identifier: Apache-2.0
 *
 * Gaps as wholes: a cause that interrupts cut into many pieces is where most of it is, not where its longest piece
 * is.
 *
 *     device   ├first┤                                            ├second┤             ├third┤
 *              0   100                                         3000   3100          4100  4200
 *     thread 0        cpu, with an interrupt of 10 ns every 400         cpu, in one piece
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/cause/idle_gaps.h"
#include "hand_model.h"

static struct mr_model *model;
static struct mr_idle idle;

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 3000, 3100, "second", 2);
	hand_operation(QUEUE_A, 4100, 4200, "third", 3);
	hand_operation(QUEUE_C, 0, 50, "elsewhere", 4);
	hand_operation(QUEUE_C, 60, 70, "elsewhere", 5);
	hand_launch(0, 2900, 2950, 2);
	hand_launch(0, 4000, 4050, 3);
	hand_run(0, 0, 4200);
	for (int64_t ns = 500; ns < 2900; ns += 400)
		hand_interrupt(0, ns, ns + 10, 4);
	hand_model_load();
	return mr_idle_make(model, &idle);
}

static int end(void **state)
{
	(void)state;
	mr_idle_free(&idle);
	mr_model_free(model);
	return 0;
}

static const struct mr_idle_piece *piece_of(uint32_t number)
{
	return &idle.pieces.items[number];
}

static void gaps_hold_all_pieces(void **state)
{
	uint32_t count = 0;

	(void)state;
	for (size_t i = 0; i < idle.devices.count; i++) {
		const struct mr_idle_device *device = &idle.devices.items[i];
		struct mr_gap_pieces gap = {0};
		uint32_t gaps = 0, pieces = 0;
		int64_t sum_ns = 0;

		while (mr_gap_next(&idle, device, &gap)) {
			gaps++;
			pieces += gap.count;
			sum_ns += gap.duration_ns;
			for (uint32_t j = gap.first; j < gap.first + gap.count; j++) {
				const struct mr_gap_pieces found = mr_gap_of(&idle, j);

				assert_int_equal(found.first, gap.first);
				assert_int_equal(found.count, gap.count);
				assert_int_equal(found.start_ns, gap.start_ns);
				assert_int_equal(found.duration_ns, gap.duration_ns);
			}
		}
		assert_int_equal(gaps, device->gap_count);
		assert_int_equal(pieces, device->piece_count);
		assert_int_equal(sum_ns, device->idle_ns);
		count += pieces;
	}
	assert_int_equal(count, idle.pieces.count);
}

static const struct mr_window always = {INT64_MIN, INT64_MAX};

static void most_of_a_cause_is_not_its_longest_piece(void **state)
{
	const struct mr_gap_pieces gap = mr_gap_of_most(&idle, MR_CAUSE_CPU, &always);
	uint32_t piece;

	(void)state;
	assert_int_equal(gap.start_ns, 100);
	assert_int_equal(gap.duration_ns, 2900);
	assert_int_equal(mr_gap_example(&idle, &gap, MR_CAUSE_CPU, &piece), 0);
	assert_int_equal(piece_of(piece)->start_ns, 100);
	assert_int_equal(piece_of(piece)->duration_ns, 400);
	uint32_t headline = mr_idle_headline(&idle, piece_of(piece)->chain);
	const struct mr_gap_share share = mr_gap_share(&idle, &gap, headline);
	assert_int_equal(share.pieces, 7);
	assert_int_equal(share.duration_ns, 2800 - 6 * 10);
	assert_int_equal(share.thread, 0);
	assert_int_equal(mr_gap_example(&idle, &gap, MR_CAUSE_COUNT, &piece), 0);
	assert_int_equal(piece_of(piece)->start_ns, 100);
	assert_int_equal(mr_gap_example(&idle, &gap, MR_CAUSE_INTERRUPT, &piece), 0);
	assert_int_equal(piece_of(piece)->start_ns, 500);
}

static void of_equal_gaps_the_first(void **state)
{
	(void)state;
	assert_int_equal(mr_gap_of_most(&idle, MR_CAUSE_LAUNCH, &always).start_ns, 100);
	assert_int_equal(mr_gap_of_most(&idle, MR_CAUSE_DISK, &always).count, 0);
	assert_int_equal(mr_gap_of_most(&idle, MR_CAUSE_UNLAUNCHED, &always).start_ns, 50);
}

static void gaps_that_begin_elsewhere_do_not_count(void **state)
{
	const struct mr_window later = {101, INT64_MAX};
	const struct mr_gap_pieces next = mr_gap_of_most(&idle, MR_CAUSE_CPU, &later);

	(void)state;
	assert_int_equal(mr_gap_of_most(&idle, MR_CAUSE_CPU, &always).start_ns, 100);
	assert_true(next.count > 0 && next.start_ns > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_hold_all_pieces),
		cmocka_unit_test(most_of_a_cause_is_not_its_longest_piece),
		cmocka_unit_test(of_equal_gaps_the_first),
		cmocka_unit_test(gaps_that_begin_elsewhere_do_not_count),
	};

	return cmocka_run_group_tests(tests, start, end);
}
