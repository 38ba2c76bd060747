/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns each event of TensorFlow into rows, and notes what is still pending for them.
 */
#include <string.h>

#include "load/tensorflow/tensorflow.h"

static struct mr_strings *strings_of(struct mr_tensorflow *tensorflow)
{
	return &tensorflow->model->survey->definitions.strings;
}

static int intern(struct mr_tensorflow *tensorflow, struct mr_slice slice, uint32_t *ret_string)
{
	return mr_strings_intern(strings_of(tensorflow), slice.at, slice.length, ret_string);
}

static int intern_path(struct mr_tensorflow *tensorflow, struct mr_slice name, uint32_t *ret_path)
{
	mr_auto(free) char *path = malloc(name.length + 1);

	return path ? intern(tensorflow, (struct mr_slice){path, mr_traceme_path(name, path)},
			     ret_path)
		    : -ENOMEM;
}

static int read_text(struct mr_tensorflow *tensorflow, const char *text,
		     struct mr_traceme *ret_meaning)
{
	struct mr_traceme_parts parts;

	mr_traceme_read(text, ret_meaning, &parts);
	int result = intern(tensorflow, parts.name, &ret_meaning->name);
	if (result == 0)
		result = intern(tensorflow, parts.type, &ret_meaning->type);
	if (result == 0)
		result = intern(tensorflow, parts.detail, &ret_meaning->detail);
	if (result == 0)
		result = intern(tensorflow, parts.channel, &ret_meaning->channel);
	if (result == 0 && ret_meaning->is_iterator)
		result = intern_path(tensorflow, parts.name, &ret_meaning->path);
	return result;
}

/* What an interned text means: read once. */
static int find_meaning(struct mr_tensorflow *tensorflow, uint32_t string,
			struct mr_traceme *ret_meaning)
{
	int result = 0;

	while (result == 0 && tensorflow->meanings.count <= string)
		result = mr_vec_push(&tensorflow->meanings, (struct mr_traceme){0});
	if (result < 0)
		return result;
	if (tensorflow->meanings.items[string].kind == MR_TRACEME_NOT_READ)
		result = read_text(tensorflow, mr_strings_text(strings_of(tensorflow), string),
				   &tensorflow->meanings.items[string]);
	*ret_meaning = tensorflow->meanings.items[string];
	return result;
}

/* What an event says besides its text. */
struct told {
	struct mr_span span;
	uint64_t numbers[MR_TRACEME_NUMBERS];
	bool has_numbers; /* if not, they stand in the text, where there are any */
};

static uint64_t number_at(const struct told *told, uint8_t place)
{
	return place == MR_TRACEME_NONE ? 0 : told->numbers[place];
}

/* Its node is known when all scopes are. */
static int add_operation(struct mr_tensorflow *tensorflow, const struct told *told, uint32_t text,
			 const struct mr_traceme *meaning)
{
	int result = mr_node_executions_append(
		&tensorflow->model->node_executions,
		(struct mr_node_executions_row){.track = tensorflow->loader->track,
						.start_ns = told->span.start_ns,
						.duration_ns = told->span.duration_ns,
						.step = MR_NO_STEP,
						.shapes = meaning->detail,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME,
						.site = tensorflow->loader->site});

	return result < 0 ? result : mr_pending_add(tensorflow, MR_PENDING_OPERATION, text);
}

static int add_scope(struct mr_tensorflow *tensorflow, const struct told *told,
		     const struct mr_traceme *meaning)
{
	return mr_scopes_append(
		&tensorflow->model->scopes,
		(struct mr_scopes_row){.track = tensorflow->loader->track,
				       .start_ns = told->span.start_ns,
				       .duration_ns = told->span.duration_ns,
				       .name = meaning->name,
				       .detail = meaning->detail,
				       .run = number_at(told, meaning->run),
				       .key = number_at(told, meaning->key),
				       .parent_key = number_at(told, meaning->parent_key),
				       .site = tensorflow->loader->site});
}

static int add_step(struct mr_tensorflow *tensorflow, const struct told *told,
		    const struct mr_traceme *meaning)
{
	return mr_steps_append(&tensorflow->model->steps,
			       (struct mr_steps_row){.track = tensorflow->loader->track,
						     .start_ns = told->span.start_ns,
						     .duration_ns = told->span.duration_ns,
						     .step = number_at(told, meaning->step),
						     .site = tensorflow->loader->site});
}

static uint32_t ordinal_at(const struct told *told, uint8_t place)
{
	return place == MR_TRACEME_NONE || told->numbers[place] >= MR_NO_ORDINAL
		       ? MR_NO_ORDINAL
		       : (uint32_t)told->numbers[place];
}

/* Somebody asks an iterator for its next element. */
static int add_request(struct mr_tensorflow *tensorflow, const struct told *told,
		       const struct mr_traceme *meaning)
{
	return mr_input_work_append(
		&tensorflow->model->input_work,
		(struct mr_input_work_row){.track = tensorflow->loader->track,
					   .start_ns = told->span.start_ns,
					   .duration_ns = told->span.duration_ns,
					   .kind = MR_INPUT_REQUEST,
					   .path = meaning->path,
					   .iterator = number_at(told, meaning->key),
					   .consumer = number_at(told, meaning->parent_key),
					   .parallelism = ordinal_at(told, meaning->parallelism),
					   .buffer_limit = ordinal_at(told, meaning->buffer_limit),
					   .buffered = ordinal_at(told, meaning->buffered),
					   .is_autotuned = meaning->is_autotuned});
}

static void read_numbers(const char *text, struct told *told)
{
	struct mr_traceme_parts parts;
	struct mr_traceme meaning;

	mr_traceme_read(text, &meaning, &parts);
	for (int i = 0; i < MR_TRACEME_NUMBERS; i++)
		told->numbers[i] = mr_slice_number(parts.numbers[i]);
}

static bool needs_numbers(const struct mr_traceme *meaning)
{
	return meaning->run != MR_TRACEME_NONE || meaning->key != MR_TRACEME_NONE ||
	       meaning->parent_key != MR_TRACEME_NONE || meaning->step != MR_TRACEME_NONE;
}

static int add_traceme(struct mr_tensorflow *tensorflow, struct told *told, uint32_t text)
{
	struct mr_traceme meaning;
	int result = find_meaning(tensorflow, text, &meaning);

	if (result < 0)
		return result;
	if (meaning.kind == MR_TRACEME_OPERATION)
		return add_operation(tensorflow, told, text, &meaning);
	if (!told->has_numbers && needs_numbers(&meaning))
		read_numbers(mr_strings_text(strings_of(tensorflow), text), told);
	if (meaning.kind == MR_TRACEME_STEP)
		result = add_step(tensorflow, told, &meaning);
	if (result == 0 && meaning.is_iterator)
		result = add_request(tensorflow, told, &meaning);
	return result < 0 ? result : add_scope(tensorflow, told, &meaning);
}

/* Allocators that record their own events: those of devices. For the CPU's allocators the hook records more. */
static int add_memory(struct mr_tensorflow *tensorflow, const struct told *told, const char *text,
		      bool is_free)
{
	struct mr_slice name = mr_traceme_value(text, "allocator_name");
	uint64_t bytes = mr_slice_number(mr_traceme_value(text, "allocation_bytes"));
	uint32_t allocator;

	if (mr_slice_is(name, "mklcpu") || mr_slice_is(name, "cpu"))
		return 0;
	int result = intern(tensorflow, name, &allocator);
	if (result < 0)
		return result;
	return mr_memory_append(
		&tensorflow->model->memory,
		(struct mr_memory_row){.track = tensorflow->loader->track,
				       .start_ns = told->span.start_ns,
				       .allocator = allocator,
				       .address = mr_slice_number(mr_traceme_value(text, "addr")),
				       .bytes = is_free ? 0 : bytes,
				       .site = tensorflow->loader->site,
				       .is_free = is_free});
}

/* A collective, recorded by the thread that performs it; the node's own event is separate. */
static int add_collective(struct mr_tensorflow *tensorflow, const struct told *told,
			  const char *text)
{
	struct mr_traceme_parts parts;
	struct mr_traceme meaning;
	uint32_t name;

	mr_traceme_read(text, &meaning, &parts);
	int result = intern(tensorflow, parts.name, &name);
	if (result == 0)
		result = mr_vec_push(&tensorflow->collectives, name);
	if (result < 0)
		return result;
	return mr_collectives_append(
		&tensorflow->model->collectives,
		(struct mr_collectives_row){
			.track = tensorflow->loader->track,
			.start_ns = told->span.start_ns,
			.duration_ns = told->span.duration_ns,
			.run = mr_slice_number(mr_traceme_value(text, "step_id")),
			.bytes = MR_NO_SIZE,
			.group_key = mr_slice_number(mr_traceme_value(text, "group_key")),
			.instance_key = mr_slice_number(mr_traceme_value(text, "instance_key"))});
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

static int add_text(struct mr_tensorflow *tensorflow, struct told *told, const char *text)
{
	uint32_t string;

	if (begins_with(text, "MemoryAllocation#"))
		return add_memory(tensorflow, told, text, false);
	if (begins_with(text, "MemoryDeallocation#"))
		return add_memory(tensorflow, told, text, true);
	if (mr_traceme_value(text, "instance_key").length > 0)
		return add_collective(tensorflow, told, text);
	int result = mr_strings_intern(strings_of(tensorflow), text, strlen(text), &string);
	return result < 0 ? result : add_traceme(tensorflow, told, string);
}

/* False if there is no place for it, counted if that should not be. Of a half that another thread completes only the
 * first is placed, at its only time; the second has no name. */
static bool place(struct mr_tensorflow *tensorflow, int64_t start, int64_t end,
		  struct mr_span *ret_span)
{
	const struct mr_clock_map *map =
		mr_clocks_find(tensorflow->model->survey->clocks, MR_trace_clock_realtime);

	if (!map || start == 0 || end == 0) {
		tensorflow->model->anomalies.unplaced++;
		return false;
	}
	if (start < 0)
		return false;
	if (end < 0)
		end = start;
	uint32_t *gap = &tensorflow->clock_gap;
	*ret_span =
		mr_loader_span(tensorflow->loader, mr_clock_to_ns_near(map, (uint64_t)start, gap),
			       mr_clock_to_ns_near(map, (uint64_t)end, gap));
	return true;
}

static int add_activity(struct mr_tensorflow *tensorflow, const struct mr_event_activity *activity)
{
	return mr_vec_push(
		&tensorflow->seen,
		((struct mr_activity_seen){
			.process = tensorflow->loader->process,
			.text = mr_loader_find(tensorflow->loader, MR_ID_string, activity->text),
			.run = activity->run}));
}

int mr_tensorflow_add(struct mr_tensorflow *tensorflow, const struct mr_event *event)
{
	struct told told = {0};

	switch (event->desc->id) {
	case MR_EVENT_traceme: {
		const struct mr_event_traceme *plain = event->payload;

		if (!place(tensorflow, plain->start, plain->end, &told.span))
			return 0;
		return add_traceme(tensorflow, &told,
				   mr_loader_find(tensorflow->loader, MR_ID_string, plain->text));
	}
	case MR_EVENT_traceme_numbers: {
		const struct mr_event_traceme_numbers *with = event->payload;

		if (!place(tensorflow, with->start, with->end, &told.span))
			return 0;
		told.numbers[0] = with->first;
		told.numbers[1] = with->second;
		told.numbers[2] = with->third;
		told.numbers[3] = with->fourth;
		told.has_numbers = true;
		return add_traceme(tensorflow, &told,
				   mr_loader_find(tensorflow->loader, MR_ID_string, with->text));
	}
	case MR_EVENT_traceme_text: {
		const struct mr_event_traceme_text *text = event->payload;

		if (!place(tensorflow, text->start, text->end, &told.span))
			return 0;
		return add_text(tensorflow, &told, event->text);
	}
	case MR_EVENT_eager_operation:
		return mr_eager_add(tensorflow, event);
	case MR_EVENT_eager_enqueue:
		return mr_eager_add_enqueued(tensorflow, event);
	case MR_EVENT_eager_run:
		return mr_eager_add_run(tensorflow, event);
	case MR_EVENT_activity:
		return add_activity(tensorflow, event->payload);
	}
	return 0;
}
