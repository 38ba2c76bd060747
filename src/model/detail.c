/* SPDX-License-Identifier: Apache-2.0 */
#include "model/detail.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/pages.h"
#include "model/archive.h"
#include "model/pixels.h"
#include "model/table.h"

enum {
	LEAST_BLOCK_ROWS = 64,
	ROWS_PER_LANE = 40, /* of a block: 32 bytes for so many rows, and a 64th of it above */
	MAX_LEVELS = 6,     /* 64 rows times 64^5 are more than a table can have */
	NARROW_BLOCKS = 2,  /* so many in a pixel: they are not divided */
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
	size_t first_begin; /* of mr_detail.begins_ns */
};

struct mr_detail {
	struct mr_detail_rows rows;
	struct strand *strands; /* by track */
	struct block *blocks;
	size_t block_count;
	int64_t *
		begins_ns; /* of each lowest block, then of the rows after them: INT64_MAX without */
	size_t begin_count;
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
			.first_begin = detail->begin_count,
		};
		uint32_t level_count = list_levels(strand, levels);
		detail->begin_count += levels[0].count + UINT64_C(1);
		for (uint32_t i = 0; i < level_count; i++)
			detail->block_count += (size_t)levels[i].count * strand->lane_count;
	}
}

static void fill_begins(struct mr_detail *detail, const struct strand *strand,
			const struct level *lowest)
{
	for (uint32_t i = 0; i <= lowest->count; i++) {
		uint64_t place = (uint64_t)i * lowest->rows;

		detail->begins_ns[strand->first_begin + i] =
			place < strand->row_count ? detail->rows.start_ns[strand->first_row + place]
						  : INT64_MAX;
	}
}

static void fill_strand(struct mr_detail *detail, const struct strand *strand)
{
	struct level levels[MAX_LEVELS];
	uint32_t level_count = list_levels(strand, levels);

	fill_begins(detail, strand, levels);
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
	detail->begins_ns = malloc((detail->begin_count + 1) * sizeof *detail->begins_ns);
	if (!detail->blocks || !detail->begins_ns)
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
	free(detail->begins_ns);
	free(detail);
}

void mr_detail_archive(struct mr_archive *archive, const struct mr_detail_rows *rows,
		       struct mr_detail **detail)
{
	struct mr_detail *kept = *detail;

	if (archive->is_reading)
		kept = *detail = calloc(1, sizeof *kept);
	if (!kept) {
		archive->error = -ENOMEM;
		return;
	}
	kept->rows = *rows;
	mr_archive_array(archive, (void **)&kept->strands, rows->track_count,
			 sizeof *kept->strands);
	mr_archive_plain(archive, &kept->block_count, sizeof kept->block_count);
	mr_archive_array(archive, (void **)&kept->blocks, kept->block_count, sizeof *kept->blocks);
	mr_archive_plain(archive, &kept->begin_count, sizeof kept->begin_count);
	mr_archive_array(archive, (void **)&kept->begins_ns, kept->begin_count,
			 sizeof *kept->begins_ns);
}

uint32_t mr_detail_lanes(const struct mr_detail *detail, uint32_t track)
{
	return detail->strands[track].lane_count;
}

size_t mr_detail_bytes(const struct mr_detail *detail)
{
	return sizeof *detail + detail->rows.track_count * sizeof *detail->strands +
	       detail->block_count * sizeof *detail->blocks +
	       detail->begin_count * sizeof *detail->begins_ns;
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

/* Sums up the lowest blocks [first, end), by larger ones where it can, and goes behind them. */
static void take_blocks(struct walk *walk, uint32_t first, uint32_t end)
{
	for (uint32_t next = first; next < end;) {
		const struct level *level = walk->levels;
		uint32_t size = 1; /* in lowest blocks */

		while (next % (size * MR_DETAIL_FAN_OUT) == 0 &&
		       end - next >= size * MR_DETAIL_FAN_OUT) {
			size *= MR_DETAIL_FAN_OUT;
			level++;
		}
		add_block(&walk->sum, block_at(walk->detail, level, walk->lane, next / size));
		next += size;
	}
	walk->place = end * walk->levels->rows;
	walk->knows_lanes = false;
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

/* Goes to where the view begins, and leaves in `sum` what lasts into it. */
static void enter(struct walk *walk, uint32_t block, int64_t begin_ns)
{
	const struct mr_detail_rows *rows = &walk->detail->rows;
	uint32_t begin = find_in_block(walk, block, begin_ns);

	walk->place = mr_min(begin / walk->levels->rows, walk->levels->count) * walk->levels->rows;
	take_rows(walk, begin);
	uint32_t last = walk->sum.last;
	walk->sum = empty_block(last);
	if (last == MR_NO_ROW || end_of(rows, last) <= begin_ns)
		return;
	add_row(rows, &walk->sum, last);
}

/* While pixels are filled in, start and end are rows: what these rows say is looked up for all pixels in one go,
 * which spares most of the waiting for memory. */
static struct mr_detail_pixel make_pixel(const struct block *sum, uint32_t pixel)
{
	return (struct mr_detail_pixel){.pixel = pixel,
					.count = sum->count,
					.longest = sum->longest,
					.busy_ns = sum->busy_ns,
					.start_ns = sum->first,
					.end_ns = sum->last};
}

static uint32_t finish_pixels(const struct mr_detail_rows *rows, struct mr_detail_pixel *pixels,
			      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		pixels[i].start_ns = rows->start_ns[pixels[i].start_ns];
		pixels[i].end_ns = end_of(rows, (uint32_t)pixels[i].end_ns);
	}
	return count;
}

static uint32_t fill_pixels(struct walk *walk, const struct mr_detail_view *view, uint32_t block,
			    struct mr_detail_pixel *ret_pixels)
{
	const struct mr_pixels pixels = {view->begin_ns, view->end_ns, view->pixels};
	const struct mr_detail_rows *rows = &walk->detail->rows;
	uint64_t narrow_ns = mr_pixels_span_ns(&pixels) / view->pixels / NARROW_BLOCKS;
	uint32_t end = find_in_block(walk, find_block(walk, block, view->end_ns), view->end_ns);
	uint32_t filled = 0, pixel = 0;

	for (;;) {
		int64_t end_ns = mr_pixel_end_ns(&pixels, pixel);

		block = find_block(walk, block, end_ns);
		uint32_t next = follows_narrow(walk, block, narrow_ns)
					? block * walk->levels->rows
					: find_in_block(walk, block, end_ns);
		take(walk, mr_min(next, end));
		if (walk->sum.count)
			ret_pixels[filled++] = make_pixel(&walk->sum, pixel);
		if (walk->place == end)
			return finish_pixels(rows, ret_pixels, filled);
		walk->sum = empty_block(walk->sum.last);
		pixel = mr_pixel_at(&pixels, rows->start_ns[walk->strand->first_row + walk->place]);
	}
}

/* Before `row` nothing of its block is skipped, so that all lanes are known there. */
uint32_t mr_detail_lane(const struct mr_detail *detail, uint32_t track, uint32_t row)
{
	const struct strand *strand = &detail->strands[track];
	struct walk walk = {.detail = detail, .strand = strand, .lane = strand->lane_count - 1};
	uint32_t place = row - strand->first_row;

	list_levels(strand, walk.levels);
	const struct level *lowest = walk.levels;
	walk.place = mr_min(place / lowest->rows, lowest->count) * lowest->rows;
	take_rows(&walk, place);
	return free_lane(&walk.lanes, detail->rows.start_ns[row], walk.lane);
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
	uint32_t block = find_block(&walk, 0, view->begin_ns);
	enter(&walk, block, view->begin_ns);
	return fill_pixels(&walk, view, block, ret_pixels);
}
