/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_device.h"

#include <errno.h>
#include <stdio.h>

#include "import/chrome/kineto_names.h"

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
		NAME("kernel", KERNEL),     NAME("gpu_memcpy", COPY),  NAME("gpu_memset", FILL),
		NAME("cuda_runtime", CALL), NAME("cuda_driver", CALL), NAME("hip_runtime", CALL),
		NAME("hip_driver", CALL),   NAME("xpu_runtime", CALL), NAME("xpu_driver", CALL),
		NAME("Kernel", KERNEL),     NAME("Memcpy", COPY),      NAME("Memset", FILL),
		NAME("Runtime", CALL),
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
};

static struct operation_args read_operation_args(const struct mr_chrome_event *event)
{
	struct operation_args args = {.device = event->pid,
				      .stream = event->tid,
				      .correlation = MR_JSON_NOTHING,
				      .bytes = MR_JSON_NOTHING};
	struct mr_scan scan = mr_scan_of(&event->args);
	struct mr_json_value key, value;
	bool is_first = true;

	if (event->args.kind != MR_JSON_OBJECT)
		return args;
	mr_scan_enter(&scan, '{');
	while (mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK) {
		struct mr_json_value *place = mr_json_is(&key, "device")        ? &args.device
					      : mr_json_is(&key, "stream")      ? &args.stream
					      : mr_json_is(&key, "correlation") ? &args.correlation
					      : mr_json_is(&key, "bytes")       ? &args.bytes
										: NULL;
		if (place)
			*place = value;
	}
	return args;
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

static int add_operation(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			 const struct mr_kineto_interval *at, enum mr_operation_kind kind)
{
	const struct operation_args args = read_operation_args(event);
	uint64_t device, correlation = 0, bytes = 0;
	uint32_t queue, name;

	if (!mr_json_unsigned(&args.device, &device))
		return mr_kineto_refuse(kineto, event,
					"a device operation without a device number");
	mr_json_unsigned(&args.correlation, &correlation);
	mr_json_unsigned(&args.bytes, &bytes);
	if (find_queue(kineto, &args, device, &queue) < 0 ||
	    mr_kineto_string(kineto, &event->name, &name) < 0)
		return -ENOMEM;
	const struct mr_event_device_operation operation = {.queue = queue,
							    .name = name,
							    .correlation = correlation,
							    .start = (uint64_t)at->start_ns,
							    .end = (uint64_t)at->end_ns,
							    .bytes = bytes,
							    .kind = (uint8_t)kind};
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
