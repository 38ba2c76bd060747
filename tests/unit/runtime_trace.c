/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "schema/packet.h"
#include "trace_writer.h"

static char *directory;
static struct packet events, definitions;
static uint32_t next_id, next_stream;
static uint64_t random_state;

static void begin(struct packet *packet, uint32_t process, uint8_t kind)
{
	*packet = (struct packet){.stream = next_stream++,
				  .process = process,
				  .pid = 100 + process,
				  .tid = 100 + process,
				  .kind = kind,
				  .begin = TRACE_BEGIN,
				  .end = TRACE_END};
	packet_start(packet);
}

static void finish(struct packet *packet)
{
	char name[32];

	packet_finish(packet);
	snprintf(name, sizeof name, "ctf/stream_%u", (unsigned)packet->stream);
	directory_write(directory, name, packet->bytes, packet->size);
}

void emit_event(uint8_t id, uint64_t ns, const void *fields, size_t size)
{
	packet_event(&events, id, ns, fields, size);
}

void emit_copy_launch(uint64_t ns, uint32_t function, uint32_t queue, uint64_t correlation)
{
	EMIT(runtime_launch, ns, .function = function, .duration_ticks = mr_u48_from(100),
	     .correlation = correlation, .queue = queue, .bytes = 10 * correlation,
	     .kind = MR_operation_kind_copy_to_device);
}

void emit_copy(uint64_t ns, uint32_t queue, uint64_t correlation, uint64_t from, uint64_t until)
{
	EMIT(device_operation, ns, .queue = queue, .correlation = correlation,
	     .start = DEVICE_TIME(from), .end = DEVICE_TIME(until), .bytes = correlation,
	     .kind = MR_operation_kind_copy_to_device);
}

static void define_event(uint8_t id, const void *fields, size_t size, const char *text)
{
	uint8_t payload[256];
	size_t text_size = text ? strlen(text) + 1 : 0;

	memcpy(payload, fields, size);
	memcpy(payload + size, text ? text : "", text_size);
	packet_event(&definitions, id, TRACE_BEGIN, payload, size + text_size);
}

/* A clock that is `offset` behind, between two reads of the user clock. */
static void emit_sample(struct packet *packet, uint64_t ns, uint32_t clock, uint64_t value,
			uint64_t half)
{
	const struct mr_event_clock_sample sample = {.reference = MR_trace_clock_tsc,
						     .clock = clock,
						     .before = ns - half,
						     .value = value,
						     .after = ns + half};

	packet_event(packet, MR_EVENT_clock_sample, TRACE_BEGIN, &sample, sizeof sample);
}

static void write_recorder(void)
{
	static struct packet recorder;

	begin(&recorder, MR_RECORDER_PROCESS, MR_PACKET_EVENTS);
	for (uint64_t ns = TRACE_BEGIN; ns <= TRACE_END; ns += (TRACE_END - TRACE_BEGIN) / 4)
		emit_sample(&recorder, ns, MR_trace_clock_monotonic, ns, 0);
	finish(&recorder);
}

void runtime_trace_start(void)
{
	runtime_trace_start_in(directory_make());
}

void runtime_trace_start_in(char *folder)
{
	char *text = text_replace(metadata_text(), "freq = 2300000000", "freq = 1000000000");

	directory = folder;
	directory_write(directory, "ctf/metadata", text, strlen(text));
	free(text);
	next_stream = 0;
	next_id = 100;
	random_state = 5;
	write_recorder();
	begin(&events, 2, MR_PACKET_EVENTS);
	begin(&definitions, 2, MR_PACKET_DEFINITIONS);
}

void runtime_trace_process(uint32_t number)
{
	finish(&events);
	finish(&definitions);
	begin(&events, number, MR_PACKET_EVENTS);
	begin(&definitions, number, MR_PACKET_DEFINITIONS);
}

uint32_t define_string(const char *text)
{
	const struct mr_event_def_string string = {.id = next_id++};

	define_event(MR_EVENT_def_string, &string, sizeof string, text);
	return string.id;
}

uint32_t define_queue(uint32_t device, const char *name, enum mr_queue_order order, bool is_untimed)
{
	const struct mr_event_def_queue queue = {.name = define_string(name),
						 .device = device,
						 .order = (uint8_t)order,
						 .is_untimed = is_untimed,
						 .id = next_id++};

	define_event(MR_EVENT_def_queue, &queue, sizeof queue, NULL);
	return queue.id;
}

uint32_t define_node(const char *name, const char *type)
{
	const struct mr_event_def_node node = {
		.name = define_string(name), .type = define_string(type), .id = next_id++};

	define_event(MR_EVENT_def_node, &node, sizeof node, NULL);
	return node.id;
}

void define_edge(uint32_t source, uint32_t target, enum mr_edge_kind kind)
{
	const struct mr_event_def_edge edge = {
		.source = source, .target = target, .kind = (uint8_t)kind};

	define_event(MR_EVENT_def_edge, &edge, sizeof edge, NULL);
}

uint32_t define_device(const char *name, uint32_t jitter_ns)
{
	const struct mr_event_def_clock clock = {
		.name = define_string("clock"), .ticks_per_second = 1000000000, .id = next_id++};
	const struct mr_event_def_device device = {.name = define_string(name),
						   .clock = clock.id,
						   .kind = MR_device_kind_gpu,
						   .id = next_id++};

	define_event(MR_EVENT_def_clock, &clock, sizeof clock, NULL);
	define_event(MR_EVENT_def_device, &device, sizeof device, NULL);
	for (uint64_t ns = TRACE_BEGIN; ns <= TRACE_END; ns += (TRACE_END - TRACE_BEGIN) / 4) {
		uint64_t jitter = next_random(&random_state) % (2 * jitter_ns + 1);

		emit_sample(&events, ns, clock.id, DEVICE_TIME(ns) + jitter - jitter_ns,
			    SAMPLE_HALF_NS);
	}
	return device.id;
}

void runtime_trace_finish(void)
{
	finish(&events);
	finish(&definitions);
}

struct mr_model *runtime_trace_load(void)
{
	struct mr_model *model = NULL;

	runtime_trace_finish();
	if (mr_model_load(directory, &model) < 0)
		abort();
	return model;
}

void runtime_trace_end(struct mr_model *model)
{
	mr_model_free(model);
	directory_remove(directory);
}

const struct mr_finding_table *findings_table(const struct mr_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->list.count; i++)
		for (size_t j = 0; j < findings->list.items[i]->tables.count; j++)
			if (strcmp(findings->list.items[i]->tables.items[j]->id, id) == 0)
				return findings->list.items[i]->tables.items[j];
	fprintf(stderr, "no table %s\n", id);
	abort();
}
