/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/absence.h"

#include <fnmatch.h>

#include "base/error.h"

enum {
	FREED = 1 << MR_FOLLOW_LOCK | 1 << MR_FOLLOW_GIL | 1 << MR_FOLLOW_CPU | 1 << MR_FOLLOW_SYNC,
};

struct absence {
	const struct mr_course *course;
	struct mr_change *change;
	int64_t *cut_ns; /* by piece */
	double part;     /* of what is claimed that is cut */
};

/* As much of the time as was claimed of the moment. */
static int64_t claimed_part(const struct mr_claim *claim, int64_t ns)
{
	return (int64_t)((__int128)ns * claim->claimed_ns / claim->duration_ns);
}

/* Cuts what the pieces of the track have of the moment; of operations those that the root names. Returns how much that is. */
static int64_t cut_track(struct absence *absence, const struct mr_claim *claim, uint32_t track)
{
	const struct mr_course *course = absence->course;
	int64_t end_ns = claim->start_ns + claim->duration_ns, cut_ns = 0;
	uint32_t place = mr_place_after(course, track, claim->start_ns);

	place -= place > course->first_of_track[track];
	for (; place < course->first_of_track[track + 1]; place++) {
		const struct mr_piece *piece = &course->pieces.items[course->of_track[place]];
		bool is_root =
			piece->operation == MR_NO_ROW || piece->link.what == claim->root.link.what;
		int64_t overlap_ns = mr_min(mr_piece_end_ns(piece), end_ns) -
				     mr_max(piece->start_ns, claim->start_ns);

		if (piece->start_ns >= end_ns)
			break;
		if (!is_root || overlap_ns <= 0)
			continue;
		absence->cut_ns[course->of_track[place]] += claimed_part(claim, overlap_ns);
		cut_ns += overlap_ns;
	}
	return cut_ns;
}

/* The thread waited in all of the moment: what it does next does not wait, and starts so much earlier. */
static void end_wait(struct absence *absence, const struct mr_claim *claim)
{
	const struct mr_course *course = absence->course;
	uint32_t place = mr_place_after(course, claim->root.thread, claim->start_ns);

	if (place == course->first_of_track[claim->root.thread + 1])
		return;
	uint32_t next = course->of_track[place];
	int64_t *delay_ns = &absence->change->delay_ns[next];
	int64_t gone_ns =
		(int64_t)((double)claimed_part(claim, claim->duration_ns) * absence->part);

	if (absence->part == 1)
		absence->change->freed[next] |= FREED;
	*delay_ns -= mr_min(*delay_ns, gone_ns);
}

static void cut_claim(struct absence *absence, const struct mr_claim *claim)
{
	const struct mr_survey *survey = absence->course->model->survey;

	if (claim->root.thread != MR_NO_TRACK) {
		if (cut_track(absence, claim, claim->root.thread) == 0)
			end_wait(absence, claim);
		return;
	}
	for (uint32_t track = survey->first_queue_track; track < survey->first_cpu_track; track++)
		cut_track(absence, claim, track);
}

int mr_claims_apply(const struct mr_claims *claims, const char *pattern, double factor,
		    const struct mr_course *course, struct mr_change *change)
{
	mr_auto(free) int64_t *cut_ns = calloc((size_t)course->count + 1, sizeof *cut_ns);
	struct absence absence = {course, change, cut_ns, 1 - factor};
	bool is_found = false;

	if (!cut_ns)
		return -ENOMEM;
	for (size_t i = 0; i < claims->list.count; i++)
		if (fnmatch(pattern, claims->list.items[i].key, 0) == 0) {
			cut_claim(&absence, &claims->list.items[i]);
			is_found = true;
		}
	if (!is_found)
		return mr_fail(ENOENT,
			       "there is no problem:%s in this trace; 'millrace whatif' without "
			       "an edit shows what there is",
			       pattern);
	for (uint32_t i = 0; i < course->count; i++) {
		int64_t *duration_ns = &change->duration_ns[i];

		*duration_ns -= mr_min(*duration_ns, (int64_t)((double)cut_ns[i] * absence.part));
	}
	return 0;
}
