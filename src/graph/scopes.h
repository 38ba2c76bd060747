/* SPDX-License-Identifier: Apache-2.0
 *
 * The scopes of a graph: common prefixes of node names, up to a '/'.
 *
 *     model/dense/MatMul            1 model ─┬─ 2 model/dense ─┬─ MatMul
 *     model/dense/BiasAdd                    │                 └─ BiasAdd
 *     model/loss/sum/Cast                    └─ loss/sum/Cast        loss and sum would contain one thing: they
 *     step                          step                             are not scopes but part of its title
 *
 * Scopes are numbered from 1 in order of appearance; 0 is the outermost scope. A scope comes after the scope that
 * contains it.
 */
#ifndef MR_GRAPH_SCOPES_H
#define MR_GRAPH_SCOPES_H

#include "base/strings.h"
#include "model/model.h"

struct mr_graph_scope {
	const char *path;
	uint32_t parent;
	uint32_t child_count; /* scopes and nodes directly in it */
	uint32_t node_count;  /* in it, however deep */
	bool is_shown;        /* holds two things or more */
};

struct mr_graph_scopes {
	mr_vec(struct mr_graph_scope) list;
	struct mr_strings paths;
	mr_vec(uint32_t) nodes;    /* of the graph */
	mr_vec(uint32_t) scope_of; /* by place in nodes: the innermost shown one */
};

/* Of a graph of the model. -ENOMEM. */
int mr_graph_scopes_make(const struct mr_model *model, uint32_t graph,
			 struct mr_graph_scopes *ret_scopes);
void mr_graph_scopes_free(struct mr_graph_scopes *scopes);

/* The rest of a name or path behind that of a scope. */
const char *mr_graph_scope_title(const struct mr_graph_scopes *scopes, uint32_t scope,
				 const char *name);

#endif
