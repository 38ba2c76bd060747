/* SPDX-License-Identifier: Apache-2.0
 *
 * What the trace, or a cut of it, says of the nodes and edges of its graphs.
 */
#ifndef MR_ANALYSIS_GRAPH_FIGURES_H
#define MR_ANALYSIS_GRAPH_FIGURES_H

#include "analysis/shapes.h"
#include "model/model.h"

struct mr_critical_path;

/* Sums over the executions of a node; those of several nodes may be added. */
struct mr_node_figures {
	uint64_t count;
	int64_t total_ns;
	int64_t self_ns;
	int64_t device_ns;   /* of the operations of devices that were launched by it */
	int64_t critical_ns; /* of the critical path that it is on */
};

struct mr_graph_figures {
	struct mr_node_figures *nodes; /* by node */
	/* By edge: what came in by it in all executions whose shapes are known; MR_BYTES_UNKNOWN if none is. */
	uint64_t *edge_bytes;
};

/* -ENOMEM. */
int mr_graph_figures_make(const struct mr_model *model, const struct mr_critical_path *path,
			  struct mr_graph_figures *ret_figures);
void mr_graph_figures_free(struct mr_graph_figures *figures);

void mr_node_figures_add(struct mr_node_figures *sum, const struct mr_node_figures *more);

#endif
