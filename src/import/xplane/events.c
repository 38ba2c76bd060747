/* SPDX-License-Identifier: Apache-2.0
 *
 * The second reading: events become device operations, calls, steps and executions.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/xplane/xplane.h"

/* ---- lines ------------------------------------------------------------------------------------------- */

bool mr_xplane_enter_line(struct mr_xplane *xplane, struct mr_source *source, uint64_t end,
			  struct mr_xplane_line *ret_line, struct mr_field *ret_event,
			  bool *ret_has_event)
{
	enum {
		ID = 1,
		NAME,
		TIME,
		EVENTS,
		DISPLAY_NAME = 11
	};
	enum mr_stream_found found;
	uint32_t string;

	*ret_line = (struct mr_xplane_line){.name = "", .end = end};
	*ret_has_event = false;
	while ((found = mr_stream_next(source, end, ret_event)) == MR_STREAM_FIELD) {
		if (mr_field_is(ret_event, EVENTS, MR_WIRE_BYTES)) {
			*ret_has_event = true;
			return true;
		}
		if (mr_field_is(ret_event, ID, MR_WIRE_VARINT))
			ret_line->id = (int64_t)ret_event->value;
		else if (mr_field_is(ret_event, TIME, MR_WIRE_VARINT))
			ret_line->start_ns = (int64_t)ret_event->value;
		if (ret_event->wire != MR_WIRE_BYTES)
			continue;
		if (!mr_stream_take(source, ret_event))
			return false;
		if (ret_event->number != NAME)
			continue;
		if (mr_strings_intern(&xplane->texts, ret_event->bytes, ret_event->value, &string) <
		    0)
			return false;
		ret_line->name = mr_strings_text(&xplane->texts, string);
	}
	return found == MR_STREAM_END;
}

/* Lines that show operations again, in groups. */
static bool is_repetition(const struct mr_xplane_plane *plane, const char *name)
{
	static const char *const names[] = {
		"XLA Modules", "Framework Ops",     "Framework Name Scope",
		"Source code", "XLA TraceMe",       "Launch Stats",
		"Counters",    "Sparse Core Steps", "Sparse Core Modules",
		"Steps"};

	for (size_t i = 0; i < mr_countof(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return plane->has_streams && strncmp(name, "Stream #", 8) != 0;
}

static int find_thread(struct mr_xplane *xplane, uint32_t process,
		       const struct mr_xplane_line *line, uint32_t *ret_thread)
{
	char id[24];
	int length = snprintf(id, sizeof id, "%lld", (long long)line->id);
	size_t name_length = strlen(line->name), suffix = (size_t)length + 1;
	uint32_t key, name;

	if (name_length > suffix && line->name[name_length - suffix] == '/' &&
	    strcmp(line->name + name_length - suffix + 1, id) == 0)
		name_length -= suffix; /* its name repeats its number */
	if (mr_builder_string(xplane->builder, id, (size_t)length, &key) < 0 ||
	    mr_builder_thread(xplane->builder, process, key, ret_thread) < 0 ||
	    mr_builder_string(xplane->builder, line->name, name_length, &name) < 0)
		return -ENOMEM;
	if (name)
		xplane->builder->streams.items[*ret_thread].name = name;
	return 0;
}

/* "Stream #17(Kernel)" is a part of stream 17. */
static int find_queue(struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
		      const struct mr_xplane_line *line, uint32_t *ret_queue)
{
	char name[64];
	int number = 0;
	uint32_t string;
	bool is_stream = sscanf(line->name, "Stream #%d", &number) == 1;

	if (is_stream)
		snprintf(name, sizeof name, "stream %d", number);
	else
		snprintf(name, sizeof name, "%s", line->name);
	if (mr_builder_string(xplane->builder, name, strlen(name), &string) < 0 ||
	    mr_builder_queue(xplane->builder, plane->device, string, ret_queue) < 0)
		return -ENOMEM;
	xplane->builder->queues.items[*ret_queue - 1].order =
		is_stream ? MR_queue_order_in_order : MR_queue_order_unknown;
	return 0;
}

/* Device operations are the process's, and stand on its first thread. */
static int find_operation_thread(struct mr_xplane *xplane)
{
	uint32_t key;

	if (xplane->has_thread)
		return 0;
	xplane->has_thread = true;
	return mr_builder_string(xplane->builder, "devices", 7, &key) < 0
		       ? -ENOMEM
		       : mr_builder_thread(xplane->builder, xplane->process, key,
					   &xplane->operation_thread);
}

/* ---- one event ----------------------------------------------------------------------------------------- */

static void read_figure(const struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
			const struct mr_field *field, struct mr_xplane_event *event)
{
	struct mr_xplane_value value;

	if (!mr_xplane_figure_of(xplane, plane, field, &value))
		return;
	switch (value.figure) {
	case MR_XPLANE_CORRELATION:
		event->correlation = value.number;
		break;
	case MR_XPLANE_STEP:
		event->step = value.number;
		event->has_step = true;
		break;
	case MR_XPLANE_KERNEL_DETAILS:
		event->operation = MR_operation_kind_kernel;
		goto details;
	case MR_XPLANE_COPY_DETAILS:
		event->operation = MR_operation_kind_other;
		goto details;
	case MR_XPLANE_FILL_DETAILS:
		event->operation = MR_operation_kind_fill;
	details:
		event->details = value.text;
		event->detail_bytes = value.length;
		break;
	default:
		break;
	}
}

/* Picoseconds since the begin of its line become nanoseconds: both ends are rounded down, so that what meets still
 * does. */
static bool place_event(const struct mr_xplane_line *line, int64_t offset_ps, int64_t duration_ps,
			struct mr_xplane_event *event)
{
	int64_t end_ps;

	if (line->start_ns < 0 || line->start_ns > MR_BUILD_TIME_MAX_NS || offset_ps < 0 ||
	    duration_ps < 0 || __builtin_add_overflow(offset_ps, duration_ps, &end_ps))
		return false;
	event->start_ns = line->start_ns + offset_ps / 1000;
	event->end_ns = line->start_ns + end_ps / 1000;
	return event->end_ns <= MR_BUILD_TIME_MAX_NS;
}

static bool read_event(const struct mr_xplane *xplane, const struct mr_xplane_place *place,
		       const struct mr_xplane_line *line, const struct mr_field *field,
		       struct mr_xplane_event *event)
{
	enum {
		KIND = 1,
		OFFSET,
		DURATION,
		FIGURES,
		OCCURRENCES
	};
	static const struct mr_xplane_kind nameless = {0};
	struct mr_message message = mr_message_of(field);
	int64_t offset_ps = 0, duration_ps = 0;
	struct mr_field part;

	*event = (struct mr_xplane_event){.kind = &nameless, .operation = MR_operation_kind_kernel};
	while (mr_message_next(&message, &part)) {
		if (mr_field_is(&part, KIND, MR_WIRE_VARINT)) {
			const struct mr_xplane_kind *kind =
				mr_xplane_kind_of(place->plane, (int64_t)part.value);

			event->kind = kind ? kind : &nameless;
		} else if (mr_field_is(&part, OFFSET, MR_WIRE_VARINT)) {
			offset_ps = (int64_t)part.value;
		} else if (mr_field_is(&part, DURATION, MR_WIRE_VARINT)) {
			duration_ps = (int64_t)part.value;
		} else if (mr_field_is(&part, FIGURES, MR_WIRE_BYTES)) {
			read_figure(xplane, place->plane, &part, event);
		} else if (mr_field_is(&part, OCCURRENCES, MR_WIRE_VARINT)) {
			event->is_sum = part.value > 0;
		}
	}
	return !message.is_bad && place_event(line, offset_ps, duration_ps, event);
}

/* ---- the host -------------------------------------------------------------------------------------------- */

static int add_call(struct mr_xplane *xplane, const struct mr_xplane_place *place,
		    const struct mr_xplane_event *event)
{
	uint64_t ticks = (uint64_t)(event->end_ns - event->start_ns);
	const struct mr_event_runtime_call call = {.function = event->kind->name,
						   .duration_ticks = mr_u48_from(ticks),
						   .correlation = event->correlation};

	if (ticks > MR_U48_MAX)
		return mr_import_faults_add(&xplane->import->faults,
					    "a runtime call that lasts for days", 0, 0);
	return mr_builder_add(xplane->builder, place->thread, event->start_ns, event->end_ns,
			      MR_EVENT_runtime_call, &call);
}

/* "dense/MatMul:MatMul" is a node and its type. Functions of Python begin with a dollar sign, and those of C++ have
 * two colons. */
static int find_node(struct mr_xplane *xplane, const struct mr_xplane_event *event,
		     uint32_t *ret_node)
{
	const char *name = mr_xplane_name_of(xplane, event), *colon = strrchr(name, ':');
	const char *graph = *name == '$' ? "Python" : "host";
	size_t length = strlen(name);
	uint32_t string, named = event->kind->name, type = event->kind->name;
	bool is_typed = *name != '$' && colon && colon > name && colon[-1] != ':' &&
			isalpha((unsigned char)colon[1]) && !strpbrk(colon, " /.<>(");

	if (is_typed &&
	    (mr_builder_string(xplane->builder, name, (size_t)(colon - name), &named) < 0 ||
	     mr_builder_string(xplane->builder, colon + 1, length - (size_t)(colon + 1 - name),
			       &type) < 0))
		return -ENOMEM;
	if (mr_builder_string(xplane->builder, graph, strlen(graph), &string) < 0 ||
	    mr_builder_node(xplane->builder, string, named, ret_node) < 0)
		return -ENOMEM;
	xplane->builder->nodes.items[*ret_node - 1].type = type;
	return 0;
}

static int add_host_event(struct mr_xplane *xplane, const struct mr_xplane_place *place,
			  const struct mr_xplane_event *event)
{
	struct mr_event_node_interval_at interval = {.step = UINT32_MAX,
						     .clock = MR_trace_clock_monotonic,
						     .start = (uint64_t)event->start_ns,
						     .end = (uint64_t)event->end_ns};
	struct mr_event_node_instant instant = {.step = UINT32_MAX};
	uint32_t node;

	if (event->has_step) {
		const struct mr_step_mark mark = {.thread = place->thread,
						  .start_ns = event->start_ns,
						  .end_ns = event->end_ns,
						  .number = event->step};

		if (mr_step_marks_note_numbered(&xplane->marks, mark) < 0)
			return -ENOMEM;
	}
	if (event->correlation)
		return add_call(xplane, place, event);
	if (find_node(xplane, event, &node) < 0)
		return -ENOMEM;
	interval.node = node;
	instant.node = node;
	if (event->end_ns == event->start_ns)
		return mr_builder_add(xplane->builder, place->thread, event->start_ns,
				      event->end_ns, MR_EVENT_node_instant, &instant);
	return mr_builder_add(xplane->builder, place->thread, event->start_ns, event->end_ns,
			      MR_EVENT_node_interval_at, &interval);
}

/* The steps of a device are called by their numbers. */
static int note_device_step(struct mr_xplane *xplane, const struct mr_xplane_place *place,
			    const struct mr_xplane_event *event)
{
	const char *name = mr_xplane_name_of(xplane, event);
	char *end;
	const struct mr_step_mark mark = {.thread = xplane->operation_thread,
					  .start_ns = event->start_ns,
					  .end_ns = event->end_ns,
					  .number = strtoull(name, &end, 10)};

	if (xplane->steps_device == 0)
		xplane->steps_device = place->plane->device;
	if (end == name || *end || xplane->steps_device != place->plane->device)
		return 0;
	return mr_step_marks_note_numbered(&xplane->device_marks, mark);
}

/* ---- planes ---------------------------------------------------------------------------------------------- */

static int add_event(struct mr_xplane *xplane, const struct mr_xplane_place *place,
		     const struct mr_xplane_line *line, const struct mr_field *field,
		     uint64_t offset)
{
	struct mr_xplane_event event;
	const char *fault = NULL;

	if (!read_event(xplane, place, line, field, &event))
		fault = "an event without valid times";
	else if (event.is_sum)
		fault = "an event that sums up others and has no time";
	if (fault)
		return mr_import_faults_add(&xplane->import->faults, fault, offset, field->value);
	if (place->is_steps)
		return note_device_step(xplane, place, &event);
	return place->queue ? mr_xplane_add_operation(xplane, place, &event)
			    : add_host_event(xplane, place, &event);
}

/* Finds where the events of a line go; *ret_is_wanted: anywhere at all. */
static int find_place(struct mr_xplane *xplane, const struct mr_xplane_line *line,
		      struct mr_xplane_place *place, bool *ret_is_wanted)
{
	const struct mr_xplane_plane *plane = place->plane;
	const char *name = mr_strings_text(&xplane->builder->strings, plane->name);
	uint32_t process = xplane->process;

	*ret_is_wanted = true;
	if (plane->role == MR_XPLANE_DEVICE) {
		if (find_operation_thread(xplane) < 0)
			return -ENOMEM;
		place->is_steps = strcmp(line->name, "Steps") == 0;
		*ret_is_wanted = place->is_steps || !is_repetition(plane, line->name);
		return place->is_steps || !*ret_is_wanted
			       ? 0
			       : find_queue(xplane, plane, line, &place->queue);
	}
	if (plane->role == MR_XPLANE_PROCESS &&
	    mr_builder_process(xplane->builder, name, strlen(name), &process) < 0)
		return -ENOMEM;
	return find_thread(xplane, process, line, &place->thread);
}

static int read_line(struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
		     struct mr_source *source, uint64_t end)
{
	struct mr_xplane_nest nest = {0};
	struct mr_xplane_place place = {.plane = plane, .nest = &nest};
	struct mr_xplane_line line;
	struct mr_field field;
	bool has_event, is_wanted;
	int result = 0;

	if (!mr_xplane_enter_line(xplane, source, end, &line, &field, &has_event))
		return -EINVAL;
	if (!has_event)
		return 0;
	if (find_place(xplane, &line, &place, &is_wanted) < 0)
		return -ENOMEM;
	do {
		uint64_t offset = source->offset;

		if (field.wire != MR_WIRE_BYTES)
			continue;
		if (field.number != 4 || !is_wanted)
			result = mr_stream_skip(source, &field) ? 0 : -EINVAL;
		else
			result = mr_stream_take(source, &field)
					 ? add_event(xplane, &place, &line, &field, offset)
					 : -EINVAL;
	} while (result == 0 && mr_stream_next(source, end, &field) == MR_STREAM_FIELD);
	if (result != -ENOMEM && mr_xplane_nest_end(xplane, &nest) < 0)
		result = -ENOMEM;
	mr_vec_free(&nest.open);
	return result == 0 && source->offset != end ? -EINVAL : result;
}

/* "GPU 0" of "/device:GPU:0". */
static int describe_device(struct mr_xplane *xplane, struct mr_xplane_plane *plane, size_t number)
{
	const char *name = mr_strings_text(&xplane->builder->strings, plane->name) + 8;
	const char *colon = strchr(name, ':');
	size_t kind = colon ? (size_t)(colon - name) : strlen(name);
	char text[64];

	snprintf(text, sizeof text, "%.*s%s%s", (int)mr_min(kind, (size_t)24), name,
		 colon ? " " : "", colon ? colon + 1 : "");
	if (mr_builder_device(xplane->builder, number, &plane->device) < 0)
		return -ENOMEM;
	struct mr_build_device *device = &xplane->builder->devices.items[plane->device - 1];
	device->kind =
		strncmp(name, "GPU", 3) == 0 ? MR_device_kind_gpu : MR_device_kind_accelerator;
	return mr_builder_string(xplane->builder, text, strlen(text), &device->name);
}

static int read_plane(struct mr_xplane *xplane, size_t number, struct mr_source *source,
		      uint64_t end)
{
	struct mr_xplane_plane *plane = &xplane->planes.items[number];
	struct mr_field field;
	bool has_lines = false;
	int result = 0;

	while (result == 0 && mr_stream_next(source, end, &field) == MR_STREAM_FIELD) {
		if (!mr_field_is(&field, 3, MR_WIRE_BYTES)) {
			result = mr_stream_skip(source, &field) ? 0 : -EINVAL;
			continue;
		}
		if (!has_lines && plane->role == MR_XPLANE_DEVICE)
			result = describe_device(xplane, plane, number);
		has_lines = true;
		if (result == 0)
			result = read_line(xplane, plane, source, source->offset + field.value);
	}
	return result == 0 && source->offset != end ? -EINVAL : result;
}

int mr_xplane_read_events(struct mr_xplane *xplane, struct mr_source *source)
{
	struct mr_field field;
	size_t number = 0;
	int result = 0;

	while (result == 0 && number < xplane->planes.count &&
	       mr_stream_next(source, UINT64_MAX, &field) == MR_STREAM_FIELD) {
		if (mr_field_is(&field, 1, MR_WIRE_BYTES))
			result = read_plane(xplane, number++, source, source->offset + field.value);
		else
			result = mr_stream_skip(source, &field) ? 0 : -EINVAL;
	}
	return result == -EINVAL ? 0 : result; /* the first reading has said so */
}
