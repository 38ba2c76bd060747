/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <string.h>

#include "../unit/trace_writer.h"
#include "stream.h"

enum {
	RECORDER_PID = 50,
	FIRST_PROCESS = 2,
	CLOCK_PERIOD_NS =
		10000, /* of a device's clock: then it has ticked a whole number of times */
	SAMPLE_PERIOD_NS = 5000000,
};

/* Strings that a process has defined; ids of all kinds are numbered together. */
struct dictionary {
	mr_vec(const char *) texts;
	mr_vec(uint32_t) ids;
	uint32_t last_id;
};

struct writer {
	struct stream threads[MAX_THREADS];
	struct stream definitions[MAX_PROCESSES];
	struct stream cores[MAX_CORES];
	struct stream lives[MAX_CORES]; /* definitions of the cores */
	struct stream recorder;
	struct dictionary dictionaries[MAX_PROCESSES];
	uint32_t nodes[MAX_PROCESSES]; /* id of the first node of a process */
	uint32_t queues[MAX_QUEUES];   /* ids */
	uint32_t clocks[MAX_DEVICES];
	uint32_t rates[MAX_DEVICES]; /* ticks in CLOCK_PERIOD_NS */
	uint64_t offsets[MAX_DEVICES];
};

/* ---- names -------------------------------------------------------------------------------------- */

static uint32_t intern(struct writer *writer, uint32_t process, const char *text)
{
	struct dictionary *dictionary = &writer->dictionaries[process];

	for (size_t i = 0; i < dictionary->texts.count; i++)
		if (strcmp(dictionary->texts.items[i], text) == 0)
			return dictionary->ids.items[i];
	uint32_t id = ++dictionary->last_id;
	PUSH(&dictionary->texts, text);
	PUSH(&dictionary->ids, id);
	PUT(&writer->definitions[process], WORLD_BEGIN_NS, def_string, text, .id = id);
	return id;
}

static uint32_t tid_of(const struct simulation *simulation, int who)
{
	return who == NOBODY ? 0 : simulation->threads[who].tid;
}

/* ---- kernel level ------------------------------------------------------------------------------- */

static const char *const sources[] = {"hrtimer_wakeup", "nvme0q1", "NET_RX", "gpu"};

static uint32_t source_id(const char *source)
{
	for (uint32_t i = 0; source && i < mr_countof(sources); i++)
		if (strcmp(source, sources[i]) == 0)
			return 1 + i;
	return 0;
}

static bool has_kernel_level(const struct simulation *simulation)
{
	return simulation->writer && !simulation->options.no_kernel_level;
}

void writer_switch(struct simulation *simulation, int core, int previous, int next,
		   enum mr_switch_reason reason)
{
	if (has_kernel_level(simulation) && previous != next)
		PUT(&simulation->writer->cores[core], simulation->now_ns, kernel_switch, NULL,
		    .previous_tid = tid_of(simulation, previous),
		    .next_tid = tid_of(simulation, next), .reason = (uint8_t)reason);
}

void writer_waking(struct simulation *simulation, int core, int who, enum waker waker,
		   const char *source)
{
	static const uint8_t contexts[] = {MR_wake_context_hrtimer, MR_wake_context_irq,
					   MR_wake_context_softirq, MR_wake_context_irq};
	uint32_t id = source_id(source);

	if (has_kernel_level(simulation) && simulation->threads[who].is_traced)
		PUT(&simulation->writer->cores[core], simulation->now_ns, kernel_waking, NULL,
		    .tid = tid_of(simulation, who),
		    .waker_tid = tid_of(simulation, simulation->cores[core].running), .source = id,
		    .context = waker == WAKER_THREAD ? MR_wake_context_task : contexts[id - 1]);
}

void writer_migration(struct simulation *simulation, int who, int from_core, int to_core)
{
	if (has_kernel_level(simulation) && simulation->threads[who].is_traced)
		PUT(&simulation->writer->cores[to_core], simulation->now_ns, kernel_migrate, NULL,
		    .tid = tid_of(simulation, who), .from_cpu = (uint32_t)from_core,
		    .to_cpu = (uint32_t)to_core);
}

void writer_birth(struct simulation *simulation, int who, int maker)
{
	const struct thread *thread = &simulation->threads[who];
	uint32_t pid = tid_of(simulation, simulation->main_threads[thread->process]);
	int core = maker == NOBODY ? 0 : simulation->threads[maker].core;

	if (has_kernel_level(simulation) && thread->is_traced)
		PUT(&simulation->writer->lives[core], simulation->now_ns, kernel_fork, "thread",
		    .parent_tid = maker == NOBODY ? RECORDER_PID : tid_of(simulation, maker),
		    .tid = thread->tid, .pid = pid, .inner_tid = thread->tid, .inner_pid = pid);
}

void writer_death(struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];

	if (has_kernel_level(simulation) && thread->is_traced)
		PUT(&simulation->writer->lives[thread->core], simulation->now_ns, kernel_exit, NULL,
		    .tid = thread->tid);
}

void writer_system_call(struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];
	mr_type_u48 duration_ns = mr_u48_from((uint64_t)(simulation->now_ns - thread->call_ns));

	if (!has_kernel_level(simulation) || !thread->is_traced)
		return;
	if (thread->call_file != FILE_NONE)
		PUT(&simulation->writer->cores[thread->core], simulation->now_ns, kernel_syscall,
		    NULL, .tid = thread->tid, .number = (uint16_t)thread->call_number,
		    .duration_ns = duration_ns, .file = thread->call_file);
	else
		PUT(&simulation->writer->cores[thread->core], simulation->now_ns,
		    kernel_syscall_argument, NULL, .tid = thread->tid,
		    .number = (uint16_t)thread->call_number, .duration_ns = duration_ns,
		    .argument = 16 * (uint64_t)thread->call_word,
		    .operation = (uint8_t)thread->call_command);
}

void writer_interrupt(struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];
	const struct interrupt *last = &thread->interrupts.items[thread->interrupts.count - 1];

	if (has_kernel_level(simulation) && thread->is_traced)
		PUT(&simulation->writer->cores[thread->core], simulation->now_ns, kernel_interrupt,
		    NULL, .tid = thread->tid, .number = last->number,
		    .duration_ns = mr_u48_from((uint64_t)(last->end_ns - last->begin_ns)),
		    .kind = (uint8_t)(last->number % 3));
}

/* ---- runtime and dataflow level ----------------------------------------------------------------- */

void writer_call(struct simulation *simulation, int who, const struct call *call)
{
	struct writer *writer = simulation->writer;

	if (!writer || call->is_lost)
		return;
	struct stream *stream = &writer->threads[who];
	uint32_t function = intern(writer, simulation->threads[who].process, call->function);
	mr_type_u48 ticks = mr_u48_from((uint64_t)(call->end_ns - call->begin_ns));
	uint32_t queue = call->queue == NOBODY ? 0 : writer->queues[call->queue];

	if (call->operation == NOBODY && call->queue == NOBODY) {
		PUT(stream, simulation->now_ns, runtime_call, NULL, .function = function,
		    .duration_ticks = ticks, .correlation = call->correlation);
		return;
	}
	if (call->operation == NOBODY) {
		PUT(stream, simulation->now_ns, runtime_call_on, NULL, .function = function,
		    .duration_ticks = ticks, .correlation = call->correlation, .queue = queue);
		return;
	}
	const struct operation *operation = &simulation->operations.items[call->operation];
	if (operation->kind == MR_operation_kind_kernel)
		PUT(stream, simulation->now_ns, runtime_launch_kernel, NULL, .function = function,
		    .duration_ticks = ticks, .correlation = call->correlation, .queue = queue,
		    .global_x = 1, .global_y = 1, .global_z = 1);
	else
		PUT(stream, simulation->now_ns, runtime_launch, NULL, .function = function,
		    .duration_ticks = ticks, .correlation = call->correlation, .queue = queue,
		    .kind = (uint8_t)operation->kind,
		    .is_blocking = call->is_blocking && !simulation->options.is_cuda);
}

void writer_waits(struct simulation *simulation, int who, const struct call *call,
		  const uint32_t *operations, uint32_t count)
{
	if (!simulation->writer || call->is_lost)
		return;
	for (uint32_t i = 0; i < count; i++)
		PUT(&simulation->writer->threads[who], simulation->now_ns, runtime_wait, NULL,
		    .correlation = call->correlation,
		    .awaited = simulation->operations.items[operations[i]].correlation);
}

void writer_node(struct simulation *simulation, int who, const struct node_run *node)
{
	if (simulation->writer && !simulation->options.no_dataflow_level)
		PUT(&simulation->writer->threads[who], simulation->now_ns, node_interval, NULL,
		    .node = simulation->writer->nodes[simulation->threads[who].process] +
			    node->node,
		    .step = simulation->threads[who].step,
		    .duration_ticks = mr_u48_from((uint64_t)(node->end_ns - node->begin_ns)));
}

void writer_step(struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];

	if (simulation->writer && !simulation->options.no_dataflow_level)
		PUT(&simulation->writer->threads[who], simulation->now_ns, step_interval, NULL,
		    .step = thread->step,
		    .duration_ticks = (uint64_t)(simulation->now_ns - thread->step_ns));
}

/* ---- devices ------------------------------------------------------------------------------------ */

static uint64_t device_ticks(const struct writer *writer, uint32_t device, int64_t ns)
{
	int64_t product = (ns - WORLD_BEGIN_NS) * writer->rates[device];
	int64_t ticks = product / CLOCK_PERIOD_NS;

	return writer->offsets[device] + (uint64_t)(ticks + (product > ticks * CLOCK_PERIOD_NS));
}

static void sample_clocks(struct simulation *simulation, uint32_t device)
{
	struct writer *writer = simulation->writer;
	int main = simulation->main_threads[simulation->devices[device].process];
	int64_t half_ns = simulation->options.jitter_ns;

	for (int64_t ns = WORLD_BEGIN_NS - 2 * SAMPLE_PERIOD_NS;
	     ns < simulation->end_ns + 2 * SAMPLE_PERIOD_NS; ns += SAMPLE_PERIOD_NS) {
		int64_t before_ns =
			ns - (half_ns ? world_pick(simulation, 2 * (uint32_t)half_ns + 1) : 0);

		PUT(&writer->threads[main], simulation->end_ns, clock_sample, NULL,
		    .reference = MR_trace_clock_tsc, .clock = writer->clocks[device],
		    .before = (uint64_t)before_ns, .value = device_ticks(writer, device, ns),
		    .after = (uint64_t)(before_ns + 2 * half_ns));
	}
}

static void write_operations(struct simulation *simulation)
{
	struct writer *writer = simulation->writer;

	for (size_t i = 0; i < simulation->operations.count; i++) {
		const struct operation *operation = &simulation->operations.items[i];
		uint32_t device = simulation->queues[operation->queue].device;
		uint32_t process = simulation->devices[device].process;

		PUT(&writer->threads[simulation->main_threads[process]], simulation->end_ns,
		    device_operation, NULL, .queue = writer->queues[operation->queue],
		    .name = intern(writer, process, operation->name),
		    .correlation = operation->correlation,
		    .start = device_ticks(writer, device, operation->start_ns),
		    .end = device_ticks(writer, device, operation->end_ns),
		    .kind = (uint8_t)operation->kind);
	}
}

static void define_devices(const struct simulation *simulation, struct writer *writer)
{
	for (uint32_t i = 0; i < simulation->device_count; i++) {
		uint32_t process = simulation->devices[i].process;
		struct stream *stream = &writer->definitions[process];
		uint32_t *last_id = &writer->dictionaries[process].last_id;
		uint32_t name = intern(writer, process, simulation->devices[i].name);
		uint32_t device = ++*last_id;

		*last_id = mr_max(*last_id, 16u);
		writer->clocks[i] = ++*last_id;
		PUT(stream, WORLD_BEGIN_NS, def_clock, NULL, .id = writer->clocks[i], .name = name,
		    .ticks_per_second = 1000000000);
		PUT(stream, WORLD_BEGIN_NS, def_device, NULL, .id = device, .name = name,
		    .clock = writer->clocks[i], .kind = MR_device_kind_gpu);
		for (uint32_t j = 0; j < simulation->queue_count; j++) {
			if (simulation->queues[j].device != i)
				continue;
			writer->queues[j] = ++*last_id;
			PUT(stream, WORLD_BEGIN_NS, def_queue, NULL, .id = writer->queues[j],
			    .device = device, .name = name,
			    .order = simulation->queues[j].is_in_order ? MR_queue_order_in_order
				     : simulation->queues[j].has_unknown_order
					     ? MR_queue_order_unknown
					     : MR_queue_order_out_of_order);
		}
		writer->rates[i] = CLOCK_PERIOD_NS * (1 + i % 3) + 37 * i;
		writer->offsets[i] = 500000000 + 123456789 * (uint64_t)i;
	}
}

static void define_nodes(const struct simulation *simulation, struct writer *writer,
			 uint32_t process)
{
	static const char *const names[] = {"conv", "relu", "load", "pool", "dense", "loss"};
	struct dictionary *dictionary = &writer->dictionaries[process];
	uint32_t strings[mr_countof(names)];

	for (uint32_t i = 0; i < mr_countof(names); i++)
		strings[i] = intern(writer, process, names[i]);
	uint32_t graph = ++dictionary->last_id;
	PUT(&writer->definitions[process], WORLD_BEGIN_NS, def_graph, NULL, .id = graph,
	    .name = strings[0]);
	writer->nodes[process] = dictionary->last_id + 1;
	for (uint32_t i = 0; i < simulation->node_count; i++)
		PUT(&writer->definitions[process], WORLD_BEGIN_NS, def_node, NULL,
		    .id = ++dictionary->last_id, .graph = graph, .name = strings[i],
		    .type = strings[i]);
}

/* ---- beginning ---------------------------------------------------------------------------------- */

static void define_kernel(const struct simulation *simulation, struct writer *writer)
{
	static const struct {
		uint32_t number;
		const char *name;
	} calls[] = {
		{CALL_READ, "read"},   {CALL_WRITE, "write"},   {CALL_POLL, "poll"},
		{CALL_IOCTL, "ioctl"}, {CALL_PREAD, "pread64"}, {CALL_RECVFROM, "recvfrom"},
		{CALL_WAIT, "wait4"},  {CALL_FUTEX, "futex"},   {CALL_SLEEP, "clock_nanosleep"}};
	struct stream *stream = &writer->lives[0];

	for (uint32_t i = 0; i < mr_countof(sources); i++)
		PUT(stream, WORLD_BEGIN_NS, def_string, sources[i], .id = 1 + i);
	for (uint32_t i = 0; i < mr_countof(calls); i++)
		PUT(stream, WORLD_BEGIN_NS, def_syscall, calls[i].name, .number = calls[i].number);
	for (uint32_t i = FILE_DATA_A; i < FILE_FIRST_PIPE + simulation->pipe_count; i++) {
		char path[32];

		file_path(i, path);
		PUT(stream, WORLD_BEGIN_NS, def_file, path, .id = i, .inode = i);
	}
}

struct writer *writer_start(const struct simulation *simulation)
{
	struct writer *writer = calloc(1, sizeof *writer);

	world_require(writer != NULL);
	writer->recorder = stream_begin(MR_STREAM_USER, MR_RECORDER_PROCESS, RECORDER_PID,
					RECORDER_PID, MR_PACKET_EVENTS);
	for (uint32_t i = 0; i < (uint32_t)simulation->core_count; i++) {
		writer->cores[i] = stream_begin(MR_STREAM_KERNEL, MR_RECORDER_PROCESS, RECORDER_PID,
						i, MR_PACKET_EVENTS);
		writer->lives[i] = stream_begin(MR_STREAM_KERNEL, MR_RECORDER_PROCESS, RECORDER_PID,
						i, MR_PACKET_DEFINITIONS);
	}
	for (uint32_t i = 0; i < simulation->process_count; i++) {
		uint32_t pid = simulation->threads[simulation->main_threads[i]].tid;

		writer->definitions[i] = stream_begin(MR_STREAM_USER, FIRST_PROCESS + i, pid, pid,
						      MR_PACKET_DEFINITIONS);
		define_nodes(simulation, writer, i);
	}
	for (int i = 0; i < simulation->thread_count; i++) {
		uint32_t process = simulation->threads[i].process;
		int main = simulation->main_threads[process];

		writer->threads[i] = stream_begin(MR_STREAM_USER, FIRST_PROCESS + process,
						  simulation->threads[main].tid,
						  simulation->threads[i].tid, MR_PACKET_EVENTS);
	}
	define_devices(simulation, writer);
	if (!simulation->options.no_kernel_level)
		define_kernel(simulation, writer);
	return writer;
}

/* ---- end ---------------------------------------------------------------------------------------- */

static void write_metadata(const char *directory)
{
	char *text = text_replace(metadata_text(), "freq = 2300000000", "freq = 1000000000");

	directory_write(directory, "ctf/metadata", text, strlen(text));
	free(text);
}

static void finish_threads(struct simulation *simulation)
{
	struct writer *writer = simulation->writer;

	for (uint32_t i = 0; i < simulation->device_count; i++)
		sample_clocks(simulation, i);
	write_operations(simulation);
	for (int i = 0; i < simulation->thread_count; i++) {
		writer->threads[i].begin_ns = simulation->threads[i].born_ns;
		writer->threads[i].end_ns = simulation->threads[i].over_ns;
	}
	for (uint32_t i = 0; i < simulation->process_count; i++) {
		struct stream *main = &writer->threads[simulation->main_threads[i]];

		main->end_ns = simulation->end_ns;
		writer->definitions[i].begin_ns = writer->definitions[i].end_ns = main->begin_ns;
	}
}

void writer_finish(struct simulation *simulation, const char *directory)
{
	struct writer *writer = simulation->writer;
	uint32_t number = 0;

	write_metadata(directory);
	finish_threads(simulation);
	for (int64_t ns = WORLD_BEGIN_NS; ns < simulation->end_ns + 2 * SAMPLE_PERIOD_NS;
	     ns += SAMPLE_PERIOD_NS)
		PUT(&writer->recorder, WORLD_BEGIN_NS, clock_sample, NULL,
		    .reference = MR_trace_clock_tsc, .clock = MR_trace_clock_monotonic,
		    .before = (uint64_t)ns, .value = (uint64_t)ns, .after = (uint64_t)ns);
	writer->recorder.end_ns = simulation->end_ns;
	stream_write(&writer->recorder, directory, number++, simulation->end_ns);
	for (uint32_t i = 0; i < simulation->process_count; i++)
		stream_write(&writer->definitions[i], directory, number++, simulation->end_ns);
	for (int i = 0; i < simulation->thread_count; i++)
		if (writer->threads[i].records.count)
			stream_write(&writer->threads[i], directory, number++, simulation->end_ns);
	for (int i = 0; !simulation->options.no_kernel_level && i < simulation->core_count; i++) {
		writer->cores[i].end_ns = writer->lives[i].end_ns = simulation->end_ns;
		stream_write(&writer->cores[i], directory, number++, simulation->end_ns);
		stream_write(&writer->lives[i], directory, number++, simulation->end_ns);
	}
}

void writer_free(struct writer *writer)
{
	if (!writer)
		return;
	for (int i = 0; i < MAX_THREADS; i++)
		stream_free(&writer->threads[i]);
	for (int i = 0; i < MAX_CORES; i++) {
		stream_free(&writer->cores[i]);
		stream_free(&writer->lives[i]);
	}
	for (int i = 0; i < MAX_PROCESSES; i++) {
		stream_free(&writer->definitions[i]);
		mr_vec_free(&writer->dictionaries[i].texts);
		mr_vec_free(&writer->dictionaries[i].ids);
	}
	stream_free(&writer->recorder);
	free(writer);
}
