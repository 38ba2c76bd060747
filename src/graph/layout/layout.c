/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/layout/layout.h"

#include <errno.h>

#include "base/macros.h"
#include "base/strings.h"
#include "graph/layout/level.h"

enum {
	PADDING = 14,
	TITLE = 20, /* above what is in a box */
};

#define NONE UINT32_MAX

/* What stands at the two ends of a level's edge, if they are boxes: the doors in these. */
struct doors {
	uint32_t from; /* node of the box's level, or NONE */
	uint32_t to;
};

/* What is in a box, or in none. */
struct room {
	struct mr_level level;
	mr_vec(struct doors) doors; /* by edge of the level */
	mr_vec(uint32_t) items;     /* by node of the level; NONE of doors */
	double x;                   /* of the level, in the drawing */
	double y;
};

/* An edge of the drawing is a chain of edges of levels. */
struct piece {
	uint32_t room;
	uint32_t edge;
};

struct layout {
	struct mr_drawing *drawing;
	struct room *rooms; /* by item, as far as they are boxes; the last is what is around all */
	uint32_t *node_of;  /* by item, in its room's level */
	struct mr_strings door_keys; /* numbers are places in door_nodes */
	mr_vec(uint32_t) door_nodes;
	struct mr_strings edge_keys;
	mr_vec(uint32_t) level_edges;
	mr_vec(struct piece) pieces; /* by edge of the drawing */
	uint32_t *first_piece;       /* by edge, and one more */
};

static uint32_t room_around(const struct layout *layout, uint32_t item)
{
	uint32_t box = layout->drawing->items[item].box;

	return box == MR_NO_BOX ? layout->drawing->item_count : box;
}

/* ---- what is in each room ------------------------------------------------------------------------- */

static int add_node(struct room *room, struct mr_level_node node, uint32_t item, uint32_t *ret_node)
{
	*ret_node = (uint32_t)room->level.nodes.count;
	int result = mr_vec_push(&room->level.nodes, node);

	return result < 0 ? result : mr_vec_push(&room->items, item);
}

static int add_items(struct layout *layout)
{
	int result = 0;

	for (uint32_t i = 0; i < layout->drawing->item_count && result == 0; i++) {
		const struct mr_drawing_item *item = &layout->drawing->items[i];
		const struct mr_level_node node = {
			.width = item->width, .height = item->height, .lane = item->lane};

		result = add_node(&layout->rooms[room_around(layout, i)], node, i,
				  &layout->node_of[i]);
	}
	return result;
}

struct door_key {
	uint32_t room;
	uint32_t inside; /* item of the room: all its edges go in, or out, by one door */
	uint32_t side;
};

static int find_door(struct layout *layout, uint32_t room, uint32_t inside, enum mr_level_side side,
		     uint32_t *ret_node)
{
	const struct door_key key = {room, inside, side};
	uint32_t number;
	int result = mr_strings_intern(&layout->door_keys, &key, sizeof key, &number);

	if (result == 0 && number == layout->door_nodes.count) {
		result = add_node(&layout->rooms[room], (struct mr_level_node){.side = side}, NONE,
				  ret_node);
		if (result == 0)
			result = mr_vec_push(&layout->door_nodes, *ret_node);
	}
	if (result == 0)
		*ret_node = layout->door_nodes.items[number];
	return result;
}

/* One end of an edge at a level: a node, and the door in it if it is a box. */
struct end {
	uint32_t node;
	uint32_t door;
};

struct edge_key {
	uint32_t room;
	struct end from;
	struct end to;
};

/* Appends a piece to the edge that is being added; pieces that are the same share an edge of the level. */
static int add_piece(struct layout *layout, uint32_t in, struct end from, struct end to)
{
	const struct edge_key key = {in, from, to};
	struct room *room = &layout->rooms[in];
	uint32_t number, next = (uint32_t)room->level.edges.count;
	int result = mr_strings_intern(&layout->edge_keys, &key, sizeof key, &number);

	if (result == 0 && number == layout->level_edges.count) {
		const struct mr_level_edge edge = {.from = from.node, .to = to.node};

		result = mr_vec_push(&room->level.edges, edge);
		if (result == 0)
			result = mr_vec_push(&room->doors, ((struct doors){from.door, to.door}));
		if (result == 0)
			result = mr_vec_push(&layout->level_edges, next);
	}
	if (result == 0)
		result = mr_vec_push(&layout->pieces,
				     ((struct piece){in, layout->level_edges.items[number]}));
	return result;
}

/* The innermost room that both are in: of two rooms the one that stands behind is not around the other. */
static uint32_t find_common_room(const struct layout *layout, uint32_t a, uint32_t b)
{
	uint32_t around_all = layout->drawing->item_count;

	a = room_around(layout, a);
	b = room_around(layout, b);
	while (a != b) {
		if (b == around_all || (a != around_all && a > b))
			a = room_around(layout, a);
		else
			b = room_around(layout, b);
	}
	return a;
}

/* From a room out to another that is around it: `end` becomes the end in the outer one. */
static int lead_out(struct layout *layout, uint32_t source, uint32_t outer, struct end *end)
{
	uint32_t room = room_around(layout, source), inside = source;

	*end = (struct end){layout->node_of[source], NONE};
	for (; room != outer; inside = room, room = room_around(layout, room)) {
		uint32_t door;
		int result = find_door(layout, room, inside, MR_LEVEL_EXIT, &door);

		if (result == 0)
			result = add_piece(layout, room, *end, (struct end){door, NONE});
		if (result < 0)
			return result;
		*end = (struct end){layout->node_of[room], door};
	}
	return 0;
}

/* Doors from a room into the ones that the target is in, outermost first, and the pieces between them. */
static int lead_in(struct layout *layout, const struct mr_drawing_edge *edge, uint32_t outer,
		   struct end from)
{
	mr_vec(uint32_t) rooms = {0};
	struct end to = {layout->node_of[edge->to], NONE};
	int result = 0;

	for (uint32_t room = room_around(layout, edge->to); room != outer && result == 0;
	     room = room_around(layout, room))
		result = mr_vec_push(&rooms, room);
	for (size_t i = rooms.count; i-- > 0 && result == 0;) {
		uint32_t door, inside = i > 0 ? rooms.items[i - 1] : edge->to;

		result = find_door(layout, rooms.items[i], inside, MR_LEVEL_ENTRY, &door);
		if (result == 0)
			result = add_piece(layout, outer, from,
					   (struct end){layout->node_of[rooms.items[i]], door});
		outer = rooms.items[i];
		from = (struct end){door, NONE};
	}
	mr_vec_free(&rooms);
	return result < 0 ? result : add_piece(layout, outer, from, to);
}

static int add_edges(struct layout *layout)
{
	int result = 0;

	for (uint32_t i = 0; i < layout->drawing->edge_count && result == 0; i++) {
		const struct mr_drawing_edge *edge = &layout->drawing->edges[i];
		uint32_t common = find_common_room(layout, edge->from, edge->to);
		struct end from;

		layout->first_piece[i] = (uint32_t)layout->pieces.count;
		result = lead_out(layout, edge->from, common, &from);
		if (result == 0)
			result = lead_in(layout, edge, common, from);
	}
	layout->first_piece[layout->drawing->edge_count] = (uint32_t)layout->pieces.count;
	return result;
}

/* ---- from the inside out, and in again -------------------------------------------------------------- */

/* Where along the border of a box a door in it is. */
static double share_of(const struct layout *layout, const struct room *room, uint32_t node,
		       uint32_t door)
{
	if (door == NONE)
		return 0.5;
	const struct room *inner = &layout->rooms[room->items.items[node]];
	return (PADDING + inner->level.nodes.items[door].x) / room->level.nodes.items[node].width;
}

static int layout_room(struct layout *layout, uint32_t number)
{
	struct room *room = &layout->rooms[number];

	for (size_t i = 0; i < room->level.edges.count; i++) {
		struct mr_level_edge *edge = &room->level.edges.items[i];

		edge->from_share = share_of(layout, room, edge->from, room->doors.items[i].from);
		edge->to_share = share_of(layout, room, edge->to, room->doors.items[i].to);
	}
	int result = mr_level_layout(&room->level);
	if (result < 0)
		return result;
	layout->drawing->crossings += room->level.crossings;
	double width = room->level.width + 2 * PADDING;
	double height = room->level.height + TITLE + PADDING;
	if (number == layout->drawing->item_count) {
		layout->drawing->width = width;
		layout->drawing->height = height;
		room->x = PADDING;
		room->y = TITLE;
		return 0;
	}
	struct mr_level_node *node = &layout->rooms[room_around(layout, number)]
					      .level.nodes.items[layout->node_of[number]];
	node->width = layout->drawing->items[number].width = width;
	node->height = layout->drawing->items[number].height = height;
	return 0;
}

/* Rooms stand behind those around them: all inner ones are done before an outer one. */
static int layout_rooms(struct layout *layout)
{
	int result = 0;

	for (uint32_t i = layout->drawing->item_count; i-- > 0 && result == 0;)
		if (layout->drawing->items[i].is_box)
			result = layout_room(layout, i);
	return result < 0 ? result : layout_room(layout, layout->drawing->item_count);
}

static void place_items(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->drawing->item_count; i++) {
		struct mr_drawing_item *item = &layout->drawing->items[i];
		const struct room *room = &layout->rooms[room_around(layout, i)];
		const struct mr_level_node *node = &room->level.nodes.items[layout->node_of[i]];

		item->x = room->x + node->x;
		item->y = room->y + node->y;
		layout->rooms[i].x = item->x + PADDING;
		layout->rooms[i].y = item->y + TITLE;
	}
}

/* ---- routes ---------------------------------------------------------------------------------------- */

static int add_route(struct layout *layout, struct mr_drawing_edge *edge, struct piece piece)
{
	struct mr_drawing *drawing = layout->drawing;
	const struct room *room = &layout->rooms[piece.room];
	const struct mr_level_edge *part = &room->level.edges.items[piece.edge];

	edge->is_back |= part->is_back;
	edge->is_cut |= part->is_cut;
	for (uint32_t i = 0; i < part->point_count; i++) {
		struct mr_point point = room->level.points.items[part->first_point + i];

		point.x += room->x;
		point.y += room->y;
		if (mr_vec_push(&drawing->points, point) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int route_edges(struct layout *layout)
{
	struct mr_drawing *drawing = layout->drawing;

	for (uint32_t i = 0; i < drawing->edge_count; i++) {
		struct mr_drawing_edge *edge = &drawing->edges[i];
		uint32_t first = (uint32_t)drawing->points.count;

		edge->is_back = edge->is_cut = false;
		for (uint32_t j = layout->first_piece[i]; j < layout->first_piece[i + 1]; j++)
			if (add_route(layout, edge, layout->pieces.items[j]) < 0)
				return -ENOMEM;
		if (edge->is_cut) { /* of a way that is not drawn only the ends matter */
			drawing->points.items[first + 1] =
				drawing->points.items[drawing->points.count - 1];
			drawing->points.count = first + 2;
		}
		edge->first_point = first;
		edge->point_count = (uint32_t)drawing->points.count - first;
	}
	return 0;
}

/* ---- all together ---------------------------------------------------------------------------------- */

static int run(struct layout *layout)
{
	uint32_t item_count = layout->drawing->item_count;

	layout->rooms = calloc((size_t)item_count + 1, sizeof *layout->rooms);
	layout->node_of = calloc((size_t)item_count + 1, sizeof *layout->node_of);
	layout->first_piece =
		calloc((size_t)layout->drawing->edge_count + 1, sizeof *layout->first_piece);
	if (!layout->rooms || !layout->node_of || !layout->first_piece)
		return -ENOMEM;
	int result = add_items(layout);
	if (result == 0)
		result = add_edges(layout);
	if (result == 0)
		result = layout_rooms(layout);
	if (result < 0)
		return result;
	place_items(layout);
	return route_edges(layout);
}

int mr_drawing_layout(struct mr_drawing *drawing)
{
	struct layout layout = {.drawing = drawing};
	int result = run(&layout);

	for (uint32_t i = 0; layout.rooms && i <= drawing->item_count; i++) {
		mr_level_free(&layout.rooms[i].level);
		mr_vec_free(&layout.rooms[i].doors);
		mr_vec_free(&layout.rooms[i].items);
	}
	free(layout.rooms);
	free(layout.node_of);
	free(layout.first_piece);
	mr_strings_free(&layout.door_keys);
	mr_strings_free(&layout.edge_keys);
	mr_vec_free(&layout.door_nodes);
	mr_vec_free(&layout.level_edges);
	mr_vec_free(&layout.pieces);
	return result;
}

void mr_drawing_free(struct mr_drawing *drawing)
{
	mr_vec_free(&drawing->points);
}
