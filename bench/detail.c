/* SPDX-License-Identifier: Apache-2.0
 *
 * detail SLICES [DEPTH]: builds the level-of-detail index of one track with that many generated slices, nested
 * DEPTH deep (1: one after the other), and queries it at several zooms. Prints the bytes of the index per slice,
 * the seconds to build it, and for each zoom the median milliseconds of a query for 2 000 pixels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pages.h"
#include "model/detail.h"
#include "rounds.h"

enum {
	PIXELS = 2000,
	LOOKS = 51,
};

/* Groups of `depth` slices, each nested in the previous one, in slightly more than 1 µs. */
static void generate(int64_t *start_ns, int64_t *duration_ns, uint32_t count, uint32_t depth)
{
	int64_t ns = 0;

	for (uint32_t row = 0; row < count; row++) {
		uint32_t level = row % depth;

		if (level == 0)
			ns += 1000 + (int64_t)(bench_random() % 256);
		start_ns[row] = ns + 10 * level;
		duration_ns[row] = 900 - 20 * (int64_t)level + (int64_t)(bench_random() % 8);
	}
}

static void look(const struct mr_detail *detail, int64_t span_ns, int64_t whole_ns, uint32_t lane)
{
	static struct mr_detail_pixel pixels[PIXELS];
	uint64_t taken_ns[LOOKS];
	uint64_t filled = 0;

	for (uint32_t i = 0; i < LOOKS; i++) {
		int64_t begin_ns = (int64_t)(bench_random() % (uint64_t)(whole_ns - span_ns + 1));
		uint64_t before_ns = bench_clock_ns(CLOCK_MONOTONIC);

		filled += mr_detail_query(
			detail,
			&(struct mr_detail_view){0, lane, begin_ns, begin_ns + span_ns, PIXELS},
			pixels);
		taken_ns[i] = bench_clock_ns(CLOCK_MONOTONIC) - before_ns;
	}
	printf("lane %u of 1/%" PRId64 ": %.3f ms, %" PRIu64 " pixels\n", lane, whole_ns / span_ns,
	       (double)bench_median(taken_ns, LOOKS) / 1e6, filled / LOOKS);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? bench_number(argv[1]) : 0;
	uint32_t depth = argc > 2 ? bench_number(argv[2]) : 1;

	if (count == 0 || depth == 0 || depth > 40) {
		fprintf(stderr, "usage: detail SLICES [DEPTH]\n");
		return 2;
	}
	int64_t *start_ns = mr_allocate_large(count * sizeof *start_ns);
	int64_t *duration_ns = mr_allocate_large(count * sizeof *duration_ns);
	const uint32_t first_of_track[] = {0, count};
	const struct mr_detail_rows rows = {start_ns, duration_ns, first_of_track, 1};
	struct mr_detail *detail = NULL;

	if (!start_ns || !duration_ns)
		return 1;
	generate(start_ns, duration_ns, count, depth);
	uint64_t before_ns = bench_clock_ns(CLOCK_MONOTONIC);
	if (mr_detail_build(&rows, &detail) < 0)
		return 1;
	printf("index: %.3f bytes per slice, built in %.2f s\n",
	       (double)mr_detail_bytes(detail) / count,
	       (double)(bench_clock_ns(CLOCK_MONOTONIC) - before_ns) / 1e9);
	int64_t whole_ns = start_ns[count - 1] + duration_ns[count - 1];
	for (uint32_t lane = 0; lane<depth; lane += depth> 1 ? depth - 1 : 1)
		for (int64_t zoom = 1; zoom <= 1000000 && whole_ns / zoom > PIXELS; zoom *= 100)
			look(detail, whole_ns / zoom, whole_ns, lane);
	mr_detail_free(detail);
	free(start_ns);
	free(duration_ns);
	return 0;
}
