/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph as it is shown: some scopes are open; every closed scope is one item.
 *
 *     scopes, nodes, edges ──► items (open scopes are boxes around others) and links between them ──► layout.h
 *
 * Which scopes are open: first those with the most time, as long as there are not too many items; then those that the
 * user opened. The outermost scope is always open.
 */
#ifndef MR_GRAPH_GRAPH_H
#define MR_GRAPH_GRAPH_H

#include "analysis/graph_figures.h"
#include "graph/layout/layout.h"
#include "graph/scopes.h"

enum {
	MR_GRAPH_FEW = 60,   /* as many items are shown, if there are, unless more are asked for */
	MR_GRAPH_MANY = 150, /* and not more */
};

struct mr_number_list {
	uint32_t *items; /* a vector */
	size_t count;
	size_t capacity;
};

struct mr_graph_wish {
	uint32_t graph;
	struct mr_number_list open;   /* scopes */
	struct mr_number_list close;  /* scopes; wins */
	struct mr_number_list unfold; /* nodes: not folded with others that look alike */
	uint32_t node;                /* all scopes around it are opened; 0: none */
	bool has_lanes;               /* one for each device */
};

/* A node, or a scope. */
struct mr_graph_item {
	uint32_t node;  /* 0: it is a scope */
	uint32_t scope; /* 0: it is a node */
	uint32_t box;   /* item of the open scope that it is in, or MR_NO_BOX */
	bool is_open;
	uint32_t folded;    /* nodes, this one among them, that it stands for; 0: only itself */
	uint32_t variables; /* and constants that it uses and that are no items (variables.c) */
	uint32_t device;    /* 0: none, or not the same for all */
	bool is_on_several; /* devices */
	struct mr_node_figures figures;
};

/* All edges of one kind from one item to another. */
struct mr_graph_link {
	uint32_t from;
	uint32_t to;
	uint8_t kind; /* enum mr_edge_kind */
	uint32_t count;
	uint64_t bytes; /* MR_BYTES_UNKNOWN: of none of them */
};

struct mr_graph_picture {
	struct mr_graph_scopes scopes;
	mr_vec(struct mr_graph_item) items; /* boxes before what is in them */
	mr_vec(struct mr_graph_link) links;
};

/* -ENOENT if there is no such graph, scope or node in it; -ENOMEM. */
int mr_graph_show(const struct mr_model *model, const struct mr_graph_figures *figures,
		  const struct mr_graph_wish *wish, struct mr_graph_picture *ret_picture);

/* ---- variables.c ----------------------------------------------------------------------------------- */

/* Makes variables and constants part of the items that use them. -ENOMEM. */
int mr_graph_fold_variables(const struct mr_model *model, const struct mr_graph_wish *wish,
			    struct mr_graph_picture *picture);

/* ---- fold.c ---------------------------------------------------------------------------------------- */

/* Whether a node is to be shown by itself. */
bool mr_graph_is_wanted(const struct mr_graph_wish *wish, uint32_t node);

/* Makes one item of nodes that look alike. -ENOMEM. */
int mr_graph_fold(const struct mr_model *model, const struct mr_graph_wish *wish,
		  struct mr_graph_picture *picture);

/* Adds a link, or what it counts to one that is there: `keys` knows these, in their order. -ENOMEM. */
int mr_graph_add_link(struct mr_graph_picture *picture, struct mr_strings *keys,
		      const struct mr_graph_link *link);

void mr_graph_picture_free(struct mr_graph_picture *picture);

static inline void mr_cleanup_graph_picture(struct mr_graph_picture *picture)
{
	mr_graph_picture_free(picture);
}

#endif
