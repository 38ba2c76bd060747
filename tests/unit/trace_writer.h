/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes small trace directories for tests, byte by byte, from what packet.h and schema.h draw and
 * not through their structs: a second opinion on the layout.
 *
 *     struct packet packet = {.begin = 100, .end = 200};
 *     packet_start(&packet);
 *     packet_event(&packet, MR_EVENT_node_instant, 150, payload, sizeof payload);
 *     packet_finish(&packet);
 *     directory_write(directory, "ctf/stream", packet.bytes, packet.size);
 *
 * Failures end the test.
 */
#ifndef MR_TESTS_UNIT_TRACE_WRITER_H
#define MR_TESTS_UNIT_TRACE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "schema/metadata.h"
#include "schema/schema.h"

enum {
	PACKET_HEADER_BYTES = 96,
	PACKET_CAPACITY = 1 << 16
};

extern const struct mr_metadata writer_metadata;

struct packet {
	uint64_t begin, end, stream, sequence, discarded;
	uint32_t stream_class, process, pid, tid;
	uint8_t kind, depth;
	size_t size; /* while open: of the content; then of the whole packet */
	uint8_t bytes[PACKET_CAPACITY];
};

void packet_start(struct packet *packet);
void packet_event(struct packet *packet, uint8_t id, uint64_t ticks, const void *payload,
		  size_t size);

/* The same of fields and, after them, a text; NULL: none. */
void packet_event_text(struct packet *packet, uint8_t id, uint64_t ticks, const void *fields,
		       size_t size, const char *text);
void packet_extended_event(struct packet *packet, uint8_t id, uint64_t ticks, const void *payload,
			   size_t size);
void packet_finish(struct packet *packet);

/* Little-endian, `count` bytes. */
void put_number(uint8_t *to, uint64_t value, size_t count);
uint64_t get_number(const void *from, size_t count);

/* One event with arbitrary fields, and its payload. */
struct sample {
	const struct mr_event_desc *desc;
	uint64_t ticks;
	uint64_t numbers[16]; /* one for each field */
	char text[24];
	uint8_t payload[256];
	size_t size;
};

uint64_t next_random(uint64_t *state);
void sample_fill(struct sample *sample, uint8_t id, uint64_t ticks, uint64_t *random);

/* A fresh directory with a ctf/ folder in it, and its end. */
char *directory_make(void);
void directory_write(const char *directory, const char *name, const void *bytes, size_t size);
void directory_write_metadata(const char *directory);
struct mr_trace *directory_open(const char *directory);
void directory_remove(char *directory);

/* The metadata as text, owned by the caller; and the same with one piece of text, which must occur,
 * replaced wherever it does. Frees the text it is given. */
char *metadata_text(void);
char *text_replace(char *text, const char *from, const char *to);

#endif
