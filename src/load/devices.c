/* SPDX-License-Identifier: Apache-2.0 */
#include "load/devices.h"

enum {
	NOWHERE = 0, /* no device */
	SEVERAL = UINT32_MAX,
};

/* The device that the queue of an operation feeds. */
static uint32_t device_of_operation(const struct mr_model *model, uint32_t row)
{
	const struct mr_survey *survey = model->survey;
	uint32_t queue = survey->tracks.items[model->device_operations.track[row]].queue;

	return survey->definitions.queues.items[queue].device;
}

/* The device that the node is placed on whose execution launched the operation. */
static uint32_t device_of_node(const struct mr_model *model, uint32_t row)
{
	uint32_t node = model->device_operations.node[row];

	return model->survey->definitions.nodes.items[node].device;
}

/* By device that nodes are placed on: where the device kernels ran that they launched, or SEVERAL. */
static void find_used(const struct mr_model *model, uint32_t *used)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		if (operations->kind[row] != MR_operation_kind_kernel)
			continue;
		uint32_t placed = device_of_node(model, row), ran = device_of_operation(model, row);

		if (placed != NOWHERE && ran != NOWHERE && used[placed] != ran)
			used[placed] = used[placed] == NOWHERE ? ran : SEVERAL;
	}
}

/* Do they say the same of which device of the host they are? A CPU does so by its name. */
static bool is_alike(const struct mr_device *a, const struct mr_device *b)
{
	if (a->host != b->host)
		return false;
	if (a->kind == MR_device_kind_cpu && b->kind == MR_device_kind_cpu)
		return a->name == b->name;
	return a->identity && a->identity == b->identity;
}

/* A device that is whole: of parts of one a process may have several, which say the same. Devices are few. */
static bool is_whole(const struct mr_definitions *definitions, const struct mr_device *device)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < definitions->devices.count; i++) {
		const struct mr_device *other = &definitions->devices.items[i];

		count += other->process == device->process && is_alike(other, device);
	}
	return count == 1;
}

/* Every device is compared with every other: there are at most MR_DEVICES_MAX. */
static int unite_processes(struct mr_definitions *definitions)
{
	struct mr_device *devices = definitions->devices.items;
	mr_auto(free) bool *whole = calloc(definitions->devices.count + 1, sizeof *whole);

	if (!whole)
		return -ENOMEM;
	for (uint32_t i = 1; i < definitions->devices.count; i++) {
		whole[i] = is_whole(definitions, &devices[i]);
		for (uint32_t first = 1; whole[i] && first < i && devices[i].same == i; first++)
			if (whole[first] && is_alike(&devices[first], &devices[i]))
				devices[i].same = devices[first].same;
	}
	return 0;
}

int mr_devices_unite(struct mr_model *model)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	struct mr_device *devices = definitions->devices.items;
	mr_auto(free) uint32_t *used = calloc(definitions->devices.count + 1, sizeof *used);

	if (!used || unite_processes(definitions) < 0)
		return -ENOMEM;
	find_used(model, used);
	for (uint32_t i = 1; i < definitions->devices.count; i++)
		if (used[i] != NOWHERE && used[i] != SEVERAL && used[i] != i)
			devices[i].same = devices[used[i]].same;
	return 0;
}
