/* SPDX-License-Identifier: Apache-2.0
 *
 * TensorFlow, traced from the inside: this folder turns its own tracing into rows and finds the relations between them.
 *
 *     scope EagerLocalExecute: train_step        ├──────────────────────────────────┤      calling thread
 *     scope FunctionRun         run 7              ├──┤
 *     scope ExecutorState::Process  run 7                ├────────────────┤                  any thread
 *     operation MatMul                                     ├──┤
 *
 * An operation belongs to the run of the scope around it; a run to the function around its FunctionRun; so the
 * operation is an execution of that function's node. The activity watcher's events about a run give the
 * nodes their devices and edges.
 */
#ifndef MR_LOAD_TENSORFLOW_TENSORFLOW_H
#define MR_LOAD_TENSORFLOW_TENSORFLOW_H

#include "load/loader.h"
#include "load/tensorflow/traceme.h"

/* How the scope of a function's call is called, before the function's name. */
#define MR_LOCAL_EXECUTE "EagerLocalExecute: "

/* The name of the graph of operations that were executed by themselves. */
#define MR_EAGER_GRAPH "eager"

/* A node is about to run, as TensorFlow's activity watcher says. */
struct mr_activity_seen {
	uint32_t process;
	uint32_t text; /* string */
	uint64_t run;
};

/* Work of an asynchronous eager operation: given to an executor, or run by it. */
struct mr_eager_item {
	uint64_t item;
	uint32_t process;
	uint32_t track;
	int64_t start_ns;
	int64_t duration_ns; /* of a run */
	uint32_t run;        /* of what was given: index of its run, or MR_NO_ROW */
	bool is_done;        /* of a run: when it ended */
};

/* What a row of node_executions is until its node is known. */
enum mr_pending_kind {
	MR_PENDING_NOTHING, /* the row means what it says */
	MR_PENDING_OPERATION,
	MR_PENDING_CALL,
};

/* Of a row of a call: an operation that the program executed by itself. */
struct mr_eager_call {
	uint32_t name;     /* string */
	uint32_t device;   /* string; 0: not known */
	uint32_t enqueued; /* index of what it gave to an executor, or MR_NO_ROW */
};

/* What TensorFlow said, while it is being read. */
struct mr_tensorflow {
	struct mr_loader *loader;
	struct mr_model *model;
	mr_vec(uint32_t) pending;              /* by row of node_executions: mr_pending_...() */
	mr_vec(struct mr_eager_call) calls;    /* that rows are pending as */
	mr_vec(uint32_t) collectives;          /* names (strings) of their nodes, by row */
	mr_vec(struct mr_traceme) meanings;    /* of texts, by string; made when first met */
	mr_vec(struct mr_activity_seen) seen;  /* each as often as it was recorded */
	struct mr_strings graph_keys;          /* (process, name) → index in graphs */
	mr_vec(uint32_t) graphs;               /* of the definitions */
	struct mr_strings node_keys;           /* (graph, name, device) → index in nodes */
	mr_vec(uint32_t) nodes;                /* of the definitions */
	mr_vec(struct mr_eager_item) enqueued; /* to executors, as threads recorded it */
	mr_vec(uint32_t) untaken;              /* indices of those that no call has claimed yet */
	mr_vec(struct mr_eager_item) runs;     /* of executors */
	uint32_t clock_gap;
};

/* Adds what an event says. (rows.c) */
int mr_tensorflow_add(struct mr_tensorflow *tensorflow, const struct mr_event *event);

/* Before memory is joined: on which devices it lies, as far as its allocators say. (memory.c) */
int mr_tensorflow_place_memory(struct mr_model *model);

/* When calls know their executions: which tensors copies moved. -ENOMEM. (tensor_copies.c) */
int mr_tensorflow_link_copies(struct mr_model *model);

/* Frees what it holds. */
void mr_tensorflow_clear(struct mr_tensorflow *tensorflow);

/* ---- pending.c ---------------------------------------------------------------------------------- */

/* Which rows of node_executions still wait for their nodes, and what is known of those until then. It goes with the
 * rows when they are sorted or dropped. */

/* The row that was appended last is the operation of a text, or call number INDEX. -ENOMEM. */
int mr_pending_add(struct mr_tensorflow *tensorflow, enum mr_pending_kind kind, uint32_t index);

enum mr_pending_kind mr_pending_kind(const struct mr_tensorflow *tensorflow, uint32_t row);

/* Of an operation: what its text means. */
const struct mr_traceme *mr_pending_operation(const struct mr_tensorflow *tensorflow, uint32_t row);

/* Of a call. */
const struct mr_eager_call *mr_pending_call(const struct mr_tensorflow *tensorflow, uint32_t row);

/* The row means what it says from now on. */
void mr_pending_settle(struct mr_tensorflow *tensorflow, uint32_t row);

/* Sorts node_executions, or takes rows out. -ENOMEM. */
int mr_pending_sort(struct mr_tensorflow *tensorflow);
int mr_pending_drop(struct mr_tensorflow *tensorflow, const bool *is_dropped);

/* ---- graph.c ------------------------------------------------------------------------------- */

/* The node of that name in a graph of the process, new or not; the type may not be known yet. */
int mr_tensorflow_find_node(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t graph_name,
			    uint32_t name, uint32_t type, uint32_t *ret_node);

/* Likewise, of an operation executed by itself on a device (a string). */
int mr_tensorflow_find_eager(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t name,
			     uint32_t device_name, uint32_t *ret_node);

/* Is there such a node, which is not executed by itself? */
bool mr_tensorflow_knows_node(struct mr_tensorflow *tensorflow, uint32_t process,
			      uint32_t graph_name, uint32_t name, uint32_t *ret_node);

/* The device of that name (a string) in the process, new or not; 0 of no name. */
int mr_tensorflow_find_device(struct mr_tensorflow *tensorflow, uint32_t process, uint32_t name,
			      uint32_t *ret_device);

/* ---- input.c ---------------------------------------------------------------------------------- */

/* When scopes are sorted and nested: what threads did for the input pipeline besides the requests, and for which
 * stage. -ENOMEM. */
int mr_tensorflow_add_input_work(struct mr_tensorflow *tensorflow);

/* ---- operations.c ------------------------------------------------------------------------------ */

/* When scopes are sorted and nested and runs are known: the nodes of operations that are pending. -ENOMEM. */
struct mr_runs;
int mr_tensorflow_place_operations(struct mr_tensorflow *tensorflow, const struct mr_runs *runs);

/* ---- edges.c ------------------------------------------------------------------------------- */

/* Devices and edges, from what the activity watcher has seen; the runs give the names of graphs. -ENOMEM. */
int mr_tensorflow_add_edges(struct mr_tensorflow *tensorflow, const struct mr_runs *runs);

/* ---- eager.c ------------------------------------------------------------------------------- */

/* Operations that the program executes by themselves; asynchronous ones are given to an executor, and run by it. */
int mr_eager_add(struct mr_tensorflow *tensorflow, const struct mr_event *event);
int mr_eager_add_enqueued(struct mr_tensorflow *tensorflow, const struct mr_event *event);
int mr_eager_add_run(struct mr_tensorflow *tensorflow, const struct mr_event *event);

/* When executions and steps are sorted: gives them nodes and steps, puts asynchronous ones where they ran, and takes
 * out what was told of them a second time. -ENOMEM. */
int mr_eager_join(struct mr_tensorflow *tensorflow);

/* ---- runs.c -------------------------------------------------------------------------------- */

struct mr_run {
	uint32_t function; /* string; 0: not known */
	uint32_t step;     /* number of the step that it is for, or MR_NO_STEP */
	bool is_ambiguous; /* it is for several: then there are several runs of that number */
};

struct mr_runs {
	struct mr_strings keys; /* (process, run) */
	mr_vec(struct mr_run) items;
	uint32_t *step_around;      /* by scope: see mr_steps_around() */
	uint32_t *execution_around; /* by scope: likewise; NULL: there is none */
};

/* What is known of a run. */
struct mr_run mr_runs_look_up(const struct mr_runs *runs, uint32_t process, uint64_t run);

/* The name (a string) of the function that a run is of; 0 if it is not known. */
uint32_t mr_runs_find(const struct mr_runs *runs, uint32_t process, uint64_t run);

/* For each row of a sorted table of intervals: the innermost step of its thread that encloses it, or MR_NO_ROW. To be
 * freed; NULL: there is no memory. */
struct mr_nesting;
uint32_t *mr_steps_around(const struct mr_model *model, const struct mr_table *table,
			  const struct mr_nesting *rows);

/* The number of a step (a row), as executions have it. */
static inline uint32_t mr_step_number(const struct mr_model *model, uint32_t step)
{
	if (step == MR_NO_ROW || model->steps.step[step] >= MR_NO_STEP)
		return MR_NO_STEP;
	return (uint32_t)model->steps.step[step];
}

/* When scopes are sorted and nested, and so are steps and eager operations. -ENOMEM. */
int mr_runs_find_functions(struct mr_tensorflow *tensorflow, struct mr_runs *runs);

/* When the runs are known: the nodes of collectives. -ENOMEM. (collectives.c) */
int mr_runs_name_collectives(struct mr_tensorflow *tensorflow, const struct mr_runs *runs);

void mr_runs_free(struct mr_runs *runs);

#endif
