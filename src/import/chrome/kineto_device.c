/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_device.h"

#include <errno.h>
#include <stdio.h>

#include "import/chrome/kineto_names.h"
#include "import/chrome/kineto_waits.h"

enum category {
	OTHER,
	CALL,
	KERNEL,
	COPY,
	FILL,
};

/* Old and new names. */
static enum category category_of(const struct mr_json_value *value)
{
#define NAME(text, category)                     \
	{                                        \
		text, sizeof(text) - 1, category \
	}
	static const struct {
		const char *text;
		size_t length;
		enum category category;
	} names[] = {
		NAME("kernel", KERNEL),
		NAME("gpu_memcpy", COPY),
		NAME("gpu_memset", FILL),
		NAME("cuda_runtime", CALL),
		NAME("cuda_driver", CALL),
		NAME("hip_runtime", CALL),
		NAME("hip_driver", CALL),
		NAME("xpu_runtime", CALL),
		NAME("xpu_driver", CALL),
		NAME("Kernel", KERNEL),
		NAME("Memcpy", COPY),
		NAME("Memset", FILL),
		NAME("Runtime", CALL),
		NAME("hpu_op", KERNEL),
		NAME("mtia_runtime", CALL),
		NAME("mtia_ccp_events", KERNEL),
		NAME("privateuse1_runtime", CALL),
		NAME("privateuse1_driver", CALL),
	};
#undef NAME

	for (size_t i = 0; i < mr_countof(names); i++)
		if (names[i].length == value->length &&
		    memcmp(names[i].text, value->text, value->length) == 0)
			return names[i].category;
	return OTHER;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static int add_call(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		    const struct mr_kineto_interval *at)
{
	struct mr_json_value correlation = mr_json_member(&event->args, "correlation");
	struct mr_builder *builder = kineto->builder;
	uint64_t ticks = (uint64_t)(at->end_ns - at->start_ns), number = 0;
	uint32_t function;

	if (ticks > MR_U48_MAX)
		return mr_kineto_refuse(kineto, event, "a runtime call that lasts for days");
	if (mr_kineto_string(kineto, &event->name, &function) < 0)
		return -ENOMEM;
	mr_json_unsigned(&correlation, &number);
	if (mr_kineto_note_query(kineto, event, number) < 0)
		return -ENOMEM;
	const struct mr_event_runtime_call call = {
		.function = function, .duration_ticks = mr_u48_from(ticks), .correlation = number};
	if (!kineto->has_calls)
		kineto->first_caller = at->thread;
	kineto->has_calls = true;
	kineto->has_several_callers |= builder->streams.items[at->thread].process !=
				       builder->streams.items[kineto->first_caller].process;
	return mr_builder_add(builder, at->thread, at->start_ns, at->end_ns, MR_EVENT_runtime_call,
			      &call);
}

/* ---- operations ----------------------------------------------------------------------------------- */

/* From names like "Memcpy HtoD (Pageable -> Device)". */
static enum mr_operation_kind direction_of(const struct mr_json_value *name)
{
	static const struct {
		const char *text;
		enum mr_operation_kind kind;
	} directions[] = {
		{"HtoD", MR_operation_kind_copy_to_device},
		{"DtoH", MR_operation_kind_copy_from_device},
		{"DtoD", MR_operation_kind_copy_on_device},
		{"PtoP", MR_operation_kind_copy_between_devices},
	};

	for (size_t i = 0; i < mr_countof(directions); i++)
		if (memmem(name->text, name->length, directions[i].text, 4))
			return directions[i].kind;
	return MR_operation_kind_other;
}

/* What the arguments of a device operation say. */
struct operation_args {
	struct mr_json_value device;
	struct mr_json_value stream;
	struct mr_json_value correlation;
	struct mr_json_value bytes;
	struct mr_json_value elements; /* of a collective: what each takes part with */
	struct mr_json_value type;     /* of these */
	struct mr_json_value grid;     /* of a device kernel: groups, and work items of a group */
	struct mr_json_value block;
	struct mr_json_value shared; /* memory of a group */
};

/* Where the argument of that name belongs; NULL if nobody wants it. */
static struct mr_json_value *place_of(struct operation_args *args, const struct mr_json_value *key)
{
	switch (key->length) {
	case 5:
		return mr_json_is(key, "bytes")   ? &args->bytes
		       : mr_json_is(key, "dtype") ? &args->type
		       : mr_json_is(key, "block") ? &args->block
						  : NULL;
	case 4:
		return mr_json_is(key, "grid") ? &args->grid : NULL;
	case 6:
		return mr_json_is(key, "device")   ? &args->device
		       : mr_json_is(key, "stream") ? &args->stream
						   : NULL;
	case 11:
		return mr_json_is(key, "correlation") ? &args->correlation : NULL;
	case 13:
		return mr_json_is(key, "In msg nelems")   ? &args->elements
		       : mr_json_is(key, "shared memory") ? &args->shared
							  : NULL;
	}
	return NULL;
}

static struct operation_args read_operation_args(const struct mr_chrome_event *event)
{
	struct operation_args args = {.device = event->pid,
				      .stream = event->tid,
				      .correlation = MR_JSON_NOTHING,
				      .bytes = MR_JSON_NOTHING,
				      .elements = MR_JSON_NOTHING,
				      .type = MR_JSON_NOTHING,
				      .grid = MR_JSON_NOTHING,
				      .block = MR_JSON_NOTHING,
				      .shared = MR_JSON_NOTHING};
	struct mr_scan scan = mr_scan_of(&event->args);
	struct mr_json_value key, value;
	bool is_first = true;

	if (event->args.kind != MR_JSON_OBJECT)
		return args;
	mr_scan_enter(&scan, '{');
	while (mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK) {
		struct mr_json_value *place = place_of(&args, &key);

		if (place)
			*place = value;
	}
	return args;
}

/* What a copy moves, or each participant puts into a collective; 0 if that is not known. */
static uint64_t bytes_of(const struct operation_args *args)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = {{"Byte", 1},        {"Char", 1},  {"Bool", 1},     {"Float8_e4m3fn", 1},
		     {"Half", 2},        {"Short", 2}, {"BFloat16", 2}, {"Float8_e5m2", 1},
		     {"Int", 4},         {"Float", 4}, {"Long", 8},     {"Double", 8},
		     {"ComplexFloat", 8}};
	uint64_t bytes = 0, elements;

	if (mr_json_unsigned(&args->bytes, &bytes) || !mr_json_unsigned(&args->elements, &elements))
		return bytes;
	for (size_t i = 0; i < mr_countof(types); i++)
		if (mr_json_is(&args->type, types[i].name) &&
		    !__builtin_mul_overflow(elements, types[i].bytes, &bytes))
			return bytes;
	return 0;
}

static int find_queue(struct mr_kineto *kineto, const struct operation_args *args,
		      uint64_t device_number, uint32_t *ret_queue)
{
	char name[64];
	uint32_t device, string;
	int length = snprintf(name, sizeof name, "stream %.*s",
			      (int)mr_min(args->stream.length, sizeof name), args->stream.text);

	length = mr_min(length, (int)sizeof name - 1);
	if (mr_builder_string(kineto->builder, name, (size_t)length, &string) < 0 ||
	    mr_builder_device(kineto->builder, device_number, &device) < 0)
		return -ENOMEM;
	return mr_builder_queue(kineto->builder, device, string, ret_queue);
}

uint32_t mr_kineto_find_queue(const struct mr_kineto *kineto, const struct mr_kineto_stream *stream)
{
	const struct mr_builder *builder = kineto->builder;
	char name[64];
	int length = snprintf(name, sizeof name, "stream %llu", (unsigned long long)stream->number);
	uint32_t string, device, queue;

	if (!mr_strings_find(&builder->strings, name, (size_t)length, &string) ||
	    !mr_strings_find(&builder->device_keys, &stream->device, sizeof stream->device,
			     &device))
		return 0;
	const uint32_t key[] = {device + 1, string};
	return mr_strings_find(&builder->queue_keys, key, sizeof key, &queue) ? queue + 1 : 0;
}

/* Three numbers. */
static bool read_sizes(const struct mr_json_value *list, uint32_t sizes[3])
{
	struct mr_scan scan = mr_scan_of(list);
	struct mr_json_value value;
	bool is_first = true;
	uint64_t number;

	if (list->kind != MR_JSON_ARRAY)
		return false;
	mr_scan_enter(&scan, '[');
	for (int i = 0; i < 3; i++) {
		if (mr_scan_element(&scan, &is_first) != MR_SCAN_OK ||
		    mr_scan_value(&scan, &value) != MR_SCAN_OK ||
		    !mr_json_unsigned(&value, &number))
			return false;
		sizes[i] = (uint32_t)mr_min(number, (uint64_t)UINT32_MAX);
	}
	return true;
}

/* How a device kernel was launched. Its thread is that of the operation, and becomes that of the call. */
static int add_sizes(struct mr_kineto *kineto, const struct mr_kineto_interval *at,
		     const struct operation_args *args,
		     const struct mr_event_device_operation *operation)
{
	uint32_t grid[3], block[3];
	uint64_t shared = 0;

	if (!operation->correlation || !read_sizes(&args->grid, grid) ||
	    !read_sizes(&args->block, block))
		return 0;
	mr_json_unsigned(&args->shared, &shared);
	for (int i = 0; i < 3; i++)
		grid[i] = (uint32_t)mr_min((uint64_t)grid[i] * block[i], (uint64_t)UINT32_MAX);
	const struct mr_event_runtime_dispatch dispatch = {
		.correlation = operation->correlation,
		.queue = operation->queue,
		.name = operation->name,
		.global_x = grid[0],
		.global_y = grid[1],
		.global_z = grid[2],
		.local_x = block[0],
		.local_y = block[1],
		.local_z = block[2],
		.group_bytes = (uint32_t)mr_min(shared, (uint64_t)UINT32_MAX)};
	return mr_builder_add(kineto->builder, at->thread, at->start_ns, at->start_ns,
			      MR_EVENT_runtime_dispatch, &dispatch);
}

static int add_operation(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			 const struct mr_kineto_interval *at, enum mr_operation_kind kind)
{
	const struct operation_args args = read_operation_args(event);
	uint64_t device, correlation = 0;
	uint32_t queue, name;

	if (!mr_json_unsigned(&args.device, &device))
		return mr_kineto_refuse(kineto, event,
					"a device operation without a device number");
	mr_json_unsigned(&args.correlation, &correlation);
	if (find_queue(kineto, &args, device, &queue) < 0 ||
	    mr_kineto_string(kineto, &event->name, &name) < 0)
		return -ENOMEM;
	const struct mr_event_device_operation operation = {.queue = queue,
							    .name = name,
							    .correlation = correlation,
							    .start = (uint64_t)at->start_ns,
							    .end = (uint64_t)at->end_ns,
							    .bytes = bytes_of(&args),
							    .kind = (uint8_t)kind};
	if (add_sizes(kineto, at, &args, &operation) < 0)
		return -ENOMEM;
	return mr_builder_add(kineto->builder, at->thread, at->start_ns, at->end_ns,
			      MR_EVENT_device_operation, &operation);
}

/* ---- both ----------------------------------------------------------------------------------------- */

int mr_kineto_add_device_event(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			       const struct mr_kineto_interval *at, bool *ret_is_one)
{
	*ret_is_one = true;
	switch (category_of(&event->category)) {
	case CALL:
		return add_call(kineto, event, at);
	case KERNEL:
		return add_operation(kineto, event, at, MR_operation_kind_kernel);
	case COPY:
		return add_operation(kineto, event, at, direction_of(&event->name));
	case FILL:
		return add_operation(kineto, event, at, MR_operation_kind_fill);
	case OTHER:
		break;
	}
	*ret_is_one = false;
	return 0;
}
