/* SPDX-License-Identifier: Apache-2.0 */
#include "load/rounds.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

enum {
	SPARE = 4,  /* so many of a round may be wrong, besides half of its length */
	PROOF = 16, /* so many things alone prove that a round begins, if none ended before */
	LONGEST_DETOUR = 6, /* between things that are alike */
};

struct search {
	const uint32_t *ids;
	int64_t count;
	const uint32_t *pattern;
	int64_t length;
	int64_t phase;
	int64_t step; /* 1: towards the end; -1: towards the begin, through the pattern backwards */
};

/* A round that was matched, in the direction of the search. Extra things before it belong to none. */
struct match {
	int64_t first;
	int64_t end; /* not included */
	uint64_t matched;
	uint64_t missing;
};

/* The place of the pattern that comes nth in the direction of the search. */
static uint32_t place_at(const struct search *search, int64_t nth)
{
	int64_t place = search->phase + (search->step > 0 ? nth : search->length - 1 - nth);

	return (uint32_t)(place % search->length);
}

/* What follows a round is usually the next one. */
static bool is_at(const struct search *search, int64_t at, int64_t nth)
{
	return at >= 0 && at < search->count &&
	       search->ids[at] == search->pattern[place_at(search, nth % search->length)];
}

/* How many things to pass over, and how many places, until both go on alike. */
struct detour {
	int64_t things;
	int64_t places;
};

static bool leads_back(const struct search *search, int64_t at, int64_t nth, struct detour detour)
{
	at += detour.things * search->step;
	nth += detour.places;
	return nth <= search->length && is_at(search, at, nth) &&
	       is_at(search, at + search->step, nth + 1);
}

/* The shortest: others in the places of some, then extra things, then missing ones. If none is short, the thing is
 * taken for an extra one. */
static struct detour find_detour(const struct search *search, int64_t at, int64_t nth)
{
	for (int64_t length = 1; length <= LONGEST_DETOUR; length++)
		for (int64_t less = 0; less <= length; less++) {
			struct detour extra = {length, length - less};
			struct detour missing = {length - less, length};

			if (leads_back(search, at, nth, extra))
				return extra;
			if (leads_back(search, at, nth, missing))
				return missing;
		}
	return (struct detour){1, 0};
}

static bool match_round(const struct search *search, int64_t at, uint32_t *places,
			struct match *ret_match)
{
	int64_t wrong = 0, most = search->length / 2 + SPARE;
	struct match match = {.first = at};

	for (int64_t nth = 0; nth < search->length;) {
		if (at < 0 || at >= search->count || wrong > most)
			return false;
		struct detour detour = {1, 1};
		if (!is_at(search, at, nth)) {
			detour = find_detour(search, at, nth);
			wrong += mr_max(detour.things, detour.places);
			match.missing += (uint64_t)detour.places;
		} else {
			if (places)
				places[at] = place_at(search, nth);
			match.matched++;
		}
		at += detour.things * search->step;
		nth += detour.places;
		if (nth == 0)
			match.first = at;
	}
	match.end = at;
	*ret_match = match;
	return match.matched > match.missing;
}

static bool begins(const struct search *search, int64_t at)
{
	int64_t nth = 0;

	while (nth < PROOF && nth < search->length && is_at(search, at + nth * search->step, nth))
		nth++;
	return nth == PROOF || nth == search->length;
}

static int add_round(const struct search *search, const struct match *match,
		     struct mr_rounds *rounds)
{
	struct mr_round round = {(uint32_t)match->first, (uint32_t)match->end};

	if (search->step < 0)
		round = (struct mr_round){(uint32_t)(match->end + 1), (uint32_t)(match->first + 1)};
	rounds->matched += match->matched;
	rounds->missing += match->missing;
	return mr_vec_push(&rounds->list, round);
}

static int follow(const struct search *search, int64_t at, struct mr_rounds *rounds)
{
	bool is_after_round = true;
	int result = 0;

	while (result == 0 && at >= 0 && at < search->count) {
		struct match match;
		bool is_round = (is_after_round || begins(search, at)) &&
				match_round(search, at, NULL, &match);

		if (is_round) {
			match_round(search, at, rounds->places, &match);
			result = add_round(search, &match, rounds);
		}
		at = is_round ? match.end : at + search->step;
		is_after_round = is_round;
	}
	return result;
}

static void turn_round(struct mr_rounds *rounds)
{
	size_t count = rounds->list.count;

	for (size_t i = 0; i < count / 2; i++) {
		struct mr_round round = rounds->list.items[i];

		rounds->list.items[i] = rounds->list.items[count - 1 - i];
		rounds->list.items[count - 1 - i] = round;
	}
}

int mr_rounds_find(const uint32_t *ids, uint32_t count, const struct mr_period *period,
		   uint32_t phase, struct mr_rounds *ret_rounds)
{
	struct search search = {.ids = ids,
				.count = count,
				.pattern = ids + period->pattern,
				.length = period->length,
				.phase = phase,
				.step = -1};
	int64_t begin = (int64_t)period->pattern + phase;

	*ret_rounds =
		(struct mr_rounds){.places = malloc((count + UINT64_C(1)) * sizeof(uint32_t))};
	if (!ret_rounds->places)
		return -ENOMEM;
	memset(ret_rounds->places, 0xff, count * sizeof(uint32_t)); /* MR_NO_PLACE */
	int result = follow(&search, begin - 1, ret_rounds);
	turn_round(ret_rounds);
	search.step = 1;
	return result < 0 ? result : follow(&search, begin, ret_rounds);
}

void mr_rounds_free(struct mr_rounds *rounds)
{
	mr_vec_free(&rounds->list);
	free(rounds->places);
}
