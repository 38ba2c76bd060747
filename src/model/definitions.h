/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace defines: strings, graphs, nodes, edges, devices, queues, files, clocks and lines of code of all processes,
 * in one numbering.
 *
 * In the trace, ids are per process, and a forked process continues its parent's numbers:
 *
 *     process 1   ids 1 ──────── 40 ...              id 7 of process 2 is below its first_definition,
 *     process 2                  41 ───── 60         so it is id 7 of process 1
 *         first_definition = 41, parent = 1
 *
 * mr_definition_find() turns (process, kind, id) into an index by one array access per generation.
 * Index 0 of every list stands for "none" or "unknown", with empty text.
 *
 * Filled by survey.c in two steps: everything is added with the ids as recorded; when all processes
 * are known, mr_definitions_resolve() turns the ids inside definitions into indices.
 */
#ifndef MR_MODEL_DEFINITIONS_H
#define MR_MODEL_DEFINITIONS_H

#include "base/strings.h"
#include "base/vector.h"
#include "clock/clocks.h"
#include "model/sites.h"
#include "schema/schema.h"
#include "trace/trace.h"

struct mr_graph {
	uint32_t name; /* string */
	uint32_t process;
	uint32_t function; /* string: what the program calls it, also where it has many graphs */
};

struct mr_node {
	uint32_t graph;
	uint32_t name; /* string */
	uint32_t type; /* string */
	uint32_t device;
	uint32_t process;
	uint32_t family; /* string: the operation that the type is a form of, perhaps itself */
	uint8_t purpose; /* enum mr_purpose */
};

struct mr_edge {
	uint32_t source; /* node */
	uint32_t target; /* node */
	uint16_t source_output;
	uint16_t target_input;
	uint8_t kind; /* enum mr_edge_kind */
	uint32_t process;
};

/* No trace has more; what is defined beyond is impossible. Whoever looks for one may look at each. */
enum {
	MR_DEVICES_MAX = 2048,
	MR_QUEUES_MAX = 1 << 16,
};

/* As one process knows it. */
struct mr_device {
	uint32_t name; /* string */
	uint32_t host;
	uint32_t identity; /* string: the same in all processes of the host; 0: not known */
	uint32_t
		same; /* the first device of the list that is the same one of that host, perhaps itself */
	uint32_t
		clock; /* index of clocks; system clocks stand there first, by enum mr_trace_clock */
	uint8_t kind;  /* enum mr_device_kind */
	uint32_t process;
	uint64_t memory_bytes; /* 0: not known */
};

struct mr_queue {
	uint32_t device;
	uint32_t name; /* string */
	uint32_t process;
	uint8_t order; /* enum mr_queue_order */
	bool is_untimed;
};

struct mr_file {
	uint64_t device_number;
	uint64_t inode;
	uint32_t path; /* string */
	uint32_t host;
};

/* Its index is the number that clock/clocks.h knows it by. */
struct mr_defined_clock {
	uint64_t ticks_per_second;
	uint32_t name; /* string */
	uint32_t process;
};

/* What a process says of a device that it has defined. */
struct mr_device_fact {
	uint32_t device;   /* id, as recorded */
	uint32_t identity; /* string; 0: not said */
	uint32_t process;
	uint64_t memory_bytes; /* 0: not said */
};

/* A name that a program gives to one of its queues or threads. */
struct mr_said_name {
	uint32_t id;   /* of the queue, as recorded; or the tid */
	uint32_t name; /* string */
	uint32_t process;
};

typedef mr_vec(struct mr_said_name) mr_said_names;

/* A line of code as one process defines it, until all that are the same are one (sites.h). */
struct mr_defined_site {
	uint32_t code;
	uint32_t line;
	uint32_t parent;
	uint32_t process;
};

struct mr_defined_code {
	uint32_t file;
	uint32_t name;
	uint32_t first_line;
	uint32_t process;
};

/* One definition as it was met: where its id must lead. */
struct mr_definition {
	uint32_t id;
	uint32_t index;
	uint8_t kind;
};

/* A process, as far as its definitions go. */
struct mr_definition_scope {
	uint32_t first_definition;
	uint32_t parent; /* index of the scope that ids below first_definition belong to */
	bool has_parent;
	mr_vec(struct mr_definition) added;
	uint32_t *index[MR_ID_KINDS]; /* by id - first_definition */
	uint32_t count[MR_ID_KINDS];
};

struct mr_definitions {
	struct mr_strings strings;
	mr_vec(struct mr_graph) graphs;
	mr_vec(struct mr_node) nodes;
	mr_vec(struct mr_edge) edges;
	mr_vec(struct mr_device) devices;
	mr_vec(struct mr_queue) queues;
	mr_vec(struct mr_file) files;
	mr_vec(struct mr_defined_clock) clocks;
	mr_vec(struct mr_defined_code) defined_codes; /* until `sites` has them */
	mr_vec(struct mr_defined_site) defined_sites;
	struct mr_sites sites;
	mr_vec(uint32_t) system_calls; /* names (strings), by number; 0 where not defined */
	mr_vec(struct mr_device_fact) device_facts; /* until devices have them */
	mr_said_names queue_names;                  /* until queues have them */
	mr_said_names thread_names;                 /* until tracks have them */
	mr_vec(struct mr_definition_scope) scopes;  /* one per process of the survey */
	uint64_t impossible;                        /* definitions whose id cannot be */
};

int mr_definitions_start(struct mr_definitions *definitions);
void mr_definitions_free(struct mr_definitions *definitions);

/* Adds what a def_* event of that process (an index) says; other events say nothing. -ENOMEM. */
int mr_definitions_add(struct mr_definitions *definitions, uint32_t process,
		       const struct mr_event *event);

/* Makes the lookups and turns ids into indices. Scopes must be complete, parents below children. */
int mr_definitions_resolve(struct mr_definitions *definitions);

/* Any definition of that id, in the process or the one it was forked from; 0 if there is none. */
static inline uint32_t mr_definition_find(const struct mr_definitions *definitions,
					  uint32_t process, enum mr_id_kind kind, uint32_t id)
{
	const struct mr_definition_scope *scope = &definitions->scopes.items[process];

	while (mr_unlikely(id < scope->first_definition) && scope->has_parent)
		scope = &definitions->scopes.items[scope->parent];
	uint32_t place = id - scope->first_definition;
	return place < scope->count[kind] ? scope->index[kind][place] : 0;
}

/* A clock id as recorded by a process → index of definitions->clocks. */
uint32_t mr_definition_find_clock(const struct mr_definitions *definitions, uint32_t process,
				  uint32_t id);

#endif
