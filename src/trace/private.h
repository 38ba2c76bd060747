/* SPDX-License-Identifier: Apache-2.0
 *
 * What an open trace owns. Inside src/trace only.
 *
 * Opening goes in three steps: the metadata is parsed, each file is scanned for packets
 * (packets.c), and the packets of all files are put in order, stream by stream (streams.c). All of
 * it is built before the trace is handed out and never changes after.
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

/* Lists what cannot be read. 0 or -ENOMEM. */
int mr_trace_add_damage(struct mr_trace_private *trace, uint32_t file, uint64_t offset,
			uint64_t lost_bytes, const char *reason);

/* Appends the packets of a mapped file. 0 or -ENOMEM. */
int mr_trace_scan_file(struct mr_trace_private *trace, uint32_t file);

/* Sorts the packets and makes the streams. 0 or -ENOMEM. */
int mr_trace_make_streams(struct mr_trace_private *trace);

/* Shows what is complete to the trace's users. */
void mr_trace_publish(struct mr_trace *trace);

#endif
