/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto.h"

#include <errno.h>

#include "import/chrome/kineto_device.h"
#include "import/chrome/kineto_memory.h"
#include "import/chrome/kineto_names.h"
#include "import/chrome/kineto_shapes.h"
#include "import/chrome/kineto_waits.h"

/* ---- intervals ------------------------------------------------------------------------------------ */

/* Nanoseconds; false if the value is no number of microseconds, or cannot be. */
static bool read_ns(const struct mr_json_value *value, int64_t *ret_ns)
{
	return mr_json_integer(value, 3, ret_ns) && *ret_ns >= 0 && *ret_ns <= MR_BUILD_TIME_MAX_NS;
}

static int add_execution(struct mr_kineto *kineto, const struct mr_kineto_interval *at,
			 uint32_t node, uint32_t shapes)
{
	uint64_t ticks = (uint64_t)(at->end_ns - at->start_ns);
	const uint32_t no_step = UINT32_MAX;
	const struct mr_event_node_interval brief = {
		.node = node, .step = no_step, .duration_ticks = mr_u48_from(ticks)};
	const struct mr_event_node_interval_at full = {.node = node,
						       .step = no_step,
						       .clock = MR_trace_clock_monotonic,
						       .start = (uint64_t)at->start_ns,
						       .end = (uint64_t)at->end_ns};

	const struct mr_event_node_interval_shapes shaped = {.node = node,
							     .step = no_step,
							     .duration_ticks = mr_u48_from(ticks),
							     .shapes = shapes};

	if (ticks <= MR_U48_MAX && shapes)
		return mr_builder_add(kineto->builder, at->thread, at->start_ns, at->end_ns,
				      MR_EVENT_node_interval_shapes, &shaped);
	if (ticks <= MR_U48_MAX)
		return mr_builder_add(kineto->builder, at->thread, at->start_ns, at->end_ns,
				      MR_EVENT_node_interval, &brief);
	return mr_builder_add(kineto->builder, at->thread, at->start_ns, at->end_ns,
			      MR_EVENT_node_interval_at, &full);
}

static bool is_operator(const struct mr_chrome_event *event)
{
	return mr_json_is(&event->category, "cpu_op") || mr_json_is(&event->category, "Operator");
}

/* Annotations; profilers of 2021 called them operators. */
static bool is_annotation(const struct mr_chrome_event *event)
{
	return mr_json_is(&event->category, "user_annotation") ||
	       (is_operator(event) && event->name.length > 12 &&
		memcmp(event->name.text, "ProfilerStep", 12) == 0);
}

static int note_step(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     const struct mr_kineto_interval *at, bool *ret_is_only_that)
{
	const struct mr_step_mark mark = {
		.thread = at->thread, .start_ns = at->start_ns, .end_ns = at->end_ns};

	*ret_is_only_that = false;
	if (event->name.kind != MR_JSON_STRING || !is_annotation(event))
		return 0;
	return mr_step_marks_note(&kineto->marks, event->name.text, event->name.length, mark,
				  ret_is_only_that);
}

static int add_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			const struct mr_kineto_interval *at)
{
	bool is_other;
	uint32_t node, shapes = 0;
	int result = mr_kineto_add_device_event(kineto, event, at, &is_other);

	if (result == 0 && !is_other)
		result = note_step(kineto, event, at, &is_other);
	if (result < 0 || is_other)
		return result;
	if (mr_kineto_node(kineto, event, &node) < 0 ||
	    (is_operator(event) && mr_kineto_shapes(kineto, event, &shapes) < 0))
		return -ENOMEM;
	return add_execution(kineto, at, node, shapes);
}

static int add_complete(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			uint32_t thread, int64_t start_ns)
{
	struct mr_kineto_interval at = {thread, start_ns, 0};
	int64_t duration_ns;

	if (event->duration.kind == MR_JSON_ABSENT)
		return mr_kineto_refuse(kineto, event, "an interval without a duration");
	if (!read_ns(&event->duration, &duration_ns) ||
	    duration_ns > MR_BUILD_TIME_MAX_NS - start_ns)
		return mr_kineto_refuse(kineto, event, "an invalid duration");
	at.end_ns = start_ns + duration_ns;
	return add_interval(kineto, event, &at);
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static int begin_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			  uint32_t thread, int64_t ns)
{
	uint32_t node;

	if (mr_kineto_node(kineto, event, &node) < 0)
		return -ENOMEM;
	return mr_vec_push(&kineto->builder->streams.items[thread].open,
			   ((struct mr_build_open){node, ns}));
}

static int end_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			uint32_t thread, int64_t ns)
{
	struct mr_build_stream *place = &kineto->builder->streams.items[thread];

	if (place->open.count == 0)
		return mr_kineto_refuse(kineto, event, "the end of an interval that did not begin");
	const struct mr_build_open open = place->open.items[--place->open.count];
	if (ns < open.start)
		return mr_kineto_refuse(kineto, event, "an interval that ends before it begins");
	return add_execution(kineto, &(struct mr_kineto_interval){thread, open.start, ns},
			     open.node, 0);
}

/* ---- instants, counters, messages ----------------------------------------------------------------- */

static int add_instant(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns)
{
	uint32_t node;

	if (mr_json_is(&event->name, "[memory]")) {
		struct mr_json_value value = mr_json_member(&event->args, "Bytes");
		int64_t bytes;

		if (mr_json_integer(&value, 0, &bytes))
			return mr_kineto_note_memory(kineto, event, thread, ns, bytes);
	}
	if (mr_kineto_node(kineto, event, &node) < 0)
		return -ENOMEM;
	return mr_builder_add(kineto->builder, thread, ns, ns, MR_EVENT_node_instant,
			      &(struct mr_event_node_instant){.node = node});
}

/* "name" if it has one value, else "name key" for each. */
static int name_counter(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			const struct mr_json_value *key, uint32_t *ret_string)
{
	if (mr_json_is(key, "value") || key->length == 0)
		return mr_kineto_string(kineto, &event->name, ret_string);
	return mr_kineto_pair(kineto, &event->name, key, ret_string);
}

static int add_counter(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns, const struct mr_json_value *key,
		       const struct mr_json_value *value)
{
	int64_t number, thousandths, exact;
	uint32_t name;

	if (!mr_json_integer(value, 0, &number))
		return mr_kineto_refuse(kineto, event,
					"a counter value that is not a number or is too large");
	/* Too large for thousandths is too large to have them here. */
	if (mr_json_integer(value, 3, &thousandths) &&
	    (__builtin_mul_overflow(number, INT64_C(1000), &exact) || thousandths != exact) &&
	    mr_import_faults_add(&kineto->import->faults,
				 "a counter value that is not an integer and was rounded",
				 event->offset, 0) < 0)
		return -ENOMEM;
	if (name_counter(kineto, event, key, &name) < 0)
		return -ENOMEM;
	return mr_builder_add(kineto->builder, thread, ns, ns, MR_EVENT_counter,
			      &(struct mr_event_counter){.name = name, .value = number});
}

static int add_counters(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			uint32_t thread, int64_t ns)
{
	struct mr_scan scan = mr_scan_of(&event->args);
	struct mr_json_value key, value;
	bool is_first = true;
	int result = 0;

	if (event->args.kind != MR_JSON_OBJECT)
		return mr_kineto_refuse(kineto, event, "a counter without values");
	mr_scan_enter(&scan, '{');
	while (result == 0 && mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK)
		result = add_counter(kineto, event, thread, ns, &key, &value);
	return result;
}

static int add_message(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns)
{
	struct mr_event_message_send message = {.bytes = UINT64_MAX}; /* not known */
	uint32_t channel, number;
	uint64_t key;

	if (mr_kineto_string(kineto, &event->name, &channel) < 0)
		return -ENOMEM;
	if (!mr_json_unsigned(&event->id, &key)) {
		if (mr_kineto_string(kineto, &event->id, &number) < 0)
			return -ENOMEM;
		key = number;
	}
	message.channel = channel;
	message.key = key;
	return mr_builder_add(
		kineto->builder, thread, ns, ns,
		event->phase == 's' ? MR_EVENT_message_send : MR_EVENT_message_receive, &message);
}

_Static_assert(sizeof(struct mr_event_message_send) == sizeof(struct mr_event_message_receive),
	       "add_message() writes both");

/* ---- beside the events ---------------------------------------------------------------------------- */

static int add_member(struct mr_chrome_reader *reader, const struct mr_json_value *key,
		      const struct mr_json_value *value)
{
	struct mr_kineto *kineto = (struct mr_kineto *)reader;
	struct mr_scan scan = mr_scan_of(value);
	struct mr_json_value properties;
	bool is_first = true;
	int64_t base_ns;
	int result = 0;

	if (mr_json_is(key, "baseTimeNanoseconds") && mr_json_integer(value, 0, &base_ns) &&
	    base_ns >= 0)
		kineto->builder->epoch_ns = base_ns;
	if (!mr_json_is(key, "deviceProperties") || value->kind != MR_JSON_ARRAY)
		return 0;
	mr_scan_enter(&scan, '[');
	while (result == 0 && mr_scan_element(&scan, &is_first) == MR_SCAN_OK &&
	       mr_scan_value(&scan, &properties) == MR_SCAN_OK)
		result = mr_kineto_add_device_name(kineto, &properties);
	return result;
}

/* What Kineto says twice. */
static bool is_repetition(const struct mr_chrome_event *event)
{
	const struct mr_json_value *category = &event->category;

	switch (category->length) {
	case 4:
		return mr_json_is(category, "ac2g");
	case 10:
		return mr_json_is(category, "cuda_event");
	case 16:
		return mr_json_is(category, "async_cpu_to_gpu");
	case 19:
		return mr_json_is(category, "gpu_user_annotation");
	}
	return event->pid.kind == MR_JSON_STRING &&
	       (mr_json_is(&event->pid, "Spans") || mr_json_is(&event->pid, "Traces") ||
		mr_json_is(&event->name, "Record Window End"));
}

/* Lists may end with an empty object, so that each event can be followed by a comma. Objects (N O D), dumps of memory
 * (v V), clock synchronisation (c) and contexts are sound, and say nothing about time. */
static bool is_no_event(const struct mr_chrome_event *event)
{
	bool is_empty = event->phase == 0 && event->name.kind == MR_JSON_ABSENT &&
			event->time.kind == MR_JSON_ABSENT;

	return is_empty || (event->phase && strchr("NODvVc()", event->phase));
}

/* ---- all events ----------------------------------------------------------------------------------- */

static int add_event(struct mr_chrome_reader *reader, const struct mr_chrome_event *event)
{
	struct mr_kineto *kineto = (struct mr_kineto *)reader;
	uint32_t thread;
	int64_t ns;

	if (event->phase == 'M')
		return mr_kineto_add_name(kineto, event);
	if (is_repetition(event) || is_no_event(event))
		return 0;
	if (mr_json_is(&event->category, "cuda_sync"))
		return mr_kineto_note_wait(kineto, event);
	if (event->phase == 0 || !strchr("XBEbeSFiIRnTCstf", event->phase))
		return mr_kineto_refuse(kineto, event, "an event of a phase that is not imported");
	if (!read_ns(&event->time, &ns))
		return mr_kineto_refuse(kineto, event, "an event without a valid time");
	if (!kineto->has_fractions)
		kineto->has_fractions = memchr(event->time.text, '.', event->time.length) != NULL;
	bool is_async = strchr("benSTF", event->phase) != NULL;
	if ((is_async ? mr_kineto_async_thread : mr_kineto_thread)(kineto, event, &thread) < 0)
		return -ENOMEM;
	switch (event->phase) {
	case 'X':
		return add_complete(kineto, event, thread, ns);
	case 'B':
	case 'b':
	case 'S':
		return begin_interval(kineto, event, thread, ns);
	case 'E':
	case 'e':
	case 'F':
		return end_interval(kineto, event, thread, ns);
	case 'C':
		return add_counters(kineto, event, thread, ns);
	case 's':
	case 't':
	case 'f':
		return add_message(kineto, event, thread, ns);
	}
	return add_instant(kineto, event, thread, ns);
}

static int add_fault(struct mr_chrome_reader *reader, const char *reason, uint64_t offset,
		     uint64_t bytes)
{
	return mr_import_faults_add(&((struct mr_kineto *)reader)->import->faults, reason, offset,
				    bytes);
}

void mr_kineto_start(struct mr_kineto *kineto, struct mr_import *import)
{
	*kineto = (struct mr_kineto){.reader = {.add_event = add_event,
						.add_member = add_member,
						.add_fault = add_fault},
				     .import = import,
				     .builder = &import->builder};
}

void mr_kineto_free(struct mr_kineto *kineto)
{
	mr_vec_free(&kineto->device_names);
	mr_vec_free(&kineto->device_labels);
	mr_step_marks_free(&kineto->marks);
	mr_vec_free(&kineto->memory);
	mr_vec_free(&kineto->waits);
	mr_vec_free(&kineto->queries);
	mr_vec_free(&kineto->scratch);
}
