/* SPDX-License-Identifier: Apache-2.0 */
#include "load/torch/torch.h"

#include "load/called_steps.h"

/* ---- one event ------------------------------------------------------------------------------------- */

static int add_operation(struct mr_torch *torch, struct mr_span span, uint32_t name,
			 uint64_t sequence, uint8_t scope, uint8_t flags)
{
	return mr_vec_push(&torch->operations,
			   ((struct mr_torch_operation){
				   .start_ns = span.start_ns,
				   .duration_ns = span.duration_ns,
				   .sequence = sequence,
				   .track = torch->loader->track,
				   .name = mr_loader_find(torch->loader, MR_ID_string, name),
				   .site = torch->loader->site,
				   .module = torch->module,
				   .parent = MR_NO_ROW,
				   .scope = scope,
				   .flags = flags}));
}

/* The hook packs scope and sequence into the one number that there is room for. */
static int add_unfinished(struct mr_torch *torch, const struct mr_event *event)
{
	const struct mr_event_interval_unfinished *open = event->payload;
	struct mr_loader *loader = torch->loader;
	struct mr_span span = mr_loader_span(loader, mr_loader_to_ns(loader, open->start),
					     mr_loader_to_ns(loader, event->ticks));

	torch->model->anomalies.unfinished++;
	return add_operation(torch, span, open->what, open->step & MR_U48_MAX,
			     (uint8_t)(open->step >> 48), MR_ROW_UNFINISHED);
}

static int add_half(struct mr_torch *torch, const struct mr_event *event, uint64_t object,
		    uint32_t name, bool is_begin)
{
	return mr_vec_push(
		&torch->halves,
		((struct mr_torch_half){.object = object,
					.ns = mr_loader_to_ns(torch->loader, event->ticks),
					.track = torch->loader->track,
					.name = mr_loader_find(torch->loader, MR_ID_string, name),
					.is_begin = is_begin}));
}

static int add_tensor(struct mr_torch *torch, const struct mr_event *event)
{
	const struct mr_event_torch_tensor *tensor = event->payload;

	return mr_vec_push(
		&torch->tensors,
		((struct mr_torch_tensor){
			.ns = mr_loader_to_ns(torch->loader, event->ticks),
			.tensor = tensor->tensor,
			.memory = tensor->memory,
			.track = torch->loader->track,
			.shape = mr_loader_find(torch->loader, MR_ID_string, tensor->shape),
			.is_output = tensor->is_output}));
}

static int add(void *state, const struct mr_event *event)
{
	struct mr_torch *torch = state;

	if (event->context != torch->packet) { /* each packet says it anew */
		torch->packet = event->context;
		torch->module = 0;
	}
	switch (event->desc->id) {
	case MR_EVENT_torch_module: {
		const struct mr_event_torch_module *module = event->payload;

		torch->module = mr_loader_find(torch->loader, MR_ID_string, module->path);
		return 0;
	}
	case MR_EVENT_torch_operation: {
		const struct mr_event_torch_operation *operation = event->payload;
		uint64_t ticks = mr_u48_value(operation->duration_ticks);

		return add_operation(
			torch, mr_loader_span_before(torch->loader, event->ticks, ticks),
			operation->name, mr_u48_value(operation->sequence), operation->scope, 0);
	}
	case MR_EVENT_torch_scope_begin: {
		const struct mr_event_torch_scope_begin *begin = event->payload;

		return add_half(torch, event, begin->object, begin->name, true);
	}
	case MR_EVENT_torch_scope_end: {
		const struct mr_event_torch_scope_end *end = event->payload;

		return add_half(torch, event, end->object, 0, false);
	}
	case MR_EVENT_torch_tensor:
		return add_tensor(torch, event);
	case MR_EVENT_torch_scope_bytes: {
		const struct mr_event_torch_scope_bytes *size = event->payload;

		return mr_vec_push(
			&torch->sizes,
			((struct mr_torch_size){.object = size->object,
						.bytes = size->bytes,
						.ns = mr_loader_to_ns(torch->loader, event->ticks),
						.track = torch->loader->track}));
	}
	case MR_EVENT_interval_unfinished:
		return add_unfinished(torch, event);
	}
	return 0;
}

/* ---- the framework --------------------------------------------------------------------------------- */

static void clear(struct mr_torch *torch)
{
	mr_vec_free(&torch->operations);
	mr_vec_free(&torch->tensors);
	mr_vec_free(&torch->sizes);
	mr_vec_free(&torch->halves);
	mr_vec_free(&torch->scopes);
	mr_strings_free(&torch->node_keys);
	mr_vec_free(&torch->nodes);
	mr_vec_free(&torch->graphs);
	mr_strings_free(&torch->edge_keys);
}

static int start(struct mr_loader *loader, void **ret_state)
{
	struct mr_torch *torch = malloc(sizeof *torch);

	if (!torch)
		return -ENOMEM;
	*torch = (struct mr_torch){.loader = loader, .model = loader->model};
	*ret_state = torch;
	return 0;
}

static int join(void *state)
{
	struct mr_torch *torch = state;
	int result = mr_torch_add_scopes(torch);

	if (result == 0)
		result = mr_torch_add_operations(torch);
	if (result == 0)
		result = mr_torch_add_edges(torch);
	if (result == 0)
		result = mr_torch_add_tensor_edges(torch);
	clear(torch);
	return result;
}

static void end(void *state)
{
	clear(state);
	free(state);
}

static const uint8_t events[] = {
	MR_EVENT_torch_module,    MR_EVENT_torch_operation, MR_EVENT_torch_scope_begin,
	MR_EVENT_torch_scope_end, MR_EVENT_torch_tensor,    MR_EVENT_torch_scope_bytes,
};

const struct mr_framework mr_framework_torch = {
	.name = "PyTorch",
	.events = events,
	.event_count = mr_countof(events),
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join},
	.end = end,
};
