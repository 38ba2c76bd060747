/* SPDX-License-Identifier: Apache-2.0
 *
 * What an open trace owns. Private to src/trace.
 *
 * Opening takes three steps: parse the metadata, scan each file for packets (packets.c), and order the
 * packets of all files, stream by stream (streams.c). All of it is complete before the caller gets
 * the trace, and never changes afterwards.
 */
#ifndef MR_TRACE_PRIVATE_H
#define MR_TRACE_PRIVATE_H

#include "base/mapping.h"
#include "base/vector.h"
#include "trace/metadata.h"
#include "trace/trace.h"

struct mr_trace_private {
	char *path;
	struct mr_trace_metadata *metadata;
	mr_vec(char *) names;               /* of the stream files, sorted */
	mr_vec(struct mr_mapping) mappings; /* one for each name */
	mr_vec(struct mr_trace_packet) packets;
	mr_vec(struct mr_trace_stream) streams; /* each a slice of packets */
	mr_vec(struct mr_trace_damage) damages;
};

/* Adds a place that cannot be read to the list of damages. 0 or -ENOMEM. */
int mr_trace_add_damage(struct mr_trace_private *trace, uint32_t file, uint64_t offset,
			uint64_t lost_bytes, const char *reason);

/* Appends the packets of a mapped file, which lies in the directory (-1: in none, but in memory). 0 or -ENOMEM. */
int mr_trace_scan_file(struct mr_trace_private *trace, uint32_t file, int directory);

/* Sorts the packets and builds the streams. 0 or -ENOMEM. */
int mr_trace_make_streams(struct mr_trace_private *trace);

/* Publishes the finished lists to the users of the trace. */
void mr_trace_publish(struct mr_trace *trace);

#endif
