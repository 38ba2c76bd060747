/* SPDX-License-Identifier: Apache-2.0 */
#include "model/detail.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/pages.h"
#include "model/table.h"

enum {
	LEAST_BLOCK_ROWS = 64,
	ROWS_PER_LANE = 40, /* of a block: 32 bytes for so many rows, and a 64th of it above */
	MAX_LEVELS = 6,     /* 64 rows times 64^5 are more than a table can have */
};

/* Slices of one lane that begin in a block, or in a group of blocks. */
struct block {
	int64_t busy_ns;
	int64_t longest_ns;
	uint32_t longest; /* rows */
	uint32_t first;
	uint32_t
		last; /* the one that ends last of all so far, also of blocks before; or MR_NO_ROW */
	uint32_t count;
};

struct level {
	size_t first;   /* of mr_detail.blocks; those of a lane follow one another */
	uint32_t count; /* blocks of one lane */
	uint32_t rows;  /* of one block */
};

struct strand {
	uint32_t first_row;
	uint32_t row_count;
	uint32_t lane_count;
	size_t first_block;
};

struct mr_detail {
	struct mr_detail_rows rows;
	struct strand *strands; /* by track */
	struct block *blocks;
	size_t block_count;
};

/* ---- lanes -------------------------------------------------------------------------------------- */

/* Until when each lane is taken. */
struct lanes {
	int64_t end_ns[MR_DETAIL_LANES];
};

static void clear_lanes(struct lanes *lanes, uint32_t count)
{
	for (uint32_t lane = 0; lane < count; lane++)
		lanes->end_ns[lane] = INT64_MIN;
}

/* The lowest free lane below `limit`, or `limit`. Those above play no part in it. */
static uint32_t free_lane(const struct lanes *lanes, int64_t start_ns, uint32_t limit)
{
	uint32_t lane = 0;

	while (lane < limit && lanes->end_ns[lane] > start_ns)
		lane++;
	return lane;
}

static int64_t end_of(const struct mr_detail_rows *rows, uint32_t row)
{
	return rows->start_ns[row] + rows->duration_ns[row];
}

static uint32_t count_lanes(const struct mr_detail_rows *rows, uint32_t first, uint32_t end)
{
	struct lanes lanes;
	uint32_t count = 0;

	for (uint32_t row = first; row < end; row++) {
		uint32_t limit = mr_min(count, MR_DETAIL_LANES - 1u);
		uint32_t lane = free_lane(&lanes, rows->start_ns[row], limit);

		if (lane == count)
			lanes.end_ns[count++] = INT64_MIN;
		lanes.end_ns[lane] = mr_max(lanes.end_ns[lane], end_of(rows, row));
	}
	return count;
}

/* ---- levels ------------------------------------------------------------------------------------- */

/* Returns how many levels have blocks. The one after them, which has none, is filled in too. */
static uint32_t list_levels(const struct strand *strand, struct level *levels)
{
	uint32_t count = 0;

	levels[0] = (struct level){
		.first = strand->first_block,
		.rows = mr_max(ROWS_PER_LANE * strand->lane_count, LEAST_BLOCK_ROWS + 0u),
	};
	while ((levels[count].count = strand->row_count / levels[count].rows)) {
		const struct level *below = &levels[count++];

		levels[count] = (struct level){
			.first = below->first + (size_t)below->count * strand->lane_count,
			.rows = (uint32_t)mr_min((uint64_t)below->rows * MR_DETAIL_FAN_OUT,
						 (uint64_t)UINT32_MAX),
		};
	}
	return count;
}

static struct block *block_at(const struct mr_detail *detail, const struct level *level,
			      uint32_t lane, uint32_t index)
{
	return &detail->blocks[level->first + (size_t)lane * level->count + index];
}

/* ---- building ----------------------------------------------------------------------------------- */

static void add_row(const struct mr_detail_rows *rows, struct block *block, uint32_t row)
{
	int64_t duration_ns = rows->duration_ns[row];

	if (block->count++ == 0)
		block->first = row;
	block->busy_ns += duration_ns;
	if (duration_ns > block->longest_ns) {
		block->longest_ns = duration_ns;
		block->longest = row;
	}
	if (block->last == MR_NO_ROW || end_of(rows, row) >= end_of(rows, block->last))
		block->last = row;
}

static void add_block(struct block *sum, const struct block *block)
{
	if (block->count == 0)
		return;
	if (sum->count == 0)
		sum->first = block->first;
	sum->count += block->count;
	sum->busy_ns += block->busy_ns;
	if (block->longest_ns > sum->longest_ns) {
		sum->longest_ns = block->longest_ns;
		sum->longest = block->longest;
	}
	sum->last = block->last;
}

/* A block in which nothing has begun, after those that `last` is of. */
static struct block empty_block(uint32_t last)
{
	return (struct block){.longest_ns = -1, .last = last};
}

static void fill_lowest(struct mr_detail *detail, const struct strand *strand,
			const struct level *level)
{
	const struct mr_detail_rows *rows = &detail->rows;
	uint32_t row = strand->first_row;
	struct lanes lanes;

	clear_lanes(&lanes, strand->lane_count);
	for (uint32_t i = 0; i < level->count; i++) {
		uint32_t end = row + level->rows;

		for (uint32_t lane = 0; lane < strand->lane_count; lane++)
			*block_at(detail, level, lane, i) = empty_block(
				i ? block_at(detail, level, lane, i - 1)->last : MR_NO_ROW);
		for (; row < end; row++) {
			uint32_t lane =
				free_lane(&lanes, rows->start_ns[row], strand->lane_count - 1);

			add_row(rows, block_at(detail, level, lane, i), row);
			lanes.end_ns[lane] = mr_max(lanes.end_ns[lane], end_of(rows, row));
		}
	}
}

static void fill_upper(struct mr_detail *detail, const struct strand *strand,
		       const struct level *level)
{
	const struct level *below = level - 1;

	for (uint32_t lane = 0; lane < strand->lane_count; lane++)
		for (uint32_t i = 0; i < level->count; i++) {
			struct block *sum = block_at(detail, level, lane, i);
			const struct block *block =
				block_at(detail, below, lane, i * MR_DETAIL_FAN_OUT);

			*sum = empty_block(block[MR_DETAIL_FAN_OUT - 1].last);
			for (uint32_t j = 0; j < MR_DETAIL_FAN_OUT; j++)
				add_block(sum, &block[j]);
		}
}

static void list_strands(struct mr_detail *detail)
{
	for (uint32_t track = 0; track < detail->rows.track_count; track++) {
		const uint32_t *first = &detail->rows.first_of_track[track];
		struct level levels[MAX_LEVELS];
		struct strand *strand = &detail->strands[track];

		*strand = (struct strand){
			.first_row = first[0],
			.row_count = first[1] - first[0],
			.lane_count = count_lanes(&detail->rows, first[0], first[1]),
			.first_block = detail->block_count,
		};
		uint32_t level_count = list_levels(strand, levels);
		for (uint32_t i = 0; i < level_count; i++)
			detail->block_count += (size_t)levels[i].count * strand->lane_count;
	}
}

static void fill_strand(struct mr_detail *detail, const struct strand *strand)
{
	struct level levels[MAX_LEVELS];
	uint32_t level_count = list_levels(strand, levels);

	for (uint32_t i = 0; i < level_count; i++)
		if (i == 0)
			fill_lowest(detail, strand, &levels[i]);
		else
			fill_upper(detail, strand, &levels[i]);
}

int mr_detail_build(const struct mr_detail_rows *rows, struct mr_detail **ret_detail)
{
	mr_auto(detail) struct mr_detail *detail = calloc(1, sizeof *detail);

	if (!detail ||
	    !(detail->strands = calloc(rows->track_count + UINT64_C(1), sizeof *detail->strands)))
		return -ENOMEM;
	detail->rows = *rows;
	list_strands(detail);
	detail->blocks = mr_allocate_large((detail->block_count + 1) * sizeof *detail->blocks);
	if (!detail->blocks)
		return -ENOMEM;
	for (uint32_t track = 0; track < rows->track_count; track++)
		fill_strand(detail, &detail->strands[track]);
	*ret_detail = mr_take(detail);
	return 0;
}

void mr_detail_free(struct mr_detail *detail)
{
	if (!detail)
		return;
	free(detail->strands);
	free(detail->blocks);
	free(detail);
}

uint32_t mr_detail_lanes(const struct mr_detail *detail, uint32_t track)
{
	return detail->strands[track].lane_count;
}

size_t mr_detail_bytes(const struct mr_detail *detail)
{
	return sizeof *detail + detail->rows.track_count * sizeof *detail->strands +
	       detail->block_count * sizeof *detail->blocks;
}

/* ---- looking ------------------------------------------------------------------------------------ */

/* Goes through the rows of a strand, by whole blocks where it can, and sums up one lane. */
struct walk {
	const struct mr_detail *detail;
	const struct strand *strand;
	struct level levels[MAX_LEVELS];
	uint32_t level_count;
	uint32_t lane;
	uint32_t place;     /* of the next row in the strand */
	bool knows_lanes;   /* at this place; if not, it is where a block begins */
	struct lanes lanes; /* up to `lane` */
	struct block sum;
};

/* Takes the largest block that begins here and does not go beyond `end`; false if there is none. */
static bool take_block(struct walk *walk, uint32_t end)
{
	const struct level *largest = NULL;

	for (uint32_t i = 0; i < walk->level_count; i++) {
		const struct level *level = &walk->levels[i];

		if (walk->place % level->rows || end - walk->place < level->rows)
			break;
		largest = level;
	}
	if (!largest)
		return false;
	add_block(&walk->sum,
		  block_at(walk->detail, largest, walk->lane, walk->place / largest->rows));
	walk->place += largest->rows;
	walk->knows_lanes = false;
	return true;
}

static void find_lanes(struct walk *walk)
{
	const struct level *lowest = walk->levels;
	uint32_t index = walk->place / lowest->rows;

	clear_lanes(&walk->lanes, walk->lane + 1);
	for (uint32_t lane = 0; index && lane <= walk->lane; lane++) {
		uint32_t last = block_at(walk->detail, lowest, lane, index - 1)->last;

		if (last != MR_NO_ROW)
			walk->lanes.end_ns[lane] = end_of(&walk->detail->rows, last);
		if (lane == walk->lane)
			walk->sum.last = last;
	}
	walk->knows_lanes = true;
}

static void take_rows(struct walk *walk, uint32_t end)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	bool takes_all = walk->lane == MR_DETAIL_LANES - 1;

	if (!walk->knows_lanes)
		find_lanes(walk);
	for (; walk->place < end; walk->place++) {
		uint32_t row = walk->strand->first_row + walk->place;
		uint32_t lane = free_lane(&walk->lanes, rows->start_ns[row],
					  walk->lane + (takes_all ? 0 : 1));

		if (lane > walk->lane)
			continue;
		walk->lanes.end_ns[lane] = mr_max(walk->lanes.end_ns[lane], end_of(rows, row));
		if (lane == walk->lane)
			add_row(rows, &walk->sum, row);
	}
}

/* Sums up the rows from here to `end`. */
static void take(struct walk *walk, uint32_t end)
{
	uint32_t size = walk->levels[0].rows;

	while (walk->place < end)
		if (!take_block(walk, end))
			take_rows(walk, walk->place + mr_min(size - walk->place % size,
							     end - walk->place));
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

/* The same, looked for from a guess on: looks at rows far apart miss the cache. */
static uint32_t find_place_near(const int64_t *start_ns, uint32_t low, uint32_t high,
				uint32_t guess, int64_t ns)
{
	uint32_t step = LEAST_BLOCK_ROWS;

	if (guess < high && start_ns[guess] < ns) {
		for (low = guess + 1; high - low > step && start_ns[low + step] < ns; step *= 2)
			low += step + 1;
		return find_place(start_ns, low, low + mr_min(high - low, step), ns);
	}
	for (high = guess; high - low > step && start_ns[high - step] >= ns; step *= 2)
		high -= step;
	return find_place(start_ns, high - mr_min(high - low, step), high, ns);
}

static uint32_t pixel_of(const struct mr_detail_view *view, int64_t ns)
{
	uint64_t span_ns = (uint64_t)view->end_ns - (uint64_t)view->begin_ns;
	uint64_t offset_ns = (uint64_t)ns - (uint64_t)view->begin_ns;

	return (uint32_t)((unsigned __int128)offset_ns * view->pixels / span_ns);
}

/* The first nanosecond that is not the pixel's any more. */
static int64_t end_of_pixel(const struct mr_detail_view *view, uint32_t pixel)
{
	uint64_t span_ns = (uint64_t)view->end_ns - (uint64_t)view->begin_ns;
	unsigned __int128 scaled = (unsigned __int128)span_ns * (pixel + UINT64_C(1));

	return (int64_t)((uint64_t)view->begin_ns +
			 (uint64_t)((scaled + view->pixels - 1) / view->pixels));
}

static struct mr_detail_pixel finish_pixel(const struct walk *walk, uint32_t pixel)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	const struct block *sum = &walk->sum;

	return (struct mr_detail_pixel){.pixel = pixel,
					.count = sum->count,
					.longest = sum->longest,
					.busy_ns = sum->busy_ns,
					.start_ns = rows->start_ns[sum->first],
					.end_ns = end_of(rows, sum->last)};
}

/* Goes to where the view begins, and leaves in `sum` what lasts into it. */
static void enter(struct walk *walk, int64_t begin_ns)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	const struct level *lowest = walk->levels;
	uint32_t begin = find_place(rows->start_ns + walk->strand->first_row, 0,
				    walk->strand->row_count, begin_ns);

	walk->place = mr_min(begin / lowest->rows, lowest->count) * lowest->rows;
	take_rows(walk, begin);
	uint32_t last = walk->sum.last;
	walk->sum = empty_block(last);
	if (last == MR_NO_ROW || end_of(rows, last) <= begin_ns)
		return;
	add_row(rows, &walk->sum, last);
}

static uint32_t fill_pixels(struct walk *walk, const struct mr_detail_view *view,
			    struct mr_detail_pixel *ret_pixels)
{
	const int64_t *start_ns = walk->detail->rows.start_ns + walk->strand->first_row;
	uint32_t end = find_place(start_ns, walk->place, walk->strand->row_count, view->end_ns);
	uint32_t filled = 0, pixel = 0, taken = 0;

	for (;;) {
		uint32_t begin = walk->place; /* of about as many rows as the last pixel had */

		take(walk, find_place_near(start_ns, begin, end, begin + mr_min(taken, end - begin),
					   end_of_pixel(view, pixel)));
		if (walk->sum.count)
			ret_pixels[filled++] = finish_pixel(walk, pixel);
		if (walk->place == end)
			return filled;
		walk->sum = empty_block(walk->sum.last);
		pixel = pixel_of(view, start_ns[walk->place]);
		taken = walk->place - begin;
	}
}

uint32_t mr_detail_query(const struct mr_detail *detail, const struct mr_detail_view *view,
			 struct mr_detail_pixel *ret_pixels)
{
	struct walk walk = {.detail = detail, .sum = empty_block(MR_NO_ROW), .lane = view->lane};

	if (view->track >= detail->rows.track_count || view->begin_ns >= view->end_ns ||
	    view->pixels == 0 || view->lane >= detail->strands[view->track].lane_count)
		return 0;
	walk.strand = &detail->strands[view->track];
	walk.level_count = list_levels(walk.strand, walk.levels);
	enter(&walk, view->begin_ns);
	return fill_pixels(&walk, view, ret_pixels);
}
