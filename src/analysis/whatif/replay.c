/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/replay.h"

#include "base/pages.h"

int mr_change_make(const struct mr_course *course, struct mr_change *ret_change)
{
	size_t room = (size_t)course->count + 1;
	struct mr_change change = {
		.duration_ns = mr_allocate_large(room * sizeof *change.duration_ns),
		.freed = calloc(room, sizeof *change.freed),
		.delay_ns = mr_allocate_large(room * sizeof *change.delay_ns),
	};

	if (!change.duration_ns || !change.freed || !change.delay_ns) {
		mr_change_free(&change);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < course->count; i++) {
		change.duration_ns[i] = course->pieces.items[i].duration_ns;
		change.delay_ns[i] = course->pieces.items[i].delay_ns;
	}
	*ret_change = change;
	return 0;
}

void mr_change_free(struct mr_change *change)
{
	free(change->duration_ns);
	free(change->freed);
	free(change->delay_ns);
}

/* When a piece is free to start by one of those that it follows. */
static int64_t freed_at_ns(const struct mr_replay *replay, uint32_t piece,
			   const struct mr_follow *follow)
{
	if (follow->piece == MR_NO_PIECE || replay->change->freed[piece] >> follow->kind & 1)
		return replay->course->first_ns;
	/* If what it followed in part becomes shorter, it still follows that in part. */
	int64_t lead_ns =
		mr_min((int64_t)follow->lead_ns, replay->change->duration_ns[follow->piece]);
	return replay->end_ns[follow->piece] - lead_ns;
}

static int64_t start_of(const struct mr_replay *replay, uint32_t number)
{
	const struct mr_course *course = replay->course;
	const struct mr_piece *piece = &course->pieces.items[number];
	int64_t start_ns = course->first_ns;

	for (uint32_t at = piece->first_follow; at < piece[1].first_follow; at++)
		start_ns =
			mr_max(start_ns, freed_at_ns(replay, number, &course->follows.items[at]));
	return start_ns + replay->change->delay_ns[number];
}

int mr_replay_make(const struct mr_course *course, const struct mr_change *change,
		   struct mr_replay *ret_replay)
{
	struct mr_replay replay = {.course = course, .change = change, .last = MR_NO_PIECE};

	replay.end_ns = mr_allocate_large(((size_t)course->count + 1) * sizeof *replay.end_ns);
	if (!replay.end_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < course->count; i++) {
		replay.end_ns[i] = start_of(&replay, i) + change->duration_ns[i];
		if (replay.last == MR_NO_PIECE || replay.end_ns[i] > replay.end_ns[replay.last])
			replay.last = i;
	}
	*ret_replay = replay;
	return 0;
}

void mr_replay_free(struct mr_replay *replay)
{
	free(replay->end_ns);
}

int64_t mr_replay_at(const struct mr_replay *replay, uint32_t track, int64_t ns)
{
	const struct mr_course *course = replay->course;
	uint32_t number = mr_piece_at(course, track, ns);

	if (number == MR_NO_PIECE)
		return ns;
	const struct mr_piece *piece = &course->pieces.items[number];
	int64_t into_ns = ns - piece->start_ns, length_ns = replay->change->duration_ns[number];
	int64_t start_ns = replay->end_ns[number] - length_ns;
	if (into_ns < piece->duration_ns)
		return start_ns + (int64_t)((__int128)into_ns * length_ns / piece->duration_ns);
	return replay->end_ns[number]; /* it waits then, for what comes next */
}

uint32_t mr_replay_enabler(const struct mr_replay *replay, uint32_t number)
{
	const struct mr_course *course = replay->course;
	const struct mr_piece *piece = &course->pieces.items[number];
	uint32_t found = MR_NO_PIECE;
	int64_t latest_ns = course->first_ns;

	for (uint32_t at = piece->first_follow; at < piece[1].first_follow; at++) {
		const struct mr_follow *follow = &course->follows.items[at];
		int64_t ns = freed_at_ns(replay, number, follow);

		if (follow->piece != MR_NO_PIECE && ns > latest_ns) {
			latest_ns = ns;
			found = follow->piece;
		}
	}
	return found;
}
