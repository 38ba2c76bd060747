/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes that fill a model, one after the other. Each declares what it needs from the model and what it provides; a
 * pass that runs before what it needs is rejected.
 */
#ifndef MR_LOAD_PASSES_H
#define MR_LOAD_PASSES_H

#include "load/loader.h"

/* What a model has. */
enum mr_loaded {
	MR_LOADED_ROWS = 1 << 0,          /* of programs, frameworks and runtimes, as events say */
	MR_LOADED_KERNEL_ROWS = 1 << 1,   /* of the kernel level */
	MR_LOADED_NODES = 1 << 2,         /* executions of frameworks have nodes, runs and steps */
	MR_LOADED_LAUNCHES = 1 << 3,      /* calls, launches and operations lead to each other */
	MR_LOADED_ORDER = 1 << 4,         /* all tables are sorted; rows stay where they are */
	MR_LOADED_PLACES = 1 << 5,        /* memory is on devices */
	MR_LOADED_LIVE_BYTES = 1 << 6,    /* frees lead to what they give back */
	MR_LOADED_PARENTS = 1 << 7,       /* executions and calls are nested */
	MR_LOADED_PEERS = 1 << 8,         /* messages have their other ends */
	MR_LOADED_ROLES = 1 << 9,         /* calls say whether they wait */
	MR_LOADED_WAITS = 1 << 10,        /* calls and operations lead to what they waited for */
	MR_LOADED_EXECUTIONS = 1 << 11,   /* calls lead to the executions in which they were made */
	MR_LOADED_STEPS = 1 << 12,        /* all steps are there, also inferred ones */
	MR_LOADED_CAUSES = 1 << 13,       /* operations lead to the executions that launched them */
	MR_LOADED_USES = 1 << 14,         /* memory leads to the nodes that it was allocated for */
	MR_LOADED_FRAMEWORKS = 1 << 15,   /* frameworks have said all that they know */
	MR_LOADED_FAMILIES = 1 << 16,     /* types of nodes have families */
	MR_LOADED_DEVICES = 1 << 17,      /* what several name is one device */
	MR_LOADED_KERNEL_LINKS = 1 << 18, /* rows of the kernel level lead to each other */
	MR_LOADED_CONSTRAINTS = 1 << 19,  /* what must be true of device operations is checked */
	MR_LOADED_EXCHANGES = 1 << 20,    /* blocked threads lead to those that let them go on */
	MR_LOADED_PURPOSES = 1 << 21,     /* nodes and scopes say what they are for */
	MR_LOADED_THREAD_WAITS = 1 << 22, /* threads lead to those that they waited for */
	MR_LOADED_CHOSEN_STEPS = 1 << 24, /* ranges that the user calls steps are */
	MR_LOADED_SITES = 1 << 23,        /* rows lead to lines of Python */
	MR_LOADED_PYTHON_WAITS = 1 << 25, /* waits of Python are told apart by their lines */
	MR_LOADED_THREAD_ROLES = 1 << 26, /* threads say what they are for */
};

struct mr_pass {
	const char *name;
	int (*run)(struct mr_loader *loader); /* 0 or a negative errno */
	uint32_t needs;                       /* enum mr_loaded */
	uint32_t gives;                       /* likewise */
};

/* Those of a trace, in order. (load.c) */
extern const struct mr_pass mr_load_passes[];
extern const uint32_t mr_load_pass_count;

/* The first that comes before something that it needs; NULL: all are in order. */
const struct mr_pass *mr_passes_find_misplaced(const struct mr_pass *passes, uint32_t count);

/* Runs all, or none if one is misplaced: then -EINVAL. */
int mr_passes_run(struct mr_loader *loader, const struct mr_pass *passes, uint32_t count);

#endif
