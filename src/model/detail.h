/* SPDX-License-Identifier: Apache-2.0
 *
 * Level of detail: finds what a viewer draws for a track, in time that depends on the number of pixels and not
 * on the number of slices (the rows of any table of intervals).
 *
 * The slices of a track lie in lanes. Each slice takes the lowest lane that is free when it begins, so nothing
 * overlaps in a lane. If slices are nested, the lane is the depth; if they overlap otherwise, as in a queue whose
 * operations run concurrently, they lie beside each other:
 *
 *     lane 0  ├──── A ──────────┤ ├── D ──┤              pixels of lane 0     │ A, D │ -    │
 *     lane 1     ├─ B ─┤  ├── C ──────┤                  pixels of lane 1     │ B, C │ -    │
 *
 * The last of MR_DETAIL_LANES contains all slices that found no other lane; only there slices overlap.
 *
 * The rows of a track form blocks, blocks form groups of MR_DETAIL_FAN_OUT, and so on. For each lane a block
 * stores how many slices begin in it, their time, the longest, the first, and the one that ends last. The lanes
 * of single rows are not stored: they are computed again from the lanes' ends at the begin of the block. Blocks
 * have so many rows that all of this takes less than a byte per slice, however many lanes there are.
 *
 *     level 1   ┌──────────────── 64 blocks ────────────────┐┌────
 *     level 0   ├ block_rows ┤├ block_rows ┤├ ...            ├
 *     rows      ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪    those after the last whole
 *                                                                       block are always looked at
 *
 * Borrows the columns, which must live longer. Read-only once built: any number of threads.
 */
#ifndef MR_MODEL_DETAIL_H
#define MR_MODEL_DETAIL_H

#include <stddef.h>
#include <stdint.h>

enum {
	MR_DETAIL_LANES = 256,
	MR_DETAIL_FAN_OUT = 64,
};

/* Columns of a table, sorted as mr_table_sort() does. */
struct mr_detail_rows {
	const int64_t *start_ns;
	const int64_t *duration_ns;
	const uint32_t *first_of_track; /* track_count + 1 of them */
	uint32_t track_count;
};

/* The time from begin_ns to end_ns on so many pixels (pixels.h). A slice belongs to the pixel in which it
 * begins. */
struct mr_detail_view {
	uint32_t track;
	uint32_t lane; /* of several: the first */
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t pixels;
};

/* All slices of one pixel; if there is only one, this describes it completely. */
struct mr_detail_pixel {
	uint32_t pixel;
	uint32_t lane;
	uint32_t count;
	uint32_t longest; /* row; of several that are as long, the first */
	int64_t busy_ns;  /* sum of their durations */
	int64_t start_ns; /* of the first */
	int64_t end_ns;   /* the latest end of all that have begun so far */
};

struct mr_detail_pixels {
	struct mr_detail_pixel *items;
	size_t count;
	size_t capacity;
};

struct mr_detail;

struct mr_archive;

/* 0 or -ENOMEM. */
int mr_detail_build(const struct mr_detail_rows *rows, struct mr_detail **ret_detail);
void mr_detail_free(struct mr_detail *detail);

static inline void mr_cleanup_detail(struct mr_detail **detail)
{
	mr_detail_free(*detail);
}

/* Keeps it in an archive (archive.h), or finds it in one, whose file must then live longer, of the rows that it was
 * built of. */
void mr_detail_archive(struct mr_archive *archive, const struct mr_detail_rows *rows,
		       struct mr_detail **detail);

/* Lanes of a track that are in use. */
uint32_t mr_detail_lanes(const struct mr_detail *detail, uint32_t track);

/* The lane of a row of the track. */
uint32_t mr_detail_lane(const struct mr_detail *detail, uint32_t track, uint32_t row);

/* Fills in the pixels that are not empty, in order, and returns how many: at most view->pixels. What began
 * before the view and lasts into it belongs to the first pixel (of the last lane: the one that ends last). Blocks
 * that are shorter than half a pixel are not divided: all of such a block belongs to the pixel in which it
 * begins. */
uint32_t mr_detail_query(const struct mr_detail *detail, const struct mr_detail_view *view,
			 struct mr_detail_pixel *ret_pixels);

/* The same of `lanes` lanes, in one walk: by lane, the pixels of each in order. 0, or -ENOMEM; *pixels keeps its
 * memory from one call to the next, until the caller frees it (base/vector.h). */
int mr_detail_query_lanes(const struct mr_detail *detail, const struct mr_detail_view *view,
			  uint32_t lanes, struct mr_detail_pixels *pixels);

/* What the index takes, the columns not counted. */
size_t mr_detail_bytes(const struct mr_detail *detail);

#endif
