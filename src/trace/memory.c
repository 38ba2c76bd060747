/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "trace/private.h"

/* Our own layout of an event: payloads need no conversion. */
static struct mr_layout own_layout(const struct mr_event_desc *desc)
{
	struct mr_layout layout = {.plain_bytes = MR_LAYOUT_NOT_PLAIN};
	if (!desc->name)
		return layout;
	layout.desc = desc;
	layout.fixed_bytes = desc->fixed_bytes;
	layout.declared = true;
	layout.has_text = layout.text_known = desc->has_text;
	if (!desc->has_text)
		layout.plain_bytes = MR_COMPACT_HEADER_BYTES + (uint32_t)desc->fixed_bytes;
	return layout;
}

static int describe(const struct mr_metadata *given, struct mr_trace_private *trace)
{
	trace->metadata = calloc(1, sizeof *trace->metadata);
	if (!trace->metadata)
		return mr_fail_errno(ENOMEM, "metadata");
	struct mr_metadata *identity = &trace->metadata->identity;
	*identity = *given;
	identity->host = strdup(given->host);
	identity->user.description = strdup(given->user.description);
	identity->monotonic.description = strdup(given->monotonic.description);
	if (!identity->host || !identity->user.description || !identity->monotonic.description)
		return mr_fail_errno(ENOMEM, "metadata");
	for (int class = 0; class < MR_STREAM_CLASSES; class ++)
		for (int id = 0; id < 256; id++)
			trace->metadata->layouts[class][id] = own_layout(&mr_event_table[id]);
	return 0;
}

/* A trace with one file that holds these packets. NULL if there is no memory. */
static struct mr_trace *start(const char *path, const struct mr_mapping *packets)
{
	mr_auto(trace) struct mr_trace *trace = calloc(1, sizeof *trace);
	if (!trace || !(trace->private = calloc(1, sizeof *trace->private)) ||
	    !(trace->private->path = strdup(path)))
		return NULL;
	struct mr_trace_private *private = trace->private;
	char *name = strdup(basename(path));
	if (!name || mr_vec_push(&private->names, name) < 0) {
		free(name);
		return NULL;
	}
	return mr_vec_push(&private->mappings, *packets) < 0 ? NULL : mr_take(trace);
}

int mr_trace_of_memory(const char *path, const struct mr_metadata *metadata,
		       struct mr_mapping *packets, const struct mr_trace_damage *damages,
		       uint32_t damage_count, struct mr_trace **ret_trace)
{
	mr_auto(trace) struct mr_trace *trace = start(path, packets);
	if (!trace)
		return mr_fail_errno(ENOMEM, "%s", path);
	*packets = (struct mr_mapping){0}; /* now owned by the trace */
	int error = describe(metadata, trace->private);
	if (error == 0)
		error = mr_trace_scan_file(trace->private, 0, -1);
	for (uint32_t i = 0; error == 0 && i < damage_count; i++)
		error = mr_trace_add_damage(trace->private, 0, damages[i].offset,
					    damages[i].lost_bytes, damages[i].reason);
	if (error == 0)
		error = mr_trace_make_streams(trace->private);
	if (error < 0)
		return mr_fail_more(error, "%s", path);
	mr_trace_publish(trace);
	*ret_trace = mr_take(trace);
	return 0;
}
