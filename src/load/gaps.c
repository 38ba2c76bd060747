/* SPDX-License-Identifier: Apache-2.0 */
#include "load/gaps.h"

#include <string.h>

static int compare(const void *left, const void *right)
{
	const struct mr_gap *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

/* Where the oldest packets of a CPU were overwritten, nothing before its first one is complete. */
static void find_span(const struct mr_model *model, struct mr_gaps *gaps)
{
	gaps->on_ns = model->survey->kernel_recorded.on_ns;
	gaps->off_ns = INT64_MIN;
	for (uint32_t i = 0; i < model->trace->stream_count; i++) {
		const struct mr_trace_stream *stream = &model->trace->streams[i];

		if (stream->stream_class != MR_STREAM_KERNEL || stream->kind != MR_PACKET_EVENTS ||
		    stream->packet_count == 0)
			continue;
		const struct mr_packet_context *first = &stream->packets[0].packet->context;
		const struct mr_packet_context *last =
			&stream->packets[stream->packet_count - 1].packet->context;
		int64_t begin_ns = (int64_t)mr_min(first->begin_ticks, (uint64_t)MR_CLOCK_MAX_NS);
		int64_t end_ns = (int64_t)mr_min(last->end_ticks, (uint64_t)MR_CLOCK_MAX_NS);

		if (first->sequence > 0)
			gaps->on_ns = mr_max(gaps->on_ns, begin_ns);
		gaps->off_ns = mr_max(gaps->off_ns, end_ns);
	}
	gaps->off_ns = mr_min(gaps->off_ns, model->survey->kernel_recorded.off_ns);
}

int mr_gaps_make(const struct mr_model *model, struct mr_gaps *ret_gaps)
{
	size_t count = model->survey->gaps.count;
	struct mr_gaps gaps = {.lost = malloc((count + 1) * sizeof *gaps.lost),
			       .lost_count = count};

	if (!gaps.lost)
		return -ENOMEM;
	if (count)
		memcpy(gaps.lost, model->survey->gaps.items, count * sizeof *gaps.lost);
	qsort(gaps.lost, count, sizeof *gaps.lost, compare);
	find_span(model, &gaps);
	*ret_gaps = gaps;
	return 0;
}

void mr_gaps_free(struct mr_gaps *gaps)
{
	free(gaps->lost);
}

/* The first gap of that CPU or of a later one that does not end before `ns`. Gaps of one CPU do not overlap. */
static size_t find_first(const struct mr_gaps *gaps, uint32_t cpu, int64_t ns)
{
	size_t low = 0, high = gaps->lost_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mr_gap *gap = &gaps->lost[middle];

		if (gap->cpu < cpu || (gap->cpu == cpu && gap->end_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct part {
	int64_t begin_ns;
	int64_t end_ns;
};

static void add(struct part *part, int64_t begin_ns, int64_t end_ns)
{
	part->begin_ns = mr_min(part->begin_ns, begin_ns);
	part->end_ns = mr_max(part->end_ns, end_ns);
}

static void find_lost(const struct mr_gaps *gaps, uint32_t cpu, int64_t begin_ns, int64_t end_ns,
		      struct part *part)
{
	for (size_t i = find_first(gaps, cpu, begin_ns);
	     i < gaps->lost_count && gaps->lost[i].cpu == cpu && gaps->lost[i].begin_ns < end_ns;
	     i++)
		add(part, gaps->lost[i].begin_ns, gaps->lost[i].end_ns);
}

bool mr_gaps_find(const struct mr_gaps *gaps, uint32_t cpu, int64_t *begin_ns, int64_t *end_ns,
		  uint8_t *ret_reason)
{
	struct part part = {INT64_MAX, INT64_MIN};

	if (mr_likely(gaps->lost_count == 0 && *begin_ns >= gaps->on_ns))
		return false;
	if (cpu != MR_NO_CPU)
		find_lost(gaps, cpu, *begin_ns, *end_ns, &part);
	for (size_t i = 0; cpu == MR_NO_CPU && i < gaps->lost_count;) {
		uint32_t next_cpu = gaps->lost[i].cpu;

		find_lost(gaps, next_cpu, *begin_ns, *end_ns, &part);
		i = find_first(gaps, next_cpu, INT64_MAX);
	}
	*ret_reason = part.begin_ns < part.end_ns ? MR_REASON_LOST : MR_REASON_NOT_RECORDED;
	if (*begin_ns < gaps->on_ns)
		add(&part, *begin_ns, gaps->on_ns);
	if (part.begin_ns >= part.end_ns)
		return false;
	*begin_ns = mr_max(*begin_ns, part.begin_ns);
	*end_ns = mr_min(*end_ns, part.end_ns);
	return true;
}
