/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macros.h"
#include "schema/schema.h"

int mr_kernel_streams_new(const struct mr_kernel_sink *sink, const uint8_t trace_uuid[16],
			  pid_t pid, uint32_t cpu_count, struct mr_kernel_streams **ret_streams)
{
	struct mr_kernel_streams *streams =
		calloc(1, sizeof *streams + cpu_count * sizeof streams->of_cpu[0]);
	if (!streams)
		return mr_fail(ENOMEM, "no memory for the streams of %u CPUs", cpu_count);
	streams->sink = *sink;
	streams->cpu_count = cpu_count;
	streams->header =
		(struct mr_packet_header){.magic = MR_CTF_MAGIC, .stream_class = MR_STREAM_KERNEL};
	streams->context =
		(struct mr_packet_context){.process = MR_RECORDER_PROCESS, .pid = (uint32_t)pid};
	memcpy(streams->header.trace_uuid, trace_uuid, sizeof streams->header.trace_uuid);
	for (uint32_t i = 0; i < cpu_count; i++) {
		streams->of_cpu[i].streams = streams;
		streams->of_cpu[i].cpu = i;
	}
	*ret_streams = streams;
	return 0;
}

void mr_kernel_streams_free(struct mr_kernel_streams *streams)
{
	for (uint32_t i = 0; streams && i < streams->cpu_count; i++)
		for (size_t kind = 0; kind < mr_countof(streams->of_cpu[i].packets); kind++)
			free(streams->of_cpu[i].packets[kind].packet);
	free(streams);
}

static void hand_over(struct mr_kernel_stream *stream, struct mr_kernel_packet *packet)
{
	const struct mr_kernel_sink *sink = &stream->streams->sink;
	if (packet->content_bytes == 0)
		return;
	sink->append(sink->context, packet->packet, packet->content_bytes, packet->last_ns,
		     mr_take(packet->discarded));
	packet->content_bytes = 0;
}

static bool begin(struct mr_kernel_stream *stream, struct mr_kernel_packet *packet, uint64_t ns)
{
	if (!packet->packet)
		packet->packet = malloc(MR_KERNEL_PACKET_BYTES);
	if (!packet->packet)
		return false;
	packet->packet->header = stream->streams->header;
	packet->packet->context = stream->streams->context;
	packet->packet->context.begin_ticks = ns;
	packet->packet->context.tid = stream->cpu;
	packet->packet->context.kind = (uint8_t)(packet - stream->packets);
	packet->content_bytes = sizeof *packet->packet;
	packet->last_ns = ns;
	return true;
}

static bool is_definition(uint8_t event)
{
	return event >= MR_EVENT_kernel_fork && event <= MR_EVENT_kernel_task_name;
}

_Static_assert(MR_EVENT_kernel_task_name - MR_EVENT_kernel_fork == 3,
	       "fork, exec, exit and task_name follow one another");

static uint8_t *put_header(uint8_t *at, uint8_t event, uint64_t ns, uint64_t last_ns)
{
	uint32_t low = (uint32_t)ns;
	if (mr_likely(ns - last_ns <= UINT32_MAX)) {
		at[0] = event;
		memcpy(at + 1, &low, sizeof low);
		return at + MR_COMPACT_HEADER_BYTES;
	}
	at[0] = MR_EVENT_EXTENDED;
	at[1] = event;
	memcpy(at + 2, &ns, sizeof ns);
	return at + MR_EXTENDED_HEADER_BYTES;
}

void mr_kernel_put(struct mr_kernel_stream *stream, uint64_t ns, uint8_t event, const void *payload,
		   size_t bytes, const char *text)
{
	struct mr_kernel_packet *packet = &stream->packets[is_definition(event)];
	size_t text_length = text ? strnlen(text, MR_KERNEL_TEXT_MAX - 1) : 0;
	size_t need = MR_EXTENDED_HEADER_BYTES + bytes + (text ? text_length + 1 : 0);
	ns = mr_max(ns, packet->last_ns);
	/* The rest is reserved for the sink's padding. */
	if (packet->content_bytes + need > MR_KERNEL_PACKET_BYTES - 8)
		hand_over(stream, packet);
	if (packet->content_bytes == 0 && !begin(stream, packet, ns)) {
		packet->discarded++;
		return;
	}
	uint8_t *at = (uint8_t *)packet->packet + packet->content_bytes;
	at = put_header(at, event, ns, packet->last_ns);
	memcpy(at, payload, bytes);
	at += bytes;
	if (text) {
		memcpy(at, text, text_length);
		at[text_length] = 0;
		at += text_length + 1;
	}
	packet->content_bytes = (uint32_t)(at - (uint8_t *)packet->packet);
	packet->last_ns = ns;
	stream->events++;
}

void mr_kernel_put_loss(struct mr_kernel_stream *stream, uint64_t ns, uint64_t count,
			uint8_t loss_reason)
{
	const struct mr_event_loss loss = {.count = count, .reason = loss_reason};
	stream->packets[MR_PACKET_EVENTS].discarded += count;
	mr_kernel_put(stream, ns, MR_EVENT_loss, &loss, sizeof loss, NULL);
}

void mr_kernel_streams_flush(struct mr_kernel_streams *streams, uint64_t begun_before_ns)
{
	for (uint32_t i = 0; i < streams->cpu_count; i++) {
		struct mr_kernel_stream *stream = &streams->of_cpu[i];
		for (size_t kind = 0; kind < mr_countof(stream->packets); kind++) {
			struct mr_kernel_packet *packet = &stream->packets[kind];
			if (packet->content_bytes &&
			    packet->packet->context.begin_ticks < begun_before_ns)
				hand_over(stream, packet);
		}
	}
}
