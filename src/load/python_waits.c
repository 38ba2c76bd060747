/* SPDX-License-Identifier: Apache-2.0
 *
 * A lock of Python that one thread holds for long and another for a moment looks like a hand-over: the second waits, the
 * first wakes it, and never the other way round, as a lock that nobody waits for is given back without a system call. But a
 * sample that was taken during the wait shows the line that waits:
 *
 *     main      ├ runs ┤── BLOCKED at a futex ────────┤ runs        train.py:31 <module>                      a lock
 *     samples              ·                                        threading.py:327 wait < queue.py:171 get  a hand-over
 *     uploader  ├─ sleeps ────────────────────────────┤ wakes
 *
 * What a sample shows of one wait holds for all waits at the same word, where no sample was taken.
 */
#include "load/python_waits.h"

#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "load/exchanges.h"
#include "model/kernel_link.h"

/* A word of a process; without padding. */
struct word_key {
	uint64_t word;
	uint64_t process;
};

/* What lines say of the waits at a word: for how long. */
struct verdict {
	int64_t lock_ns;
	int64_t hand_over_ns;
};

struct judge {
	struct mr_model *model;
	uint32_t futex;          /* number of the system call */
	struct mr_strings words; /* struct word_key */
	mr_vec(struct verdict) verdicts;
};

/* ---- lines -------------------------------------------------------------------------------------- */

/* A sample that was taken while the thread was blocked; 0: there is none. */
static uint32_t site_during(const struct mr_model *model, uint32_t row)
{
	const struct mr_states *states = &model->states;
	const struct mr_samples *samples = &model->samples;
	const uint32_t *first = &samples->table.first_of_track[states->track[row]];
	uint32_t sample =
		mr_find_larger(samples->start_ns, first[0], first[1], states->start_ns[row]);

	return sample < first[1] && samples->start_ns[sample] <
					    states->start_ns[row] + states->duration_ns[row]
		       ? samples->site[sample]
		       : 0;
}

static bool runs_python(const struct mr_model *model, uint32_t track)
{
	const uint32_t *first = model->samples.table.first_of_track;

	return track != MR_NO_TRACK && first[track] < first[track + 1];
}

/* Locks of the library are taken on entering a `with`, or by name: "Condition.__enter__". */
static bool is_taking(const char *name)
{
	const char *dot = strrchr(name, '.');
	const char *function = dot ? dot + 1 : name;

	return strcmp(function, "__enter__") == 0 || strcmp(function, "acquire") == 0;
}

/* Of a thread that another thread of Python let go on. Native code of packages waits for whatever it wants, so that
 * their lines say nothing. */
static enum mr_exchange judge_line(const struct mr_model *model, uint32_t site)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_sites *sites = &definitions->sites;

	if (site == 0)
		return MR_EXCHANGE_UNKNOWN;
	switch (mr_sites_origin(sites, &definitions->strings, site)) {
	case MR_CODE_PROGRAM:
		return MR_EXCHANGE_LOCK;
	case MR_CODE_LIBRARY:
		return is_taking(mr_model_text(model,
					       sites->codes.items[sites->items[site].code].name))
			       ? MR_EXCHANGE_LOCK
			       : MR_EXCHANGE_HAND_OVER;
	case MR_CODE_PACKAGE:
		break;
	}
	return MR_EXCHANGE_UNKNOWN;
}

/* ---- words -------------------------------------------------------------------------------------- */

/* Is it a wait at a futex, for another thread of Python, not for the GIL? */
static bool is_concerned(const struct judge *judge, uint32_t row)
{
	const struct mr_model *model = judge->model;
	const struct mr_states *states = &model->states;
	uint32_t call = states->system_call[row];

	return states->state[row] == MR_STATE_BLOCKED && call != MR_NO_ROW &&
	       model->system_calls.number[call] == judge->futex &&
	       states->exchange[row] != MR_EXCHANGE_GIL && runs_python(model, states->track[row]) &&
	       runs_python(model, states->released_by[row]);
}

static int find_word(struct judge *judge, uint32_t row, struct verdict **ret_verdict)
{
	const struct mr_model *model = judge->model;
	uint32_t call = model->states.system_call[row];
	const struct word_key key = {mr_futex_word(model->system_calls.argument[call]),
				     model->survey->tracks.items[model->states.track[row]].process};
	uint32_t number;

	if (mr_strings_intern(&judge->words, &key, sizeof key, &number) < 0 ||
	    (number == judge->verdicts.count &&
	     mr_vec_push(&judge->verdicts, (struct verdict){0}) < 0))
		return -ENOMEM;
	*ret_verdict = &judge->verdicts.items[number];
	return 0;
}

static int collect(struct judge *judge)
{
	const struct mr_model *model = judge->model;
	struct verdict *verdict;

	for (uint32_t row = 0; row < model->states.table.count; row++) {
		if (!is_concerned(judge, row))
			continue;
		enum mr_exchange exchange = judge_line(model, site_during(model, row));
		if (find_word(judge, row, &verdict) < 0)
			return -ENOMEM;
		if (exchange == MR_EXCHANGE_LOCK)
			verdict->lock_ns += model->states.duration_ns[row];
		else if (exchange == MR_EXCHANGE_HAND_OVER)
			verdict->hand_over_ns += model->states.duration_ns[row];
	}
	return 0;
}

/* Memory of one lock may later be that of another, so that a wait's own line counts first. */
static int apply(struct judge *judge)
{
	struct mr_model *model = judge->model;
	struct verdict *verdict;

	for (uint32_t row = 0; row < model->states.table.count; row++) {
		if (!is_concerned(judge, row))
			continue;
		enum mr_exchange exchange = judge_line(model, site_during(model, row));
		if (find_word(judge, row, &verdict) < 0)
			return -ENOMEM;
		if (exchange == MR_EXCHANGE_UNKNOWN && verdict->lock_ns != verdict->hand_over_ns)
			exchange = verdict->lock_ns > verdict->hand_over_ns ? MR_EXCHANGE_LOCK
									    : MR_EXCHANGE_HAND_OVER;
		if (exchange != MR_EXCHANGE_UNKNOWN)
			model->states.exchange[row] = (uint8_t)exchange;
	}
	return 0;
}

int mr_python_waits_judge(struct mr_model *model)
{
	struct judge judge = {.model = model, .futex = mr_futex_number(model)};

	if (model->samples.table.count == 0)
		return 0;
	int result = collect(&judge);
	if (result == 0)
		result = apply(&judge);
	mr_strings_free(&judge.words);
	mr_vec_free(&judge.verdicts);
	return result;
}
