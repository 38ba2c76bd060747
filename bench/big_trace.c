/* SPDX-License-Identifier: Apache-2.0
 *
 * big_trace EVENTS DIRECTORY: writes a trace of all three levels with about that many events, to measure how
 * the time of loading and analysing grows.
 *
 *     thread t, on CPU t       node ├──────────────────────────────────┤     a few thousand of these, in
 *     (four of them)           node    ├─ launch ─┤ ├─ read, blocked ─┤      turn; 32 make a step, which
 *     queue t                                  ├─ device kernel ─┤           ends with a wait for the queue
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rounds.h"
#include "schema/metadata.h"
#include "schema/packet.h"
#include "schema/schema.h"

enum {
	THREADS = 4,
	NODES = 500,
	KERNELS = 60,
	PACKET_BYTES = 1 << 16,
	ROOM = 256, /* no event is larger */
	BEGIN_NS = 1000000000,
	DEVICE_BEHIND_NS = 400000000, /* the device's clock */
	FIRST_TID = 1000,
	PROCESS = 2,
	READ = 0, /* number of the system call */
	TURNS_PER_STEP = 32,
};

static const struct mr_metadata metadata = {
	.trace_uuid = {1, 2, 3, 4},
	.host = "mill",
	.user = {"ticks of 1 ns", 1000000000, 1700000000, 0, 1},
	.user_clock = MR_trace_clock_tsc,
	.monotonic = {"CLOCK_MONOTONIC", 1000000000, 1700000000, 0, 1},
};

/* As struct mr_packet. */
struct head {
	struct mr_packet_header header;
	struct mr_packet_context context;
};

struct stream {
	FILE *file;
	struct head head; /* of the next packet */
	uint8_t bytes[PACKET_BYTES];
	size_t size;
	uint64_t last_ns;
};

struct worker {
	struct stream user;
	struct stream cpu;
	uint64_t now_ns;
	uint64_t device_ns; /* until when the queue is busy */
	uint64_t step_begin_ns;
	uint64_t turns;
};

static struct stream recorder, definitions, births;
static struct worker workers[THREADS];
static uint32_t function, wait_function, kernels[KERNELS], nodes[NODES], queues[THREADS], device,
	file;
static uint64_t written, random_state = 1;

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "big_trace: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

/* ---- packets ------------------------------------------------------------------------------------ */

static void open_stream(struct stream *stream, const char *directory, enum mr_stream_class class,
			enum mr_packet_kind kind, uint32_t process, uint32_t tid)
{
	static uint64_t number;
	char path[4096];

	snprintf(path, sizeof path, "%s/ctf/stream_%u", directory, (unsigned)number);
	stream->file = fopen(path, "w");
	require(stream->file != NULL, path);
	stream->head.header = (struct mr_packet_header){
		.magic = MR_CTF_MAGIC, .stream_class = class, .stream = number++};
	memcpy(stream->head.header.trace_uuid, metadata.trace_uuid, 16);
	stream->head.context =
		(struct mr_packet_context){.begin_ticks = BEGIN_NS,
					   .process = process,
					   .pid = process == PROCESS ? FIRST_TID : 50,
					   .tid = tid,
					   .kind = kind};
	stream->size = sizeof stream->head;
}

static void flush_stream(struct stream *stream)
{
	struct mr_packet_context *context = &stream->head.context;
	size_t content = stream->size;

	for (; stream->size % 8; stream->size++)
		stream->bytes[stream->size] = 0;
	context->end_ticks = stream->last_ns;
	context->content_bits = 8 * content;
	context->packet_bits = 8 * stream->size;
	memcpy(stream->bytes, &stream->head, sizeof stream->head);
	require(fwrite(stream->bytes, stream->size, 1, stream->file) == 1, "write");
	context->begin_ticks = stream->last_ns;
	context->sequence++;
	stream->size = sizeof stream->head;
}

static void put(struct stream *stream, uint8_t id, uint64_t ns, const void *fields, size_t size,
		const char *text)
{
	size_t text_size = text ? strlen(text) + 1 : 0;
	uint32_t low = (uint32_t)ns;

	if (stream->size + ROOM > PACKET_BYTES)
		flush_stream(stream);
	uint8_t *to = stream->bytes + stream->size;
	*to = id;
	memcpy(to + 1, &low, sizeof low);
	memcpy(to + MR_COMPACT_HEADER_BYTES, fields, size);
	memcpy(to + MR_COMPACT_HEADER_BYTES + size, text ? text : "", text_size);
	stream->size += MR_COMPACT_HEADER_BYTES + size + text_size;
	stream->last_ns = ns;
	written++;
}

#define PUT(stream, name, ns, text, ...)                                          \
	do {                                                                      \
		const struct mr_event_##name fields_ = {__VA_ARGS__};             \
		put(stream, MR_EVENT_##name, ns, &fields_, sizeof fields_, text); \
	} while (0)

static void close_stream(struct stream *stream, uint64_t end_ns)
{
	stream->last_ns = end_ns;
	flush_stream(stream);
	require(fclose(stream->file) == 0, "write");
}

/* ---- what is defined ---------------------------------------------------------------------------- */

static uint32_t next_id = 100;

static uint32_t define_string(const char *format, uint32_t number)
{
	char text[64];

	snprintf(text, sizeof text, format, number);
	PUT(&definitions, def_string, BEGIN_NS, text, .id = next_id);
	return next_id++;
}

static void define_device(void)
{
	uint32_t clock = next_id++;

	PUT(&definitions, def_clock, BEGIN_NS, NULL, .id = clock, .ticks_per_second = 1000000000,
	    .name = define_string("clock", 0));
	device = next_id++;
	PUT(&definitions, def_device, BEGIN_NS, NULL, .id = device, .clock = clock,
	    .name = define_string("device", 0), .kind = MR_device_kind_gpu);
	for (uint32_t i = 0; i < THREADS; i++) {
		queues[i] = next_id++;
		PUT(&definitions, def_queue, BEGIN_NS, NULL, .id = queues[i], .device = device,
		    .name = define_string("queue %u", i), .order = MR_queue_order_in_order);
	}
	for (uint64_t ns = BEGIN_NS; ns < BEGIN_NS + UINT64_C(4000000000); ns += 1000000000)
		PUT(&workers[0].user, clock_sample, BEGIN_NS, NULL, .reference = MR_trace_clock_tsc,
		    .clock = clock, .before = ns - 100, .value = ns - DEVICE_BEHIND_NS,
		    .after = ns + 100);
}

static void define_graph(void)
{
	uint32_t graph = next_id++;

	PUT(&definitions, def_graph, BEGIN_NS, NULL, .id = graph,
	    .name = define_string("graph", 0));
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = next_id++;
		PUT(&definitions, def_node, BEGIN_NS, NULL, .id = nodes[i], .graph = graph,
		    .name = define_string("node %u", i), .type = define_string("Type%u", i % 20),
		    .device = device);
		if (i)
			PUT(&definitions, def_edge, BEGIN_NS, NULL, .source = nodes[i - 1],
			    .target = nodes[i]);
	}
}

static void define_all(void)
{
	define_device();
	define_graph();
	function = define_string("launch", 0);
	wait_function = define_string("wait", 0);
	for (uint32_t i = 0; i < KERNELS; i++)
		kernels[i] = define_string("kernel %u", i);
	PUT(&births, def_syscall, BEGIN_NS, "read", .number = READ);
	PUT(&births, def_file, BEGIN_NS, "/data/records", .id = file = 1, .device = 8, .inode = 9);
	PUT(&recorder, process_start, BEGIN_NS, "/bin/train", .process = PROCESS, .pid = FIRST_TID,
	    .first_definition = 100, .start = BEGIN_NS);
	for (uint64_t ns = BEGIN_NS; ns < BEGIN_NS + UINT64_C(4000000000); ns += 1000000000)
		PUT(&recorder, clock_sample, BEGIN_NS, NULL, .reference = MR_trace_clock_tsc,
		    .clock = MR_trace_clock_monotonic, .before = ns, .value = ns, .after = ns);
	for (uint32_t i = 0; i < THREADS; i++) {
		PUT(&births, kernel_fork, BEGIN_NS, "train", .parent_tid = FIRST_TID,
		    .tid = FIRST_TID + i, .pid = FIRST_TID, .inner_tid = FIRST_TID + i,
		    .inner_pid = FIRST_TID);
		PUT(&workers[i].cpu, kernel_switch, BEGIN_NS, NULL, .next_tid = FIRST_TID + i);
	}
}

/* ---- what happens ------------------------------------------------------------------------------- */

static uint64_t pass(struct worker *worker, uint64_t at_least_ns, uint64_t at_most_ns)
{
	worker->now_ns += at_least_ns + random_below(at_most_ns - at_least_ns + 1);
	return worker->now_ns;
}

static void launch(struct worker *worker, uint32_t index)
{
	uint64_t begin_ns = pass(worker, 100, 900),
		 correlation = worker->turns * THREADS + index + 1;
	uint64_t end_ns = pass(worker, 2000, 6000);
	uint64_t start_ns = (end_ns > worker->device_ns ? end_ns : worker->device_ns) + 500;
	uint64_t stop_ns = start_ns + 1000 + random_below(12000);
	uint32_t kernel = kernels[random_below(KERNELS)];

	PUT(&worker->user, runtime_launch_kernel, end_ns, NULL, .function = function,
	    .duration_ticks = mr_u48_from(end_ns - begin_ns), .correlation = correlation,
	    .queue = queues[index], .name = kernel, .global_x = 1024, .global_y = 1, .global_z = 1);
	PUT(&worker->user, device_operation, end_ns, NULL, .queue = queues[index], .name = kernel,
	    .correlation = correlation, .queued = begin_ns - DEVICE_BEHIND_NS,
	    .submitted = end_ns - DEVICE_BEHIND_NS, .start = start_ns - DEVICE_BEHIND_NS,
	    .end = stop_ns - DEVICE_BEHIND_NS, .kind = MR_operation_kind_kernel);
	worker->device_ns = stop_ns;
}

/* A read that blocks now and then. */
static void read_file(struct worker *worker, uint32_t tid)
{
	uint64_t begin_ns = pass(worker, 100, 900);

	if (random_below(2)) {
		PUT(&worker->cpu, kernel_switch, pass(worker, 300, 600), NULL, .previous_tid = tid,
		    .reason = MR_switch_reason_disk);
		PUT(&worker->cpu, kernel_waking, pass(worker, 5000, 40000), NULL, .tid = tid,
		    .context = MR_wake_context_irq);
		PUT(&worker->cpu, kernel_switch, pass(worker, 500, 3000), NULL, .next_tid = tid);
	}
	uint64_t end_ns = pass(worker, 300, 900);
	PUT(&worker->cpu, kernel_syscall, end_ns, NULL, .tid = tid, .number = READ,
	    .duration_ns = mr_u48_from(end_ns - begin_ns), .result = 4096, .file = file);
}

static void end_step(struct worker *worker, uint32_t index)
{
	uint64_t begin_ns = pass(worker, 100, 200), step = worker->turns / TURNS_PER_STEP;
	uint64_t wait = UINT64_C(1) << 40 | (step * THREADS + index);

	if (worker->now_ns < worker->device_ns)
		worker->now_ns = worker->device_ns;
	uint64_t end_ns = pass(worker, 500, 900);
	PUT(&worker->user, runtime_call_on, end_ns, NULL, .function = wait_function,
	    .duration_ticks = mr_u48_from(end_ns - begin_ns), .correlation = wait,
	    .queue = queues[index]);
	PUT(&worker->user, runtime_wait, end_ns, NULL, .correlation = wait,
	    .awaited = (worker->turns - 1) * THREADS + index + 1);
	PUT(&worker->user, step_interval, end_ns, NULL, .step = step,
	    .duration_ticks = end_ns - worker->step_begin_ns);
	worker->step_begin_ns = end_ns;
}

static void turn(uint32_t index)
{
	struct worker *worker = &workers[index];
	uint64_t begin_ns = pass(worker, 500, 3000);
	uint64_t address = 4096 * (worker->turns % 512 * THREADS + index + 1);
	uint32_t step = (uint32_t)(worker->turns / TURNS_PER_STEP);

	PUT(&worker->user, memory_allocate, begin_ns, NULL, .device = device, .address = address,
	    .bytes = 1024);
	uint64_t inner_ns = pass(worker, 100, 200);
	launch(worker, index);
	read_file(worker, FIRST_TID + index);
	uint64_t end_ns = pass(worker, 100, 300);
	PUT(&worker->user, node_interval, end_ns, NULL, .node = nodes[random_below(NODES)],
	    .step = step, .duration_ticks = mr_u48_from(end_ns - inner_ns));
	end_ns = pass(worker, 100, 300);
	PUT(&worker->user, memory_free, end_ns, NULL, .device = device, .address = address,
	    .bytes = 1024);
	PUT(&worker->user, node_interval, end_ns, NULL, .node = nodes[random_below(NODES)],
	    .step = step, .duration_ticks = mr_u48_from(end_ns - begin_ns));
	if (++worker->turns % TURNS_PER_STEP == 0)
		end_step(worker, index);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static FILE *open_file(const char *directory, const char *name)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *opened = fopen(path, "w");
	require(opened != NULL, path);
	return opened;
}

static void write_texts(const char *directory)
{
	FILE *text = open_file(directory, "ctf/metadata");

	require(mr_metadata_print(&metadata, text) == 0 && fclose(text) == 0, "metadata");
	text = open_file(directory, "manifest.json");
	fputs("{\"format\": 1, \"millrace\": \"0.1.0\", \"command\": [\"train\"], \"state\": "
	      "\"complete\","
	      " \"levels\": [\"kernel\", \"runtime\", \"dataflow\"], \"exit\": {\"code\": 0},"
	      " \"kernel_level\": {\"mode\": \"bpf\", \"syscalls\": \"all\"}}\n",
	      text);
	require(fclose(text) == 0, "manifest");
}

static void open_all(const char *directory)
{
	char folder[4096];

	snprintf(folder, sizeof folder, "%s/ctf", directory);
	require(mkdir(directory, 0700) == 0 && mkdir(folder, 0700) == 0, folder);
	write_texts(directory);
	open_stream(&recorder, directory, MR_STREAM_USER, MR_PACKET_EVENTS, MR_RECORDER_PROCESS,
		    50);
	open_stream(&definitions, directory, MR_STREAM_USER, MR_PACKET_DEFINITIONS, PROCESS,
		    FIRST_TID);
	open_stream(&births, directory, MR_STREAM_KERNEL, MR_PACKET_DEFINITIONS,
		    MR_RECORDER_PROCESS, 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		open_stream(&workers[i].user, directory, MR_STREAM_USER, MR_PACKET_EVENTS, PROCESS,
			    FIRST_TID + i);
		open_stream(&workers[i].cpu, directory, MR_STREAM_KERNEL, MR_PACKET_EVENTS,
			    MR_RECORDER_PROCESS, i);
		workers[i].now_ns = workers[i].step_begin_ns = BEGIN_NS + 1000;
	}
}

int main(int argc, char **argv)
{
	uint64_t end_ns = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: big_trace EVENTS DIRECTORY\n");
		return 2;
	}
	open_all(argv[2]);
	define_all();
	for (uint32_t events = bench_number(argv[1]); written < events;)
		for (uint32_t i = 0; i < THREADS; i++)
			turn(i);
	for (uint32_t i = 0; i < THREADS; i++)
		end_ns = workers[i].now_ns > end_ns ? workers[i].now_ns : end_ns;
	close_stream(&recorder, end_ns);
	close_stream(&definitions, end_ns);
	close_stream(&births, end_ns);
	for (uint32_t i = 0; i < THREADS; i++) {
		close_stream(&workers[i].user, end_ns);
		close_stream(&workers[i].cpu, end_ns);
	}
	return 0;
}
