/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/idle_gaps.h"

#include <stdlib.h>

static int64_t end_of(const struct mr_idle_piece *piece)
{
	return piece->start_ns + piece->duration_ns;
}

static enum mr_cause_kind kind_of(const struct mr_idle *idle, const struct mr_idle_piece *piece)
{
	return mr_chain_link(&idle->chains, mr_idle_headline(idle, piece->chain))->kind;
}

/* From a piece as far as there is no work in between, up to the piece `end`. */
static struct mr_gap_pieces collect(const struct mr_idle *idle, uint32_t first, uint32_t end)
{
	const struct mr_idle_piece *pieces = idle->pieces.items;
	struct mr_gap_pieces gap = {.first = first, .start_ns = pieces[first].start_ns};
	uint32_t next = first;

	do
		gap.duration_ns += pieces[next++].duration_ns;
	while (next < end && pieces[next].start_ns == end_of(&pieces[next - 1]));
	gap.count = next - first;
	return gap;
}

bool mr_gap_next(const struct mr_idle *idle, const struct mr_idle_device *device,
		 struct mr_gap_pieces *gap)
{
	uint32_t end = device->first_piece + device->piece_count;
	uint32_t first = gap->count ? gap->first + gap->count : device->first_piece;

	if (first == end)
		return false;
	*gap = collect(idle, first, end);
	return true;
}

struct mr_gap_pieces mr_gap_of(const struct mr_idle *idle, uint32_t piece)
{
	const struct mr_idle_piece *pieces = idle->pieces.items;
	const struct mr_idle_device *device = idle->devices.items;
	uint32_t first = piece;

	while (piece - device->first_piece >= device->piece_count)
		device++;
	while (first > device->first_piece && pieces[first].start_ns == end_of(&pieces[first - 1]))
		first--;
	return collect(idle, first, device->first_piece + device->piece_count);
}

static int64_t time_of_kind(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
			    enum mr_cause_kind kind)
{
	int64_t sum_ns = 0;

	for (uint32_t i = gap->first; i < gap->first + gap->count; i++)
		if (kind_of(idle, &idle->pieces.items[i]) == kind)
			sum_ns += idle->pieces.items[i].duration_ns;
	return sum_ns;
}

struct mr_gap_pieces mr_gap_of_most(const struct mr_idle *idle, enum mr_cause_kind kind,
				    const struct mr_window *window)
{
	struct mr_gap_pieces most = {0};
	int64_t most_ns = 0;

	for (size_t i = 0; i < idle->devices.count; i++) {
		struct mr_gap_pieces gap = {0};

		while (mr_gap_next(idle, &idle->devices.items[i], &gap)) {
			int64_t ns = time_of_kind(idle, &gap, kind);

			if (ns > most_ns && gap.start_ns >= window->first_ns &&
			    gap.start_ns < window->last_ns) {
				most_ns = ns;
				most = gap;
			}
		}
	}
	return most;
}

struct mr_gap_share mr_gap_share(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
				 uint32_t headline)
{
	struct mr_gap_share share = {.thread = MR_NO_TRACK};

	for (uint32_t i = gap->first; i < gap->first + gap->count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];

		if (mr_idle_headline(idle, piece->chain) != headline)
			continue;
		share.thread = share.pieces == 0 || share.thread == piece->thread ? piece->thread
										  : MR_NO_TRACK;
		share.pieces++;
		share.duration_ns += piece->duration_ns;
	}
	return share;
}

int mr_gap_example(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
		   enum mr_cause_kind kind, uint32_t *ret_piece)
{
	mr_auto(free) struct mr_idle_cause *causes = NULL;
	uint32_t count, i = 0;

	if (mr_idle_causes(idle, gap->first, gap->count, &causes, &count) < 0)
		return -ENOMEM;
	while (kind != MR_CAUSE_COUNT &&
	       mr_chain_link(&idle->chains, causes[i].headline)->kind != kind)
		i++;
	*ret_piece = causes[i].longest;
	return 0;
}
