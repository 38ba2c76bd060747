/* SPDX-License-Identifier: Apache-2.0
 *
 * Orders packets by stream, and within a stream by time. Sequence numbers only show how many packets
 * are missing, so a wrong one does not affect the order.
 *
 * In an undamaged stream packets follow one another: both their begins and their ends increase. A
 * packet whose begin or end is damaged may enclose others:
 *
 *     ├──┤ ├──┤ ├──┤ ├──┤        undamaged
 *     ├──┤ ├────────────┤        second one's end damaged, so that it encloses the next two
 *             ├──┤ ├──┤
 *
 * The longest chain in which the ends increase as well omits the enclosing packet. It would be
 * simpler to omit every packet that contradicts its predecessor, but that would lose all enclosed ones.
 */
#include <errno.h>

#include "base/error.h"
#include "trace/private.h"

#define mr_compare(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_streams(const struct mr_packet *a, const struct mr_packet *b)
{
	int order = mr_compare(b->context.kind, a->context.kind); /* definitions first */
	if (!order)
		order = mr_compare(a->header.stream_class, b->header.stream_class);
	if (!order)
		order = mr_compare(a->header.stream, b->header.stream);
	return order;
}

static uint64_t end_ticks(const struct mr_trace_packet *packet)
{
	return packet->packet->context.end_ticks;
}

static int compare_packets(const void *first, const void *second)
{
	const struct mr_trace_packet *a = first, *b = second;
	int order = compare_streams(a->packet, b->packet);
	if (!order)
		order = mr_compare(a->packet->context.begin_ticks, b->packet->context.begin_ticks);
	if (!order)
		order = mr_compare(end_ticks(a), end_ticks(b));
	if (!order)
		order = mr_compare(a->packet->context.sequence, b->packet->context.sequence);
	if (!order)
		order = mr_compare(a->file, b->file);
	if (!order)
		order = mr_compare(a->file_offset, b->file_offset);
	return order;
}

static bool is_in_order(const struct mr_trace_packet *packets, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (end_ticks(&packets[i]) < end_ticks(&packets[i - 1]))
			return false;
	return true;
}

/* Marks the longest chain of packets whose ends do not decrease, with the usual algorithm: ends[n] is
 * the packet with the earliest end that closes a chain of n + 1. */
static void mark_chain(const struct mr_trace_packet *packets, uint32_t count, uint32_t *ends,
		       uint32_t *before, bool *chained)
{
	uint32_t length = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t low = 0, high = length;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (end_ticks(&packets[ends[middle]]) <= end_ticks(&packets[i]))
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? ends[low - 1] : i;
		ends[low] = i;
		length = mr_max(length, low + 1);
	}
	for (uint32_t i = ends[length - 1];; i = before[i]) {
		chained[i] = true;
		if (before[i] == i)
			break;
	}
}

/* Removes the packets that contradict the others. */
static int drop_misfits(struct mr_trace_private *trace, struct mr_trace_packet *packets,
			uint32_t *count)
{
	if (is_in_order(packets, *count))
		return 0;
	mr_auto(free) uint32_t *links = calloc(*count, 2 * sizeof *links);
	mr_auto(free) bool *chained = calloc(*count, sizeof *chained);
	if (!links || !chained)
		return mr_fail_errno(ENOMEM, "order of packets");
	mark_chain(packets, *count, links, links + *count, chained);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < *count; i++) {
		if (chained[i])
			packets[kept++] = packets[i];
		else if (mr_trace_add_damage(trace, packets[i].file, packets[i].file_offset,
					     packets[i].packet->context.packet_bits / 8,
					     "the packet's times contradict those of others") < 0)
			return -ENOMEM;
	}
	*count = kept;
	return 0;
}

/* Numbers count from 0. Only the last one matters: a wrong number in between loses nothing. */
static uint64_t count_missing(const struct mr_trace_packet *packets, uint32_t count)
{
	uint64_t last = packets[count - 1].packet->context.sequence;
	return last >= count ? last - (count - 1) : 0;
}

static int add_stream(struct mr_trace_private *trace, struct mr_trace_packet *packets,
		      uint32_t count)
{
	const struct mr_packet *first = packets[0].packet;
	if (drop_misfits(trace, packets, &count) < 0)
		return -ENOMEM;
	struct mr_trace_stream stream = {
		.number = first->header.stream,
		.stream_class = first->header.stream_class,
		.kind = first->context.kind,
		.packets = packets,
		.packet_count = count,
		.discarded_events = packets[count - 1].packet->context.discarded_events,
		.missing_packets = count_missing(packets, count),
	};
	if (mr_vec_push(&trace->streams, stream) < 0)
		return mr_fail_errno(ENOMEM, "list of streams");
	return 0;
}

int mr_trace_make_streams(struct mr_trace_private *trace)
{
	struct mr_trace_packet *packets = trace->packets.items;
	size_t count = trace->packets.count;
	if (count > UINT32_MAX)
		return mr_fail(EFBIG, "too many packets");
	if (count > 0)
		qsort(packets, count, sizeof *packets, compare_packets);
	for (size_t first = 0, next; first < count; first = next) {
		next = first + 1;
		while (next < count &&
		       compare_streams(packets[first].packet, packets[next].packet) == 0)
			next++;
		if (add_stream(trace, &packets[first], (uint32_t)(next - first)) < 0)
			return -ENOMEM;
	}
	return 0;
}
