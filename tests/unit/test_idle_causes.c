/* SPDX-License-Identifier: Apache-2.0
 *
 * What is made of the pieces of idle time: headlines, sums by cause, how certain they are, a part of a trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "idle_answer.h"

static void test_headlines(void **state)
{
	static const struct {
		uint16_t kinds[4]; /* of a chain; ends with 0, which no chain of idle time has */
		uint32_t links;    /* of its headline */
		bool is_explained;
	} cases[] = {
		{{MR_CAUSE_CPU}, 1, true},
		{{MR_CAUSE_UNTRACED}, 1, false},
		{{MR_CAUSE_UNKNOWN}, 1, false},
		{{MR_CAUSE_UNLAUNCHED}, 1, false},
		{{MR_CAUSE_DEPENDENCY, MR_CAUSE_DEVICE_UNKNOWN}, 1, false},
		{{MR_CAUSE_DEPENDENCY}, 1, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_CPU}, 2, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_DISK}, 1, true},
		{{MR_CAUSE_LOCK, MR_CAUSE_IPC, MR_CAUSE_SLEEP}, 2, true},
		{{MR_CAUSE_NETWORK, MR_CAUSE_OTHER, MR_CAUSE_UNTRACED}, 3, true},
		{{MR_CAUSE_OTHER, MR_CAUSE_CPU}, 1, true},
		{{MR_CAUSE_POLL, MR_CAUSE_PREEMPTED}, 1, true},
		{{MR_CAUSE_CHILD, MR_CAUSE_CALL}, 2, true},
	};
	struct mr_chains chains = {0};

	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		uint32_t chain = MR_NO_CHAIN, links = 0;

		for (int at = 3; at >= 0; at--) {
			struct mr_link link = mr_link_bare(cases[i].kinds[at]);

			link.next = chain;
			if (cases[i].kinds[at])
				assert_int_equal(mr_chain_intern(&chains, link, &chain), 0);
		}
		uint32_t headline = mr_chain_headline(&chains, chain);
		for (; headline != MR_NO_CHAIN; headline = mr_chain_link(&chains, headline)->next)
			links++;
		assert_int_equal(links, cases[i].links);
		assert_int_equal(mr_chain_is_explained(&chains, chain), cases[i].is_explained);
	}
	mr_chains_free(&chains);
}

static void test_causes_add_up(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	uint32_t count;

	(void)state;
	idle_work_around_gap();
	hand_operation(QUEUE_A, 9000, 9100, "third", 3);
	hand_launch(1, 2500, 2600, 3);
	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	assert_int_equal(mr_idle_causes(&idle, 0, (uint32_t)idle.pieces.count, &causes, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(mr_chain_link(&idle.chains, causes[0].headline)->kind, MR_CAUSE_DISPATCH);
	assert_int_equal(causes[0].total_ns, 900 + 5900);
	assert_int_equal(causes[0].max_ns, 5900);
	assert_int_equal(causes[0].count, 2);
	assert_int_equal(causes[0].thread, MR_NO_TRACK);
	assert_int_equal(causes[1].total_ns, 1900);
	assert_int_equal(causes[1].thread, 0);
	assert_int_equal(causes[2].total_ns, 100);
	assert_int_equal(idle.devices.items[0].idle_ns, 2900 + 5900);
	assert_int_equal(mr_idle_busy_ns(&idle.devices.items[0]), 300);
}

/* In chains threads that are not traced go by tid, in causes by name. */
static void test_causes_by_name(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	struct mr_region region = {0};
	uint32_t count;

	(void)state;
	idle_work_around_gap();
	hand_runnable(0, 0, 2000, MR_REASON_PREEMPTED);
	hand_cpu(0, 500, FOREIGN_TID, MR_NO_TRACK);
	hand_cpu(500, 2000, FOREIGN_TID + 1, MR_NO_TRACK);
	idle_expect_gap("100-500 preempted (thread 900 'cc' (other process)); "
			"500-2000 preempted (thread 901 'cc' (other process))");
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	assert_int_equal(mr_idle_causes(&idle, 0, (uint32_t)idle.pieces.count, &causes, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(causes[0].total_ns, 1900);
	assert_string_equal(mr_chain_culprit(idle_model, &region, &idle.chains, causes[0].headline),
			    "'cc' threads (other process)");
	mr_region_free(&region);
}

/* Ends of gaps are as exact as the device's clock, begins and ends of launches are exact. */
static void test_uncertainty(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};

	(void)state;
	idle_work_around_gap();
	hand_operation(QUEUE_A, 3105, 4000, "third", 3);
	idle_model->device_clocks[1].bound_ns = 10;
	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	const struct mr_idle_piece *piece = idle.pieces.items;
	assert_int_equal(idle.pieces.count, 4);
	assert_int_equal(piece[0].uncertain_ns, 10); /* untraced, from the end of the work */
	assert_int_equal(piece[1].uncertain_ns, 0);  /* the launch */
	assert_int_equal(piece[2].uncertain_ns, 10); /* dispatch */
	assert_int_equal(piece[3].uncertain_ns, 5);  /* a gap that may not be */
}

static void test_window(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	struct mr_model cut = {.whole = idle_model,
			       .survey = idle_model->survey,
			       .part.window = {.first_ns = 1500, .last_ns = 4000}};

	(void)state;
	idle_work_around_gap();
	hand_model_load();
	assert_int_equal(mr_idle_make(&cut, &idle), 0);
	mr_auto(free) char *found = idle_print(&idle, "gpu0");
	assert_string_equal(found, "1500-2000 untraced; 2000-2100 launch (launch); "
				   "2100-3000 dispatch; 3100-4000 no more work");
	assert_int_equal(mr_idle_busy_ns(&idle.devices.items[0]), 100);
}

static void test_nothing(void **state)
{
	mr_auto(idle) struct mr_idle idle = {0};
	struct mr_findings findings = {0};

	(void)state;
	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	assert_int_equal(idle.devices.count, 0);
	assert_int_equal(mr_analyse_idle(idle_model, &findings), 0);
	assert_int_equal(findings.list.count, 0);
	mr_findings_free(&findings);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, idle_start, idle_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(headlines),   TEST(causes_add_up), TEST(causes_by_name),
		TEST(uncertainty), TEST(window),        TEST(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
