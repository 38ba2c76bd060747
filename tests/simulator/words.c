/* SPDX-License-Identifier: Apache-2.0
 *
 * Words at which threads wait for each other, by the definitions of doc/causes.md: a word of a process is a lock if a
 * thread that has waited there wakes others there later; if it is not waited at as mutexes are, then only if everybody
 * who wakes others there also waits there.
 */
#include "causes.h"

#include <string.h>

enum {
	REPEAT_NS = 100000,
	REPEAT_PART = 20,
};

struct habit {
	int64_t first_wait_ns; /* when the first wait ended; NEVER */
	int64_t last_wake_ns;  /* INT64_MIN */
	bool is_plain;
};

static struct habit habit_of(const struct simulation *simulation, int who, uint32_t word)
{
	const struct thread *thread = &simulation->threads[who];
	struct habit habit = {NEVER, INT64_MIN, false};

	for (size_t i = 0; i < thread->life.count; i++) {
		const struct stretch *stretch = &thread->life.items[i];

		if (stretch->state != BLOCKED || stretch->word != word)
			continue;
		habit.first_wait_ns = mr_min(habit.first_wait_ns, stretch->end_ns);
		habit.is_plain |= stretch->command == COMMAND_WAIT;
	}
	for (size_t i = 0; i < simulation->wakings.count; i++)
		if (simulation->wakings.items[i].thread == who &&
		    simulation->wakings.items[i].word == word)
			habit.last_wake_ns =
				mr_max(habit.last_wake_ns, simulation->wakings.items[i].ns);
	return habit;
}

static bool is_lock(const struct simulation *simulation, uint32_t process, uint32_t word)
{
	bool is_given_back = false, is_plain = false, is_one_way = false;

	for (int i = 0; i < simulation->thread_count; i++) {
		if (simulation->threads[i].process != process || !simulation->threads[i].is_traced)
			continue;
		struct habit habit = habit_of(simulation, i, word);

		is_plain |= habit.is_plain;
		is_given_back |= habit.first_wait_ns <= habit.last_wake_ns;
		is_one_way |= habit.first_wait_ns == NEVER && habit.last_wake_ns != INT64_MIN;
	}
	return is_given_back && (is_plain || !is_one_way);
}

const char *cause_wait_name(const struct simulation *simulation, int who,
			    const struct stretch *stretch)
{
	if (strcmp(stretch->wait, "word") != 0)
		return stretch->wait;
	return is_lock(simulation, simulation->threads[who].process, stretch->word) ? "lock"
										    : "hand-over";
}

static void unite(struct thread *thread)
{
	const struct stretch *next = NULL;
	int64_t ran_ns = 0;

	for (size_t i = thread->life.count; i-- > 0;) {
		struct stretch *stretch = &thread->life.items[i];

		if (stretch->state == RUNS)
			ran_ns += stretch->end_ns - stretch->begin_ns;
		if (stretch->state != BLOCKED)
			continue;
		stretch->ended_ns = stretch->end_ns;
		if (next && next->word && next->word == stretch->word &&
		    (ran_ns < REPEAT_NS ||
		     ran_ns < (stretch->end_ns - stretch->begin_ns) / REPEAT_PART) &&
		    stretch->waker == WAKER_TIMER) {
			stretch->waker = next->waker;
			stretch->waker_thread = next->waker_thread;
			stretch->source = next->source;
			stretch->ended_ns = next->ended_ns;
		}
		next = stretch;
		ran_ns = 0;
	}
}

void words_unite(struct simulation *simulation)
{
	for (int i = 0; i < simulation->thread_count; i++)
		unite(&simulation->threads[i]);
}

bool words_got_by_waiting(const struct simulation *simulation, int who, int waiter,
			  const struct stretch *wait, int64_t begin_ns)
{
	const struct thread *thread = &simulation->threads[who];
	const struct stretch *last = NULL;

	for (size_t i = 0; i < thread->life.count; i++)
		if (thread->life.items[i].state == BLOCKED &&
		    thread->life.items[i].begin_ns < begin_ns)
			last = &thread->life.items[i];
	if (!last || !last->word || last->word != wait->word ||
	    thread->process != simulation->threads[waiter].process)
		return false;
	for (size_t i = 0; i < simulation->wakings.count; i++)
		if (simulation->wakings.items[i].thread == who &&
		    simulation->wakings.items[i].word == wait->word &&
		    simulation->wakings.items[i].ns >= last->end_ns &&
		    simulation->wakings.items[i].ns < begin_ns)
			return false;
	return true;
}
