/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a piece of idle time: the whole gap that it belongs to, what took how much of it, and the chain of the piece's
 * causes, each with the slice where it can be seen:
 *
 *     device   ├─ work ─┤          gap                  ├─ work ─┤
 *     pieces            ├ lock ┤cpu┤ lock ┤cpu┤ lock ───┤
 *     thread A     ├ launches the next operation, waits for a lock ──┤         the first of the chain
 *     thread B     ├ holds the lock, waits for the disk ┤                      the next
 */
#include "timeline/row.h"

#include "analysis/cause/idle_gaps.h"
#include "base/error.h"
#include "base/sort.h"

/* ---- the gap ---------------------------------------------------------------------------------------- */

/* What one cause took of a gap, and its longest piece. */
struct share {
	uint32_t headline;
	uint32_t pieces;
	uint32_t longest;
	int64_t ns;
};

static struct share *find_share(struct share *shares, size_t count, uint32_t headline)
{
	for (size_t i = 0; i < count; i++)
		if (shares[i].headline == headline)
			return &shares[i];
	return NULL;
}

static int by_time(const void *one, const void *other)
{
	const struct share *a = one, *b = other;

	return a->ns != b->ns ? (a->ns < b->ns) - (a->ns > b->ns)
			      : (a->longest > b->longest) - (a->longest < b->longest);
}

/* Chains that are one cause are few, however many pieces there are. */
static int sum_up(const struct mr_idle *idle, const struct mr_gap_pieces *gap,
		  struct share **ret_shares, size_t *ret_count)
{
	mr_vec(struct share) shares = {0};

	for (uint32_t i = gap->first; i < gap->first + gap->count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];
		uint32_t headline = mr_idle_headline(idle, piece->chain);
		struct share *share = find_share(shares.items, shares.count, headline);

		if (!share) {
			if (mr_vec_push(&shares,
					((struct share){.headline = headline, .longest = i})) < 0) {
				mr_vec_free(&shares);
				return -ENOMEM;
			}
			share = &shares.items[shares.count - 1];
		}
		share->pieces++;
		share->ns += piece->duration_ns;
		if (piece->duration_ns > idle->pieces.items[share->longest].duration_ns)
			share->longest = i;
	}
	qsort(shares.items, shares.count, sizeof *shares.items, by_time);
	*ret_shares = shares.items;
	*ret_count = shares.count;
	return 0;
}

static int write_share(const struct mr_row *row, const struct mr_idle *idle,
		       const struct share *share, struct mr_json *json, struct mr_region *region)
{
	const struct mr_link *link = mr_chain_link(&idle->chains, share->headline);
	const char *culprit = mr_chain_culprit(row->model, region, &idle->chains, share->headline);

	if (!culprit)
		return -ENOMEM;
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "cause", mr_cause_name(link->kind));
	mr_json_string(json, "culprit", culprit);
	mr_json_int(json, "ns", share->ns);
	mr_json_uint(json, "pieces", share->pieces);
	mr_json_uint(json, "row", share->longest);
	mr_json_end_object(json);
	return 0;
}

static int write_gap(const struct mr_row *row, const struct mr_idle *idle, struct mr_json *json,
		     struct mr_region *region)
{
	const struct mr_gap_pieces gap = mr_gap_of(idle, row->row);
	mr_auto(free) struct share *shares = NULL;
	size_t count;
	int result = sum_up(idle, &gap, &shares, &count);

	if (result < 0)
		return result;
	mr_json_begin_object(json, "gap");
	mr_json_int(json, "from", mr_view_time(row->view, gap.start_ns));
	mr_json_int(json, "to", mr_view_time(row->view, gap.start_ns + gap.duration_ns));
	mr_json_begin_array(json, "causes");
	for (size_t i = 0; result == 0 && i < count; i++)
		result = write_share(row, idle, &shares[i], json, region);
	mr_json_end_array(json);
	mr_json_end_object(json);
	return result;
}

/* ---- the chain -------------------------------------------------------------------------------------- */

/* The innermost slice of a track at a time, or MR_NO_ROW. */
static uint32_t slice_at(const struct mr_slices *slices, uint32_t track, int64_t ns)
{
	uint32_t first = slices->first_of_group[track], end = slices->first_of_group[track + 1];
	uint32_t row = mr_find_larger(slices->start_ns, first, end, ns);

	if (row == first)
		return MR_NO_ROW;
	for (row--; row != MR_NO_ROW && mr_slice_end_ns(slices, row) <= ns;)
		row = slices->parent ? slices->parent[row] : MR_NO_ROW;
	return row;
}

/* What a thread did then: the first of these tables that says anything. */
static bool find_on_thread(const struct mr_row *row, uint32_t track, int64_t ns,
			   struct mr_arrow_end *ret_end)
{
	static const enum mr_sliced tables[] = {MR_SLICED_states, MR_SLICED_calls,
						MR_SLICED_node_executions, MR_SLICED_scopes};

	for (size_t i = 0; i < mr_countof(tables); i++) {
		const struct mr_slices *slices = &row->view->slices[tables[i]];
		uint32_t found =
			track < slices->group_count ? slice_at(slices, track, ns) : MR_NO_ROW;

		if (found == MR_NO_ROW)
			continue;
		*ret_end = (struct mr_arrow_end){tables[i], found, ns};
		return true;
	}
	return false;
}

/* The thread that a link leads to, or MR_NO_TRACK. */
static uint32_t thread_of(const struct mr_link *link)
{
	switch (link->culprit) {
	case MR_CULPRIT_THREAD:
		return link->what;
	case MR_CULPRIT_NODE:
	case MR_CULPRIT_CALL:
	case MR_CULPRIT_LINE:
		return link->in;
	default:
		return MR_NO_TRACK;
	}
}

static int write_link(const struct mr_row *row, struct mr_json *json, const char *cause,
		      const char *text, uint32_t track, int64_t ns)
{
	struct mr_arrow_end end;
	int result = 0;

	if (!text)
		return -ENOMEM;
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "cause", cause);
	mr_json_string(json, "text", text);
	if (track != MR_NO_TRACK && find_on_thread(row, track, ns, &end))
		result = mr_row_write_end(row->view, json, "at", end);
	else
		mr_json_null(json, "at");
	mr_json_end_object(json);
	return result;
}

/* The thread that launched what ended the gap, or MR_NO_TRACK. */
static uint32_t launcher_of(const struct mr_row *row)
{
	uint32_t call = row->operation == MR_NO_ROW
				? MR_NO_ROW
				: row->model->device_operations.call[row->operation];

	return call == MR_NO_ROW ? MR_NO_TRACK : row->model->calls.track[call];
}

static int write_chain(const struct mr_row *row, const struct mr_idle *idle, struct mr_json *json,
		       struct mr_region *region)
{
	int64_t ns = row->start_ns + row->duration_ns / 2;
	uint32_t launcher = launcher_of(row);
	int result = 0;

	mr_json_begin_array(json, "chain");
	if (launcher != MR_NO_TRACK)
		result = write_link(row, json, NULL, mr_thread_text(row->model, region, launcher),
				    launcher, ns);
	for (uint32_t chain = idle->pieces.items[row->row].chain;
	     chain != MR_NO_CHAIN && result == 0;) {
		const struct mr_link *link = mr_chain_link(&idle->chains, chain);

		result =
			write_link(row, json, mr_cause_name(link->kind),
				   mr_link_culprit(row->model, region, *link), thread_of(link), ns);
		chain = link->next;
	}
	mr_json_end_array(json);
	return result;
}

int mr_row_write_gap(const struct mr_row *row, struct mr_json *json, struct mr_region *region)
{
	if (row->table != MR_SLICED_idle)
		return 0;
	const struct mr_idle *idle = mr_view_idle(row->view);
	int result = idle ? write_gap(row, idle, json, region) : -ENOMEM;

	return result < 0 ? result : write_chain(row, idle, json, region);
}
