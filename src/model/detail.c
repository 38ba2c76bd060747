/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/pages.h"
#include "model/archive.h"
#include "model/detail_blocks.h"

/* ---- building ----------------------------------------------------------------------------------- */

static uint32_t count_lanes(const struct mr_detail_rows *rows, uint32_t first, uint32_t end)
{
	struct mr_detail_ends ends;
	uint32_t count = 0;

	mr_detail_clear_ends(&ends, MR_DETAIL_LANES);
	for (uint32_t row = first; row < end; row++) {
		uint32_t limit = mr_min(count, MR_DETAIL_LANES - 1u);
		uint32_t lane = mr_detail_free_lane(&ends, rows->start_ns[row], limit);

		count = mr_max(count, lane + 1);
		mr_detail_take_lane(&ends, lane, mr_detail_end_of(rows, row));
	}
	return count;
}

static void fill_lowest(struct mr_detail *detail, const struct mr_detail_strand *strand,
			const struct mr_detail_level *level)
{
	const struct mr_detail_rows *rows = &detail->rows;
	uint32_t row = strand->first_row;
	struct mr_detail_ends ends;

	mr_detail_clear_ends(&ends, strand->lane_count);
	for (uint32_t i = 0; i < level->count; i++) {
		uint32_t end = row + level->rows;

		for (uint32_t lane = 0; lane < strand->lane_count; lane++)
			*mr_detail_block_at(detail, level, lane, i) = mr_detail_empty_block(
				i ? mr_detail_block_at(detail, level, lane, i - 1)->last
				  : MR_NO_ROW);
		for (; row < end; row++) {
			uint32_t lane = mr_detail_free_lane(&ends, rows->start_ns[row],
							    strand->lane_count - 1);

			mr_detail_add_row(rows, mr_detail_block_at(detail, level, lane, i), row);
			mr_detail_take_lane(&ends, lane, mr_detail_end_of(rows, row));
		}
	}
}

static void fill_upper(struct mr_detail *detail, const struct mr_detail_strand *strand,
		       const struct mr_detail_level *level)
{
	const struct mr_detail_level *below = level - 1;

	for (uint32_t lane = 0; lane < strand->lane_count; lane++)
		for (uint32_t i = 0; i < level->count; i++) {
			struct mr_detail_block *sum = mr_detail_block_at(detail, level, lane, i);
			const struct mr_detail_block *block =
				mr_detail_block_at(detail, below, lane, i * MR_DETAIL_FAN_OUT);

			*sum = mr_detail_empty_block(block[MR_DETAIL_FAN_OUT - 1].last);
			for (uint32_t j = 0; j < MR_DETAIL_FAN_OUT; j++)
				mr_detail_add_block(sum, &block[j]);
		}
}

static void list_strands(struct mr_detail *detail)
{
	for (uint32_t track = 0; track < detail->rows.track_count; track++) {
		const uint32_t *first = &detail->rows.first_of_track[track];
		struct mr_detail_level levels[MR_DETAIL_LEVELS];
		struct mr_detail_strand *strand = &detail->strands[track];

		*strand = (struct mr_detail_strand){
			.first_row = first[0],
			.row_count = first[1] - first[0],
			.lane_count = count_lanes(&detail->rows, first[0], first[1]),
			.first_block = detail->block_count,
			.first_begin = detail->begin_count,
		};
		uint32_t level_count = mr_detail_list_levels(strand, levels);
		detail->begin_count += levels[0].count + UINT64_C(1);
		for (uint32_t i = 0; i < level_count; i++)
			detail->block_count += (size_t)levels[i].count * strand->lane_count;
	}
}

static void fill_begins(struct mr_detail *detail, const struct mr_detail_strand *strand,
			const struct mr_detail_level *lowest)
{
	for (uint32_t i = 0; i <= lowest->count; i++) {
		uint64_t place = (uint64_t)i * lowest->rows;

		detail->begins_ns[strand->first_begin + i] =
			place < strand->row_count ? detail->rows.start_ns[strand->first_row + place]
						  : INT64_MAX;
	}
}

static void fill_strand(struct mr_detail *detail, const struct mr_detail_strand *strand)
{
	struct mr_detail_level levels[MR_DETAIL_LEVELS];
	uint32_t level_count = mr_detail_list_levels(strand, levels);

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
	if (!detail->is_mapped) {
		free(detail->blocks);
		free(detail->begins_ns);
	}
	free(detail);
}

/* Whoever adds a member keeps it below, and then changes the size here. */
_Static_assert(sizeof(struct mr_detail) == 80, "say here whether new members are kept");

void mr_detail_archive(struct mr_archive *archive, const struct mr_detail_rows *rows,
		       struct mr_detail **detail)
{
	struct mr_detail *kept = *detail;

	if (archive->is_reading) {
		kept = *detail = calloc(1, sizeof *kept);
		if (!kept) {
			archive->error = -ENOMEM;
			return;
		}
		kept->rows = *rows;
		kept->is_mapped = true;
	}
	mr_archive_array(archive, (void **)&kept->strands, rows->track_count,
			 sizeof *kept->strands);
	mr_archive_plain(archive, &kept->block_count, sizeof kept->block_count);
	mr_archive_column(archive, (void **)&kept->blocks, kept->block_count, sizeof *kept->blocks);
	mr_archive_plain(archive, &kept->begin_count, sizeof kept->begin_count);
	mr_archive_column(archive, (void **)&kept->begins_ns, kept->begin_count,
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
