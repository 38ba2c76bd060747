/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "import/xplane/xplane.h"

/* The first plane has an id (absent if 0) and a name like "/host:CPU", "Task Environment" or "#Chip0 TPU Core0". */
static enum mr_sniff sniff(const struct mr_head *head)
{
	struct mr_message plane;
	struct mr_field field;

	if (!mr_message_enter_first(head->bytes, head->count, &plane) ||
	    !mr_message_next(&plane, &field) ||
	    (mr_field_is(&field, 1, MR_WIRE_VARINT) && !mr_message_next(&plane, &field)) ||
	    !mr_field_is(&field, 2, MR_WIRE_BYTES) || field.value < 2)
		return MR_SNIFF_NO;
	for (size_t i = 0; i < field.value; i++)
		if (field.bytes[i] < ' ' || field.bytes[i] > '~')
			return MR_SNIFF_NO;
	return *field.bytes == '/' || *field.bytes == '#' ? MR_SNIFF_SURE : MR_SNIFF_MAYBE;
}

static void free_planes(struct mr_xplane *xplane)
{
	for (size_t i = 0; i < xplane->planes.count; i++) {
		mr_vec_free(&xplane->planes.items[i].texts);
		mr_vec_free(&xplane->planes.items[i].kinds);
	}
	mr_vec_free(&xplane->planes);
	mr_vec_free(&xplane->figures);
	mr_strings_free(&xplane->texts);
	mr_step_marks_free(&xplane->marks);
	mr_step_marks_free(&xplane->device_marks);
}

static int read_both(struct mr_xplane *xplane)
{
	struct mr_source again;
	uint32_t empty;
	int result = mr_strings_intern(&xplane->texts, "", 0, &empty);

	if (result == 0)
		result = mr_xplane_read_names(xplane, xplane->import->source);
	if (result == 0)
		result = mr_source_open(xplane->import->path, &again);
	if (result < 0)
		return result;
	result = mr_xplane_read_events(xplane, &again);
	mr_source_close(&again);
	if (result < 0)
		return result;
	return mr_step_marks_add_steps(
		xplane->marks.list.count ? &xplane->marks : &xplane->device_marks, xplane->builder);
}

static int read_trace(struct mr_import *import)
{
	static const char host[] = "host";
	struct mr_xplane xplane = {.import = import, .builder = &import->builder};
	int result = mr_builder_process(xplane.builder, host, sizeof host - 1, &xplane.process);

	if (result == 0)
		result = read_both(&xplane);
	if (result == 0 && xplane.builder->epoch_ns > 0) {
		int64_t first = INT64_MAX;

		/* Times may already be those since the epoch. */
		for (size_t i = 0; i < xplane.builder->streams.count; i++)
			first = mr_min(first, xplane.builder->streams.items[i].first);
		if (first >= xplane.builder->epoch_ns / 2)
			xplane.builder->epoch_ns = 0;
	}
	free_planes(&xplane);
	return result;
}

const struct mr_format mr_xplane_format = {
	.name = "XPlane protobuf (TensorFlow, JAX)",
	.sniff = sniff,
	.read = read_trace,
};
