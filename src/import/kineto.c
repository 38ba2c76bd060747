/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

/* ---- what could not be imported ------------------------------------------------------------------- */

static int add_fault(struct mr_chrome_reader *reader, const char *reason, uint64_t offset,
		     uint64_t bytes)
{
	struct mr_kineto *kineto = (struct mr_kineto *)reader;

	for (size_t i = 0; i < kineto->faults.count; i++) {
		struct mr_kineto_fault *fault = &kineto->faults.items[i];

		if (strcmp(fault->reason, reason) == 0) {
			fault->bytes += bytes;
			fault->count++;
			return 0;
		}
	}
	return mr_vec_push(&kineto->faults, ((struct mr_kineto_fault){reason, offset, bytes, 1}));
}

static int refuse(struct mr_kineto *kineto, const struct mr_chrome_event *event, const char *reason)
{
	return add_fault(&kineto->reader, reason, event->offset, event->bytes);
}

/* ---- values --------------------------------------------------------------------------------------- */

/* The text of a string or a number; that of anything else is empty. */
static int intern(struct mr_kineto *kineto, const struct mr_json_value *value, uint32_t *ret_string)
{
	const char *text = value->text;
	size_t length = value->length;

	if (value->kind != MR_JSON_STRING && value->kind != MR_JSON_NUMBER)
		length = 0;
	if (value->has_escapes) {
		if (mr_vec_reserve(&kineto->unescaped, length) < 0)
			return -ENOMEM;
		text = kineto->unescaped.items;
		length = mr_json_unescape(value, kineto->unescaped.items);
	}
	return mr_builder_string(&kineto->builder, text, length, ret_string);
}

/* The member of an object, absent if it has none or is no object. */
static struct mr_json_value member_of(const struct mr_json_value *object, const char *name)
{
	struct mr_json_value key, value, found = MR_JSON_NOTHING;
	struct mr_scan scan = mr_scan_of(object);
	bool is_first = true;

	if (object->kind != MR_JSON_OBJECT)
		return found;
	mr_scan_enter(&scan, '{');
	while (mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK)
		if (mr_json_is(&key, name))
			found = value;
	return found;
}

/* Times up to here have room in the clocks' arithmetic (clock/clock.h); 73 years. */
#define TIME_MAX_NS ((INT64_C(1) << 61) - 1)

/* Nanoseconds; false if the value is no number of microseconds, or cannot be. */
static bool read_ns(const struct mr_json_value *value, int64_t *ret_ns)
{
	return mr_json_integer(value, 3, ret_ns) && *ret_ns >= 0 && *ret_ns <= TIME_MAX_NS;
}

static bool is_last_place(const struct mr_kineto_place *last, const struct mr_chrome_event *event)
{
	return last->tid_length > 0 && last->pid_length == event->pid.length &&
	       last->tid_length == event->tid.length &&
	       memcmp(last->text, event->pid.text, last->pid_length) == 0 &&
	       memcmp(last->text + last->pid_length, event->tid.text, last->tid_length) == 0;
}

static void remember_place(struct mr_kineto_place *last, const struct mr_chrome_event *event,
			   uint32_t thread)
{
	if (event->pid.length > sizeof last->text / 2 ||
	    event->tid.length > sizeof last->text / 2 || event->pid.length == 0)
		return;
	last->pid_length = event->pid.length;
	last->tid_length = event->tid.length;
	memcpy(last->text, event->pid.text, last->pid_length);
	memcpy(last->text + last->pid_length, event->tid.text, last->tid_length);
	last->thread = thread;
}

static int find_thread(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t *ret_thread)
{
	uint32_t process, key;

	if (is_last_place(&kineto->last, event)) {
		*ret_thread = kineto->last.thread;
		return 0;
	}
	if (mr_builder_process(&kineto->builder, event->pid.text, event->pid.length, &process) <
		    0 ||
	    intern(kineto, &event->tid, &key) < 0 ||
	    mr_builder_thread(&kineto->builder, process, key, ret_thread) < 0)
		return -ENOMEM;
	remember_place(&kineto->last, event, *ret_thread);
	return 0;
}

static int find_node(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     uint32_t *ret_node)
{
	uint32_t name;

	if (!mr_json_is(&event->category,
			mr_strings_text(&kineto->builder.strings, kineto->last_category)) &&
	    intern(kineto, &event->category, &kineto->last_category) < 0)
		return -ENOMEM;
	if (intern(kineto, &event->name, &name) < 0)
		return -ENOMEM;
	return mr_builder_node(&kineto->builder, kineto->last_category, name, ret_node);
}

/* ---- intervals ------------------------------------------------------------------------------------ */

struct interval {
	uint32_t thread;
	int64_t start_ns;
	int64_t end_ns;
};

static int add_execution(struct mr_kineto *kineto, const struct interval *at, uint32_t node)
{
	uint64_t ticks = (uint64_t)(at->end_ns - at->start_ns);
	const struct mr_event_node_interval brief = {.node = node,
						     .duration_ticks = mr_u48_from(ticks)};
	const struct mr_event_node_interval_at full = {.node = node,
						       .clock = MR_trace_clock_monotonic,
						       .start = (uint64_t)at->start_ns,
						       .end = (uint64_t)at->end_ns};

	if (ticks <= MR_U48_MAX)
		return mr_builder_add(&kineto->builder, at->thread, at->start_ns, at->end_ns,
				      MR_EVENT_node_interval, &brief);
	return mr_builder_add(&kineto->builder, at->thread, at->start_ns, at->end_ns,
			      MR_EVENT_node_interval_at, &full);
}

static int add_call(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		    const struct interval *at)
{
	struct mr_json_value correlation = member_of(&event->args, "correlation");
	struct mr_builder *builder = &kineto->builder;
	uint64_t ticks = (uint64_t)(at->end_ns - at->start_ns), number = 0;
	uint32_t function;

	if (ticks > MR_U48_MAX)
		return refuse(kineto, event, "a runtime call that lasts for days");
	if (intern(kineto, &event->name, &function) < 0)
		return -ENOMEM;
	mr_json_unsigned(&correlation, &number);
	const struct mr_event_runtime_call call = {
		.function = function, .duration_ticks = mr_u48_from(ticks), .correlation = number};
	if (!kineto->has_calls)
		kineto->first_caller = at->thread;
	kineto->has_calls = true;
	kineto->has_several_callers |= builder->threads.items[at->thread].process !=
				       builder->threads.items[kineto->first_caller].process;
	return mr_builder_add(builder, at->thread, at->start_ns, at->end_ns, MR_EVENT_runtime_call,
			      &call);
}

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
	if (mr_builder_string(&kineto->builder, name, (size_t)length, &string) < 0 ||
	    mr_builder_device(&kineto->builder, device_number, &device) < 0)
		return -ENOMEM;
	return mr_builder_queue(&kineto->builder, device, string, ret_queue);
}

static int add_operation(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			 const struct interval *at, enum mr_operation_kind kind)
{
	const struct operation_args args = read_operation_args(event);
	uint64_t device, correlation = 0, bytes = 0;
	uint32_t queue, name;

	if (!mr_json_unsigned(&args.device, &device))
		return refuse(kineto, event, "a device operation without the number of its device");
	mr_json_unsigned(&args.correlation, &correlation);
	mr_json_unsigned(&args.bytes, &bytes);
	if (find_queue(kineto, &args, device, &queue) < 0 ||
	    intern(kineto, &event->name, &name) < 0)
		return -ENOMEM;
	const struct mr_event_device_operation operation = {.queue = queue,
							    .name = name,
							    .correlation = correlation,
							    .start = (uint64_t)at->start_ns,
							    .end = (uint64_t)at->end_ns,
							    .bytes = bytes,
							    .kind = (uint8_t)kind};
	return mr_builder_add(&kineto->builder, at->thread, at->start_ns, at->end_ns,
			      MR_EVENT_device_operation, &operation);
}

/* Steps are annotations of a certain name. */
static bool read_step(const struct mr_chrome_event *event, uint64_t *ret_step)
{
	static const char prefix[] = "ProfilerStep#";
	const size_t length = sizeof prefix - 1;
	struct mr_json_value number = event->name;

	if (!mr_json_is(&event->category, "user_annotation") || event->name.length <= length ||
	    memcmp(event->name.text, prefix, length) != 0)
		return false;
	number.text += length;
	number.length -= length;
	return mr_json_unsigned(&number, ret_step);
}

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

static int add_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			const struct interval *at)
{
	uint64_t step;
	uint32_t node;

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
	if (read_step(event, &step)) {
		const struct mr_event_step_interval interval = {
			.step = step, .duration_ticks = (uint64_t)(at->end_ns - at->start_ns)};

		return mr_builder_add(&kineto->builder, at->thread, at->start_ns, at->end_ns,
				      MR_EVENT_step_interval, &interval);
	}
	return find_node(kineto, event, &node) < 0 ? -ENOMEM : add_execution(kineto, at, node);
}

static int add_complete(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			uint32_t thread, int64_t start_ns)
{
	struct interval at = {thread, start_ns, 0};
	int64_t duration_ns;

	if (event->duration.kind == MR_JSON_ABSENT)
		return refuse(kineto, event, "an interval without a duration");
	if (!read_ns(&event->duration, &duration_ns) || duration_ns > TIME_MAX_NS - start_ns)
		return refuse(kineto, event, "a duration that cannot be");
	at.end_ns = start_ns + duration_ns;
	return add_interval(kineto, event, &at);
}

/* ---- begin and end -------------------------------------------------------------------------------- */

static int begin_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			  uint32_t thread, int64_t ns)
{
	uint32_t node;

	if (find_node(kineto, event, &node) < 0)
		return -ENOMEM;
	return mr_vec_push(&kineto->builder.threads.items[thread].open,
			   ((struct mr_build_open){node, ns}));
}

static int end_interval(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			uint32_t thread, int64_t ns)
{
	struct mr_build_thread *place = &kineto->builder.threads.items[thread];

	if (place->open.count == 0)
		return refuse(kineto, event, "the end of an interval that was not begun");
	const struct mr_build_open open = place->open.items[--place->open.count];
	if (ns < open.start_ns)
		return refuse(kineto, event, "an interval that ends before it begins");
	return add_execution(kineto, &(struct interval){thread, open.start_ns, ns}, open.node);
}

/* The thread of an asynchronous interval, which has the category and the id in its name. */
static int find_async(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		      uint32_t *ret_thread)
{
	const struct mr_json_value *category = &event->category, *id = &event->id;
	size_t length = category->length + 1 + id->length;
	uint32_t process, name;

	if (mr_builder_process(&kineto->builder, event->pid.text, event->pid.length, &process) <
		    0 ||
	    mr_vec_reserve(&kineto->unescaped, length + 1) < 0)
		return -ENOMEM;
	snprintf(kineto->unescaped.items, length + 1, "%.*s %.*s", (int)category->length,
		 category->text, (int)id->length, id->text);
	if (mr_builder_string(&kineto->builder, kineto->unescaped.items, length, &name) < 0)
		return -ENOMEM;
	return mr_builder_thread(&kineto->builder, process, name, ret_thread);
}

/* ---- instants, counters, messages ----------------------------------------------------------------- */

/* Bytes that PyTorch's allocator gave, or got back if negative. */
static int add_memory(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		      uint32_t thread, int64_t ns, int64_t bytes)
{
	struct mr_json_value address = member_of(&event->args, "Addr");
	struct mr_json_value number = member_of(&event->args, "Device Id");
	struct mr_json_value type = member_of(&event->args, "Device Type");
	struct mr_event_memory_allocate allocation = {.bytes = (uint64_t)bytes};
	uint64_t device_number, object = 0;
	uint32_t device = 0, allocator;

	mr_json_unsigned(&address, &object);
	if (!mr_json_is(&type, "0") && mr_json_unsigned(&number, &device_number) &&
	    mr_builder_device(&kineto->builder, device_number, &device) < 0)
		return -ENOMEM;
	if (mr_builder_string(&kineto->builder, "PyTorch", 7, &allocator) < 0)
		return -ENOMEM;
	allocation.device = device;
	allocation.allocator = allocator;
	allocation.address = object;
	if (bytes >= 0)
		return mr_builder_add(&kineto->builder, thread, ns, ns, MR_EVENT_memory_allocate,
				      &allocation);
	const struct mr_event_memory_free given_back = {.device = device,
							.allocator = allocator,
							.address = object,
							.bytes = -(uint64_t)bytes};
	return mr_builder_add(&kineto->builder, thread, ns, ns, MR_EVENT_memory_free, &given_back);
}

static int add_instant(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns)
{
	uint32_t node;

	if (mr_json_is(&event->name, "[memory]")) {
		struct mr_json_value value = member_of(&event->args, "Bytes");
		int64_t bytes;

		if (mr_json_integer(&value, 0, &bytes))
			return add_memory(kineto, event, thread, ns, bytes);
	}
	if (find_node(kineto, event, &node) < 0)
		return -ENOMEM;
	return mr_builder_add(&kineto->builder, thread, ns, ns, MR_EVENT_node_instant,
			      &(struct mr_event_node_instant){.node = node});
}

/* "name" if it has one value, else "name key" for each. */
static int name_counter(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			const struct mr_json_value *key, uint32_t *ret_string)
{
	if (mr_json_is(key, "value") || key->length == 0)
		return intern(kineto, &event->name, ret_string);
	size_t length = event->name.length + 1 + key->length;

	if (mr_vec_reserve(&kineto->unescaped, length + 1) < 0)
		return -ENOMEM;
	snprintf(kineto->unescaped.items, length + 1, "%.*s %.*s", (int)event->name.length,
		 event->name.text, (int)key->length, key->text);
	return mr_builder_string(&kineto->builder, kineto->unescaped.items, length, ret_string);
}

static int add_counter(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns, const struct mr_json_value *key,
		       const struct mr_json_value *value)
{
	int64_t number, thousandths, exact;
	uint32_t name;

	if (!mr_json_integer(value, 0, &number))
		return refuse(kineto, event, "a counter whose value is no number, or too large");
	/* Too large for thousandths is too large to have them here. */
	if (mr_json_integer(value, 3, &thousandths) &&
	    (__builtin_mul_overflow(number, INT64_C(1000), &exact) || thousandths != exact) &&
	    add_fault(&kineto->reader, "a counter's value that is no integer, and was rounded",
		      event->offset, 0) < 0)
		return -ENOMEM;
	if (name_counter(kineto, event, key, &name) < 0)
		return -ENOMEM;
	return mr_builder_add(&kineto->builder, thread, ns, ns, MR_EVENT_counter,
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
		return refuse(kineto, event, "a counter without values");
	mr_scan_enter(&scan, '{');
	while (result == 0 && mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK)
		result = add_counter(kineto, event, thread, ns, &key, &value);
	return result;
}

static int add_message(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		       uint32_t thread, int64_t ns)
{
	struct mr_event_message_send message = {0};
	uint32_t channel, number;
	uint64_t key;

	if (intern(kineto, &event->name, &channel) < 0)
		return -ENOMEM;
	if (!mr_json_unsigned(&event->id, &key)) {
		if (intern(kineto, &event->id, &number) < 0)
			return -ENOMEM;
		key = number;
	}
	message.channel = channel;
	message.key = key;
	return mr_builder_add(
		&kineto->builder, thread, ns, ns,
		event->phase == 's' ? MR_EVENT_message_send : MR_EVENT_message_receive, &message);
}

_Static_assert(sizeof(struct mr_event_message_send) == sizeof(struct mr_event_message_receive),
	       "add_message() writes both");

/* ---- names ---------------------------------------------------------------------------------------- */

static int add_name(struct mr_kineto *kineto, const struct mr_chrome_event *event)
{
	bool of_process = mr_json_is(&event->name, "process_name");
	struct mr_json_value name = member_of(&event->args, "name");
	struct mr_builder *builder = &kineto->builder;
	uint32_t thread, string;

	if (!of_process && !mr_json_is(&event->name, "thread_name"))
		return 0; /* how to show them is no matter of ours */
	if (find_thread(kineto, event, &thread) < 0 || intern(kineto, &name, &string) < 0)
		return -ENOMEM;
	if (of_process)
		builder->processes.items[builder->threads.items[thread].process].name = string;
	else
		builder->threads.items[thread].name = string;
	return 0;
}

static int add_device_name(struct mr_kineto *kineto, const struct mr_json_value *properties)
{
	struct mr_json_value number = member_of(properties, "id");
	struct mr_json_value name = member_of(properties, "name");
	struct mr_kineto_device_name added;

	if (!mr_json_unsigned(&number, &added.number))
		return 0;
	if (intern(kineto, &name, &added.name) < 0)
		return -ENOMEM;
	return mr_vec_push(&kineto->device_names, added);
}

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
		kineto->base_ns = base_ns;
	if (!mr_json_is(key, "deviceProperties") || value->kind != MR_JSON_ARRAY)
		return 0;
	mr_scan_enter(&scan, '[');
	while (result == 0 && mr_scan_element(&scan, &is_first) == MR_SCAN_OK &&
	       mr_scan_value(&scan, &properties) == MR_SCAN_OK)
		result = add_device_name(kineto, &properties);
	return result;
}

/* What Kineto says twice. */
static bool is_repetition(const struct mr_chrome_event *event)
{
	const struct mr_json_value *category = &event->category;

	switch (category->length) {
	case 4:
		return mr_json_is(category, "ac2g");
	case 9:
		return mr_json_is(category, "cuda_sync");
	case 16:
		return mr_json_is(category, "async_cpu_to_gpu");
	case 19:
		return mr_json_is(category, "gpu_user_annotation");
	}
	return event->pid.kind == MR_JSON_STRING &&
	       (mr_json_is(&event->pid, "Spans") || mr_json_is(&event->pid, "Traces") ||
		mr_json_is(&event->name, "Record Window End"));
}

/* ---- all events ----------------------------------------------------------------------------------- */

static int add_event(struct mr_chrome_reader *reader, const struct mr_chrome_event *event)
{
	struct mr_kineto *kineto = (struct mr_kineto *)reader;
	uint32_t thread;
	int64_t ns;

	if (event->phase == 'M')
		return add_name(kineto, event);
	if (is_repetition(event))
		return 0;
	if (event->phase == 0 || !strchr("XBEbeSFiIRnTCstf", event->phase))
		return refuse(kineto, event, "an event of a phase that is not imported");
	if (!read_ns(&event->time, &ns))
		return refuse(kineto, event, "an event without a time, or with one that cannot be");
	if (!kineto->has_fractions)
		kineto->has_fractions = memchr(event->time.text, '.', event->time.length) != NULL;
	bool is_async = strchr("benSTF", event->phase) != NULL;
	if ((is_async ? find_async : find_thread)(kineto, event, &thread) < 0)
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

int mr_kineto_start(struct mr_kineto *kineto)
{
	*kineto = (struct mr_kineto){.reader = {.add_event = add_event,
						.add_member = add_member,
						.add_fault = add_fault}};
	return mr_builder_start(&kineto->builder);
}

void mr_kineto_free(struct mr_kineto *kineto)
{
	mr_builder_free(&kineto->builder);
	mr_vec_free(&kineto->faults);
	mr_vec_free(&kineto->device_names);
	mr_vec_free(&kineto->unescaped);
}
