/* SPDX-License-Identifier: Apache-2.0 */
#include "small_trace.h"

#include <stdlib.h>
#include <string.h>

#include "schema/packet.h"
#include "trace_writer.h"

#define MS(milliseconds) ((uint64_t)(milliseconds)*1000000)

const char small_trace_manifest[] =
	"{\n"
	"  \"format\": 1,\n"
	"  \"millrace\": \"0.1.0\",\n"
	"  \"command\": [\"./train\", \"--name\", \"two words\"],\n"
	"  \"host\": \"mill\",\n"
	"  \"boot_id\": \"1159a3f1\",\n"
	"  \"started_realtime_ns\": 1700000002000000456,\n"
	"  \"ended_realtime_ns\": 1700000004000000456,\n"
	"  \"state\": \"complete\",\n"
	"  \"stop_reason\": null,\n"
	"  \"exit\": {\"signal\": 9},\n"
	"  \"levels\": [\"runtime\", \"dataflow\"],\n"
	"  \"processes\": [\n"
	"    {\"process\": 2, \"pid\": 100, \"program\": \"/bin/train\", \"seen\": \"library\",\n"
	"     \"traced\": true, \"reason\": null, \"ended\": true},\n"
	"    {\"process\": 4, \"pid\": 300, \"program\": \"/bin/busybox\", \"seen\": \"wrapper\",\n"
	"     \"traced\": false, \"reason\": \"static program\", \"ended\": true}\n"
	"  ],\n"
	"  \"losses\": {\"events\": 5, \"definitions\": 0},\n"
	"  \"unseen_processes_possible\": true\n"
	"}\n";

enum {
	GRAPH_NAME = 1,
	LOAD,
	READ,
	CONV,
	CONV2D,
	GPU_NAME,
	CLOCK_NAME,
	QUEUE_NAME,
	ENQUEUE,
	KERNEL,
	ALLOCATOR,
	CHANNEL,
	COUNTER,
	GRAPH,
	NODE_LOAD,
	DEVICE_CLOCK,
	NODE_CONV,
	DEVICE,
	QUEUE,
	CHILD_FIRST,
	SAVE = CHILD_FIRST,
	WRITE,
	NODE_SAVE,
};

static struct packet packet;

static void begin(uint64_t stream, uint32_t process, uint32_t pid, uint32_t tid, uint8_t kind)
{
	packet = (struct packet){.stream = stream,
				 .process = process,
				 .pid = pid,
				 .tid = tid,
				 .kind = kind,
				 .begin = 2 * MS(1000),
				 .end = 2 * MS(3000)};
	packet_start(&packet);
}

static void end(const char *directory, const char *name)
{
	packet_finish(&packet);
	directory_write(directory, name, packet.bytes, packet.size);
}

/* EMIT(node_interval, ns, NULL, .node = 1, ...) */
#define EMIT(name, ns, text, ...)                                       \
	packet_event_text(&packet, MR_EVENT_##name, 2 * (ns),           \
			  &(const struct mr_event_##name){__VA_ARGS__}, \
			  sizeof(struct mr_event_##name), text)
#define EMIT_BARE(name, ns, text) packet_event_text(&packet, MR_EVENT_##name, 2 * (ns), "", 0, text)

static void sample(uint64_t ns, uint32_t clock, uint64_t value)
{
	EMIT(clock_sample, ns + 1000, NULL, .reference = MR_trace_clock_tsc, .clock = clock,
	     .before = 2 * ns - 100, .value = value, .after = 2 * ns + 100);
}

static void write_recorder(const char *directory)
{
	begin(0, MR_RECORDER_PROCESS, 50, 50, MR_PACKET_EVENTS);
	for (uint64_t second = 1; second <= 3; second++) {
		uint64_t ns = MS(1000 * second) - (second == 3 ? 2000 : 0);

		sample(ns, MR_trace_clock_monotonic, ns);
		sample(ns, MR_trace_clock_realtime, ns + UINT64_C(1700000001000000456));
	}
	end(directory, "ctf/recorder");
}

static void define_string(uint32_t id, const char *text)
{
	EMIT(def_string, MS(1000), text, .id = id);
}

static void write_definitions(const char *directory)
{
	static const char *const texts[] = {"net",  "load",      "Read",   "conv",      "Conv2D",
					    "gpu0", "gpu clock", "queue0", "clEnqueue", "kernel",
					    "bfc",  "ring",      "waiting"};

	begin(1, 2, 100, 100, MR_PACKET_DEFINITIONS);
	for (uint32_t i = 0; i < mr_countof(texts); i++)
		define_string(GRAPH_NAME + i, texts[i]);
	EMIT(def_graph, MS(1000), NULL, .id = GRAPH, .name = GRAPH_NAME);
	EMIT(def_clock, MS(1000), NULL, .id = DEVICE_CLOCK, .name = CLOCK_NAME,
	     .ticks_per_second = 1000000000);
	EMIT(def_device, MS(1000), NULL, .id = DEVICE, .name = GPU_NAME, .clock = DEVICE_CLOCK,
	     .kind = MR_device_kind_gpu);
	EMIT(def_queue, MS(1000), NULL, .id = QUEUE, .device = DEVICE, .name = QUEUE_NAME);
	EMIT(def_node, MS(1000), NULL, .id = NODE_LOAD, .graph = GRAPH, .name = LOAD, .type = READ);
	EMIT(def_node, MS(1000), NULL, .id = NODE_CONV, .graph = GRAPH, .name = CONV,
	     .type = CONV2D, .device = DEVICE);
	EMIT(def_edge, MS(1000), NULL, .source = NODE_LOAD, .target = NODE_CONV);
	end(directory, "ctf/definitions_2");

	begin(2, 3, 200, 200, MR_PACKET_DEFINITIONS);
	define_string(SAVE, "save");
	define_string(WRITE, "Write");
	EMIT(def_node, MS(1000), NULL, .id = NODE_SAVE, .graph = GRAPH, .name = SAVE,
	     .type = WRITE);
	end(directory, "ctf/definitions_3");
}

static void node(uint32_t id, uint64_t start_ms, uint64_t end_ms)
{
	EMIT(node_interval, MS(end_ms), NULL, .node = id, .step = 7,
	     .duration_ticks = mr_u48_from(2 * MS(end_ms - start_ms)));
}

static void write_main(const char *directory)
{
	begin(3, 2, 100, 100, MR_PACKET_EVENTS);
	packet.discarded = 0;
	EMIT(process_start, MS(1000), "/bin/train", .process = 2, .pid = 100,
	     .parent_process = MR_RECORDER_PROCESS, .parent_pid = 50, .first_definition = 1,
	     .start = 2 * MS(1000), .origin = MR_process_origin_exec);
	EMIT_BARE(thread_start, MS(1000), "main");
	EMIT_BARE(runtime_seen, MS(1010), "libOpenCL.so.1");
	for (uint64_t ms = 1020; ms <= 1030; ms += 10)
		EMIT(clock_sample, MS(ms), NULL, .reference = MR_trace_clock_tsc,
		     .clock = DEVICE_CLOCK, .before = 2 * MS(ms) - 200, .value = MS(ms - 500),
		     .after = 2 * MS(ms) + 200);
	EMIT(memory_allocate, MS(1150), NULL, .device = DEVICE, .allocator = ALLOCATOR,
	     .node = NODE_CONV, .address = 4096, .bytes = 1 << 20);
	node(NODE_LOAD, 1200, 1300);
	EMIT(counter, MS(1305), NULL, .name = COUNTER, .value = -3);
	EMIT(runtime_call, MS(1360), NULL, .function = ENQUEUE,
	     .duration_ticks = mr_u48_from(2 * MS(40)), .correlation = 77, .result = -5);
	node(NODE_CONV, 1100, 1500);
	EMIT(device_operation, MS(1510), NULL, .queue = QUEUE, .name = KERNEL, .correlation = 77,
	     .submitted = MS(840), .start = MS(850), .end = MS(950),
	     .kind = MR_operation_kind_kernel);
	EMIT(device_operation, MS(1511), NULL, .name = KERNEL, .start = 1, .end = 2);
	EMIT(memory_free, MS(1550), NULL, .device = DEVICE, .allocator = ALLOCATOR,
	     .address = 4096);
	EMIT(step_interval, MS(1600), NULL, .step = 7, .duration_ticks = 2 * MS(550));
	EMIT(loss, MS(1700), NULL, .count = 3, .reason = MR_loss_reason_no_free_packet);
	EMIT(interval_unfinished, MS(3000), NULL, .event = MR_EVENT_node_interval,
	     .what = NODE_LOAD, .step = 8, .start = 2 * MS(2900));
	end(directory, "ctf/main");
}

static void write_worker(const char *directory)
{
	begin(4, 2, 100, 101, MR_PACKET_EVENTS);
	EMIT_BARE(thread_start, MS(1000), "worker");
	EMIT(message_send, MS(1050), NULL, .channel = CHANNEL, .key = 1, .bytes = 64);
	EMIT(node_instant, MS(1060), NULL, .node = NODE_LOAD, .step = 7);
	node(NODE_LOAD, 1100, 1400);
	node(NODE_CONV, 1300, 1600);
	node(99, 1650, 1650);
	end(directory, "ctf/worker");
}

static void write_child(const char *directory)
{
	begin(5, 3, 200, 200, MR_PACKET_EVENTS);
	EMIT(process_start, MS(1001), "/bin/train", .process = 3, .pid = 200, .parent_process = 2,
	     .parent_pid = 100, .first_definition = CHILD_FIRST, .start = 2 * MS(1001),
	     .origin = MR_process_origin_fork);
	EMIT_BARE(thread_start, MS(1001), "child");
	EMIT(message_receive, MS(1055), NULL, .channel = CHANNEL, .key = 1, .bytes = 64);
	node(NODE_SAVE, 1180, 1300);
	node(NODE_LOAD, 1310, 1410);
	EMIT(node_interval_at, MS(1420), NULL, .node = NODE_SAVE, .step = 9,
	     .clock = MR_trace_clock_realtime, .start = MS(1415) + UINT64_C(1700000001000000456),
	     .end = MS(1418) + UINT64_C(1700000001000000456));
	EMIT_BARE(process_end, MS(1500), NULL);
	end(directory, "ctf/child");
}

void small_trace_write(const char *directory)
{
	/* Straight line of the metadata: what the samples say. */
	char *text = text_replace(metadata_text(), "freq = 2300000000", "freq = 2000000000");
	text = text_replace(text, "offset_s = 1700000000", "offset_s = 1700000001");
	text = text_replace(text, "offset = 123", "offset = 912");
	directory_write(directory, "ctf/metadata", text, strlen(text));
	free(text);
	directory_write(directory, "manifest.json", small_trace_manifest,
			strlen(small_trace_manifest));
	write_recorder(directory);
	write_definitions(directory);
	write_main(directory);
	write_worker(directory);
	write_child(directory);
}

char *small_trace_make(void)
{
	char *directory = directory_make();

	small_trace_write(directory);
	directory_write(directory, "manifest.json", small_trace_manifest,
			strlen(small_trace_manifest));
	return directory;
}
