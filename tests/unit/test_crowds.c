/* SPDX-License-Identifier: Apache-2.0
 *
 * Crowds: when many entries of a tally become one, what they sum to, and what people read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/cause/crowd.h"
#include "analysis/finding/tally.h"
#include "hand_model.h"

struct key {
	uint32_t kind; /* 0: none */
	uint32_t member;
	uint32_t members;
};

static bool widen(const void *context, void *key, uint32_t members)
{
	struct key *wide = key;

	(void)context;
	wide->member = 0;
	wide->members = members;
	return wide->kind != 0;
}

static void add(struct mr_tally *tally, uint32_t kind, uint32_t member, int64_t ns)
{
	const struct key key = {kind, member, 0};

	assert_int_equal(mr_tally_add(tally, &key, sizeof key, ns, member), 0);
}

static int64_t sum(const struct mr_tally *tally)
{
	int64_t total_ns = 0;

	for (size_t i = 0; i < tally->entries.count; i++)
		total_ns += tally->entries.items[i].total_ns;
	return total_ns;
}

static void merge(struct mr_tally *tally)
{
	int64_t before_ns = sum(tally);

	assert_int_equal(mr_tally_merge(tally, sizeof(struct key), widen, NULL), 0);
	assert_int_equal(sum(tally), before_ns);
}

static void test_many(void **state)
{
	mr_auto(tally) struct mr_tally tally = {0};

	(void)state;
	for (uint32_t i = 0; i < 2000; i++)
		add(&tally, 1, i, 10 + (i == 1234));
	add(&tally, 1, 7, 10); /* again: still 2000 members */
	add(&tally, 2, 0, 500);
	merge(&tally);
	assert_int_equal(tally.entries.count, 2);
	const struct mr_tally_entry *entry = &tally.entries.items[0];
	const struct key *key = mr_tally_key(&tally, 0);
	assert_int_equal(key->members, 2000);
	assert_int_equal(entry->count, 2001);
	assert_int_equal(entry->total_ns, 20011);
	assert_int_equal(entry->max_ns, 11);
	assert_int_equal(entry->longest, 1234);
}

static void test_few(void **state)
{
	mr_auto(tally) struct mr_tally tally = {0};

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		add(&tally, 1, i, 10);
	merge(&tally);
	assert_int_equal(tally.entries.count, 7);
}

/* One of them has half of the time: whoever reads wants to know which. */
static void test_dominated(void **state)
{
	mr_auto(tally) struct mr_tally tally = {0};

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		add(&tally, 1, i, 10);
	add(&tally, 1, 20, 200);
	merge(&tally);
	assert_int_equal(tally.entries.count, 21);
}

static void test_without_kind(void **state)
{
	mr_auto(tally) struct mr_tally tally = {0};

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		add(&tally, 0, i, 10);
	merge(&tally);
	assert_int_equal(tally.entries.count, 20);
}

/* ---- links -------------------------------------------------------------------------------------- */

static void expect_text(const struct mr_crowds *crowds, struct mr_link link, const char *text)
{
	struct mr_region region = {0};

	assert_true(mr_link_widen(crowds, &link, 12));
	assert_string_equal(mr_link_culprit(crowds->model, &region, link), text);
	mr_region_free(&region);
}

static void test_links(void **state)
{
	struct mr_model *model = hand_model_start();
	struct mr_crowds crowds;
	uint32_t first = hand_file("/data/train/1"), other = hand_file("/data/2");
	uint32_t second = hand_file("/data/train/2"), pipe = hand_file("pipe:[7]");
	struct mr_link one = mr_link_make(MR_CAUSE_DISK, MR_CULPRIT_FILE, first, 0), two = one,
		       far = one, of_pipe = one;

	(void)state;
	hand_model_load();
	assert_int_equal(mr_crowds_make(model, &crowds), 0);
	two.what = second;
	far.what = other;
	of_pipe.what = pipe;
	expect_text(&crowds, one, "12 files in /data/train");
	expect_text(&crowds, far, "12 files in /data");
	assert_false(mr_link_widen(&crowds, &of_pipe, 12));
	mr_link_widen(&crowds, &one, 12);
	mr_link_widen(&crowds, &two, 12);
	assert_memory_equal(&one, &two, sizeof one);

	/* A thread without a name has no kind. */
	struct mr_link thread = mr_link_make(MR_CAUSE_CPU, MR_CULPRIT_THREAD, 3, 0);
	model->survey->tracks.items[3].name = 0;
	assert_false(mr_link_widen(&crowds, &thread, 12));
	mr_crowds_free(&crowds);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),      cmocka_unit_test(test_few),
		cmocka_unit_test(test_dominated), cmocka_unit_test(test_without_kind),
		cmocka_unit_test(test_links),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
