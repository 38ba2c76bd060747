/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that two processes use, in a model made by hand. gpu0 with queues A and B is as process 7 knows it, gpu1
 * with queue C as process 8 does, whose thread is the second.
 *
 *     queue A   ├ a ┤                   ├─ b ──┤
 *     queue C      ├─── c ───┤            ├ d ┤          ├ e ┤
 *               0  60  100   200       300     400       500 600
 *     thread 0                     launches b at 250
 *     thread 1                                         launches e at 450
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/cause/idle.h"
#include "analysis/device_time.h"
#include "finding_lookup.h"
#include "hand_view.h"
#include "load/devices.h"
#include "timeline/words.h"

static const char *const identities[][2] = {
	{"pci 0000:3b:00.0", "pci 0000:3b:00.0"}, /* one device */
	{"pci 0000:3b:00.0", "pci 0000:af:00.0"}, /* two */
	{"", ""},                                 /* not known: two */
};

static void work(void)
{
	hand_operation(QUEUE_A, 0, 100, "a", 1);
	hand_operation(QUEUE_C, 60, 200, "c", 2);
	hand_operation(QUEUE_A, 300, 400, "b", 3);
	hand_operation(QUEUE_C, 320, 350, "d", 4);
	hand_operation(QUEUE_C, 500, 600, "e", 5);
	hand_launch(0, 250, 260, 3);
	hand_launch(1, 450, 460, 5);
	hand_run(0, 0, 600);
	hand_run(1, 0, 600);
}

/* `state`: the identities of the two. */
static int start(void **state)
{
	const char *const *identity = *state;

	hand_view_start(NULL);
	struct mr_survey *survey = hand_made->survey;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			mr_strings_intern(&survey->definitions.strings, identity[i],
					  strlen(identity[i]),
					  &survey->definitions.devices.items[i + 1].identity),
			0);
	assert_int_equal(mr_vec_push(&survey->processes, ((struct mr_process){.pid = 8})), 0);
	survey->definitions.devices.items[2].process = 1;
	survey->definitions.queues.items[QUEUE_C].process = 1;
	survey->tracks.items[1].process = 1;
	hand_made->device_clocks[1].bound_ns = 5;
	hand_made->device_clocks[2].bound_ns = 7;
	work();
	hand_view_look();
	for (uint32_t row = 0; row < hand_made->device_operations.table.count; row++)
		hand_made->device_operations.process[row] =
			hand_made->device_operations.track[row] == THREADS + QUEUE_C - 1;
	assert_int_equal(mr_devices_unite(hand_made), 0);
	mr_view_free(hand_view);
	assert_int_equal(mr_view_make(hand_made, &hand_view), 0);
	return 0;
}

/* ---- findings ------------------------------------------------------------------------------------- */

static void check_row(const struct mr_finding_table *table, uint32_t row, int64_t device,
		      int64_t span_ns, int64_t busy_ns)
{
	assert_int_equal(findings_number(table, row, "device_number"), device);
	assert_int_equal(findings_number(table, row, "span_ns"), span_ns);
	assert_int_equal(findings_number(table, row, "busy_ns"), busy_ns);
	assert_int_equal(findings_number(table, row, "idle_ns"), span_ns - busy_ns);
}

static void check_queues(const struct mr_findings *findings)
{
	const struct mr_finding_table *queues =
		mr_findings_find_table(findings, "devices", "queues");

	assert_int_equal(queues->row_count, 2);
	for (uint32_t row = 0; row < 2; row++)
		assert_int_equal(findings_number(queues, row, "busy_ns"),
				 findings_number(queues, row, "pid") == 7 ? 200 : 270);
}

static void test_one(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	assert_int_equal(mr_analyse_devices(hand_made, &findings), 0);
	const struct mr_finding_table *devices =
		mr_findings_find_table(&findings, "devices", "devices");
	assert_int_equal(devices->row_count, 1);
	check_row(devices, 0, 1, 600, 400);
	assert_int_equal(findings_number(devices, 0, "pid"), MR_NO_VALUE);
	assert_int_equal(findings_number(devices, 0, "queues"), 2);
	assert_int_equal(findings_number(devices, 0, "operations"), 5);
	assert_int_equal(findings_number(devices, 0, "bound_ns"), 7);
	check_queues(&findings);
	mr_findings_free(&findings);
}

static void test_two(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	assert_int_equal(mr_analyse_devices(hand_made, &findings), 0);
	const struct mr_finding_table *devices =
		mr_findings_find_table(&findings, "devices", "devices");
	assert_int_equal(devices->row_count, 2);
	check_row(devices, 0, 2, 540, 270); /* the longest busy first */
	check_row(devices, 1, 1, 400, 200);
	assert_int_equal(findings_number(devices, 0, "pid"), 8);
	assert_int_equal(findings_number(devices, 1, "pid"), 7);
	assert_int_equal(findings_number(devices, 0, "bound_ns"), 7);
	assert_int_equal(findings_number(devices, 1, "bound_ns"), 5);
	check_queues(&findings);
	mr_findings_free(&findings);
}

/* Of one process: the other's operations still keep the device busy. */
static void test_one_of_a_process(void **state)
{
	static const bool only_first[] = {true, false};
	const struct mr_part part = {{0, 600}, only_first};
	struct mr_findings findings = {0};
	struct mr_model *cut;
	struct mr_idle idle;

	(void)state;
	assert_int_equal(mr_model_cut(hand_made, &part, &cut), 0);
	assert_int_equal(mr_analyse_devices(cut, &findings), 0);
	const struct mr_finding_table *devices =
		mr_findings_find_table(&findings, "devices", "devices");
	assert_int_equal(devices->row_count, 1);
	check_row(devices, 0, 1, 600, 400);
	assert_int_equal(mr_findings_find_table(&findings, "devices", "queues")->row_count, 1);
	assert_int_equal(mr_idle_make(cut, &idle), 0);
	assert_int_equal(idle.devices.count, 1);
	assert_int_equal(idle.devices.items[0].idle_ns, 200);
	mr_idle_free(&idle);
	mr_findings_free(&findings);
	mr_model_free(cut);
}

/* The device is found by either of its processes. */
static void test_one_of_the_other_process(void **state)
{
	static const bool only_second[] = {false, true};
	const struct mr_part part = {{0, 600}, only_second};
	struct mr_model *cut;
	struct mr_idle idle;

	(void)state;
	assert_int_equal(mr_model_cut(hand_made, &part, &cut), 0);
	assert_int_equal(mr_idle_make(cut, &idle), 0);
	assert_int_equal(idle.devices.count, 1);
	assert_int_equal(idle.devices.items[0].device, 1);
	assert_int_equal(idle.devices.items[0].idle_ns, 200);
	mr_idle_free(&idle);
	mr_model_free(cut);
}

/* ---- idle time ------------------------------------------------------------------------------------ */

/* Where one piece ends the next begins, or the next gap: [from_ns, to_ns) is idle, before an operation. */
static void check_gap(const struct mr_idle *idle, uint32_t *piece, int64_t from_ns, int64_t to_ns,
		      const char *before, uint32_t thread)
{
	for (bool is_first = true; from_ns < to_ns; is_first = false) {
		const struct mr_idle_piece *at = &idle->pieces.items[(*piece)++];

		assert_int_equal(at->start_ns, from_ns);
		assert_string_equal(
			mr_model_text(hand_made, hand_made->device_operations.name[at->operation]),
			before);
		if (is_first)
			assert_int_equal(at->thread, thread);
		from_ns += at->duration_ns;
	}
	assert_int_equal(from_ns, to_ns);
}

static void test_idle_of_one(void **state)
{
	struct mr_idle idle;
	uint32_t piece = 0;

	(void)state;
	assert_int_equal(mr_idle_make(hand_made, &idle), 0);
	assert_int_equal(idle.devices.count, 1);
	assert_int_equal(idle.devices.items[0].idle_ns, 200);
	assert_int_equal(idle.devices.items[0].gap_count, 2);
	check_gap(&idle, &piece, 200, 300, "b", 0);
	check_gap(&idle, &piece, 400, 500, "e", 1);
	assert_int_equal(idle.pieces.count, piece);
	mr_idle_free(&idle);
}

static void test_idle_of_two(void **state)
{
	struct mr_idle idle;
	uint32_t piece = 0;

	(void)state;
	assert_int_equal(mr_idle_make(hand_made, &idle), 0);
	assert_int_equal(idle.devices.count, 2);
	check_gap(&idle, &piece, 100, 300, "b", 0);
	check_gap(&idle, &piece, 200, 320, "d", MR_NO_TRACK); /* its launch is not there */
	check_gap(&idle, &piece, 350, 500, "e", 1);
	assert_int_equal(idle.pieces.count, piece);
	mr_idle_free(&idle);
}

/* ---- timeline ------------------------------------------------------------------------------------- */

static uint32_t count_device_groups(void)
{
	uint32_t count = 0;

	for (size_t i = 0; i < hand_view->bands.groups.count; i++)
		count += hand_view->bands.groups.items[i].kind == MR_GROUP_DEVICE;
	return count;
}

static const struct mr_band_group *first_device_group(void)
{
	size_t i = 0;

	while (hand_view->bands.groups.items[i].kind != MR_GROUP_DEVICE)
		i++;
	return &hand_view->bands.groups.items[i];
}

static const char *title_of(const struct mr_band_group *group, uint32_t band,
			    struct mr_region *region)
{
	return mr_band_title(hand_view, &hand_view->bands.list.items[group->first_band + band],
			     region);
}

static void test_timeline_of_one(void **state)
{
	const struct mr_band_group *group = first_device_group();
	struct mr_region region = {0};
	struct mr_group_words words;

	(void)state;
	assert_int_equal(count_device_groups(), 1);
	assert_int_equal(group->band_count, 3); /* idle time and two queues */
	assert_int_equal(group->busy_ns, 400);
	assert_int_equal(mr_group_describe(hand_view, group, &region, &words), 0);
	assert_string_equal(words.title, "gpu0");
	assert_string_equal(words.about, "shared by pids 7, 8");
	assert_string_equal(title_of(group, 1, &region), "queue of process 7");
	assert_string_equal(title_of(group, 2, &region), "queue of process 8");
	mr_region_free(&region);
}

static void test_timeline_of_two(void **state)
{
	const struct mr_band_group *group = first_device_group();
	struct mr_region region = {0};
	struct mr_group_words words;

	(void)state;
	assert_int_equal(count_device_groups(), 2);
	assert_int_equal(group->band_count, 2);
	assert_int_equal(mr_group_describe(hand_view, group, &region, &words), 0);
	assert_string_equal(words.about, "pid 7");
	assert_string_equal(title_of(group, 1, &region), "queue");
	mr_region_free(&region);
}

int main(void)
{
#define TEST(name, which)                                                    \
	cmocka_unit_test_prestate_setup_teardown(name, start, hand_view_end, \
						 (void *)identities[which])
	const struct CMUnitTest tests[] = {
		TEST(test_one, 0),
		TEST(test_one_of_a_process, 0),
		TEST(test_one_of_the_other_process, 0),
		TEST(test_idle_of_one, 0),
		TEST(test_timeline_of_one, 0),
		TEST(test_two, 1),
		TEST(test_two, 2),
		TEST(test_idle_of_two, 1),
		TEST(test_idle_of_two, 2),
		TEST(test_timeline_of_two, 1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
