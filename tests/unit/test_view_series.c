/* SPDX-License-Identifier: Apache-2.0
 *
 * Values over time as the viewer draws them, against what going through all changes gives; live memory against
 * a ledger kept by hand.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ask.h"
#include "hand_model.h"
#include "load/memory.h"
#include "model/memory_accounts.h"
#include "trace_writer.h"

enum {
	CHANGES = 5000,
	SPAN_NS = 100000,
	MOST_PIXELS = 8192,
	ADDRESSES = 40,
};

static uint64_t random_state;

static int64_t random_below(int64_t limit)
{
	return (int64_t)(next_random(&random_state) % (uint64_t)limit);
}

static uint32_t text(struct mr_model *model, const char *characters)
{
	uint32_t number;

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, characters,
					   strlen(characters), &number),
			 0);
	return number;
}

static struct mr_view *start_view(struct mr_model *model)
{
	struct mr_view *view = NULL;

	hand_model_load();
	assert_int_equal(mr_memory_join(model), 0);
	model->survey->last_ns = SPAN_NS;
	assert_int_equal(mr_view_make(model, &view), 0);
	return view;
}

/* ---- the truth ------------------------------------------------------------------------------------ */

/* Changes of one series, in order of time. */
struct truth {
	int64_t time_ns[2 * CHANGES];
	double value[2 * CHANGES];
	uint32_t count;
};

static void add_change(struct truth *truth, int64_t ns, double value)
{
	assert_true(truth->count < mr_countof(truth->time_ns));
	truth->time_ns[truth->count] = ns;
	truth->value[truth->count++] = value;
}

struct expected {
	double time, low, high, last;
};

/* What the answer must be, by going through all changes. */
static uint32_t expect(const struct truth *truth, const struct mr_pixels *pixels,
		       struct expected *expected)
{
	uint32_t count = 0;
	int64_t last_pixel = -2;

	for (uint32_t i = 0; i < truth->count && truth->time_ns[i] < pixels->end_ns; i++) {
		double value = truth->value[i], time = (double)truth->time_ns[i];
		int64_t pixel = truth->time_ns[i] <= pixels->begin_ns
					? -1
					: (truth->time_ns[i] - pixels->begin_ns) * pixels->count /
						  (pixels->end_ns - pixels->begin_ns);

		if (pixel == -1) {
			expected[0] = (struct expected){time, value, value, value};
			count = 1;
		} else if (pixel != last_pixel) {
			expected[count++] = (struct expected){time, value, value, value};
		} else {
			struct expected *is = &expected[count - 1];

			is->low = mr_min(is->low, value);
			is->high = mr_max(is->high, value);
			is->last = value;
		}
		last_pixel = pixel;
	}
	return count;
}

static void check_view(struct mr_view *view, uint32_t band, const struct truth *truth,
		       const struct mr_pixels *pixels)
{
	static struct expected expected[MOST_PIXELS + 1];
	uint32_t count = expect(truth, pixels, expected);
	char target[256];
	size_t bytes;
	int result;

	snprintf(target, sizeof target, "series?bands=%u&from=%" PRId64 "&to=%" PRId64 "&pixels=%u",
		 band, pixels->begin_ns, pixels->end_ns, pixels->count);
	char *answer = ask(view, target, &bytes, &result);
	assert_non_null(answer);
	const uint32_t head[] = {0x3153524d, 1, 0, 0, band, 0, count, 0};
	assert_int_equal(bytes, sizeof head + 4 * sizeof(double) * count);
	assert_memory_equal(answer, head, sizeof head);
	const double *values = (const void *)(answer + sizeof head);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(values[i] == expected[i].time);
		assert_true(values[count + i] == expected[i].low);
		assert_true(values[2 * count + i] == expected[i].high);
		assert_true(values[3 * count + i] == expected[i].last);
	}
	free(answer);
}

static void check_views(struct mr_view *view, uint32_t band, const struct truth *truth)
{
	assert_int_equal(view->bands.list.items[band].count, truth->count);
	check_view(view, band, truth, &(struct mr_pixels){0, SPAN_NS, 1});
	check_view(view, band, truth, &(struct mr_pixels){0, SPAN_NS, MOST_PIXELS});
	check_view(view, band, truth, &(struct mr_pixels){-SPAN_NS, -1, 10});
	check_view(view, band, truth, &(struct mr_pixels){-SPAN_NS, 3 * SPAN_NS, 333});
	check_view(view, band, truth, &(struct mr_pixels){2 * SPAN_NS, 3 * SPAN_NS, 10});
	for (uint32_t i = 0; i < 60; i++) {
		int64_t from_ns = random_below(SPAN_NS);

		check_view(view, band, truth,
			   &(struct mr_pixels){from_ns,
					       from_ns + 1 + random_below(SPAN_NS >> (i % 10)),
					       1 + (uint32_t)random_below(i % 2 ? 20 : 2000)});
	}
}

/* The band of the series that is meant; there is one. */
static uint32_t find_band(const struct mr_view *view, const struct mr_series *like)
{
	uint32_t found = MR_NO_BAND;

	for (uint32_t i = 0; i < view->bands.list.count; i++) {
		if (!view->bands.list.items[i].is_series)
			continue;
		const struct mr_series *series =
			&view->series.items.items[view->bands.list.items[i].group];

		if (series->is_memory == like->is_memory &&
		    (like->is_memory ? series->memory.device == like->memory.device &&
					       series->memory.is_of_allocator ==
						       like->memory.is_of_allocator &&
					       series->memory.allocator == like->memory.allocator
				     : series->name == like->name)) {
			assert_int_equal(found, MR_NO_BAND);
			found = i;
		}
	}
	return found;
}

/* ---- tests ---------------------------------------------------------------------------------------- */

/* Two counters that all threads of a process record, at times that are never equal. */
static void test_counters(void **state)
{
	static struct truth truths[2];
	struct mr_model *model = hand_model_start();
	const uint32_t names[] = {text(model, "waiting"), text(model, "done")};

	(void)state;
	random_state = 1;
	memset(truths, 0, sizeof truths);
	for (uint32_t i = 0; i < CHANGES; i++) {
		uint32_t which = random_below(3) == 0;
		struct mr_counters_row row = {.track = (uint32_t)random_below(THREADS),
					      .start_ns = 19 * (int64_t)i + random_below(19),
					      .name = names[which],
					      .value = random_below(100000) - 50000};

		assert_int_equal(mr_counters_append(&model->counters, row), 0);
		add_change(&truths[which], row.start_ns, (double)row.value);
	}
	struct mr_view *view = start_view(model);
	for (uint32_t i = 0; i < 2; i++)
		check_views(view, find_band(view, &(struct mr_series){.name = names[i]}),
			    &truths[i]);
	mr_view_free(view);
	mr_model_free(model);
}

/* A ledger of one device with some allocators. A runtime that gives memory back does not say whose it was. */
struct ledger {
	uint8_t teller;
	int64_t bytes[ADDRESSES]; /* by address; 0: not live */
	uint32_t allocator[ADDRESSES];
	struct truth all;
	struct truth by_allocator[3];
	double live;
	double live_by_allocator[3];
};

static void allocate(struct mr_model *model, struct ledger *ledger, int64_t ns,
		     const uint32_t *names)
{
	uint32_t address = (uint32_t)random_below(ADDRESSES);
	bool is_free = ledger->bytes[address] != 0;
	uint32_t which = is_free ? ledger->allocator[address] : (uint32_t)random_below(3);
	int64_t bytes = is_free ? ledger->bytes[address] : 1 + random_below(1000);
	struct mr_memory_row row = {.track = (uint32_t)random_below(THREADS),
				    .start_ns = ns,
				    .device = 1,
				    .allocator = names[which],
				    .address = 4096 + address,
				    .bytes = is_free ? 0 : (uint64_t)bytes,
				    .teller = ledger->teller,
				    .is_free = is_free};

	if (is_free && ledger->teller == MR_MEMORY_RUNTIME)
		row.device = row.allocator = 0;
	assert_int_equal(mr_memory_append(&model->memory, row), 0);
	ledger->bytes[address] = is_free ? 0 : bytes;
	ledger->allocator[address] = which;
	ledger->live += is_free ? -(double)bytes : (double)bytes;
	ledger->live_by_allocator[which] += is_free ? -(double)bytes : (double)bytes;
	add_change(&ledger->all, ns, ledger->live);
	add_change(&ledger->by_allocator[which], ns, ledger->live_by_allocator[which]);
}

static void check_memory(uint8_t teller)
{
	static struct ledger ledger;
	struct mr_model *model = hand_model_start();
	const uint32_t names[] = {text(model, "bfc"), text(model, "pool"), text(model, "host")};

	random_state = 2;
	memset(&ledger, 0, sizeof ledger);
	ledger.teller = teller;
	for (uint32_t i = 0; i < CHANGES; i++)
		allocate(model, &ledger, 19 * (int64_t)i + random_below(19), names);
	struct mr_view *view = start_view(model);
	struct mr_series like = {.is_memory = true, .memory = {.device = 1}};
	check_views(view, find_band(view, &like), &ledger.all);
	for (uint32_t i = 0; i < 3; i++) {
		like.memory.allocator = names[i];
		like.memory.is_of_allocator = true;
		check_views(view, find_band(view, &like), &ledger.by_allocator[i]);
	}
	mr_view_free(view);
	mr_model_free(model);
}

static void test_memory(void **state)
{
	(void)state;
	check_memory(MR_MEMORY_FRAMEWORK);
	check_memory(MR_MEMORY_RUNTIME);
}

/* Of a device with one allocator there is one band. */
static void test_one_allocator(void **state)
{
	struct mr_model *model = hand_model_start();
	struct mr_memory_row row = {.device = 2, .address = 1, .bytes = 10, .start_ns = 5};

	(void)state;
	row.allocator = text(model, "bfc");
	assert_int_equal(mr_memory_append(&model->memory, row), 0);
	struct mr_view *view = start_view(model);
	struct mr_series like = {.is_memory = true, .memory = {.device = 2}};
	assert_int_not_equal(find_band(view, &like), MR_NO_BAND);
	like.memory.allocator = row.allocator;
	like.memory.is_of_allocator = true;
	assert_int_equal(find_band(view, &like), MR_NO_BAND);
	mr_view_free(view);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_one_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
