/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of a device: device operations, and the launches that their details tell of.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/xplane/xplane.h"

/* The numbers behind a word: "grid:16,1,1". */
static bool read_details(const struct mr_xplane_event *event, const char *word, uint32_t numbers[],
			 size_t count)
{
	char text[512];
	size_t length = mr_min(event->detail_bytes, sizeof text - 1);

	if (!event->details)
		return false;
	memcpy(text, event->details, length);
	text[length] = 0;
	const char *at = strstr(text, word);
	if (!at)
		return false;
	at += strlen(word);
	for (size_t i = 0; i < count; i++) {
		char *end;
		unsigned long long number = strtoull(at, &end, 10);

		if (end == at || !isdigit((unsigned char)*at))
			return false;
		numbers[i] = (uint32_t)mr_min(number, (unsigned long long)UINT32_MAX);
		at = end + (*end == ',');
	}
	return true;
}

static enum mr_operation_kind direction_of(const char *name)
{
	static const struct {
		const char *text;
		enum mr_operation_kind kind;
	} directions[] = {
		{"H2D", MR_operation_kind_copy_to_device},
		{"HostToDevice", MR_operation_kind_copy_to_device},
		{"D2H", MR_operation_kind_copy_from_device},
		{"DeviceToHost", MR_operation_kind_copy_from_device},
		{"D2D", MR_operation_kind_copy_on_device},
		{"DeviceToDevice", MR_operation_kind_copy_on_device},
		{"P2P", MR_operation_kind_copy_between_devices},
	};

	for (size_t i = 0; i < mr_countof(directions); i++)
		if (strstr(name, directions[i].text))
			return directions[i].kind;
	return MR_operation_kind_other;
}

static int add_launch(struct mr_xplane *xplane, const struct mr_xplane_place *place,
		      const struct mr_xplane_event *event)
{
	uint32_t grid[3], block[3], private_bytes = 0, group_bytes = 0, more = 0;

	if (!event->correlation || !read_details(event, "grid:", grid, 3) ||
	    !read_details(event, "block:", block, 3))
		return 0;
	if (!read_details(event, "group_mem:", &group_bytes, 1) &&
	    read_details(event, "static_shared:", &group_bytes, 1) &&
	    read_details(event, "dynamic_shared:", &more, 1))
		group_bytes = (uint32_t)mr_min((uint64_t)group_bytes + more, (uint64_t)UINT32_MAX);
	read_details(event, "private_mem:", &private_bytes, 1);
	for (int i = 0; i < 3; i++)
		grid[i] = (uint32_t)mr_min((uint64_t)grid[i] * block[i], (uint64_t)UINT32_MAX);
	const struct mr_event_runtime_dispatch dispatch = {.correlation = event->correlation,
							   .queue = place->queue,
							   .name = event->kind->name,
							   .global_x = grid[0],
							   .global_y = grid[1],
							   .global_z = grid[2],
							   .local_x = block[0],
							   .local_y = block[1],
							   .local_z = block[2],
							   .private_bytes = private_bytes,
							   .group_bytes = group_bytes};
	return mr_builder_add(xplane->builder, xplane->operation_thread, event->start_ns,
			      event->start_ns, MR_EVENT_runtime_dispatch, &dispatch);
}

int mr_xplane_add_operation(struct mr_xplane *xplane, const struct mr_xplane_place *place,
			    const struct mr_xplane_event *event)
{
	struct mr_event_device_operation_work operation = {.queue = place->queue,
							   .name = event->kind->name,
							   .correlation = event->correlation,
							   .start = (uint64_t)event->start_ns,
							   .end = (uint64_t)event->end_ns,
							   .kind = (uint8_t)event->operation,
							   .flops = event->kind->flops,
							   .accessed_bytes = event->kind->bytes,
							   .category = event->kind->category};
	uint32_t bytes = 0;

	if (event->operation != MR_operation_kind_kernel) {
		read_details(event, "size:", &bytes, 1);
		operation.bytes = bytes;
	} else if (add_launch(xplane, place, event) < 0) {
		return -ENOMEM;
	}
	if (event->operation == MR_operation_kind_other)
		operation.kind = (uint8_t)direction_of(mr_xplane_name_of(xplane, event));
	if (!place->plane->has_streams)
		return mr_xplane_nest_add(xplane, place->nest, &operation);
	return mr_builder_add(xplane->builder, xplane->operation_thread, event->start_ns,
			      event->end_ns, MR_EVENT_device_operation_work, &operation);
}
