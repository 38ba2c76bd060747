/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_names.h"

#include <errno.h>
#include <stdio.h>

enum {
	DEVICE_NAMES_MAX = 1024 /* of one machine */
};

/* ---- strings -------------------------------------------------------------------------------------- */

int mr_kineto_string(struct mr_kineto *kineto, const struct mr_json_value *value,
		     uint32_t *ret_string)
{
	const char *text = value->text;
	size_t length = value->length;

	if (value->kind != MR_JSON_STRING && value->kind != MR_JSON_NUMBER)
		length = 0;
	if (value->has_escapes) {
		if (mr_vec_reserve(&kineto->scratch, length) < 0)
			return -ENOMEM;
		text = kineto->scratch.items;
		length = mr_json_unescape(value, kineto->scratch.items);
	}
	return mr_builder_string(kineto->builder, text, length, ret_string);
}

int mr_kineto_pair(struct mr_kineto *kineto, const struct mr_json_value *first,
		   const struct mr_json_value *second, uint32_t *ret_string)
{
	size_t length = first->length + 1 + second->length;

	if (mr_vec_reserve(&kineto->scratch, length + 1) < 0)
		return -ENOMEM;
	snprintf(kineto->scratch.items, length + 1, "%.*s %.*s", (int)first->length, first->text,
		 (int)second->length, second->text);
	return mr_builder_string(kineto->builder, kineto->scratch.items, length, ret_string);
}

/* ---- threads -------------------------------------------------------------------------------------- */

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

int mr_kineto_thread(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     uint32_t *ret_thread)
{
	uint32_t process, key;

	if (is_last_place(&kineto->last, event)) {
		*ret_thread = kineto->last.thread;
		return 0;
	}
	if (mr_builder_process(kineto->builder, event->pid.text, event->pid.length, &process) < 0 ||
	    mr_kineto_string(kineto, &event->tid, &key) < 0 ||
	    mr_builder_thread(kineto->builder, process, key, ret_thread) < 0)
		return -ENOMEM;
	remember_place(&kineto->last, event, *ret_thread);
	return 0;
}

int mr_kineto_async_thread(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			   uint32_t *ret_thread)
{
	uint32_t process, key;

	if (mr_builder_process(kineto->builder, event->pid.text, event->pid.length, &process) < 0 ||
	    mr_kineto_pair(kineto, &event->category, &event->id, &key) < 0)
		return -ENOMEM;
	return mr_builder_thread(kineto->builder, process, key, ret_thread);
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

int mr_kineto_node(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		   uint32_t *ret_node)
{
	uint32_t name;

	if (!mr_json_is(&event->category,
			mr_strings_text(&kineto->builder->strings, kineto->last_category)) &&
	    mr_kineto_string(kineto, &event->category, &kineto->last_category) < 0)
		return -ENOMEM;
	if (mr_kineto_string(kineto, &event->name, &name) < 0)
		return -ENOMEM;
	return mr_builder_node(kineto->builder, kineto->last_category, name, ret_node);
}

/* ---- what they are called ------------------------------------------------------------------------- */

/* "GPU 0", "MTIA 9": of a process that stands for a device, whose number is its pid. */
static int add_label(struct mr_kineto *kineto, const struct mr_chrome_event *event)
{
	struct mr_json_value label = mr_json_member(&event->args, "labels");
	struct mr_kineto_device_name added;

	if (!mr_json_unsigned(&event->pid, &added.number) ||
	    kineto->device_labels.count == DEVICE_NAMES_MAX)
		return 0;
	if (mr_kineto_string(kineto, &label, &added.name) < 0)
		return -ENOMEM;
	return mr_vec_push(&kineto->device_labels, added);
}

int mr_kineto_add_name(struct mr_kineto *kineto, const struct mr_chrome_event *event)
{
	bool of_process = mr_json_is(&event->name, "process_name");
	struct mr_json_value name = mr_json_member(&event->args, "name");
	struct mr_builder *builder = kineto->builder;
	uint32_t thread, string;

	if (mr_json_is(&event->name, "process_labels"))
		return add_label(kineto, event);
	if (!of_process && !mr_json_is(&event->name, "thread_name"))
		return 0; /* how to show them is no matter of ours */
	if (mr_kineto_thread(kineto, event, &thread) < 0 ||
	    mr_kineto_string(kineto, &name, &string) < 0)
		return -ENOMEM;
	if (of_process)
		builder->processes.items[builder->streams.items[thread].process].name = string;
	else
		builder->streams.items[thread].name = string;
	return 0;
}

int mr_kineto_add_device_name(struct mr_kineto *kineto, const struct mr_json_value *properties)
{
	struct mr_json_value number = mr_json_member(properties, "id");
	struct mr_json_value name = mr_json_member(properties, "name");
	struct mr_json_value memory = mr_json_member(properties, "totalGlobalMem");
	struct mr_kineto_device_name added = {0};

	if (!mr_json_unsigned(&number, &added.number) ||
	    kineto->device_names.count == DEVICE_NAMES_MAX)
		return 0;
	if (mr_kineto_string(kineto, &name, &added.name) < 0)
		return -ENOMEM;
	if (!mr_json_unsigned(&memory, &added.memory_bytes))
		added.memory_bytes = 0;
	return mr_vec_push(&kineto->device_names, added);
}
