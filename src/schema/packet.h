/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of a packet in a stream file: CTF packet header, CTF packet context, then events.
 *
 *      0 ┌──────────────────────────────────────────────┐
 *        │ header    magic, trace id, stream            │
 *     32 ├──────────────────────────────────────────────┤
 *        │ context   times, sizes, sequence, losses,    │
 *        │           process, pid, tid, kind            │
 *     96 ├──────────────────────────────────────────────┤
 *        │ events ...                                   │
 *        ├──────────────────────────────────────────────┤ content_bits / 8
 *        │ padding (zero) up to a multiple of 8         │
 *        └──────────────────────────────────────────────┘ packet_bits / 8
 *
 * The text that describes this layout to CTF readers is in metadata.c.
 */
#ifndef MR_SCHEMA_PACKET_H
#define MR_SCHEMA_PACKET_H

#include <stdint.h>

#define MR_CTF_MAGIC 0xC1FC1FC1u

enum {
	MR_PACKET_MAX_BYTES =
		1 << 20,             /* no packet is larger; readers reject one that claims to be */
	MR_COMPACT_HEADER_BYTES = 5, /* u8 id, u32 time */
	MR_EXTENDED_HEADER_BYTES = 10, /* u8 255, u8 id, u64 time */
	MR_RECORDER_PROCESS = 1,       /* process number of the recorder: it attaches first */
};

/* Streams with different clocks belong to different CTF stream classes. */
enum mr_stream_class {
	MR_STREAM_USER = 0,   /* clock "user": TSC, or CLOCK_MONOTONIC if there is none */
	MR_STREAM_KERNEL = 1, /* clock "monotonic" */
};

enum mr_packet_kind {
	MR_PACKET_EVENTS = 0,
	MR_PACKET_DEFINITIONS = 1, /* read before events; never overwritten */
};

struct mr_packet_header {
	uint32_t magic;
	uint8_t trace_uuid[16];
	uint32_t stream_class;
	uint64_t stream; /* same number: same stream, continued in another file */
} __attribute__((packed));

struct mr_packet_context {
	uint64_t begin_ticks;
	uint64_t end_ticks;
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t sequence;         /* of the packet in its stream, from 0 */
	uint64_t discarded_events; /* of the stream so far, this packet included */
	uint32_t process;
	uint32_t pid;
	uint32_t tid;
	uint8_t kind; /* enum mr_packet_kind */
	uint8_t depth; /* 0: the thread itself; 1, 2: its signal handlers that interrupted a recording */
	uint16_t reserved;
} __attribute__((packed));

struct mr_packet {
	struct mr_packet_header header;
	struct mr_packet_context context;
	uint8_t events[];
} __attribute__((packed));

_Static_assert(sizeof(struct mr_packet_header) == 32, "documented above");
_Static_assert(sizeof(struct mr_packet) == 96, "documented above");

#endif
