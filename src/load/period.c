/* SPDX-License-Identifier: Apache-2.0 */
#include "load/period.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "base/strings.h"
#include "load/rounds.h"

enum {
	LEAST_LENGTH = 8,     /* of a sequence that can be judged */
	LEAST_PERMILLE = 900, /* of confidence */
	CONTEXT = 4,          /* things by which a place is known again */
	NEXT = 4,             /* a place is compared with so many of the next that look the same */
	CANDIDATES = 64,      /* lengths that are tried */
	COST = 9,             /* of a mismatch, in matches: fewer than 1 in 10 may be one */
	MOST_FOREIGN = 5,     /* at most one in so many is a thing that rounds do not have */
};

/* ---- candidates: distances between places that look the same -------------------------------------- */

/* Gives every place the number of what follows it; places that look the same have equal numbers. */
static int number_places(const uint32_t *ids, uint32_t place_count, uint32_t *places,
			 uint32_t *ret_number_count)
{
	struct mr_strings contexts = {0};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < place_count; i++)
		result = mr_strings_intern(&contexts, &ids[i], CONTEXT * sizeof *ids, &places[i]);
	*ret_number_count = mr_strings_count(&contexts);
	mr_strings_free(&contexts);
	return result;
}

/* The places of each number follow one another: next[i] is the next place like i. */
static void chain_places(const uint32_t *places, uint32_t place_count, uint32_t *last,
			 uint32_t *next)
{
	for (uint32_t i = place_count; i-- > 0;) {
		next[i] = last[places[i]];
		last[places[i]] = i;
	}
}

/* Distances vote for themselves; what is rare distinguishes rounds, so all places that look the same have one
 * vote together. */
static void vote(const uint32_t *places, const uint32_t *next, const uint32_t *counts,
		 uint32_t place_count, uint64_t *votes, uint32_t longest)
{
	for (uint32_t i = 0; i < place_count; i++) {
		uint32_t other = next[i];

		for (uint32_t n = 0; n < NEXT && other < place_count; n++, other = next[other])
			if (other - i <= longest)
				votes[other - i] += (UINT64_C(1) << 32) / counts[places[i]];
	}
}

/* The distances with most votes; how many there are. */
static uint32_t elect(const uint64_t *votes, uint32_t longest, uint32_t *candidates)
{
	uint32_t count = 0;

	for (uint32_t length = 1; length <= longest; length++) {
		if (votes[length] == 0 ||
		    (count == CANDIDATES && votes[length] <= votes[candidates[count - 1]]))
			continue;
		count = mr_min(count + 1, (uint32_t)CANDIDATES);
		uint32_t at = count - 1;
		for (; at > 0 && votes[candidates[at - 1]] < votes[length]; at--)
			candidates[at] = candidates[at - 1];
		candidates[at] = length;
	}
	return count;
}

static int find_candidates(const uint32_t *ids, uint32_t count, uint32_t *candidates,
			   uint32_t *ret_count)
{
	uint32_t place_count = count - CONTEXT + 1, number_count, longest = count / 2;
	mr_auto(free) uint32_t *places = malloc(place_count * sizeof *places);
	mr_auto(free) uint32_t *next = malloc(place_count * sizeof *next);
	mr_auto(free) uint64_t *votes = calloc((size_t)longest + 1, sizeof *votes);

	if (!places || !next || !votes ||
	    number_places(ids, place_count, places, &number_count) < 0)
		return -ENOMEM;
	mr_auto(free) uint32_t *last = malloc(number_count * sizeof *last);
	mr_auto(free) uint32_t *counts = calloc(number_count, sizeof *counts);
	if (!last || !counts)
		return -ENOMEM;
	memset(last, 0xff, number_count * sizeof *last);
	for (uint32_t i = 0; i < place_count; i++)
		counts[places[i]]++;
	chain_places(places, place_count, last, next);
	vote(places, next, counts, place_count, votes, longest);
	*ret_count = elect(votes, longest, candidates);
	return 0;
}

/* ---- trying one ----------------------------------------------------------------------------------- */

/* The stretch in which things are like those one round later: that with the largest sum, where a match adds
 * 1 and a mismatch takes COST. */
static void find_stretch(const uint32_t *ids, uint32_t count, struct mr_period *period)
{
	int64_t sum = 0, best = 0;
	uint32_t from = 0;

	period->first = period->end = 0;
	for (uint32_t i = 0; i + period->length < count; i++) {
		sum += ids[i] == ids[i + period->length] ? 1 : -COST;
		if (sum <= 0) {
			sum = 0;
			from = i + 1;
		} else if (sum > best) {
			best = sum;
			period->first = from;
			period->end = i + 1 + period->length;
		}
	}
}

/* Pairs that are alike, of all size * size pairs of things of the stretch. `counts` is all zero, before and
 * after. */
static uint64_t count_alike(const uint32_t *ids, const struct mr_period *period, uint32_t *counts)
{
	uint64_t alike = 0;

	for (uint32_t i = period->first; i < period->end; i++)
		alike += 2 * (uint64_t)counts[ids[i]]++ + 1;
	for (uint32_t i = period->first; i < period->end; i++)
		counts[ids[i]] = 0;
	return alike;
}

/* (matches - expected) / (pairs - expected), where expected = pairs * alike / size^2. */
static uint32_t judge(const uint32_t *ids, const struct mr_period *stretch, uint64_t matches,
		      uint64_t pairs, uint32_t *counts)
{
	unsigned __int128 size = stretch->end - stretch->first;
	unsigned __int128 expected = pairs * (unsigned __int128)count_alike(ids, stretch, counts);
	unsigned __int128 most = pairs * size * size, seen = matches * size * size;

	return seen > expected ? (uint32_t)(1000 * (seen - expected) / (most - expected)) : 0;
}

/* Of the stretch itself: things that are like those one round later. */
static uint32_t judge_stretch(const uint32_t *ids, const struct mr_period *stretch,
			      uint32_t *counts)
{
	uint64_t matches = 0;

	for (uint32_t i = stretch->first; i + stretch->length < stretch->end; i++)
		matches += ids[i] == ids[i + stretch->length];
	return judge(ids, stretch, matches, stretch->end - stretch->first - stretch->length,
		     counts);
}

/* ---- the rounds like it ------------------------------------------------------------------------------- */

/* Parts of rounds that are cut off at both ends belong to what repeats. */
static void extend(const uint32_t *ids, uint32_t count, const struct mr_rounds *rounds,
		   struct mr_period *period)
{
	const uint32_t *pattern = ids + period->pattern;
	uint32_t length = period->length;

	period->first = rounds->list.items[0].first;
	period->end = rounds->list.items[rounds->list.count - 1].end;
	for (uint32_t i = 0; i + 1 < length && period->first > 0 &&
			     ids[period->first - 1] == pattern[length - 1 - i];
	     i++)
		period->first--;
	for (uint32_t i = 0;
	     i + 1 < length && period->end < count && ids[period->end] == pattern[i]; i++)
		period->end++;
}

/* Things of what repeats that the pattern does not have at all. `counts` as above. */
static uint32_t count_foreign(const uint32_t *ids, const struct mr_period *period, uint32_t *counts)
{
	uint32_t foreign = 0;

	for (uint32_t i = 0; i < period->length; i++)
		counts[ids[period->pattern + i]] = 1;
	for (uint32_t i = period->first; i < period->end; i++)
		foreign += counts[ids[i]] == 0;
	for (uint32_t i = 0; i < period->length; i++)
		counts[ids[period->pattern + i]] = 0;
	return foreign;
}

/* At least two rounds, and half of the sequence. */
static int judge_rounds(const uint32_t *ids, uint32_t count, uint32_t *counts,
			struct mr_period *period)
{
	mr_auto(rounds) struct mr_rounds rounds = {0};

	if (mr_rounds_find(ids, count, period, 0, &rounds) < 0)
		return -ENOMEM;
	if (rounds.list.count == 0)
		return 0;
	extend(ids, count, &rounds, period);
	uint32_t size = period->end - period->first, foreign = count_foreign(ids, period, counts);
	uint32_t in_rounds = 0;
	for (size_t i = 0; i < rounds.list.count; i++)
		in_rounds += rounds.list.items[i].end - rounds.list.items[i].first;
	uint64_t parts = (rounds.list.items[0].first - period->first) +
			 (period->end - rounds.list.items[rounds.list.count - 1].end);
	if (rounds.list.count < 2 || size < LEAST_LENGTH || size < count / 2 ||
	    in_rounds < size / 2 || foreign > size / MOST_FOREIGN)
		return 0;
	uint64_t matched = rounds.matched + parts;
	uint64_t wrong =
		mr_max(size - matched - mr_min(size - matched, (uint64_t)foreign), rounds.missing);
	period->confidence_permille = judge(ids, period, matched, matched + wrong, counts);
	return 0;
}

/* The round of a stretch that is most like the next: the others may have more noise. */
static uint32_t find_pattern(const uint32_t *ids, const struct mr_period *stretch)
{
	uint32_t best = stretch->first, most = 0;

	for (uint32_t first = stretch->first; first + 2 * stretch->length <= stretch->end;
	     first += stretch->length) {
		uint32_t alike = 0;

		for (uint32_t i = first; i < first + stretch->length; i++)
			alike += ids[i] == ids[i + stretch->length];
		if (alike > most) {
			most = alike;
			best = first;
		}
	}
	return best;
}

/* Is this the length of a round? `confidence_permille` says; 0: no. */
static int try_length(const uint32_t *ids, uint32_t count, uint32_t *counts,
		      struct mr_period *period)
{
	find_stretch(ids, count, period);
	period->confidence_permille = 0;
	period->pattern = find_pattern(ids, period);
	if ((period->end - period->first) / 2 < period->length ||
	    period->end - period->first < LEAST_LENGTH ||
	    judge_stretch(ids, period, counts) < LEAST_PERMILLE)
		return 0;
	return judge_rounds(ids, count, counts, period);
}

int mr_period_find(const uint32_t *ids, uint32_t count, struct mr_period *ret_period)
{
	uint32_t candidates[CANDIDATES], candidate_count;
	struct mr_period best = {0};

	if (count < LEAST_LENGTH) {
		*ret_period = best;
		return 0;
	}
	mr_auto(free) uint32_t *counts = calloc(count, sizeof *counts);
	if (!counts || find_candidates(ids, count, candidates, &candidate_count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < candidate_count; i++) {
		struct mr_period tried = {.length = candidates[i]};

		if (best.length && tried.length > best.length)
			continue;
		if (try_length(ids, count, counts, &tried) < 0)
			return -ENOMEM;
		if (tried.confidence_permille >= LEAST_PERMILLE)
			best = tried;
	}
	*ret_period = best;
	return 0;
}
