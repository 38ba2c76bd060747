/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/problem/partners.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/vector.h"

enum {
	/* Who gets an order less than once for so many waits that it ends does not hand orders on. */
	SELDOM = 4,
	HANDS = 3, /* through which an order goes at most */
};

static bool is_exchange(const struct mr_states *states, uint32_t row)
{
	return states->state[row] == MR_STATE_BLOCKED && states->released_by[row] != MR_NO_TRACK &&
	       states->exchange[row] != MR_EXCHANGE_GIL &&
	       states->exchange[row] != MR_EXCHANGE_LOCK;
}

/* A wait, by who waited and who ended it. */
struct exchange {
	uint32_t waiter;
	uint32_t releaser;
};

typedef mr_vec(struct exchange) exchanges;

static int find_exchanges(const struct mr_model *model, struct mr_window window, exchanges *list)
{
	const struct mr_states *states = &model->states;

	for (uint32_t track = 0; track < model->survey->tracks.count; track++) {
		const uint32_t *first = &states->table.first_of_track[track];
		uint32_t row =
			mr_find_larger(states->start_ns, first[0], first[1], window.first_ns - 1);

		for (; row < first[1] && states->start_ns[row] < window.last_ns; row++)
			if (is_exchange(states, row) &&
			    mr_vec_push(list,
					((struct exchange){track, states->released_by[row]})) < 0)
				return -ENOMEM;
	}
	return 0;
}

static void count(const exchanges *list, uint32_t subject, struct mr_partner *partners)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct exchange *exchange = &list->items[i];

		partners[exchange->releaser].ends++;
		if (exchange->waiter == subject)
			partners[exchange->releaser].gives++;
		else if (exchange->releaser == subject)
			partners[exchange->waiter].takes++;
	}
}

/* Who gets an order for nearly each wait that it ends hands orders on. False if there are none. */
static bool hand_on(const exchanges *list, uint32_t subject, struct mr_partner *partners,
		    uint32_t *relayed)
{
	bool is_any = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct exchange *exchange = &list->items[i];
		const struct mr_partner *by = &partners[exchange->releaser];

		if (exchange->waiter != subject && exchange->releaser != subject &&
		    by->takes * SELDOM >= by->ends && partners[exchange->waiter].takes == 0) {
			relayed[exchange->waiter]++;
			is_any = true;
		}
	}
	return is_any;
}

/* Are the names the same but for numbers: "Thread-1 (work)" and "Thread-2 (work)"? */
static bool is_same_name(const char *left, const char *right)
{
	for (; *left || *right; left++, right++) {
		left += strspn(left, "0123456789");
		right += strspn(right, "0123456789");
		if (*left != *right)
			return false;
		if (!*left)
			return true;
	}
	return true;
}

/* Threads of one process that do the same, by their names; or main threads of processes of one program. */
static bool is_of_kind(const struct mr_model *model, uint32_t a, uint32_t b)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_track *left = &survey->tracks.items[a], *right = &survey->tracks.items[b];
	const struct mr_process *of_left = &survey->processes.items[left->process];
	const struct mr_process *of_right = &survey->processes.items[right->process];

	if (left->process == right->process)
		return left->name && right->name &&
		       is_same_name(mr_model_text(model, left->name),
				    mr_model_text(model, right->name));
	return left->tid == of_left->pid && right->tid == of_right->pid &&
	       of_left->program == of_right->program;
}

static void find_asks(const struct mr_model *model, uint32_t subject, struct mr_partner *partners)
{
	uint32_t count = model->survey->first_queue_track;

	for (uint32_t i = 0; i < count; i++) {
		partners[i].asks = partners[i].takes;
		for (uint32_t j = 0; partners[i].ends && j < count; j++)
			if (j != subject && partners[j].takes > partners[i].asks &&
			    is_of_kind(model, i, j))
				partners[i].asks = partners[j].takes;
	}
}

struct mr_partner *mr_partners_make(const struct mr_model *model, struct mr_window window,
				    uint32_t subject)
{
	size_t track_count = model->survey->tracks.count;
	struct mr_partner *partners = calloc(track_count + 1, sizeof *partners);
	mr_auto(free) uint32_t *relayed = calloc(track_count + 1, sizeof *relayed);
	exchanges list = {0};

	if (!partners || !relayed || find_exchanges(model, window, &list) < 0) {
		mr_vec_free(&list);
		free(partners);
		return NULL;
	}
	count(&list, subject, partners);
	for (int i = 0; i < HANDS && hand_on(&list, subject, partners, relayed); i++)
		for (size_t track = 0; track < track_count; track++) {
			partners[track].takes += relayed[track];
			relayed[track] = 0;
		}
	find_asks(model, subject, partners);
	mr_vec_free(&list);
	return partners;
}

uint32_t *mr_count_sends(const struct mr_model *model, struct mr_window window, uint32_t thread)
{
	const struct mr_socket_bytes *bytes = &model->socket_bytes;
	const uint32_t *first = &bytes->table.first_of_track[thread];
	uint32_t row = mr_find_larger(bytes->start_ns, first[0], first[1], window.first_ns - 1);
	uint32_t *counts = calloc(model->survey->definitions.files.count + 1, sizeof *counts);

	for (; counts && row < first[1] && bytes->start_ns[row] < window.last_ns; row++) {
		if (bytes->is_receive[row])
			continue;
		counts[0]++;
		if (bytes->file[row])
			counts[bytes->file[row]]++;
	}
	return counts;
}
