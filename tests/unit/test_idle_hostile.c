/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a device was idle, of models that no machine could leave behind: operations that wait for each other, end
 * before they are launched and overlap, threads that wake each other while they are blocked. Whatever
 * is told of them, pieces tile exactly the instants in which no operation ran, and chains end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cause/idle.h"
#include "hand_model.h"
#include "trace_writer.h"

enum {
	MODELS = 300,
	SPAN_NS = 2000,
	MAX_ROWS = 60,
	MAX_DURATION_NS = 150,
	CORRELATIONS = 40,
	BUSY_THREADS = 4,
	CHAIN_LINKS = 32,
};

static uint64_t random_state = 7;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next_random(&random_state) >> 32) % limit;
}

static void add_operation(int64_t begin_ns, int64_t end_ns)
{
	uint32_t queue = QUEUE_A + below(QUEUES);

	if (below(8) == 0)
		hand_marker(queue, begin_ns, end_ns, below(CORRELATIONS));
	else
		hand_operation(queue, begin_ns, end_ns, "work", below(CORRELATIONS));
}

static void add_call(int64_t begin_ns, int64_t end_ns)
{
	uint64_t correlation = below(CORRELATIONS);
	enum mr_call_role role = below(3);
	uint64_t awaits = below(3) == 0 ? correlation : below(CORRELATIONS);

	hand_call(below(BUSY_THREADS), begin_ns, end_ns, "call", correlation, role, awaits);
}

static void add_wait(int64_t begin_ns, int64_t end_ns)
{
	static const char *const calls[] = {"futex", "poll", "nanosleep", "fsync", NULL};
	uint32_t thread = below(BUSY_THREADS);

	hand_blocked(thread, begin_ns, end_ns, calls[below(mr_countof(calls))], 0);
	if (below(4))
		hand_woken(thread, end_ns, below(3) ? MR_wake_context_task : MR_wake_context_irq,
			   below(BUSY_THREADS + 1) ? below(BUSY_THREADS) : MR_NO_TRACK, "irq");
}

static void add_row(void)
{
	int64_t begin_ns = below(SPAN_NS), end_ns = begin_ns + below(MAX_DURATION_NS);
	uint32_t thread = below(BUSY_THREADS);

	switch (below(10)) {
	case 0:
	case 1:
	case 2:
		add_operation(begin_ns, end_ns);
		break;
	case 3:
	case 4:
		add_call(begin_ns, end_ns);
		break;
	case 5:
	case 6:
		add_wait(begin_ns, end_ns);
		break;
	case 7:
		hand_node(thread, begin_ns, end_ns, "node");
		break;
	case 8:
		hand_interrupt(thread, begin_ns, end_ns, below(9));
		break;
	default:
		hand_state(thread, begin_ns, end_ns, below(MR_STATE_COUNT), below(MR_REASON_COUNT));
		hand_cpu(begin_ns, end_ns, below(3), below(2) ? thread : MR_NO_TRACK);
	}
}

/* By counting instants. */
static void mark_busy(const struct mr_model *model, uint32_t device, bool *is_busy)
{
	const struct mr_device_operations *operations = &model->device_operations;

	memset(is_busy, 0, SPAN_NS + MAX_DURATION_NS);
	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t queue = operations->track[row] - THREADS + 1;
		int64_t start_ns = operations->start_ns[row];

		if (device == (queue == QUEUE_C ? 2 : 1) &&
		    operations->kind[row] != MR_operation_kind_marker)
			memset(is_busy + start_ns, true, (size_t)operations->duration_ns[row]);
	}
}

static void check_chain(const struct mr_chains *chains, uint32_t chain)
{
	uint32_t count = 0;

	for (; chain != MR_NO_CHAIN; chain = mr_chain_link(chains, chain)->next)
		count++;
	assert_in_range(count, 1, CHAIN_LINKS);
}

static void check_device(const struct mr_model *model, const struct mr_idle *idle,
			 const struct mr_idle_device *device)
{
	bool is_busy[SPAN_NS + MAX_DURATION_NS];
	int64_t ns = device->first_ns;

	mark_busy(model, device->device, is_busy);
	for (uint32_t i = 0; i < device->piece_count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[device->first_piece + i];

		for (; ns < piece->start_ns; ns++)
			assert_true(is_busy[ns]);
		assert_true(piece->duration_ns > 0);
		for (; ns < piece->start_ns + piece->duration_ns; ns++)
			assert_false(is_busy[ns]);
		check_chain(&idle->chains, piece->chain);
	}
	for (; ns < device->end_ns; ns++)
		assert_true(is_busy[ns]);
	assert_int_equal(ns, device->end_ns);
}

static void test_hostile(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MODELS; i++) {
		mr_auto(model) struct mr_model *model = hand_model_start();
		mr_auto(idle) struct mr_idle idle = {0};
		struct mr_findings findings = {0};

		for (uint32_t rows = below(MAX_ROWS); rows > 0; rows--)
			add_row();
		hand_model_load();
		assert_int_equal(mr_idle_make(model, &idle), 0);
		for (size_t j = 0; j < idle.devices.count; j++)
			check_device(model, &idle, &idle.devices.items[j]);
		assert_int_equal(mr_analyse_idle(model, &findings), 0);
		mr_findings_free(&findings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
