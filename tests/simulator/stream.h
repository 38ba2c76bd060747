/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream of the trace that the simulator writes: kept as a list of events until the simulation is over, then cut into
 * packets.
 *
 *     struct stream stream = stream_begin(MR_STREAM_USER, process, pid, tid, MR_PACKET_EVENTS);
 *     PUT(&stream, ns, node_interval, NULL, .node = 1, ...);        // in order of time
 *     stream_write(&stream, directory, number, last_ns);
 *     stream_free(&stream);
 */
#ifndef MR_TESTS_SIMULATOR_STREAM_H
#define MR_TESTS_SIMULATOR_STREAM_H

#include "schema/packet.h"
#include "world.h"

struct record {
	int64_t ns;
	uint8_t id;
	size_t offset; /* of its fields in `bytes` */
	size_t size;
};

struct stream {
	uint32_t stream_class, process, pid, tid;
	uint8_t kind;
	int64_t begin_ns, end_ns; /* the begin of the world, until the caller knows better */
	mr_vec(struct record) records;
	mr_vec(uint8_t) bytes;
};

struct stream stream_begin(uint32_t stream_class, uint32_t process, uint32_t pid, uint32_t tid,
			   enum mr_packet_kind kind);
void stream_free(struct stream *stream);

/* PUT(stream, ns, node_interval, NULL, .node = 1, ...) */
#define PUT(stream, ns, name, text, ...)                                                 \
	do {                                                                             \
		const struct mr_event_##name fields_ = {__VA_ARGS__};                    \
		stream_put(stream, ns, MR_EVENT_##name, &fields_, sizeof fields_, text); \
	} while (0)
void stream_put(struct stream *stream, int64_t ns, uint8_t id, const void *fields, size_t size,
		const char *text);

/* Writes its files. What untraced threads do after `last_ns` is left out. What is defined is defined when the process
 * begins. */
void stream_write(const struct stream *stream, const char *directory, uint32_t number,
		  int64_t last_ns);

#endif
