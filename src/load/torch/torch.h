/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch, traced from the inside: this folder turns what its RecordFunction reports into rows.
 *
 *     operations.c   operators and autograd nodes: executions of nodes, in the phase of the step that they belong to
 *     scopes.c       annotations: scopes, steps of optimizers, elements of data loaders
 *     collectives.c  annotations of torch.distributed
 *     edges.c        from forward operators to the backward functions that autograd made for them
 *     tensors.c      from operators to those that take what they made
 *
 *     scope      enumerate(DataLoader)  ├──┤                                  Optimizer.step#SGD.step  ├────┤
 *     executions   aten::stack           ├┤    aten::linear ├────┤   AddmmBackward0 ├──┤     aten::add_  ├┤
 *                                                aten::addmm ├─┤      aten::mm      ├┤
 *     nodes        input/aten::stack           forward/fc/aten::linear  backward/fc/AddmmBackward0   optimizer/aten::add_
 *
 * All nodes of a process are one graph. PyTorch has no graph of its own, so a node is an operator of a module in a
 * phase. Rows are put
 * into the tables when all events are read, as only then is known what surrounds what.
 */
#ifndef MR_LOAD_TORCH_TORCH_H
#define MR_LOAD_TORCH_TORCH_H

#include "load/loader.h"

/* The name of the graph of a process. */
#define MR_TORCH_GRAPH "PyTorch"

/* Names of scopes in which the program takes an element of a data loader; workers may have made it ahead. */
#define MR_TORCH_TAKE       "DataLoader"
#define MR_TORCH_TAKE_AHEAD "ParallelPrefetch::DataLoader"

enum mr_torch_phase {
	MR_TORCH_EAGER, /* none of the others: without gradients, or that is not known */
	MR_TORCH_FORWARD,
	MR_TORCH_BACKWARD,
	MR_TORCH_OPTIMIZER,
	MR_TORCH_INPUT,
	MR_TORCH_PHASES,
};

struct mr_torch_operation {
	int64_t start_ns;
	int64_t duration_ns;
	uint64_t sequence; /* MR_U48_MAX: none */
	uint32_t track;
	uint32_t name; /* string */
	uint32_t site;
	uint32_t module; /* string: the part of the model that asked for it; 0: none */
	uint32_t parent; /* the operation around it, or MR_NO_ROW */
	uint32_t node;
	uint32_t step;   /* or MR_NO_STEP */
	uint32_t shapes; /* string: of the tensors that it takes; 0: not known */
	uint8_t scope;   /* enum mr_torch_scope */
	uint8_t phase;   /* enum mr_torch_phase */
	uint8_t flags;
};

struct mr_torch_tensor {
	int64_t ns;
	uint64_t tensor; /* address */
	uint64_t memory; /* address */
	uint32_t track;
	uint32_t shape;     /* string; 0: not known */
	uint32_t operation; /* whose it is, when operations are sorted; MR_NO_ROW: not known */
	uint16_t number;    /* among those that the operation takes, or makes */
	bool is_output;
};

/* Of something that is no operation: how large its tensors are. */
struct mr_torch_size {
	uint64_t object;
	uint64_t bytes;
	int64_t ns;
	uint32_t track;
};

/* A beginning or an end. */
struct mr_torch_half {
	uint64_t object;
	int64_t ns;
	uint32_t track;
	uint32_t name; /* string, of a beginning */
	bool is_begin;
};

struct mr_torch_annotation {
	int64_t start_ns;
	int64_t duration_ns;
	uint32_t track;
	uint32_t end_track; /* thread that ended it */
	uint32_t name;      /* string */
	uint64_t object;    /* address, until its end */
	uint8_t flags;
};

/* What PyTorch said, while it is being read. */
struct mr_torch {
	struct mr_loader *loader;
	struct mr_model *model;
	const struct mr_packet_context *packet; /* whose events are being read */
	uint32_t module;                        /* string, as the packet's last event says */
	mr_vec(struct mr_torch_operation) operations;
	mr_vec(struct mr_torch_tensor) tensors; /* of a track by time */
	mr_vec(struct mr_torch_size) sizes;
	mr_vec(struct mr_torch_half) halves;
	mr_vec(struct mr_torch_annotation) scopes; /* by track and start */
	struct mr_strings node_keys; /* (process, phase, name, module) → index in nodes */
	mr_vec(uint32_t) nodes;      /* of the definitions */
	mr_vec(uint32_t) graphs;     /* of the definitions, by process; 0: none yet */
	struct mr_strings edge_keys; /* (source, target, kind) of edges that there are */
};

static inline const char *mr_torch_text(const struct mr_torch *torch, uint32_t string)
{
	return mr_model_text(torch->model, string);
}

static inline uint32_t mr_torch_process(const struct mr_torch *torch, uint32_t track)
{
	return torch->model->survey->tracks.items[track].process;
}

/* What a scope says of those inside it; MR_TORCH_EAGER: nothing. (scopes.c) */
enum mr_torch_phase mr_torch_phase_of_scope(const char *name);

/* Joins the halves of scopes, and adds rows for them. -ENOMEM. (scopes.c) */
int mr_torch_add_scopes(struct mr_torch *torch);

/* Whether a scope is one of torch.distributed; when scopes are joined, adds rows for those. -ENOMEM. (collectives.c) */
bool mr_torch_is_collective(const char *name);
int mr_torch_add_collectives(struct mr_torch *torch);

/* When scopes are joined: finds phases and nodes of operations, and adds rows for them. -ENOMEM. (operations.c) */
int mr_torch_add_operations(struct mr_torch *torch);

/* The node of an operator of a module (0: none) in a phase, new or not. -ENOMEM. (operations.c) */
int mr_torch_find_node(struct mr_torch *torch, uint32_t process, enum mr_torch_phase phase,
		       uint32_t name, uint32_t module, uint32_t *ret_node);

/* When operations have phases: backward functions belong to the module of their forward operators. -ENOMEM. (edges.c) */
int mr_torch_find_modules(struct mr_torch *torch);

/* When operations have nodes: edges between them. -ENOMEM. (edges.c) */
int mr_torch_add_edges(struct mr_torch *torch);

/* Adds one, if there is none yet. -ENOMEM. (edges.c) */
int mr_torch_add_edge(struct mr_torch *torch, struct mr_edge edge);

/* When operations are sorted and nested: finds whose tensors are, and shapes. -ENOMEM. (tensors.c) */
int mr_torch_place_tensors(struct mr_torch *torch);

/* When operations have nodes and steps. -ENOMEM. (tensors.c) */
int mr_torch_add_tensor_edges(struct mr_torch *torch);

#endif
