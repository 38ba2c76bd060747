/* SPDX-License-Identifier: Apache-2.0
 *
 * The structures of the level of detail, for detail.c, which builds it, and detail_query.c, which reads it.
 */
#ifndef MR_MODEL_DETAIL_BLOCKS_H
#define MR_MODEL_DETAIL_BLOCKS_H

#include <stdbool.h>

#include "base/macros.h"
#include "model/detail.h"
#include "model/table.h"

enum {
	MR_DETAIL_LEAST_BLOCK_ROWS = 64,
	MR_DETAIL_ROWS_PER_LANE = 40, /* of a block: 32 bytes for so many, a 64th of it above */
	MR_DETAIL_LEVELS = 6,         /* 64 rows times 64^5 are more than a table can have */
	MR_DETAIL_LANE_GROUP = 16,
};

/* Slices of one lane that begin in a block, or in a group of blocks. */
struct mr_detail_block {
	int64_t busy_ns;
	int64_t longest_ns;
	uint32_t longest; /* rows */
	uint32_t first;
	uint32_t last; /* that ends last of all so far, of blocks before too; or MR_NO_ROW */
	uint32_t count;
};

struct mr_detail_level {
	size_t first;   /* of mr_detail.blocks; those of a lane follow one another */
	uint32_t count; /* blocks of one lane */
	uint32_t rows;  /* of one block */
};

struct mr_detail_strand {
	uint32_t first_row;
	uint32_t row_count;
	uint32_t lane_count;
	size_t first_block;
	size_t first_begin; /* of mr_detail.begins_ns */
};

struct mr_detail {
	struct mr_detail_rows rows;
	struct mr_detail_strand *strands; /* by track */
	struct mr_detail_block *blocks;
	size_t block_count;
	int64_t *begins_ns; /* of lowest blocks, then of the rows after them: INT64_MAX without */
	size_t begin_count;
	bool is_mapped; /* blocks and begins_ns lie in a saved index */
};

/* ---- lanes -------------------------------------------------------------------------------------- */

/* Until when each lane is taken. Where many are, they are looked through by groups: of a group whose lanes were all
 * found taken, it is known until when. */
struct mr_detail_ends {
	int64_t end_ns[MR_DETAIL_LANES];
	int64_t group_end_ns[MR_DETAIL_LANES /
			     MR_DETAIL_LANE_GROUP]; /* no lane of it is free before */
};

static inline void mr_detail_clear_ends(struct mr_detail_ends *ends, uint32_t count)
{
	for (uint32_t lane = 0; lane < count; lane++)
		ends->end_ns[lane] = INT64_MIN;
	for (uint32_t lane = 0; lane < count; lane += MR_DETAIL_LANE_GROUP)
		ends->group_end_ns[lane / MR_DETAIL_LANE_GROUP] = INT64_MIN;
}

/* The first free lane of [lane, end), or `end`; *ret_end_ns is then when the first of them will be. */
static inline uint32_t mr_detail_free_lane_of(const struct mr_detail_ends *ends, int64_t start_ns,
					      uint32_t lane, uint32_t end, int64_t *ret_end_ns)
{
	int64_t end_ns = INT64_MAX;

	for (; lane < end && ends->end_ns[lane] > start_ns; lane++)
		end_ns = mr_min(end_ns, ends->end_ns[lane]);
	*ret_end_ns = end_ns;
	return lane;
}

/* The lowest free lane below `limit`, or `limit`. Those above play no part in it. */
static inline uint32_t mr_detail_free_lane(struct mr_detail_ends *ends, int64_t start_ns,
					   uint32_t limit)
{
	uint32_t lane = 0, whole = limit - limit % MR_DETAIL_LANE_GROUP;
	int64_t end_ns;

	while (lane < whole) {
		int64_t *group_end_ns = &ends->group_end_ns[lane / MR_DETAIL_LANE_GROUP];
		uint32_t end = lane + MR_DETAIL_LANE_GROUP;

		if (*group_end_ns <= start_ns) {
			lane = mr_detail_free_lane_of(ends, start_ns, lane, end, &end_ns);
			if (lane < end)
				return lane;
			*group_end_ns = end_ns;
		}
		lane = end;
	}
	return mr_detail_free_lane_of(ends, start_ns, lane, limit, &end_ns);
}

static inline void mr_detail_take_lane(struct mr_detail_ends *ends, uint32_t lane, int64_t end_ns)
{
	ends->end_ns[lane] = mr_max(ends->end_ns[lane], end_ns);
}

static inline int64_t mr_detail_end_of(const struct mr_detail_rows *rows, uint32_t row)
{
	return rows->start_ns[row] + rows->duration_ns[row];
}

/* ---- levels ------------------------------------------------------------------------------------- */

/* Returns how many levels have blocks. The one after them, which has none, is filled in too. */
static inline uint32_t mr_detail_list_levels(const struct mr_detail_strand *strand,
					     struct mr_detail_level *levels)
{
	uint32_t count = 0;

	levels[0] = (struct mr_detail_level){
		.first = strand->first_block,
		.rows = mr_max(MR_DETAIL_ROWS_PER_LANE * strand->lane_count,
			       MR_DETAIL_LEAST_BLOCK_ROWS + 0u),
	};
	while ((levels[count].count = strand->row_count / levels[count].rows)) {
		const struct mr_detail_level *below = &levels[count++];

		levels[count] = (struct mr_detail_level){
			.first = below->first + (size_t)below->count * strand->lane_count,
			.rows = (uint32_t)mr_min((uint64_t)below->rows * MR_DETAIL_FAN_OUT,
						 (uint64_t)UINT32_MAX),
		};
	}
	return count;
}

static inline struct mr_detail_block *mr_detail_block_at(const struct mr_detail *detail,
							 const struct mr_detail_level *level,
							 uint32_t lane, uint32_t index)
{
	return &detail->blocks[level->first + (size_t)lane * level->count + index];
}

/* ---- sums --------------------------------------------------------------------------------------- */

static inline void mr_detail_add_row(const struct mr_detail_rows *rows,
				     struct mr_detail_block *block, uint32_t row)
{
	int64_t duration_ns = rows->duration_ns[row];

	if (block->count++ == 0)
		block->first = row;
	block->busy_ns += duration_ns;
	if (duration_ns > block->longest_ns) {
		block->longest_ns = duration_ns;
		block->longest = row;
	}
	if (block->last == MR_NO_ROW ||
	    mr_detail_end_of(rows, row) >= mr_detail_end_of(rows, block->last))
		block->last = row;
}

static inline void mr_detail_add_block(struct mr_detail_block *sum,
				       const struct mr_detail_block *block)
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
static inline struct mr_detail_block mr_detail_empty_block(uint32_t last)
{
	return (struct mr_detail_block){.longest_ns = -1, .last = last};
}

#endif
