/* SPDX-License-Identifier: Apache-2.0
 *
 * The packets of the kernel level that are being filled: for each CPU one of events and one of definitions.
 *
 *     mr_kernel_put() ──► CPU 0 ─┬─ events       ▒▒▒▒▒▒▒▒▒▒▒   ──► sink, when full or old
 *                                └─ definitions  ▒▒▒
 *                         CPU 1 ─┬─ ...
 *
 * The life of tasks (kernel_fork, _exec, _exit, _task_name) goes to the definitions, which a flight recorder
 * keeps. Times of a stream never decrease: a source delivers its events in order, and an event that is still
 * slightly late gets the time of the previous event.
 *
 * One thread at a time. A packet that the sink rejects is dropped; the sink counts it.
 */
#ifndef MR_KERNEL_PACKETS_H
#define MR_KERNEL_PACKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schema/packet.h"

enum {
	MR_KERNEL_PACKET_BYTES = 64 << 10,
	MR_KERNEL_TEXT_MAX = 16 << 10, /* bytes; longer texts are truncated */
};

/* Receives finished packets. The sink fills in sizes, sequence and stream number of the packet. */
struct mr_kernel_sink {
	void *context;
	int (*append)(void *context, struct mr_packet *packet, uint32_t content_bytes,
		      uint64_t end_ns, uint64_t discarded_events);
};

struct mr_kernel_packet {
	struct mr_packet *packet; /* has room for MR_KERNEL_PACKET_BYTES; NULL: none is begun yet */
	uint32_t content_bytes;   /* 0: no event in it */
	uint64_t last_ns;         /* of the stream */
	uint64_t discarded;       /* events lost since the last packet */
};

struct mr_kernel_stream {
	struct mr_kernel_streams *streams;
	uint32_t cpu;
	uint64_t events;                    /* added so far, including definitions */
	struct mr_kernel_packet packets[2]; /* by enum mr_packet_kind */
};

struct mr_kernel_streams {
	struct mr_kernel_sink sink;
	struct mr_packet_header header;   /* of every packet */
	struct mr_packet_context context; /* likewise, except for what differs */
	uint32_t cpu_count;
	struct mr_kernel_stream of_cpu[];
};

/* Makes the streams of the recorder with this pid. */
int mr_kernel_streams_new(const struct mr_kernel_sink *sink, const uint8_t trace_uuid[16],
			  pid_t pid, uint32_t cpu_count, struct mr_kernel_streams **ret_streams);
void mr_kernel_streams_free(struct mr_kernel_streams *streams);

/* Adds an event; `text` is its str field, or NULL if it has none. */
void mr_kernel_put(struct mr_kernel_stream *stream, uint64_t ns, uint8_t event, const void *payload,
		   size_t bytes, const char *text);

/* Counts events that could not be recorded, and writes a loss event to the stream. */
void mr_kernel_put_loss(struct mr_kernel_stream *stream, uint64_t ns, uint64_t count,
			uint8_t loss_reason);

/* Hands over the packets that were begun before `begun_before_ns`: UINT64_MAX for all. */
void mr_kernel_streams_flush(struct mr_kernel_streams *streams, uint64_t begun_before_ns);

#endif
