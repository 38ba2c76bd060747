/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory is live at a time, against a list of all pieces that is kept by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/live_set.h"
#include "hand_model.h"
#include "load/memory.h"
#include "trace_writer.h"

enum {
	EVENTS = 120,
	ADDRESSES = 6, /* few: they are used again, freed twice, and not freed at all */
	DEVICES = 3,
	TELLERS = 2,
	NODES = 3,
	ALLOCATORS = 2,
	ROUNDS = 30,
	FIRST = 1, /* of the addresses; 0 is none */
};

static uint64_t random_state = 7;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(next_random(&random_state) % limit);
}

/* A piece that was handed out, and not given back. */
struct piece {
	bool is_live;
	uint32_t device, allocator, node;
	uint64_t bytes;
};

/* A runtime's pieces are known by address alone, a framework's also by device and allocator. */
static struct piece runtime_pieces[ADDRESSES];
static struct piece framework_pieces[ADDRESSES][DEVICES][ALLOCATORS];

static struct piece *piece_of(const struct mr_memory_row *row)
{
	return row->teller == MR_MEMORY_RUNTIME
		       ? &runtime_pieces[row->address - FIRST]
		       : &framework_pieces[row->address - FIRST][row->device][row->allocator];
}

static void replay(const struct mr_memory_row *row)
{
	*piece_of(row) =
		(struct piece){!row->is_free, row->device, row->allocator, row->node, row->bytes};
}

static void check_share(const struct mr_live_set *set, const struct piece *pieces, size_t count,
			const struct mr_memory_scope *scope)
{
	uint64_t bytes[NODES][ALLOCATORS] = {0};
	uint64_t all_bytes = 0, all = 0;

	for (size_t i = 0; i < count; i++)
		if (pieces[i].is_live && pieces[i].device == scope->device &&
		    (!scope->is_of_allocator || pieces[i].allocator == scope->allocator)) {
			bytes[pieces[i].node][pieces[i].allocator] += pieces[i].bytes;
			all_bytes += pieces[i].bytes;
			all++;
		}
	assert_int_equal(set->bytes, all_bytes);
	assert_int_equal(set->count, all);
	for (size_t i = 0; i < set->shares.count; i++) {
		const struct mr_live_share *share = &set->shares.items[i];

		assert_int_equal(share->bytes, bytes[share->node][share->allocator]);
		assert_true(i == 0 || share->bytes <= share[-1].bytes);
		all_bytes -= share->bytes;
	}
	assert_int_equal(all_bytes, 0);
}

static void check_live(const struct mr_model *model, int64_t ns)
{
	for (uint32_t device = 0; device < DEVICES; device++)
		for (uint32_t teller = 0; teller < TELLERS; teller++)
			for (uint32_t allocator = 0; allocator <= ALLOCATORS; allocator++) {
				bool is_runtime = teller == MR_MEMORY_RUNTIME;
				const struct mr_memory_scope scope = {0, device, teller, allocator,
								      allocator < ALLOCATORS};
				struct mr_live_set set;

				assert_int_equal(mr_live_set_make(model, &scope, ns, &set), 0);
				check_share(
					&set, is_runtime ? runtime_pieces : framework_pieces[0][0],
					is_runtime ? ADDRESSES : ADDRESSES * DEVICES * ALLOCATORS,
					&scope);
				mr_live_set_free(&set);
			}
}

/* After an event the model knows how much is live where it happened. */
static void check_model(const struct mr_model *model, uint32_t row)
{
	const struct mr_memory_scope scope = {0, model->memory.device[row],
					      model->memory.teller[row], 0, false};
	struct mr_live_set set;

	assert_int_equal(mr_live_set_make(model, &scope, model->memory.start_ns[row], &set), 0);
	assert_int_equal(set.bytes, model->memory.live_bytes[row]);
	mr_live_set_free(&set);
}

static struct mr_memory_row random_row(int64_t ns)
{
	return (struct mr_memory_row){
		.track = below(2), /* of one process */
		.start_ns = ns,
		.device = below(DEVICES),
		.allocator = below(ALLOCATORS),
		.node = below(NODES),
		.address = FIRST + below(ADDRESSES),
		.bytes = 1 + below(1000),
		.teller = (uint8_t)below(TELLERS),
		.is_free = (uint8_t)below(2),
	};
}

static void live_sets_are_what_was_not_given_back(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct mr_model *model = hand_model_start();
		struct mr_memory_row rows[EVENTS];

		memset(runtime_pieces, 0, sizeof runtime_pieces);
		memset(framework_pieces, 0, sizeof framework_pieces);
		for (uint32_t i = 0; i < EVENTS; i++) {
			rows[i] = random_row(10 * i);
			assert_int_equal(mr_memory_append(&model->memory, rows[i]), 0);
		}
		hand_model_load();
		assert_int_equal(mr_memory_join(model), 0);
		check_live(model, -1);
		for (uint32_t i = 0; i < EVENTS; i++) {
			replay(&rows[i]);
			if (i % 10 == 0)
				check_live(model, 10 * i + below(10));
		}
		for (uint32_t row = 0; row < model->memory.table.count; row++)
			check_model(model, row);
		mr_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_sets_are_what_was_not_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
