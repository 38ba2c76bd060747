/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduling, as the kernel traced it: one bundle of events a CPU, in one of two forms. The compact form has a column for
 * each field, with differences of times:
 *
 *     switch_timestamp  100 +20 +5        the CPU goes to thread 7 at 100, to 9 at 120, to 7 at 125;
 *     switch_next_pid     7   9  7        the thread before is the one that came last
 *     waking_timestamp  110 ...           woken by the thread that ran then
 */
#include <errno.h>

#include "import/perfetto/perfetto.h"

enum {
	CPU_MAX = 4096,
};

/* One CPU's events. */
struct bundle {
	struct mr_perfetto *perfetto;
	uint32_t cpu;
	uint32_t stream;
	int64_t shift_ns; /* from the kernel's clock to that of the trace */
};

static bool place(const struct bundle *bundle, uint64_t time, int64_t *ret_ns)
{
	return time <= MR_BUILD_TIME_MAX_NS &&
	       !__builtin_add_overflow((int64_t)time, bundle->shift_ns, ret_ns) && *ret_ns >= 0 &&
	       *ret_ns <= MR_BUILD_TIME_MAX_NS;
}

static int refuse(const struct bundle *bundle)
{
	return mr_import_faults_add(&bundle->perfetto->import->faults,
				    "an event of the kernel without a valid time", 0, 0);
}

static enum mr_switch_reason reason_of(uint64_t state)
{
	if ((state & 0xFF) == 0)
		return MR_switch_reason_preempted;
	if (state & 1)
		return MR_switch_reason_interruptible;
	if (state & 2)
		return MR_switch_reason_uninterruptible;
	if (state & (4 | 8))
		return MR_switch_reason_stopped;
	return state & (16 | 32) ? MR_switch_reason_exited : MR_switch_reason_unknown;
}

static int note_run(const struct bundle *bundle, uint32_t tid, uint32_t name)
{
	struct mr_perfetto_task *task;

	if (tid == 0 || tid == UINT32_MAX)
		return 0;
	if (mr_perfetto_find_task(bundle->perfetto, tid, &task) < 0)
		return -ENOMEM;
	task->has_run = true;
	if (name && !task->name)
		task->name = name;
	return 0;
}

static int add_switch(const struct bundle *bundle, uint64_t time, uint32_t previous, uint32_t next,
		      uint64_t state)
{
	const struct mr_event_kernel_switch event = {
		.previous_tid = previous, .next_tid = next, .reason = (uint8_t)reason_of(state)};
	int64_t ns;

	if (!place(bundle, time, &ns))
		return refuse(bundle);
	bundle->perfetto->running.items[bundle->cpu] = next;
	return mr_builder_add(bundle->perfetto->builder, bundle->stream, ns, ns,
			      MR_EVENT_kernel_switch, &event);
}

static int add_waking(const struct bundle *bundle, uint64_t time, uint32_t tid, uint32_t waker)
{
	const struct mr_event_kernel_waking event = {
		.tid = tid, .waker_tid = waker, .context = MR_wake_context_task};
	int64_t ns;

	if (!place(bundle, time, &ns))
		return refuse(bundle);
	return mr_builder_add(bundle->perfetto->builder, bundle->stream, ns, ns,
			      MR_EVENT_kernel_waking, &event);
}

/* ---- one event a message ----------------------------------------------------------------------------------- */

static int name_of(const struct bundle *bundle, const struct mr_field *field, uint32_t *ret_string)
{
	return mr_builder_string(bundle->perfetto->builder, (const char *)field->bytes,
				 field->value, ret_string);
}

static int read_switch(const struct bundle *bundle, uint64_t time, const struct mr_field *field)
{
	enum {
		PREVIOUS_NAME = 1,
		PREVIOUS,
		STATE = 4,
		NEXT_NAME,
		NEXT
	};
	struct mr_message message = mr_message_of(field);
	uint32_t previous = 0, next = 0, previous_name = 0, next_name = 0;
	uint64_t state = 0;
	struct mr_field part;

	while (mr_message_next(&message, &part)) {
		if (mr_field_is(&part, PREVIOUS, MR_WIRE_VARINT))
			previous = (uint32_t)part.value;
		else if (mr_field_is(&part, NEXT, MR_WIRE_VARINT))
			next = (uint32_t)part.value;
		else if (mr_field_is(&part, STATE, MR_WIRE_VARINT))
			state = part.value;
		else if ((mr_field_is(&part, PREVIOUS_NAME, MR_WIRE_BYTES) &&
			  name_of(bundle, &part, &previous_name) < 0) ||
			 (mr_field_is(&part, NEXT_NAME, MR_WIRE_BYTES) &&
			  name_of(bundle, &part, &next_name) < 0))
			return -ENOMEM;
	}
	if (note_run(bundle, previous, previous_name) < 0 || note_run(bundle, next, next_name) < 0)
		return -ENOMEM;
	return add_switch(bundle, time, previous, next, state);
}

static int read_waking(const struct bundle *bundle, uint64_t time, const struct mr_field *field,
		       uint32_t waker)
{
	struct mr_message message = mr_message_of(field);
	struct mr_field part;
	uint32_t tid = 0;

	while (mr_message_next(&message, &part))
		if (mr_field_is(&part, 2, MR_WIRE_VARINT))
			tid = (uint32_t)part.value;
	return add_waking(bundle, time, tid, waker);
}

/* A wake-up is told twice, when it begins (waking) and when the thread can run (wakeup): the first counts. */
static int read_event(const struct bundle *bundle, const struct mr_field *field)
{
	enum {
		TIME = 1,
		THREAD = 2,
		SWITCH = 4,
		WAKING = 20,
		WAKEUP_NEW = 114
	};
	struct mr_message message = mr_message_of(field);
	struct mr_field part, what = {0};
	uint64_t time = 0;
	uint32_t thread = 0;

	while (mr_message_next(&message, &part)) {
		if (mr_field_is(&part, TIME, MR_WIRE_VARINT))
			time = part.value;
		else if (mr_field_is(&part, THREAD, MR_WIRE_VARINT))
			thread = (uint32_t)part.value;
		else if (part.wire == MR_WIRE_BYTES)
			what = part;
	}
	if (what.number == SWITCH)
		return read_switch(bundle, time, &what);
	if (what.number == WAKING || what.number == WAKEUP_NEW)
		return read_waking(bundle, time, &what, thread);
	return 0;
}

/* ---- the compact form --------------------------------------------------------------------------------------- */

/* A column: numbers one behind the other. */
static bool next_number(struct mr_message *column, uint64_t *ret_number)
{
	uint64_t number = 0;

	for (unsigned shift = 0; column->at < column->end && shift < 64; shift += 7) {
		uint8_t byte = *column->at++;

		number |= (uint64_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80)) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

/* The columns, by their field's number, and the next row of both lists. */
struct compact {
	struct mr_message columns[12];
	uint64_t switch_time, state, next;
	uint64_t waking_time, woken;
	bool has_switch, has_waking;
};

enum {
	SWITCH_TIME = 1,
	SWITCH_STATE,
	SWITCH_NEXT,
	WAKING_TIME = 7,
	WAKING_THREAD,
};

static void next_switch(struct compact *compact)
{
	uint64_t elapsed;

	compact->has_switch = next_number(&compact->columns[SWITCH_TIME], &elapsed) &&
			      next_number(&compact->columns[SWITCH_STATE], &compact->state) &&
			      next_number(&compact->columns[SWITCH_NEXT], &compact->next);
	if (compact->has_switch)
		compact->switch_time += elapsed;
}

static void next_waking(struct compact *compact)
{
	uint64_t elapsed;

	compact->has_waking = next_number(&compact->columns[WAKING_TIME], &elapsed) &&
			      next_number(&compact->columns[WAKING_THREAD], &compact->woken);
	if (compact->has_waking)
		compact->waking_time += elapsed;
}

/* Both lists, in the order of time, so that it is known who ran when somebody was woken. */
static int read_compact(const struct bundle *bundle, const struct mr_field *field)
{
	struct mr_message message = mr_message_of(field);
	struct compact compact = {0};
	struct mr_field part;
	int result = 0;

	while (mr_message_next(&message, &part))
		if (part.wire == MR_WIRE_BYTES && part.number < mr_countof(compact.columns))
			compact.columns[part.number] = mr_message_of(&part);
	next_switch(&compact);
	next_waking(&compact);
	while (result == 0 && (compact.has_switch || compact.has_waking)) {
		uint32_t now = bundle->perfetto->running.items[bundle->cpu];

		if (compact.has_waking &&
		    (!compact.has_switch || compact.waking_time <= compact.switch_time)) {
			result = add_waking(bundle, compact.waking_time, (uint32_t)compact.woken,
					    now);
			next_waking(&compact);
			continue;
		}
		result = note_run(bundle, (uint32_t)compact.next, 0);
		if (result == 0)
			result = add_switch(bundle, compact.switch_time, now,
					    (uint32_t)compact.next, compact.state);
		next_switch(&compact);
	}
	return result;
}

/* ---- bundles and tasks ---------------------------------------------------------------------------------------- */

static int start_bundle(struct mr_perfetto *perfetto, const struct mr_field *field,
			struct bundle *bundle)
{
	enum {
		CPU = 1,
		LOST = 3,
		CLOCK = 5,
		KERNEL_TIME = 6,
		TRACE_TIME = 7
	};
	struct mr_message message = mr_message_of(field);
	uint64_t cpu = 0, clock = 0, kernel_time = 0, trace_time = 0, is_lost = 0;
	struct mr_field part;

	while (mr_message_next(&message, &part)) {
		if (part.wire != MR_WIRE_VARINT)
			continue;
		cpu = part.number == CPU ? part.value : cpu;
		is_lost = part.number == LOST ? part.value : is_lost;
		clock = part.number == CLOCK ? part.value : clock;
		kernel_time = part.number == KERNEL_TIME ? part.value : kernel_time;
		trace_time = part.number == TRACE_TIME ? part.value : trace_time;
	}
	if (is_lost &&
	    mr_import_faults_add(&perfetto->import->faults,
				 "events of the kernel that were lost while recording", 0, 0) < 0)
		return -ENOMEM;
	if (cpu >= CPU_MAX)
		return mr_import_faults_add(&perfetto->import->faults, "an invalid number of a CPU",
					    0, 0) < 0
			       ? -ENOMEM
			       : 1;
	*bundle = (struct bundle){.perfetto = perfetto, .cpu = (uint32_t)cpu};
	if (clock && kernel_time && trace_time && kernel_time <= MR_BUILD_TIME_MAX_NS &&
	    trace_time <= MR_BUILD_TIME_MAX_NS)
		bundle->shift_ns = (int64_t)trace_time - (int64_t)kernel_time;
	while (perfetto->running.count <= cpu)
		if (mr_vec_push(&perfetto->running, UINT32_MAX) < 0)
			return -ENOMEM;
	if (is_lost)
		perfetto->running.items[cpu] = UINT32_MAX;
	return mr_builder_cpu(perfetto->builder, (uint32_t)cpu, &bundle->stream);
}

int mr_perfetto_add_ftrace(struct mr_perfetto *perfetto, const struct mr_field *field)
{
	enum {
		EVENT = 2,
		COMPACT = 4
	};
	struct mr_message message = mr_message_of(field);
	struct bundle bundle;
	struct mr_field part;
	int result = start_bundle(perfetto, field, &bundle);

	if (result != 0)
		return result < 0 ? result : 0;
	while (result == 0 && mr_message_next(&message, &part))
		if (mr_field_is(&part, COMPACT, MR_WIRE_BYTES))
			result = read_compact(&bundle, &part);
		else if (mr_field_is(&part, EVENT, MR_WIRE_BYTES))
			result = read_event(&bundle, &part);
	return result;
}

/* Does a process have track events? */
static bool is_of_program(const struct mr_perfetto *perfetto, uint32_t pid)
{
	const struct mr_builder *builder = perfetto->builder;

	for (size_t i = 0; i < builder->processes.count; i++)
		if (builder->processes.items[i].pid == pid)
			return true;
	return builder->processes.count == 0;
}

/* A CPU with events, and when the first of all streams begins; false if no CPU has any. */
static bool find_begin(const struct mr_builder *builder, uint32_t *ret_cpu, int64_t *ret_ns)
{
	bool is_found = false;

	*ret_ns = INT64_MAX;
	for (uint32_t i = 0; i < builder->streams.count; i++) {
		const struct mr_build_stream *stream = &builder->streams.items[i];

		*ret_ns = mr_min(*ret_ns, stream->first);
		if (stream->stream_class == MR_STREAM_KERNEL && stream->first < INT64_MAX) {
			*ret_cpu = i;
			is_found = true;
		}
	}
	return is_found;
}

/* Threads were there before anything was recorded. */
int mr_perfetto_add_tasks(struct mr_perfetto *perfetto)
{
	struct mr_builder *builder = perfetto->builder;
	int64_t begin_ns;
	uint32_t cpu;
	int result = 0;

	if (!find_begin(builder, &cpu, &begin_ns))
		return 0;
	for (size_t i = 0; result == 0 && i < perfetto->tasks.count; i++) {
		const struct mr_perfetto_task *task = &perfetto->tasks.items[i];
		uint32_t pid = task->pid ? task->pid : task->tid;
		const struct mr_event_kernel_fork fork = {
			.tid = task->tid, .pid = pid, .inner_tid = task->tid, .inner_pid = pid};

		if (task->has_run && is_of_program(perfetto, pid))
			result = mr_builder_add_text(builder, cpu, begin_ns, MR_EVENT_kernel_fork,
						     &fork,
						     mr_strings_text(&builder->strings, task->name),
						     builder->strings.lengths.items[task->name]);
	}
	return result;
}
