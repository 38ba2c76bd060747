/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the device of TensorFlow's memory.
 *
 * TensorFlow records the allocator, not the device. Allocators of devices are named after them:
 *
 *     GPU_0_bfc, PluggableDevice_0_bfc        /job:localhost/replica:0/task:0/device:XPU:0
 *                             └───── the same number, and no other device has it ────┘
 *
 * If devices of two kinds have the number, the name is ambiguous, and the model leaves the device unknown.
 */
#include "load/tensorflow/tensorflow.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

/* "GPU_1_bfc": 1; false: it is not an allocator of a device. */
static bool read_device_number(const char *allocator, unsigned long *ret_number)
{
	size_t length = strlen(allocator);
	char *rest;

	if (length < 5 || strcmp(allocator + length - 4, "_bfc") != 0)
		return false;
	size_t digits = length - 4;
	while (digits > 0 && allocator[digits - 1] >= '0' && allocator[digits - 1] <= '9')
		digits--;
	if (digits == length - 4 || digits == 0 || allocator[digits - 1] != '_')
		return false;
	*ret_number = strtoul(allocator + digits, &rest, 10);
	return true;
}

static bool is_device(const struct mr_model *model, const struct mr_device *device,
		      uint32_t process, unsigned long number)
{
	const char *name = mr_model_text(model, device->name);
	const char *last = strrchr(name, ':');

	return device->process == process &&
	       (device->kind == MR_device_kind_gpu || device->kind == MR_device_kind_accelerator) &&
	       strstr(name, "device:") && last[1] && strtoul(last + 1, NULL, 10) == number;
}

/* 0: there is none, or more than one that it could be. */
static uint32_t find_device(const struct mr_model *model, uint32_t process, uint32_t allocator)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	unsigned long number;
	uint32_t found = 0;

	if (!read_device_number(mr_model_text(model, allocator), &number))
		return 0;
	for (uint32_t i = 1; i < definitions->devices.count; i++) {
		if (!is_device(model, &definitions->devices.items[i], process, number))
			continue;
		if (found)
			return 0;
		found = i;
	}
	return found;
}

int mr_tensorflow_place_memory(struct mr_model *model)
{
	const struct mr_memory *memory = &model->memory;
	uint32_t process = 0, allocator = 0, device = 0;

	for (uint32_t row = 0; row < memory->table.count; row++) {
		uint32_t of = model->survey->tracks.items[memory->track[row]].process;

		if (memory->teller[row] != MR_MEMORY_FRAMEWORK || memory->device[row])
			continue;
		if (of != process || memory->allocator[row] != allocator) {
			process = of;
			allocator = memory->allocator[row];
			device = find_device(model, process, allocator);
		}
		memory->device[row] = device;
	}
	return 0;
}
