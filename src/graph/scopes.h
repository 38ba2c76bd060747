/* SPDX-License-Identifier: Apache-2.0
 *
 * The scopes of a graph: what the names of its nodes have in common up to a '/'.
 *
 *     model/dense/MatMul            1 model ─┬─ 2 model/dense ─┬─ MatMul
 *     model/dense/BiasAdd                    │                 └─ BiasAdd
 *     model/loss/sum/Cast                    └─ loss/sum/Cast        loss and sum would hold one thing: they are
 *     step                          step                             no scopes, but part of its title
 *
 * Scopes are numbered from 1 in the order in which they are met; 0 is what is around all. A scope stands behind the one
 * that it is in.
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
