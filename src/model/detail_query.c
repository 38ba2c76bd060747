/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "model/detail_blocks.h"
#include "model/pixels.h"

enum {
	NARROW_BLOCKS = 2, /* so many in a pixel: they are not divided */
	MARK_BITS = 64,
};

/* Goes through the rows of a strand, by whole blocks where it can, and sums up some of its lanes. */
struct walk {
	const struct mr_detail *detail;
	const struct mr_detail_strand *strand;
	struct mr_detail_level levels[MR_DETAIL_LEVELS];
	uint32_t level_count;
	uint32_t first_lane; /* of those that are summed up */
	uint32_t end_lane;
	uint32_t place;             /* of the next row in the strand */
	bool knows_ends;            /* at this place; if not, it is where a block begins */
	struct mr_detail_ends ends; /* of all lanes before end_lane */
	uint64_t marks[MR_DETAIL_LANES / MARK_BITS];  /* lanes whose sums are not empty */
	struct mr_detail_block sums[MR_DETAIL_LANES]; /* of the lanes that are summed up */
};

static void mark(struct walk *walk, uint32_t lane)
{
	walk->marks[lane / MARK_BITS] |= UINT64_C(1) << lane % MARK_BITS;
}

static void find_ends(struct walk *walk)
{
	const struct mr_detail_level *lowest = walk->levels;
	uint32_t index = walk->place / lowest->rows;

	mr_detail_clear_ends(&walk->ends, walk->end_lane);
	for (uint32_t lane = 0; index && lane < walk->end_lane; lane++) {
		uint32_t last = mr_detail_block_at(walk->detail, lowest, lane, index - 1)->last;

		if (last != MR_NO_ROW)
			mr_detail_take_lane(&walk->ends, lane,
					    mr_detail_end_of(&walk->detail->rows, last));
		if (lane >= walk->first_lane)
			walk->sums[lane].last = last;
	}
	walk->knows_ends = true;
}

static void take_rows(struct walk *walk, uint32_t end)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	uint32_t limit = mr_min(walk->end_lane, MR_DETAIL_LANES - 1u); /* the last takes all */

	if (!walk->knows_ends)
		find_ends(walk);
	for (; walk->place < end; walk->place++) {
		uint32_t row = walk->strand->first_row + walk->place;
		uint32_t lane = mr_detail_free_lane(&walk->ends, rows->start_ns[row], limit);

		if (lane >= walk->end_lane)
			continue;
		mr_detail_take_lane(&walk->ends, lane, mr_detail_end_of(rows, row));
		if (lane < walk->first_lane)
			continue;
		mr_detail_add_row(rows, &walk->sums[lane], row);
		mark(walk, lane);
	}
}

/* Adds a block of each lane: they follow one another from lane to lane. */
static void add_blocks(struct walk *walk, const struct mr_detail_level *level, uint32_t index)
{
	const struct mr_detail_block *block =
		mr_detail_block_at(walk->detail, level, walk->first_lane, index);

	for (uint32_t lane = walk->first_lane; lane < walk->end_lane; lane++, block += level->count)
		if (block->count) {
			mr_detail_add_block(&walk->sums[lane], block);
			mark(walk, lane);
		}
}

/* Sums up the lowest blocks [first, end), by larger ones where it can, and goes behind them. */
static void take_blocks(struct walk *walk, uint32_t first, uint32_t end)
{
	for (uint32_t next = first; next < end;) {
		const struct mr_detail_level *level = walk->levels;
		uint32_t size = 1; /* in lowest blocks */

		while (next % (size * MR_DETAIL_FAN_OUT) == 0 &&
		       end - next >= size * MR_DETAIL_FAN_OUT) {
			size *= MR_DETAIL_FAN_OUT;
			level++;
		}
		add_blocks(walk, level, next / size);
		next += size;
	}
	walk->place = end * walk->levels->rows;
	walk->knows_ends = false;
}

/* Sums up the rows from here to `end`. */
static void take(struct walk *walk, uint32_t end)
{
	uint32_t size = walk->levels->rows;
	uint32_t first = walk->place / size + (walk->place % size != 0);
	uint32_t behind = mr_min(end / size, walk->levels->count);

	if (first < behind) {
		if (walk->place < first * size)
			take_rows(walk, first * size);
		take_blocks(walk, first, behind);
	}
	if (walk->place < end)
		take_rows(walk, end);
}

/* The first place in [low, high) whose row starts at or after `ns`, or `high`. */
static uint32_t find_place(const int64_t *start_ns, uint32_t low, uint32_t high, int64_t ns)
{
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (start_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first of the lowest blocks, from `block` on, that begins at or after `ns`. Rows after the last block count
 * as one; if these begin before too, it is the one behind them. */
static uint32_t find_block(const struct walk *walk, uint32_t block, int64_t ns)
{
	const int64_t *begins_ns = walk->detail->begins_ns + walk->strand->first_begin;
	uint32_t end = walk->levels->count + 1, step = 1;

	for (; end - block > step && begins_ns[block + step] < ns; step *= 2)
		block += step;
	return find_place(begins_ns, block, block + mr_min(end - block, step), ns);
}

/* The first place whose row starts at or after `ns`, where `block` is what find_block() gives. */
static uint32_t find_in_block(const struct walk *walk, uint32_t block, int64_t ns)
{
	uint32_t rows = walk->levels->rows, row_count = walk->strand->row_count;

	if (block == 0)
		return 0;
	return find_place(walk->detail->rows.start_ns + walk->strand->first_row, (block - 1) * rows,
			  block > walk->levels->count ? row_count : block * rows, ns);
}

/* Has the block before this one all its rows within so much time? */
static bool follows_narrow(const struct walk *walk, uint32_t block, uint64_t narrow_ns)
{
	const int64_t *begin_ns = walk->detail->begins_ns + walk->strand->first_begin + block;

	return block > 0 && block <= walk->levels->count &&
	       (uint64_t)begin_ns[0] - (uint64_t)begin_ns[-1] <= narrow_ns;
}

/* Before the first row, with the lanes from first_lane to end_lane to be summed up. Whoever goes elsewhere finds the
 * ends there. */
static void start(struct walk *walk, const struct mr_detail *detail, uint32_t track,
		  uint32_t first_lane, uint32_t end_lane)
{
	walk->detail = detail;
	walk->strand = &detail->strands[track];
	walk->level_count = mr_detail_list_levels(walk->strand, walk->levels);
	walk->first_lane = first_lane;
	walk->end_lane = end_lane;
	walk->place = 0;
	walk->knows_ends = false;
	memset(walk->marks, 0, sizeof walk->marks);
	for (uint32_t lane = first_lane; lane < end_lane; lane++)
		walk->sums[lane] = mr_detail_empty_block(MR_NO_ROW);
}

/* Goes to where the view begins, and leaves in the sums what lasts into it. */
static void enter(struct walk *walk, uint32_t block, int64_t begin_ns)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	uint32_t begin = find_in_block(walk, block, begin_ns);

	walk->place = mr_min(begin / walk->levels->rows, walk->levels->count) * walk->levels->rows;
	take_rows(walk, begin);
	memset(walk->marks, 0, sizeof walk->marks);
	for (uint32_t lane = walk->first_lane; lane < walk->end_lane; lane++) {
		uint32_t last = walk->sums[lane].last;

		walk->sums[lane] = mr_detail_empty_block(last);
		if (last == MR_NO_ROW || mr_detail_end_of(rows, last) <= begin_ns)
			continue;
		mr_detail_add_row(rows, &walk->sums[lane], last);
		mark(walk, lane);
	}
}

/* While pixels are filled in, start and end are rows: what these rows say is looked up for all pixels in one go,
 * which spares most of the waiting for memory. */
static struct mr_detail_pixel make_pixel(const struct mr_detail_block *sum, uint32_t lane,
					 uint32_t pixel)
{
	return (struct mr_detail_pixel){.pixel = pixel,
					.lane = lane,
					.count = sum->count,
					.longest = sum->longest,
					.busy_ns = sum->busy_ns,
					.start_ns = sum->first,
					.end_ns = sum->last};
}

/* What has been summed up becomes a pixel of each lane, and the sums are empty again. */
static int end_pixel(struct walk *walk, uint32_t pixel, struct mr_detail_pixels *pixels)
{
	int result = 0;

	for (uint32_t i = 0; i < mr_countof(walk->marks); i++)
		for (; result == 0 && walk->marks[i]; walk->marks[i] &= walk->marks[i] - 1) {
			uint32_t lane = i * MARK_BITS + (uint32_t)__builtin_ctzll(walk->marks[i]);
			struct mr_detail_block *sum = &walk->sums[lane];

			result = mr_vec_push(pixels, make_pixel(sum, lane, pixel));
			*sum = mr_detail_empty_block(sum->last);
		}
	return result;
}

static void finish_pixels(const struct mr_detail_rows *rows, const struct mr_detail_pixels *pixels)
{
	for (size_t i = 0; i < pixels->count; i++) {
		struct mr_detail_pixel *pixel = &pixels->items[i];

		pixel->start_ns = rows->start_ns[pixel->start_ns];
		pixel->end_ns = mr_detail_end_of(rows, (uint32_t)pixel->end_ns);
	}
}

/* Pixel by pixel, of each of them by lane. */
static int fill_pixels(struct walk *walk, const struct mr_detail_view *view, uint32_t block,
		       struct mr_detail_pixels *ret_pixels)
{
	const struct mr_pixels pixels = {view->begin_ns, view->end_ns, view->pixels};
	const struct mr_detail_rows *rows = &walk->detail->rows;
	uint64_t narrow_ns = mr_pixels_span_ns(&pixels) / view->pixels / NARROW_BLOCKS;
	uint32_t end = find_in_block(walk, find_block(walk, block, view->end_ns), view->end_ns);
	uint32_t pixel = 0;

	for (;;) {
		int64_t end_ns = mr_pixel_end_ns(&pixels, pixel);

		block = find_block(walk, block, end_ns);
		uint32_t next = follows_narrow(walk, block, narrow_ns)
					? block * walk->levels->rows
					: find_in_block(walk, block, end_ns);
		take(walk, mr_min(next, end));
		int result = end_pixel(walk, pixel, ret_pixels);
		if (result < 0)
			return result;
		if (walk->place == end) {
			finish_pixels(rows, ret_pixels);
			return 0;
		}
		pixel = mr_pixel_at(&pixels, rows->start_ns[walk->strand->first_row + walk->place]);
	}
}

/* Before `row` nothing of its block is skipped, so that all lanes are known there. */
uint32_t mr_detail_lane(const struct mr_detail *detail, uint32_t track, uint32_t row)
{
	const struct mr_detail_strand *strand = &detail->strands[track];
	struct walk walk;
	uint32_t place = row - strand->first_row;

	start(&walk, detail, track, strand->lane_count, strand->lane_count);
	const struct mr_detail_level *lowest = walk.levels;
	walk.place = mr_min(place / lowest->rows, lowest->count) * lowest->rows;
	take_rows(&walk, place);
	return mr_detail_free_lane(&walk.ends, detail->rows.start_ns[row], strand->lane_count - 1);
}

/* Of the lanes before `end_lane`, from the view's on. */
static int query(const struct mr_detail *detail, const struct mr_detail_view *view,
		 uint32_t end_lane, struct mr_detail_pixels *pixels)
{
	struct walk walk;

	if (view->track >= detail->rows.track_count || view->begin_ns >= view->end_ns ||
	    view->pixels == 0)
		return 0;
	end_lane = mr_min(end_lane, detail->strands[view->track].lane_count);
	if (view->lane >= end_lane)
		return 0;
	start(&walk, detail, view->track, view->lane, end_lane);
	uint32_t block = find_block(&walk, 0, view->begin_ns);
	enter(&walk, block, view->begin_ns);
	return fill_pixels(&walk, view, block, pixels);
}

/* There is room for all of them, so that nothing is allocated and nothing fails. */
uint32_t mr_detail_query(const struct mr_detail *detail, const struct mr_detail_view *view,
			 struct mr_detail_pixel *ret_pixels)
{
	struct mr_detail_pixels pixels = {ret_pixels, 0, view->pixels};

	query(detail, view, view->lane + 1, &pixels);
	return (uint32_t)pixels.count;
}

/* Keeps the order of those of the same lane. */
static int sort_by_lane(struct mr_detail_pixels *pixels)
{
	size_t next[MR_DETAIL_LANES + 1] = {0};
	struct mr_detail_pixel *sorted = malloc((pixels->count + 1) * sizeof *sorted);

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < pixels->count; i++)
		next[pixels->items[i].lane + 1]++;
	for (uint32_t lane = 0; lane < MR_DETAIL_LANES; lane++)
		next[lane + 1] += next[lane];
	for (size_t i = 0; i < pixels->count; i++)
		sorted[next[pixels->items[i].lane]++] = pixels->items[i];
	free(pixels->items);
	pixels->items = sorted;
	pixels->capacity = pixels->count + 1;
	return 0;
}

int mr_detail_query_lanes(const struct mr_detail *detail, const struct mr_detail_view *view,
			  uint32_t lanes, struct mr_detail_pixels *pixels)
{
	pixels->count = 0;
	int result = query(detail, view, view->lane + lanes, pixels);

	return result == 0 && lanes > 1 ? sort_by_lane(pixels) : result;
}
