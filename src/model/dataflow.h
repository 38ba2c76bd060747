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
#ifndef MR_MODEL_DATAFLOW_H
#define MR_MODEL_DATAFLOW_H

#include "model/loader.h"

/* How the scope of a function's call is called, before the function's name. */
#define MR_LOCAL_EXECUTE "EagerLocalExecute: "

/* Adds what an event of a framework's own tracing says; others say nothing. */
int mr_dataflow_add(struct mr_loader *loader, const struct mr_event *event);

/* When all events are read: sorts executions and scopes, and finds the nodes. */
int mr_dataflow_join(struct mr_loader *loader);

/* Before memory is joined: on which devices it lies, as far as its allocators say. (dataflow_memory.c) */
void mr_dataflow_place_memory(struct mr_model *model);

/* When all tables are sorted and nested: what memory was allocated for. -ENOMEM. */
int mr_dataflow_link_memory(struct mr_model *model);

/* Likewise: finds the other end of each message. -ENOMEM. (messages.c) */
int mr_messages_link(struct mr_model *model);

void mr_dataflow_free(struct mr_dataflow *dataflow);

/* When calls know their executions: which tensors copies moved. -ENOMEM. (tensor_copies.c) */
int mr_dataflow_link_copies(struct mr_model *model);

/* ---- dataflow_graph.c ------------------------------------------------------------------------- */

/* The node of that name in a graph of the process, new or not; the type may not be known yet. */
int mr_dataflow_find_node(struct mr_loader *loader, uint32_t process, uint32_t graph_name,
			  uint32_t name, uint32_t type, uint32_t *ret_node);

/* Likewise, of an operation executed by itself on a device (a string). */
int mr_dataflow_find_eager(struct mr_loader *loader, uint32_t name, uint32_t device_name,
			   uint32_t *ret_node);

/* Devices and edges, from what the activity watcher has seen; the runs give the names of graphs. */
struct mr_runs;
int mr_dataflow_add_edges(struct mr_loader *loader, const struct mr_runs *runs);

/* ---- dataflow_steps.c ---------------------------------------------------------------------------- */

/* When scopes are sorted: steps, if none was marked. -ENOMEM. */
int mr_dataflow_add_steps(struct mr_loader *loader);

/* ---- dataflow_runs.c ----------------------------------------------------------------------------- */

struct mr_runs {
	struct mr_strings keys;     /* (process, run) */
	mr_vec(uint32_t) functions; /* string, by key */
};

/* The name (a string) of the function that a run is of; 0 if it is not known. */
uint32_t mr_runs_find(const struct mr_runs *runs, uint32_t process, uint64_t run);

/* When scopes are sorted and nested. -ENOMEM. */
int mr_runs_find_functions(struct mr_loader *loader, struct mr_runs *runs);

/* Collectives have names of nodes until the runs are known. -ENOMEM. */
int mr_runs_name_collectives(struct mr_loader *loader, const struct mr_runs *runs);

void mr_runs_free(struct mr_runs *runs);

#endif
