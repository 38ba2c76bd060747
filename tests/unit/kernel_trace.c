/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "load/load.h"
#include "schema/packet.h"
#include "trace_writer.h"

#define USER_TICKS(ns) (23 * (ns) / 10) /* as the metadata says; exact for multiples of 10 */

static struct packet packets[KERNEL_TRACE_CPUS][2];
static uint32_t cpus;
static char *directory;

void kernel_trace_begin(uint32_t cpu_count)
{
	cpus = cpu_count;
	directory = directory_make();
	directory_write_metadata(directory);
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		for (uint8_t kind = 0; kind < 2; kind++) {
			struct packet *packet = &packets[cpu][kind];

			memset(packet, 0, offsetof(struct packet, bytes));
			packet->stream = 2 * cpu + kind;
			packet->stream_class = MR_STREAM_KERNEL;
			packet->process = MR_RECORDER_PROCESS;
			packet->pid = 50;
			packet->tid = cpu;
			packet->kind = kind;
			packet_start(packet);
		}
}

void kernel_trace_put(uint32_t cpu, uint8_t id, uint64_t ns, const void *fields, size_t size,
		      const char *text)
{
	bool is_definition = (id >= MR_EVENT_kernel_fork && id <= MR_EVENT_kernel_task_name) ||
			     id < MR_EVENT_clock_sample;
	struct packet *packet = &packets[cpu][is_definition];
	uint8_t payload[256];
	size_t text_size = text ? strlen(text) + 1 : 0;

	memcpy(payload, fields, size);
	if (text)
		memcpy(payload + size, text, text_size);
	if (packet->size == PACKET_HEADER_BYTES)
		put_number(packet->bytes + 32, ns, 8); /* begins with its first event */
	packet_event(packet, id, ns, payload, size + text_size);
}

static void write_packet(struct packet *packet, uint64_t end_ns)
{
	char name[48];

	packet_finish(packet);
	put_number(packet->bytes + 40, end_ns, 8); /* known only now */
	snprintf(name, sizeof name, "ctf/cpu_%u_%u.%u", packet->tid, packet->kind,
		 (unsigned)packet->sequence);
	directory_write(directory, name, packet->bytes, packet->size);
}

void kernel_trace_cut(uint32_t cpu, uint64_t end_ns, uint32_t missing_packets)
{
	struct packet *packet = &packets[cpu][MR_PACKET_EVENTS];

	if (packet->size > PACKET_HEADER_BYTES) {
		write_packet(packet, end_ns);
		packet->sequence++;
	}
	packet->sequence += missing_packets;
	packet_start(packet);
}

void kernel_switch(uint32_t cpu, uint64_t ns, uint32_t previous_tid, uint32_t next_tid,
		   enum mr_switch_reason reason)
{
	KERNEL(cpu, kernel_switch, ns, NULL, .previous_tid = previous_tid, .next_tid = next_tid,
	       .reason = reason);
}

void kernel_wake(uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t waker)
{
	KERNEL(cpu, kernel_waking, ns, NULL, .tid = tid, .waker_tid = waker);
}

void kernel_born(uint32_t cpu, uint64_t ns, uint32_t parent_tid, uint32_t tid, uint32_t pid,
		 const char *name)
{
	KERNEL(cpu, kernel_fork, ns, name, .parent_tid = parent_tid, .tid = tid, .pid = pid,
	       .inner_tid = tid, .inner_pid = pid);
}

static void put_clock_sample(struct packet *packet, uint64_t ns)
{
	const struct mr_event_clock_sample sample = {.reference = MR_trace_clock_tsc,
						     .clock = MR_trace_clock_monotonic,
						     .before = USER_TICKS(ns),
						     .value = ns,
						     .after = USER_TICKS(ns)};

	packet_event(packet, MR_EVENT_clock_sample, USER_TICKS(ns), &sample, sizeof sample);
}

static void put_switched(struct packet *packet, uint64_t ns, bool is_on)
{
	const struct mr_event_recording_switched fields = {.is_on = is_on};

	packet_event(packet, MR_EVENT_recording_switched, USER_TICKS(ns), &fields, sizeof fields);
}

void kernel_trace_switch_levels(uint64_t on_ns, uint64_t off_ns)
{
	struct packet packet = {.stream = 2 * KERNEL_TRACE_CPUS,
				.process = MR_RECORDER_PROCESS,
				.pid = 50,
				.tid = 50,
				.begin = USER_TICKS(10),
				.end = USER_TICKS(on_ns + off_ns)};

	packet_start(&packet);
	put_clock_sample(&packet, 10);
	if (on_ns)
		put_switched(&packet, on_ns, true);
	if (off_ns)
		put_switched(&packet, off_ns, false);
	put_clock_sample(&packet, on_ns + off_ns);
	packet_finish(&packet);
	directory_write(directory, "ctf/recorder", packet.bytes, packet.size);
}

const char *kernel_trace_directory(void)
{
	return directory;
}

struct mr_model *kernel_trace_load(uint64_t end_ns)
{
	struct mr_model *model = NULL;

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		for (uint8_t kind = 0; kind < 2; kind++) {
			struct packet *packet = &packets[cpu][kind];

			if (packet->size > PACKET_HEADER_BYTES)
				write_packet(packet, end_ns);
		}
	if (mr_model_load(directory, &model) < 0) {
		fprintf(stderr, "%s\n", mr_error_text());
		abort();
	}
	return model;
}

void kernel_trace_end(struct mr_model *model)
{
	mr_model_free(model);
	directory_remove(directory);
}
