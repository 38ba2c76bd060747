/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream files of a trace being recorded. The recorder only appends whole packets.
 *
 *     owner (class, process, thread, depth, kind) ──► stream ──► ctf/stream-000007      all of it, or
 *                                                                ctf/stream-000007.003  in pieces
 *                                                                ctf/stream-000007.004
 *
 * A stream belongs to one owner at a time. When its owner has ended, a later one may continue it,
 * provided its packets begin after the stream's last end: so there are no more streams than threads
 * alive at once, and times never decrease within one.
 *
 * If there is a limit on bytes or age, the streams are split into pieces, and whenever the limit is exceeded
 * the piece that ended first is deleted: the newest are kept. Definitions do not count and are never deleted.
 * CTF readers join pieces by the stream number in their packets. Streams of the two classes have different
 * clocks: to compare their times, kernel times are converted to ticks of the user clock.
 *
 * If a packet cannot be written whole, the file is truncated to its old size, so that a full disk leaves a
 * valid trace.
 */
#ifndef MR_LAUNCH_STREAMS_H
#define MR_LAUNCH_STREAMS_H

#include "base/vector.h"
#include "record/arena.h"
#include "schema/packet.h"

struct mr_stream_owner {
	uint32_t process;
	uint32_t tid; /* or CPU, in the kernel's class */
	uint8_t kind; /* enum mr_packet_kind */
	uint8_t depth;
	uint8_t stream_class; /* enum mr_stream_class */
};

struct mr_stream {
	struct mr_stream_owner owner;
	bool is_owned;
	int fd; /* -1: not open at the moment */
	uint32_t piece;
	uint32_t next_in_bucket; /* index + 1 */
	uint32_t owner_packets;  /* of the present owner */
	uint64_t piece_bytes;
	uint64_t piece_begin_ticks; /* of the user clock */
	uint64_t next_sequence;
	uint64_t discarded_events;
	uint64_t last_begin_ticks; /* of the last packet */
	uint64_t last_end_ticks;
	uint64_t last_use; /* for closing the file used longest ago */
};

/* A finished or current piece of a stream of events; only kept when there is a limit. Its times are ticks
 * of the user clock. */
struct mr_stream_piece {
	uint32_t stream;
	uint32_t piece;
	uint64_t bytes;
	uint64_t packets;
	uint64_t begin_ticks;
	uint64_t end_ticks;
};

struct mr_stream_limits {
	uint64_t bytes;     /* 0: none */
	uint64_t age_ticks; /* 0: none */
};

/* The two clocks at one moment, and how fast the user clock runs. Zeroed: they are the same clock. */
struct mr_stream_clocks {
	uint64_t user_ticks;
	uint64_t monotonic_ns;
	uint64_t ticks_per_second;
};

enum {
	MR_STREAM_BUCKETS = 1024,
	MR_STREAMS_OPEN_MAX = 256
};

struct mr_streams {
	int directory; /* of the ctf folder; borrowed */
	struct mr_stream_limits limits;
	struct mr_stream_clocks clocks;
	mr_vec(struct mr_stream) streams;
	mr_vec(struct mr_stream_piece) pieces;
	uint32_t buckets[MR_STREAM_BUCKETS]; /* owners: index + 1 of the first */
	uint32_t open_files;
	uint64_t uses;
	uint64_t bytes;         /* in all files now */
	uint64_t event_bytes;   /* of these, in pieces that may be deleted */
	uint64_t written_bytes; /* ever */
	uint64_t overwritten_packets;
	uint64_t overwritten_user_packets; /* of these, not of the kernel level */
	uint64_t overwritten_bytes;
	uint64_t kept_from_ticks; /* of the user clock: events before this are gone; 0: none are */
};

/* Without limits `clocks` may be zeroed: no times are compared then. */
void mr_streams_init(struct mr_streams *streams, int directory, struct mr_stream_limits limits,
		     struct mr_stream_clocks clocks);
void mr_streams_fini(struct mr_streams *streams);

/* Goes on with the files that are there: cuts off a half-written packet at the end of each. */
int mr_streams_resume(struct mr_streams *streams);

/* How many packets of this packet's owner have been appended. */
uint32_t mr_streams_owner_packets(const struct mr_streams *streams, const struct mr_packet *packet);

/* True if the packet is already the last one of its owner's stream. */
bool mr_streams_has(const struct mr_streams *streams, const struct mr_packet *packet);

/* True if this file of ours is a piece that will not be written to any more. */
bool mr_streams_is_finished(const struct mr_streams *streams, const char *name);

/* Completes the packet's header (stream, sequence, sizes, losses), pads it and appends it: it is the
 * caller's own copy, not shared with its owner. `owner_ended` lets others continue the stream. */
int mr_streams_append(struct mr_streams *streams, struct mr_packet *packet, uint32_t content_bytes,
		      uint64_t end_ticks, uint64_t discarded_events, bool owner_ended);

/* Lets others continue the streams of a process that is gone. */
void mr_streams_release_process(struct mr_streams *streams, uint32_t process);

/* Deletes what is older than the age limit. */
void mr_streams_expire(struct mr_streams *streams, uint64_t now_ticks);

#endif
