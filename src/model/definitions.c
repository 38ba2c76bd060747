/* SPDX-License-Identifier: Apache-2.0 */
#include "model/definitions.h"

#include <string.h>

enum {
	/* Ids are handed out one after the other. Those far beyond what a process defined are the
	 * product of damage, and must not make us allocate. */
	SPARSE_FACTOR = 64,
	SPARSE_SLACK = 4096,
	MAX_SYSTEM_CALLS = 1 << 16, /* events have 16 bits for the number */
};

/* ---- adding ------------------------------------------------------------------------------------- */

int mr_definitions_start(struct mr_definitions *definitions)
{
	uint32_t empty;
	int result = mr_strings_intern(&definitions->strings, "", 0, &empty);

	result |= mr_vec_push(&definitions->graphs, (struct mr_graph){0});
	result |= mr_vec_push(&definitions->nodes, (struct mr_node){0});
	result |= mr_vec_push(&definitions->devices, (struct mr_device){0});
	result |= mr_vec_push(&definitions->queues, (struct mr_queue){0});
	result |= mr_vec_push(&definitions->files, (struct mr_file){0});
	result |= mr_vec_push(&definitions->defined_codes, (struct mr_defined_code){0});
	result |= mr_vec_push(&definitions->defined_sites, (struct mr_defined_site){0});
	result |= mr_sites_start(&definitions->sites);
	for (uint32_t clock = 0; clock < MR_CLOCK_FIRST_DEVICE; clock++) {
		const char *text = mr_clock_system_name(clock);
		struct mr_defined_clock system = {0};

		if (text)
			result |= mr_strings_intern(&definitions->strings, text, strlen(text),
						    &system.name);
		result |= mr_vec_push(&definitions->clocks, system);
	}
	return result ? -ENOMEM : 0;
}

void mr_definitions_free(struct mr_definitions *definitions)
{
	for (size_t i = 0; i < definitions->scopes.count; i++) {
		struct mr_definition_scope *scope = &definitions->scopes.items[i];

		mr_vec_free(&scope->added);
		for (int kind = 0; kind < MR_ID_KINDS; kind++)
			free(scope->index[kind]);
	}
	mr_vec_free(&definitions->scopes);
	mr_vec_free(&definitions->graphs);
	mr_vec_free(&definitions->nodes);
	mr_vec_free(&definitions->edges);
	mr_vec_free(&definitions->devices);
	mr_vec_free(&definitions->device_facts);
	mr_vec_free(&definitions->queue_names);
	mr_vec_free(&definitions->thread_names);
	mr_vec_free(&definitions->queues);
	mr_vec_free(&definitions->files);
	mr_vec_free(&definitions->clocks);
	mr_vec_free(&definitions->system_calls);
	mr_vec_free(&definitions->defined_codes);
	mr_vec_free(&definitions->defined_sites);
	mr_sites_free(&definitions->sites);
	mr_strings_free(&definitions->strings);
}

/* Notes where an id leads. */
static int note(struct mr_definitions *definitions, uint32_t process, enum mr_id_kind kind,
		uint32_t id, size_t index)
{
	return mr_vec_push(&definitions->scopes.items[process].added,
			   ((struct mr_definition){id, (uint32_t)index, (uint8_t)kind}));
}

static int intern(struct mr_definitions *definitions, const char *text, uint32_t *ret_string)
{
	return mr_strings_intern(&definitions->strings, text, strlen(text), ret_string);
}

static int add_string(struct mr_definitions *definitions, uint32_t process,
		      const struct mr_event_def_string *def, const char *text)
{
	uint32_t string;

	if (intern(definitions, text, &string) < 0)
		return -ENOMEM;
	return note(definitions, process, MR_ID_string, def->id, string);
}

static int add_graph(struct mr_definitions *definitions, uint32_t process,
		     const struct mr_event_def_graph *def)
{
	struct mr_graph graph = {.name = def->name, .process = process};

	if (note(definitions, process, MR_ID_graph, def->id, definitions->graphs.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->graphs, graph);
}

static int add_node(struct mr_definitions *definitions, uint32_t process,
		    const struct mr_event_def_node *def)
{
	struct mr_node node = {.graph = def->graph,
			       .name = def->name,
			       .type = def->type,
			       .device = def->device,
			       .process = process};

	if (note(definitions, process, MR_ID_node, def->id, definitions->nodes.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->nodes, node);
}

static int add_edge(struct mr_definitions *definitions, uint32_t process,
		    const struct mr_event_def_edge *def)
{
	struct mr_edge edge = {def->source,       def->target, def->source_output,
			       def->target_input, def->kind,   process};

	return mr_vec_push(&definitions->edges, edge);
}

static int add_device(struct mr_definitions *definitions, uint32_t process,
		      const struct mr_event_def_device *def)
{
	const struct mr_device device = {.name = def->name,
					 .same = (uint32_t)definitions->devices.count,
					 .clock = def->clock,
					 .kind = def->kind,
					 .process = process};

	if (definitions->devices.count == MR_DEVICES_MAX) {
		definitions->impossible++;
		return 0;
	}
	if (note(definitions, process, MR_ID_device, def->id, definitions->devices.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->devices, device);
}

static int add_device_identity(struct mr_definitions *definitions, uint32_t process,
			       const struct mr_event_def_device_identity *def, const char *text)
{
	struct mr_device_fact fact = {.device = def->device, .process = process};

	if (intern(definitions, text, &fact.identity) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->device_facts, fact);
}

static int add_device_memory(struct mr_definitions *definitions, uint32_t process,
			     const struct mr_event_def_device_memory *def)
{
	const struct mr_device_fact fact = {
		.device = def->device, .process = process, .memory_bytes = def->bytes};

	return mr_vec_push(&definitions->device_facts, fact);
}

static int add_queue(struct mr_definitions *definitions, uint32_t process,
		     const struct mr_event_def_queue *def)
{
	struct mr_queue queue = {def->device, def->name, process, def->order, def->is_untimed};

	if (definitions->queues.count == MR_QUEUES_MAX) {
		definitions->impossible++;
		return 0;
	}
	if (note(definitions, process, MR_ID_queue, def->id, definitions->queues.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->queues, queue);
}

/* Of a queue or a thread. */
static int add_name(struct mr_definitions *definitions, mr_said_names *names, uint32_t process,
		    uint32_t id, const char *text)
{
	struct mr_said_name name = {.id = id, .process = process};

	if (intern(definitions, text, &name.name) < 0)
		return -ENOMEM;
	return mr_vec_push(names, name);
}

static int add_file(struct mr_definitions *definitions, uint32_t process,
		    const struct mr_event_def_file *def, const char *path)
{
	struct mr_file file = {.device_number = def->device, .inode = def->inode};

	if (intern(definitions, path, &file.path) < 0 ||
	    note(definitions, process, MR_ID_file, def->id, definitions->files.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->files, file);
}

static int add_clock(struct mr_definitions *definitions, uint32_t process,
		     const struct mr_event_def_clock *def)
{
	struct mr_defined_clock clock = {def->ticks_per_second, def->name, process};

	if (note(definitions, process, MR_ID_clock, def->id, definitions->clocks.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->clocks, clock);
}

static int add_code(struct mr_definitions *definitions, uint32_t process,
		    const struct mr_event_def_code *def)
{
	struct mr_defined_code code = {def->file, def->name, def->first_line, process};

	if (note(definitions, process, MR_ID_code, def->id, definitions->defined_codes.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->defined_codes, code);
}

static int add_site(struct mr_definitions *definitions, uint32_t process,
		    const struct mr_event_def_site *def)
{
	struct mr_defined_site site = {def->code, def->line, def->parent, process};

	if (note(definitions, process, MR_ID_site, def->id, definitions->defined_sites.count) < 0)
		return -ENOMEM;
	return mr_vec_push(&definitions->defined_sites, site);
}

/* They are the machine's, the same for all processes. */
static int add_system_call(struct mr_definitions *definitions,
			   const struct mr_event_def_syscall *def, const char *name)
{
	uint32_t string;

	if (def->number >= MAX_SYSTEM_CALLS) {
		definitions->impossible++;
		return 0;
	}
	if (intern(definitions, name, &string) < 0)
		return -ENOMEM;
	while (definitions->system_calls.count <= def->number)
		if (mr_vec_push(&definitions->system_calls, 0) < 0)
			return -ENOMEM;
	definitions->system_calls.items[def->number] = string;
	return 0;
}

int mr_definitions_add(struct mr_definitions *definitions, uint32_t process,
		       const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_def_string:
		return add_string(definitions, process, event->payload, event->text);
	case MR_EVENT_def_graph:
		return add_graph(definitions, process, event->payload);
	case MR_EVENT_def_node:
		return add_node(definitions, process, event->payload);
	case MR_EVENT_def_edge:
		return add_edge(definitions, process, event->payload);
	case MR_EVENT_def_device:
		return add_device(definitions, process, event->payload);
	case MR_EVENT_def_device_identity:
		return add_device_identity(definitions, process, event->payload, event->text);
	case MR_EVENT_def_device_memory:
		return add_device_memory(definitions, process, event->payload);
	case MR_EVENT_def_queue:
		return add_queue(definitions, process, event->payload);
	case MR_EVENT_def_queue_name:
		return add_name(definitions, &definitions->queue_names, process,
				((const struct mr_event_def_queue_name *)event->payload)->queue,
				event->text);
	case MR_EVENT_thread_named:
		return add_name(definitions, &definitions->thread_names, process,
				((const struct mr_event_thread_named *)event->payload)->tid,
				event->text);
	case MR_EVENT_def_file:
		return add_file(definitions, process, event->payload, event->text);
	case MR_EVENT_def_clock:
		return add_clock(definitions, process, event->payload);
	case MR_EVENT_def_code:
		return add_code(definitions, process, event->payload);
	case MR_EVENT_def_site:
		return add_site(definitions, process, event->payload);
	case MR_EVENT_def_syscall:
		return add_system_call(definitions, event->payload, event->text);
	}
	return 0;
}

/* ---- resolving ---------------------------------------------------------------------------------- */

/* How many ids of that kind the lookup must hold; ids that cannot be do not count. */
static uint32_t lookup_size(const struct mr_definition_scope *scope, int kind)
{
	uint64_t sane = SPARSE_FACTOR * (uint64_t)scope->added.count + SPARSE_SLACK;
	uint32_t size = 0;

	for (size_t i = 0; i < scope->added.count; i++) {
		const struct mr_definition *definition = &scope->added.items[i];
		uint32_t place = definition->id - scope->first_definition;

		if (definition->kind == kind && definition->id >= scope->first_definition &&
		    place < sane)
			size = mr_max(size, place + 1);
	}
	return size;
}

static int make_lookups(struct mr_definitions *definitions, struct mr_definition_scope *scope)
{
	for (int kind = 0; kind < MR_ID_KINDS; kind++) {
		scope->count[kind] = lookup_size(scope, kind);
		scope->index[kind] = calloc(mr_max(scope->count[kind], 1u), sizeof(uint32_t));
		if (!scope->index[kind])
			return -ENOMEM;
	}
	for (size_t i = 0; i < scope->added.count; i++) {
		const struct mr_definition *definition = &scope->added.items[i];
		uint32_t place = definition->id - scope->first_definition;

		if (place < scope->count[definition->kind])
			scope->index[definition->kind][place] = definition->index;
		else
			definitions->impossible++;
	}
	mr_vec_free(&scope->added);
	return 0;
}

uint32_t mr_definition_find_clock(const struct mr_definitions *definitions, uint32_t process,
				  uint32_t id)
{
	return id < MR_CLOCK_FIRST_DEVICE
		       ? id
		       : mr_definition_find(definitions, process, MR_ID_clock, id);
}

static void resolve_graphs(struct mr_definitions *definitions)
{
	for (size_t i = 1; i < definitions->graphs.count; i++) {
		struct mr_graph *graph = &definitions->graphs.items[i];

		graph->name =
			mr_definition_find(definitions, graph->process, MR_ID_string, graph->name);
		graph->function = graph->name;
	}
	for (size_t i = 1; i < definitions->nodes.count; i++) {
		struct mr_node *node = &definitions->nodes.items[i];
		uint32_t process = node->process;

		node->graph = mr_definition_find(definitions, process, MR_ID_graph, node->graph);
		node->name = mr_definition_find(definitions, process, MR_ID_string, node->name);
		node->type = mr_definition_find(definitions, process, MR_ID_string, node->type);
		node->device = mr_definition_find(definitions, process, MR_ID_device, node->device);
	}
	for (size_t i = 0; i < definitions->edges.count; i++) {
		struct mr_edge *edge = &definitions->edges.items[i];

		edge->source =
			mr_definition_find(definitions, edge->process, MR_ID_node, edge->source);
		edge->target =
			mr_definition_find(definitions, edge->process, MR_ID_node, edge->target);
	}
}

/* A device that is not defined has none: the first of the list is no device. */
static void resolve_device_facts(struct mr_definitions *definitions)
{
	for (size_t i = 0; i < definitions->device_facts.count; i++) {
		const struct mr_device_fact *said = &definitions->device_facts.items[i];
		uint32_t device =
			mr_definition_find(definitions, said->process, MR_ID_device, said->device);

		if (device && said->identity)
			definitions->devices.items[device].identity = said->identity;
		if (device && said->memory_bytes)
			definitions->devices.items[device].memory_bytes = said->memory_bytes;
	}
	mr_vec_free(&definitions->device_facts);
}

/* The last name counts. */
static void resolve_queue_names(struct mr_definitions *definitions)
{
	for (size_t i = 0; i < definitions->queue_names.count; i++) {
		const struct mr_said_name *said = &definitions->queue_names.items[i];
		uint32_t queue =
			mr_definition_find(definitions, said->process, MR_ID_queue, said->id);

		if (queue)
			definitions->queues.items[queue].name = said->name;
	}
	mr_vec_free(&definitions->queue_names);
}

static void resolve_devices(struct mr_definitions *definitions)
{
	for (size_t i = MR_CLOCK_FIRST_DEVICE; i < definitions->clocks.count; i++) {
		struct mr_defined_clock *clock = &definitions->clocks.items[i];

		clock->name =
			mr_definition_find(definitions, clock->process, MR_ID_string, clock->name);
	}
	for (size_t i = 1; i < definitions->devices.count; i++) {
		struct mr_device *device = &definitions->devices.items[i];

		device->clock =
			mr_definition_find_clock(definitions, device->process, device->clock);
		device->name = mr_definition_find(definitions, device->process, MR_ID_string,
						  device->name);
	}
	for (size_t i = 1; i < definitions->queues.count; i++) {
		struct mr_queue *queue = &definitions->queues.items[i];

		queue->device = mr_definition_find(definitions, queue->process, MR_ID_device,
						   queue->device);
		queue->name =
			mr_definition_find(definitions, queue->process, MR_ID_string, queue->name);
	}
}

/* Lookups lead to what was defined; from here on to the one that is the same in all processes. */
static void lead_to(struct mr_definitions *definitions, enum mr_id_kind kind, const uint32_t *same)
{
	for (size_t i = 0; i < definitions->scopes.count; i++) {
		struct mr_definition_scope *scope = &definitions->scopes.items[i];

		for (uint32_t place = 0; place < scope->count[kind]; place++)
			scope->index[kind][place] = same[scope->index[kind][place]];
	}
}

static int resolve_codes(struct mr_definitions *definitions, uint32_t *same)
{
	for (size_t i = 1; i < definitions->defined_codes.count; i++) {
		const struct mr_defined_code *defined = &definitions->defined_codes.items[i];
		const struct mr_code code = {mr_definition_find(definitions, defined->process,
								MR_ID_string, defined->file),
					     mr_definition_find(definitions, defined->process,
								MR_ID_string, defined->name),
					     defined->first_line};

		if (mr_sites_add_code(&definitions->sites, &code, &same[i]) < 0)
			return -ENOMEM;
	}
	lead_to(definitions, MR_ID_code, same);
	return 0;
}

/* A site that was defined after one that it called is damage: that one has no parent. So no site leads to itself. */
static int resolve_sites(struct mr_definitions *definitions, uint32_t *same)
{
	for (size_t i = 1; i < definitions->defined_sites.count; i++) {
		const struct mr_defined_site *defined = &definitions->defined_sites.items[i];
		uint32_t parent = mr_definition_find(definitions, defined->process, MR_ID_site,
						     defined->parent);
		const struct mr_site site = {mr_definition_find(definitions, defined->process,
								MR_ID_code, defined->code),
					     defined->line,
					     parent < i ? same[parent] : 0,
					     0,
					     0,
					     0};

		if (mr_sites_add(&definitions->sites, &site, &same[i]) < 0)
			return -ENOMEM;
	}
	lead_to(definitions, MR_ID_site, same);
	return 0;
}

static int resolve_lines(struct mr_definitions *definitions)
{
	size_t most = mr_max(definitions->defined_codes.count, definitions->defined_sites.count);
	mr_auto(free) uint32_t *same = calloc(most, sizeof *same);

	if (!same || resolve_codes(definitions, same) < 0)
		return -ENOMEM;
	same[0] = 0;
	return resolve_sites(definitions, same);
}

int mr_definitions_resolve(struct mr_definitions *definitions)
{
	for (size_t i = 0; i < definitions->scopes.count; i++)
		if (make_lookups(definitions, &definitions->scopes.items[i]) < 0)
			return -ENOMEM;
	resolve_graphs(definitions);
	resolve_devices(definitions);
	resolve_device_facts(definitions);
	resolve_queue_names(definitions);
	return resolve_lines(definitions) < 0
		       ? -ENOMEM
		       : mr_sites_write_stacks(&definitions->sites, &definitions->strings);
}
