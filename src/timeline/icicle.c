/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/icicle.h"

#include "base/sort.h"
#include "base/strings.h"
#include "timeline/labels.h"
#include "timeline/totals.h"

/* Around before inside, where two begin and end together. */
static const enum mr_sliced tables[] = {MR_SLICED_scopes, MR_SLICED_node_executions,
					MR_SLICED_calls, MR_SLICED_system_calls,
					MR_SLICED_device_operations};

enum {
	TABLES = mr_countof(tables),
};

/* A frame that is open at the moment that is looked at. */
struct open_frame {
	uint32_t frame;
	int64_t end_ns;
};

struct maker {
	struct mr_view *view;
	const struct mr_window *window;
	struct mr_icicle *icicle;
	struct mr_strings keys; /* struct key, by frame */
	mr_vec(struct open_frame) stack;
	mr_vec(uint32_t)
		waiting[TABLES]; /* rows around the begin of the window, the innermost first */
	uint32_t next[TABLES];   /* row */
	uint32_t end[TABLES];
};

struct key {
	uint32_t parent;
	uint32_t table;
	uint32_t label;
};

/* ---- the slices of a track in their order ----------------------------------------------------------- */

/* From the first that begins in the window on; those around its begin wait. */
static int begin_table(struct maker *maker, uint32_t i, uint32_t track)
{
	const struct mr_slices *slices = &maker->view->slices[tables[i]];
	uint32_t first = slices->first_of_group[track];

	maker->end[i] = slices->first_of_group[track + 1];
	maker->next[i] =
		mr_find_larger(slices->start_ns, first, maker->end[i], maker->window->first_ns - 1);
	maker->waiting[i].count = 0;
	uint32_t around = maker->next[i] == first ? MR_NO_ROW : maker->next[i] - 1;
	while (around != MR_NO_ROW) {
		if (mr_slice_end_ns(slices, around) > maker->window->first_ns &&
		    mr_vec_push(&maker->waiting[i], around) < 0)
			return -ENOMEM;
		around = slices->parent ? slices->parent[around] : MR_NO_ROW;
	}
	return 0;
}

/* The next row of a table, or MR_NO_ROW. */
static uint32_t peek(const struct maker *maker, uint32_t i)
{
	if (maker->waiting[i].count)
		return maker->waiting[i].items[maker->waiting[i].count - 1];
	bool is_there =
		maker->next[i] < maker->end[i] &&
		maker->view->slices[tables[i]].start_ns[maker->next[i]] < maker->window->last_ns;
	return is_there ? maker->next[i] : MR_NO_ROW;
}

static void advance(struct maker *maker, uint32_t i)
{
	if (maker->waiting[i].count)
		maker->waiting[i].count--;
	else
		maker->next[i]++;
}

/* The table whose next slice begins first; of those, the one whose slice is longest. TABLES: there is none. */
static uint32_t choose(const struct maker *maker)
{
	uint32_t best = TABLES;
	int64_t best_start_ns = 0, best_ns = 0;

	for (uint32_t i = 0; i < TABLES; i++) {
		const struct mr_slices *slices = &maker->view->slices[tables[i]];
		uint32_t row = peek(maker, i);

		if (row == MR_NO_ROW)
			continue;
		int64_t start_ns = slices->start_ns[row], ns = slices->duration_ns[row];
		if (best == TABLES || start_ns < best_start_ns ||
		    (start_ns == best_start_ns && ns > best_ns)) {
			best = i;
			best_start_ns = start_ns;
			best_ns = ns;
		}
	}
	return best;
}

/* ---- frames ----------------------------------------------------------------------------------------- */

static int find_frame(struct maker *maker, const struct key *key, uint32_t *ret_frame)
{
	struct mr_icicle *icicle = maker->icicle;

	if (mr_strings_intern(&maker->keys, key, sizeof *key, ret_frame) < 0)
		return -ENOMEM;
	if (*ret_frame < icicle->frames.count)
		return 0;
	const struct mr_frame frame = {
		.parent = key->parent,
		.label = key->label,
		.table = key->table,
		.depth = key->parent == MR_NO_FRAME ? 0
						    : icicle->frames.items[key->parent].depth + 1,
	};
	return mr_vec_push(&icicle->frames, frame);
}

static int add_slice(struct maker *maker, enum mr_sliced table, uint32_t row)
{
	const struct mr_slices *slices = &maker->view->slices[table];
	int64_t start_ns = slices->start_ns[row], end_ns = mr_slice_end_ns(slices, row);
	uint32_t frame;

	if (!mr_window_clip(maker->window, &start_ns, &end_ns))
		return 0;
	while (maker->stack.count && maker->stack.items[maker->stack.count - 1].end_ns <= start_ns)
		maker->stack.count--;
	const struct open_frame *around =
		maker->stack.count ? &maker->stack.items[maker->stack.count - 1] : NULL;
	const struct key key = {around ? around->frame : MR_NO_FRAME, table,
				mr_label_of(maker->view, table, row)};
	end_ns = around ? mr_min(end_ns, around->end_ns) : end_ns;
	if (find_frame(maker, &key, &frame) < 0)
		return -ENOMEM;
	struct mr_frame *frames = maker->icicle->frames.items;
	frames[frame].count++;
	frames[frame].total_ns += end_ns - start_ns;
	frames[frame].self_ns += end_ns - start_ns;
	if (around)
		frames[around->frame].self_ns -= end_ns - start_ns;
	else
		maker->icicle->total_ns += end_ns - start_ns;
	return mr_vec_push(&maker->stack, ((struct open_frame){frame, end_ns}));
}

static int add_track(struct maker *maker, uint32_t track)
{
	uint32_t i;

	maker->stack.count = 0;
	for (i = 0; i < TABLES; i++)
		if (begin_table(maker, i, track) < 0)
			return -ENOMEM;
	while ((i = choose(maker)) < TABLES) {
		uint32_t row = peek(maker, i);

		advance(maker, i);
		if (add_slice(maker, tables[i], row) < 0)
			return -ENOMEM;
	}
	return 0;
}

int mr_icicle_make(struct mr_view *view, const struct mr_window *window, const bool *tracks,
		   struct mr_icicle *ret_icicle)
{
	struct mr_icicle icicle = {0};
	struct maker maker = {.view = view, .window = window, .icicle = &icicle};
	int result = 0;

	for (uint32_t track = 0; result == 0 && track < view->model->survey->tracks.count; track++)
		if (!tracks || tracks[track])
			result = add_track(&maker, track);
	mr_strings_free(&maker.keys);
	mr_vec_free(&maker.stack);
	for (uint32_t i = 0; i < TABLES; i++)
		mr_vec_free(&maker.waiting[i]);
	if (result < 0)
		mr_icicle_free(&icicle);
	else
		*ret_icicle = icicle;
	return result;
}

void mr_icicle_free(struct mr_icicle *icicle)
{
	mr_vec_free(&icicle->frames);
}
