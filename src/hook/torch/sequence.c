/* SPDX-License-Identifier: Apache-2.0
 *
 * Autograd numbers the operators of a thread's forward pass. RecordFunction has the number in a member that no exported
 * function returns, and its place differs between versions. It is found by comparison: when an operator begins, the thread's
 * counter, which is exported, has the same value.
 *
 *     counter        17        17        18        19        21
 *     word 21        17        -1        18        19        21        the number, or -1 of what autograd leaves alone
 *     word 22         5         0         0         7         2        ruled out at once
 *
 * A word that agrees with so many different values of the counter, and never disagrees, is the one. Until then the counter
 * itself is the number of a forward operator. The first backward function cannot wait: of the words that agreed a few times,
 * exactly one must have a number there that the counter has passed. If there is no such word, nothing has a number.
 */
#include "hook/torch/torch.h"

#include "hook/symbols.h"

enum {
	WORDS = 48, /* of the object are looked at: more than it has in any version, all of them on the stack */
	AGREEMENTS = 6,        /* prove it */
	FEW_AGREEMENTS = 2,    /* do, if a backward function has a number there */
	SAMPLES_MAX = 1 << 16, /* then it is given up */
	NO_WORD = 0,           /* the first is the table of virtual functions */
	GIVEN_UP = -1,
};

typedef uint64_t peek_function(void);

static _Atomic int32_t known_word;

/* Of whoever holds `is_busy`. */
static struct {
	atomic_bool is_busy;
	peek_function *peek;
	uint64_t ruled_out;
	uint32_t samples;
	uint8_t agreements[WORDS]; /* with different values */
	uint64_t last[WORDS];      /* value that it agreed with */
} search;

static bool is_number(int64_t value)
{
	return value >= 0 && (uint64_t)value < MR_TORCH_NO_SEQUENCE;
}

static void compare(const int64_t *words, uint64_t counter)
{
	for (int i = 1; i < WORDS; i++) {
		if (words[i] == (int64_t)counter) {
			search.agreements[i] =
				(uint8_t)(search.agreements[i] + (search.last[i] != counter));
			search.last[i] = counter;
		} else if (words[i] != -1) {
			search.ruled_out |= UINT64_C(1) << i;
		}
	}
}

/* The only word that agreed often enough. */
static int32_t decide(void)
{
	int32_t found = NO_WORD;
	for (int i = 1; i < WORDS; i++) {
		if (search.ruled_out >> i & 1 || search.agreements[i] < AGREEMENTS)
			continue;
		if (found != NO_WORD)
			return GIVEN_UP;
		found = i;
	}
	if (found == NO_WORD && search.samples >= SAMPLES_MAX)
		return GIVEN_UP;
	return found;
}

/* By a backward function: its number is that of an operator of the past. Another thread may have counted it. */
static int32_t decide_backward(const int64_t *words)
{
	int32_t found = NO_WORD;
	for (int i = 1; i < WORDS; i++) {
		if (search.ruled_out >> i & 1 || search.agreements[i] < FEW_AGREEMENTS ||
		    !is_number(words[i]) || (uint64_t)words[i] > search.last[i])
			continue;
		if (found != NO_WORD)
			return NO_WORD;
		found = i;
	}
	return found;
}

/* Returns the thread's counter, or MR_TORCH_NO_SEQUENCE. */
static uint64_t look_forward(const void *function, int32_t *ret_decision)
{
	if (!search.peek)
		search.peek = (peek_function *)mr_symbol_find("_ZN2at15sequence_number4peekEv");
	if (!search.peek) {
		*ret_decision = GIVEN_UP;
		return MR_TORCH_NO_SEQUENCE;
	}
	uint64_t counter = search.peek();
	/* Small numbers occur everywhere. */
	if (counter > 2) {
		compare(function, counter);
		search.samples++;
	}
	*ret_decision = decide();
	return counter;
}

static uint64_t look(const void *function, enum mr_torch_scope scope)
{
	uint64_t number = MR_TORCH_NO_SEQUENCE;
	int32_t decision;
	if (atomic_exchange_explicit(&search.is_busy, true, memory_order_acquire))
		return number;
	if (scope == MR_torch_scope_function) {
		number = look_forward(function, &decision);
	} else {
		decision = decide_backward(function);
		if (decision != NO_WORD)
			number = (uint64_t)((const int64_t *)function)[decision];
	}
	atomic_store_explicit(&known_word, decision, memory_order_relaxed);
	atomic_store_explicit(&search.is_busy, false, memory_order_release);
	return number;
}

static bool helps(enum mr_torch_scope scope, bool is_on_stack)
{
	return is_on_stack &&
	       (scope == MR_torch_scope_function || scope == MR_torch_scope_backward_function);
}

uint64_t mr_torch_sequence_of(const void *function, enum mr_torch_scope scope, bool is_on_stack)
{
	int32_t word = atomic_load_explicit(&known_word, memory_order_relaxed);
	if (mr_unlikely(word == NO_WORD))
		return helps(scope, is_on_stack) ? look(function, scope) : MR_TORCH_NO_SEQUENCE;
	if (word == GIVEN_UP)
		return MR_TORCH_NO_SEQUENCE;
	int64_t value = ((const int64_t *)function)[word];
	return is_number(value) ? (uint64_t)value : MR_TORCH_NO_SEQUENCE;
}

bool mr_torch_knows_sequence(void)
{
	return atomic_load_explicit(&known_word, memory_order_relaxed) != GIVEN_UP;
}
