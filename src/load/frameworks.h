/* SPDX-License-Identifier: Apache-2.0
 *
 * Frameworks that are traced from the inside: the events of their own tracing become rows of the general tables. Each
 * framework has its own folder and one row in frameworks.def. It takes only the events that it lists; an event that no
 * framework lists is ignored.
 *
 * Each framework owns the state that it needs while events are read. It starts with its first event: if the trace has
 * no event of a framework, none of its functions is called.
 *
 *     start ─► add, add ... ─► the stages, in order, among the passes of the others (passes.c) ─► end
 */
#ifndef MR_LOAD_FRAMEWORKS_H
#define MR_LOAD_FRAMEWORKS_H

#include <stdint.h>

#include "trace/trace.h"

struct mr_loader;

enum mr_framework_stage {
	MR_FRAMEWORK_JOIN,         /* all events are read, nothing is sorted */
	MR_FRAMEWORK_PLACE_MEMORY, /* tables are sorted: the devices of memory */
	MR_FRAMEWORK_LINK, /* all is joined: what rows of different levels have to do with each other */
	MR_FRAMEWORK_STAGES,
};

struct mr_framework {
	const char *name;
	const uint8_t *events; /* ids of those that it takes */
	uint32_t event_count;
	/* Each 0 or a negative errno. */
	int (*start)(struct mr_loader *loader, void **ret_state);
	int (*add)(void *state, const struct mr_event *event);
	int (*stages[MR_FRAMEWORK_STAGES])(void *state); /* NULL: it has nothing to do then */
	void (*end)(void *state);
};

/* Those that millrace knows. */
#define MR_FRAMEWORK(name) extern const struct mr_framework mr_framework_##name;
#include "load/frameworks.def"
#undef MR_FRAMEWORK
extern const struct mr_framework *const mr_known_frameworks[];
extern const uint32_t mr_known_framework_count;

/* Frameworks while a trace is read. */
struct mr_frameworks {
	const struct mr_framework *const *rows;
	uint32_t count;
	uint8_t of_event[256]; /* by event id: number of the framework, from 1; 0: none takes it */
	void **states;         /* by framework; NULL: it has not said anything */
};

/* -EEXIST: two take the same event; -ENOMEM. */
int mr_frameworks_start(struct mr_frameworks *frameworks, const struct mr_framework *const *rows,
			uint32_t count);

/* The number of the framework that takes the event, from 1; 0: none does. */
uint32_t mr_frameworks_find(const struct mr_frameworks *frameworks, const struct mr_event *event);
int mr_frameworks_add(struct mr_frameworks *frameworks, struct mr_loader *loader,
		      const struct mr_event *event);
int mr_frameworks_run(struct mr_frameworks *frameworks, enum mr_framework_stage stage);
void mr_frameworks_end(struct mr_frameworks *frameworks);

#endif
