/* SPDX-License-Identifier: Apache-2.0
 *
 * The dataflow level of frameworks that are traced from the inside: their own tracing becomes rows, and what
 * the rows have to do with each other is found out here.
 *
 *     scope EagerLocalExecute: train_step        ├──────────────────────────────────┤      calling thread
 *     scope FunctionRun         run 7              ├──┤
 *     scope ExecutorState::Process  run 7                ├────────────────┤                  any thread
 *     operation MatMul                                     ├──┤
 *
 * An operation belongs to the run of the scope around it; a run to the function around its FunctionRun; so the
 * operation is an execution of that function's node. What the activity watcher says of a run gives the
 * nodes their devices and edges.
 */
#ifndef MR_LOAD_TENSORFLOW_DATAFLOW_H
#define MR_LOAD_TENSORFLOW_DATAFLOW_H

#include "load/loader.h"

/* How the scope of a function's call is called, before the function's name. */
#define MR_LOCAL_EXECUTE "EagerLocalExecute: "

/* The name of the graph of operations that were executed by themselves. */
#define MR_EAGER_GRAPH "eager"

/* Adds what an event of a framework's own tracing says; others say nothing. */
int mr_dataflow_add(struct mr_loader *loader, const struct mr_event *event);

/* When all events are read: sorts executions and scopes, and finds the nodes. */
int mr_dataflow_join(struct mr_loader *loader);

/* Before memory is joined: on which devices it lies, as far as its allocators say. (dataflow_memory.c) */
void mr_dataflow_place_memory(struct mr_model *model);

/* When all tables are sorted and nested: what memory was allocated for. -ENOMEM. */
int mr_dataflow_link_memory(struct mr_model *model);

void mr_dataflow_free(struct mr_dataflow *dataflow);

/* When calls know their executions: which tensors copies moved. -ENOMEM. (tensor_copies.c) */
int mr_dataflow_link_copies(struct mr_model *model);

/* ---- dataflow_graph.c ------------------------------------------------------------------------- */

/* The node of that name in a graph of the process, new or not; the type may not be known yet. */
int mr_dataflow_find_node(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
			  uint32_t name, uint32_t type, uint32_t *ret_node);

/* Likewise, of an operation executed by itself on a device (a string). */
int mr_dataflow_find_eager(struct mr_loader *loader, uint32_t process, uint32_t name,
			   uint32_t device_name, uint32_t *ret_node);

/* Is there such a node, which is not executed by itself? */
bool mr_dataflow_knows_node(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
			    uint32_t name, uint32_t *ret_node);

/* The device of that name (a string) in the process, new or not; 0 of no name. */
int mr_dataflow_find_device(struct mr_loader *loader, uint32_t process, uint32_t name,
			    uint32_t *ret_device);

/* ---- dataflow_edges.c ------------------------------------------------------------------------- */

/* Devices and edges, from what the activity watcher has seen; the runs give the names of graphs. -ENOMEM. */
struct mr_runs;
int mr_dataflow_add_edges(struct mr_loader *loader, const struct mr_runs *runs);

/* ---- dataflow_eager.c ------------------------------------------------------------------------- */

/* Operations that the program executes by themselves; asynchronous ones are given to an executor, and run by it. */
int mr_eager_add(struct mr_loader *loader, const struct mr_event *event);
int mr_eager_add_enqueued(struct mr_loader *loader, const struct mr_event *event);
int mr_eager_add_run(struct mr_loader *loader, const struct mr_event *event);

/* When executions and steps are sorted: gives them nodes and steps, puts asynchronous ones where they ran, and takes
 * out what was told of them a second time. -ENOMEM. */
int mr_eager_join(struct mr_loader *loader);

/* ---- dataflow_steps.c ---------------------------------------------------------------------------- */

/* When scopes are sorted: steps, if none was marked; else which calls were, for model->calls_marked. -ENOMEM. */
int mr_dataflow_add_steps(struct mr_loader *loader);

/* ---- dataflow_runs.c ----------------------------------------------------------------------------- */

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
int mr_runs_find_functions(struct mr_loader *loader, struct mr_runs *runs);

/* Collectives have names of nodes until the runs are known. -ENOMEM. (collectives.c) */
int mr_runs_name_collectives(struct mr_loader *loader, const struct mr_runs *runs);

void mr_runs_free(struct mr_runs *runs);

#endif
