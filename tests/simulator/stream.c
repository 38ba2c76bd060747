/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <string.h>

#include "../unit/trace_writer.h"

enum {
	ROOM_BYTES = 300, /* for one more event in a packet */
};

struct stream stream_begin(uint32_t stream_class, uint32_t process, uint32_t pid, uint32_t tid,
			   enum mr_packet_kind kind)
{
	return (struct stream){.stream_class = stream_class,
			       .process = process,
			       .pid = pid,
			       .tid = tid,
			       .kind = (uint8_t)kind,
			       .begin_ns = WORLD_BEGIN_NS,
			       .end_ns = WORLD_BEGIN_NS};
}

void stream_free(struct stream *stream)
{
	mr_vec_free(&stream->records);
	mr_vec_free(&stream->bytes);
}

void stream_put(struct stream *stream, int64_t ns, uint8_t id, const void *fields, size_t size,
		const char *text)
{
	struct record record = {ns, id, stream->bytes.count, size + (text ? strlen(text) + 1 : 0)};

	for (size_t i = 0; i < size; i++)
		PUSH(&stream->bytes, ((const uint8_t *)fields)[i]);
	for (size_t i = size; i < record.size; i++)
		PUSH(&stream->bytes, (uint8_t)text[i - size]);
	PUSH(&stream->records, record);
}

static void write_packet(const char *directory, struct packet *packet, int64_t end_ns)
{
	char name[48];

	packet_finish(packet);
	put_number(packet->bytes + 40, (uint64_t)end_ns, 8);
	snprintf(name, sizeof name, "ctf/stream_%u.%u", (unsigned)packet->stream,
		 (unsigned)packet->sequence);
	directory_write(directory, name, packet->bytes, packet->size);
	packet->sequence++;
}

void stream_write(const struct stream *stream, const char *directory, uint32_t number,
		  int64_t last_ns)
{
	struct packet *packet = calloc(1, sizeof *packet);

	world_require(packet != NULL);
	*packet = (struct packet){.stream = number,
				  .stream_class = stream->stream_class,
				  .process = stream->process,
				  .pid = stream->pid,
				  .tid = stream->tid,
				  .kind = stream->kind,
				  .begin = (uint64_t)stream->begin_ns};
	packet_start(packet);
	for (size_t i = 0; i < stream->records.count; i++) {
		const struct record *record = &stream->records.items[i];
		int64_t ns = mr_max(record->ns, stream->begin_ns);

		if (ns > last_ns)
			break;
		if (packet->size + ROOM_BYTES > PACKET_CAPACITY) {
			write_packet(directory, packet, ns);
			packet->begin = (uint64_t)ns;
			packet_start(packet);
		}
		packet_event(packet, record->id, (uint64_t)ns, stream->bytes.items + record->offset,
			     record->size);
	}
	write_packet(directory, packet, stream->end_ns);
	free(packet);
}
