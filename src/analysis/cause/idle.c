/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/idle.h"

#include <assert.h>

#include "analysis/cause/crowd.h"
#include "analysis/cause/delay.h"
#include "analysis/device_time.h"
#include "analysis/finding/tally.h"
#include "base/error.h"
#include "base/sort.h"

enum {
	CHAIN_LINKS = 32, /* a longer one ends in unknown */
};

struct maker {
	const struct mr_model *model;
	struct mr_delays delays;
	struct mr_idle idle;
	bool is_part;               /* only a window is looked at */
	mr_vec(uint64_t) bounds_ns; /* of a gap: how uncertain the begin of each piece is */
};

static uint64_t add_bounds(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? MR_CLOCK_BOUND_UNKNOWN : a + b;
}

/* ---- the chain of an instant -------------------------------------------------------------------- */

struct explanation {
	uint32_t chain;
	uint32_t thread;
	int64_t to_ns; /* holds from the instant to here */
	uint64_t bound_ns;
};

static int intern(struct mr_chains *chains, struct mr_link *links, uint32_t count,
		  uint32_t *ret_chain)
{
	uint32_t chain = MR_NO_CHAIN;

	while (count-- > 0) {
		links[count].next = chain;
		if (mr_chain_intern(chains, links[count], &chain) < 0)
			return -ENOMEM;
	}
	*ret_chain = chain;
	return 0;
}

static bool goes_on(const struct mr_delay *delay)
{
	return delay->operation != MR_NO_ROW || delay->thread != MR_NO_TRACK;
}

static int explain(struct maker *maker, uint32_t operation, int64_t ns,
		   struct explanation *ret_explanation)
{
	struct explanation found = {.thread = MR_NO_TRACK, .to_ns = INT64_MAX};
	struct mr_delay delay = {.operation = operation, .thread = MR_NO_TRACK};
	struct mr_link links[CHAIN_LINKS];
	uint32_t count = 0;

	if (operation == MR_NO_ROW)
		links[count++] = mr_link_bare(MR_CAUSE_NO_MORE_WORK);
	while (goes_on(&delay)) {
		if (count == CHAIN_LINKS) {
			links[CHAIN_LINKS - 1] = mr_link_bare(MR_CAUSE_UNKNOWN);
			break;
		}
		if (delay.operation != MR_NO_ROW)
			mr_delay_find(&maker->delays, delay.operation, ns, &delay);
		else
			mr_delay_on_thread(&maker->delays, delay.thread, ns, &delay);
		if (delay.doer != MR_NO_TRACK)
			found.thread = delay.doer;
		if (delay.has_link)
			links[count++] = delay.link;
		if (delay.to_ns < found.to_ns) {
			found.to_ns = delay.to_ns;
			found.bound_ns = delay.bound_ns;
		}
	}
	*ret_explanation = found;
	return intern(&maker->idle.chains, links, count, &ret_explanation->chain);
}

/* ---- gaps --------------------------------------------------------------------------------------- */

/* A gap as far as it is looked at, and how uncertain its ends are. */
struct stretch {
	int64_t begin_ns;
	int64_t end_ns;
	uint64_t begin_bound_ns;
	uint64_t end_bound_ns;
	uint32_t operation;
	bool may_not_be; /* it is too short to be certain */
};

/* What was found of [ns, to_ns) goes to the last piece of the gap, or to a new one. */
static int add_piece(struct maker *maker, uint32_t operation, int64_t ns, int64_t to_ns,
		     const struct explanation *found, uint64_t bound_ns)
{
	struct mr_idle *idle = &maker->idle;
	struct mr_idle_piece *last =
		maker->bounds_ns.count ? &idle->pieces.items[idle->pieces.count - 1] : NULL;

	if (last && last->chain == found->chain && last->thread == found->thread) {
		last->duration_ns += to_ns - ns;
		return 0;
	}
	if (mr_vec_push(&maker->bounds_ns, bound_ns) < 0)
		return -ENOMEM;
	return mr_vec_push(&idle->pieces, ((struct mr_idle_piece){.start_ns = ns,
								  .duration_ns = to_ns - ns,
								  .chain = found->chain,
								  .operation = operation,
								  .thread = found->thread}));
}

/* An edge that is uncertain reaches as far as its bound into the pieces on both sides. `reach_ns`: how far
 * the edges on one side come, counted from the piece's end there; it goes on at the other end. */
static uint64_t reach_on(uint64_t reach_ns, const struct mr_idle_piece *piece)
{
	uint64_t duration_ns = (uint64_t)piece->duration_ns;

	if (reach_ns == MR_CLOCK_BOUND_UNKNOWN)
		return reach_ns;
	return reach_ns > duration_ns ? reach_ns - duration_ns : 0;
}

/* `bounds_ns`: of the begin of each piece, and of the end of the last. */
static void spread_bounds(struct mr_idle_piece *pieces, const uint64_t *bounds_ns, size_t count)
{
	uint64_t reach_ns = 0;

	for (size_t i = 0; i < count; i++) {
		reach_ns = mr_max(reach_ns, bounds_ns[i]);
		pieces[i].uncertain_ns = reach_ns;
		reach_ns = reach_on(reach_ns, &pieces[i]);
	}
	reach_ns = 0;
	for (size_t i = count; i-- > 0;) {
		reach_ns = mr_max(reach_ns, bounds_ns[i + 1]);
		pieces[i].uncertain_ns = add_bounds(pieces[i].uncertain_ns, reach_ns);
		reach_ns = reach_on(reach_ns, &pieces[i]);
	}
}

static int explain_gap(struct maker *maker, struct mr_idle_device *device,
		       const struct stretch *gap)
{
	uint64_t bound_ns = gap->begin_bound_ns;

	maker->bounds_ns.count = 0;
	for (int64_t ns = gap->begin_ns, to_ns; ns < gap->end_ns; ns = to_ns) {
		struct explanation found;

		if (explain(maker, gap->operation, ns, &found) < 0)
			return -ENOMEM;
		to_ns = mr_min(found.to_ns, gap->end_ns);
		if (add_piece(maker, gap->operation, ns, to_ns, &found, bound_ns) < 0)
			return -ENOMEM;
		bound_ns = found.bound_ns;
	}
	size_t count = maker->bounds_ns.count;
	struct mr_idle_piece *pieces = maker->idle.pieces.items + maker->idle.pieces.count - count;
	if (mr_vec_push(&maker->bounds_ns, gap->end_bound_ns) < 0)
		return -ENOMEM;
	spread_bounds(pieces, maker->bounds_ns.items, count);
	for (size_t i = 0; i < count; i++) {
		if (gap->may_not_be)
			pieces[i].uncertain_ns = (uint64_t)pieces[i].duration_ns;
		if (mr_chain_is_explained(&maker->idle.chains, pieces[i].chain))
			device->explained_ns += pieces[i].duration_ns;
	}
	device->piece_count += (uint32_t)count;
	return 0;
}

/* ---- devices ------------------------------------------------------------------------------------ */

/* How uncertain the end of a gap is. The work beyond may not be, if it is short. */
static uint64_t bound_edge(uint64_t bound_ns, int64_t work_begin_ns, int64_t work_end_ns)
{
	uint64_t work_ns = (uint64_t)work_end_ns - (uint64_t)work_begin_ns;
	bool is_short = bound_ns != MR_CLOCK_BOUND_UNKNOWN && work_ns / 2 < bound_ns;

	return is_short ? add_bounds(bound_ns, work_ns) : bound_ns;
}

/* What of the gap is to be looked at; before it the device worked since `worked_ns`. */
static struct stretch clip(const struct maker *maker, const struct mr_idle_device *device,
			   const struct mr_idle_gap *gap, int64_t worked_ns)
{
	const struct mr_device_work *work = &maker->delays.devices[device->device];
	uint64_t bound_ns = mr_device_bound_ns(maker->model, device->device);
	struct mr_idle_gap next = *gap;
	struct stretch stretch = {
		.begin_ns = mr_max(gap->begin_ns, device->first_ns),
		.end_ns = mr_min(gap->end_ns, device->end_ns),
		.operation = gap->operation,
		.may_not_be = ((uint64_t)gap->end_ns - (uint64_t)gap->begin_ns) / 2 < bound_ns,
	};

	if (gap->begin_ns >= device->first_ns)
		stretch.begin_bound_ns = bound_edge(bound_ns, worked_ns, gap->begin_ns);
	else if (!maker->is_part)
		stretch.begin_bound_ns = bound_ns;
	if (gap->end_ns <= device->end_ns && mr_idle_gap_next(maker->model, work, &next))
		stretch.end_bound_ns = bound_edge(bound_ns, gap->end_ns, next.begin_ns);
	else if (!maker->is_part)
		stretch.end_bound_ns = bound_ns;
	return stretch;
}

static int explain_device(struct maker *maker, struct mr_idle_device *device)
{
	const struct mr_device_work *work = &maker->delays.devices[device->device];
	struct mr_idle_gap gap = MR_NO_GAP;
	int64_t worked_ns = INT64_MIN;
	int result = 0;

	while (result == 0 && mr_idle_gap_next(maker->model, work, &gap)) {
		const struct stretch stretch = clip(maker, device, &gap, worked_ns);

		worked_ns = gap.end_ns;
		if (stretch.begin_ns >= stretch.end_ns)
			continue;
		device->gap_count++;
		device->idle_ns += stretch.end_ns - stretch.begin_ns;
		result = explain_gap(maker, device, &stretch);
	}
	return result;
}

static int add_device(struct maker *maker, uint32_t number, const struct mr_part *part)
{
	const struct mr_device_work *work = &maker->delays.devices[number];
	int result = mr_vec_push(&maker->idle.devices,
				 ((struct mr_idle_device){
					 .device = number,
					 .first_ns = part ? part->window.first_ns : work->first_ns,
					 .end_ns = part ? part->window.last_ns : work->end_ns,
					 .dispatch_ns = work->dispatch_ns,
					 .dispatch_gaps = work->dispatch_gaps,
					 .first_piece = (uint32_t)maker->idle.pieces.count,
				 }));

	if (result == 0)
		result = explain_device(maker,
					&maker->idle.devices.items[maker->idle.devices.count - 1]);
	return result;
}

static int compare_devices(const void *left, const void *right)
{
	const struct mr_idle_device *a = left, *b = right;

	if (a->idle_ns != b->idle_ns)
		return a->idle_ns < b->idle_ns ? 1 : -1;
	return (a->device > b->device) - (a->device < b->device);
}

/* ---- headlines ------------------------------------------------------------------------------------ */

/* What a piece's chain is counted as, before crowds are found. */
static struct mr_link plain_headline(const struct mr_idle *idle, uint32_t chain)
{
	return mr_link_by_name(
		*mr_chain_link(&idle->chains, mr_chain_headline(&idle->chains, chain)));
}

/* `tally` has one entry for each headline of a piece. */
static int tally_headlines(const struct mr_idle *idle, struct mr_tally *tally)
{
	for (uint32_t i = 0; i < idle->pieces.count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];
		const struct mr_link link = plain_headline(idle, piece->chain);

		if (mr_tally_add(tally, &link, sizeof link, piece->duration_ns, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int name_headline(struct mr_idle *idle, uint32_t chain, const struct mr_crowds *crowds,
			 struct mr_tally *tally, const uint32_t *members)
{
	struct mr_link link = plain_headline(idle, chain);
	uint32_t entry, headline, known = (uint32_t)tally->entries.count;

	if (mr_strings_intern(&tally->keys, &link, sizeof link, &entry) < 0)
		return -ENOMEM;
	if (entry < known && members[entry])
		mr_link_widen(crowds, &link, members[entry]);
	if (mr_chain_intern(&idle->chains, link, &headline) < 0)
		return -ENOMEM;
	return mr_vec_push(&idle->headlines, headline);
}

static int name_headlines(const struct mr_model *model, struct mr_idle *idle)
{
	uint32_t count = mr_strings_count(&idle->chains.links);
	mr_auto(tally) struct mr_tally tally = {0};
	mr_auto(free) uint32_t *members = NULL;
	struct mr_crowds crowds;
	int result = mr_crowds_make(model, &crowds);

	if (result < 0)
		return result;
	result = tally_headlines(idle, &tally);
	if (result == 0)
		result = mr_tally_find_crowds(&tally, sizeof(struct mr_link), mr_link_widen,
					      &crowds, &members);
	for (uint32_t chain = 0; result == 0 && chain < count; chain++)
		result = name_headline(idle, chain, &crowds, &tally, members);
	mr_crowds_free(&crowds);
	return result;
}

/* ---- together ------------------------------------------------------------------------------------- */

/* Pieces tile the idle time. */
static void check(const struct mr_idle *idle)
{
	for (size_t i = 0; i < idle->devices.count; i++) {
		const struct mr_idle_device *device = &idle->devices.items[i];
		int64_t sum_ns = 0;

		for (uint32_t j = 0; j < device->piece_count; j++)
			sum_ns += idle->pieces.items[device->first_piece + j].duration_ns;
		assert(sum_ns == device->idle_ns);
		(void)sum_ns;
	}
}

/* Does the device do anything, and is one of its processes looked at? */
static bool is_wanted(const struct maker *maker, uint32_t device, const struct mr_part *part)
{
	const struct mr_definitions *definitions = &maker->model->survey->definitions;
	bool is_looked_at = !part || !part->processes;

	for (uint32_t i = device; !is_looked_at && i < definitions->devices.count; i++)
		is_looked_at = definitions->devices.items[i].same == device &&
			       part->processes[definitions->devices.items[i].process];
	return maker->delays.devices[device].operations && is_looked_at;
}

int mr_idle_make(const struct mr_model *model, struct mr_idle *ret_idle)
{
	struct maker maker = {.model = mr_model_whole(model), .is_part = model->whole};
	const struct mr_part *part = model->whole ? &model->part : NULL;
	int result = mr_delays_make(maker.model, &maker.delays);
	size_t count = maker.model->survey->definitions.devices.count;

	for (uint32_t i = 0; result == 0 && i < count; i++)
		if (is_wanted(&maker, i, part))
			result = add_device(&maker, i, part);
	if (result == 0)
		result = name_headlines(maker.model, &maker.idle);
	mr_delays_free(&maker.delays);
	mr_vec_free(&maker.bounds_ns);
	if (result < 0) {
		mr_idle_free(&maker.idle);
		return mr_fail_errno(-result, "explain the idle time of devices");
	}
	if (maker.idle.devices.count)
		qsort(maker.idle.devices.items, maker.idle.devices.count,
		      sizeof *maker.idle.devices.items, compare_devices);
	check(&maker.idle);
	*ret_idle = maker.idle;
	return 0;
}

void mr_idle_free(struct mr_idle *idle)
{
	mr_chains_free(&idle->chains);
	mr_vec_free(&idle->headlines);
	mr_vec_free(&idle->devices);
	mr_vec_free(&idle->pieces);
}

/* ---- causes ------------------------------------------------------------------------------------- */

static void add_to_cause(struct mr_idle_cause *cause, const struct mr_idle_piece *piece,
			 uint32_t number)
{
	cause->thread =
		cause->count == 0 || cause->thread == piece->thread ? piece->thread : MR_NO_TRACK;
	if (cause->count++ == 0 || piece->duration_ns > cause->max_ns) {
		cause->max_ns = piece->duration_ns;
		cause->longest = number;
	}
	cause->total_ns += piece->duration_ns;
	cause->uncertain_ns = add_bounds(cause->uncertain_ns, piece->uncertain_ns);
}

static int compare_causes(const void *left, const void *right)
{
	const struct mr_idle_cause *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return (a->longest > b->longest) - (a->longest < b->longest);
}

int mr_idle_causes(const struct mr_idle *idle, uint32_t first_piece, uint32_t piece_count,
		   struct mr_idle_cause **ret_causes, uint32_t *ret_count)
{
	size_t chain_count = mr_strings_count(&idle->chains.links);
	struct mr_idle_cause *causes = calloc(chain_count + 1, sizeof *causes);
	uint32_t count = 0;

	if (!causes)
		return -ENOMEM;
	for (uint32_t i = first_piece; i < first_piece + piece_count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[i];

		add_to_cause(&causes[mr_idle_headline(idle, piece->chain)], piece, i);
	}
	for (uint32_t chain = 0; chain < chain_count; chain++)
		if (causes[chain].count) {
			causes[count] = causes[chain];
			causes[count++].headline = chain;
		}
	qsort(causes, count, sizeof *causes, compare_causes);
	*ret_causes = causes;
	*ret_count = count;
	return 0;
}
