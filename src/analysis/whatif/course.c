/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/course.h"

#include "analysis/cause/critical_path_begin.h"
#include "analysis/device_time.h"
#include "analysis/whatif/draft.h"
#include "base/pages.h"
#include "base/sort.h"

int mr_draft_add(struct mr_draft *draft, struct mr_piece piece, const struct mr_name *names,
		 size_t count)
{
	struct mr_named named = {.piece = (uint32_t)draft->pieces.count};
	int result = draft->pieces.count < MR_NO_PIECE - 1 ? 0 : -ENOMEM;

	for (size_t i = 0; result == 0 && i < count; i++) {
		named.name = names[i];
		result = mr_vec_push(&draft->names, named);
	}
	return result < 0 ? result : mr_vec_push(&draft->pieces, piece);
}

/* ---- wait lists ------------------------------------------------------------------------------------ */

/* The operation that a row of `dependencies` says a call waits for, or MR_NO_ROW. */
static uint32_t listed_operation(const struct mr_model *model, uint32_t row)
{
	uint32_t launch = model->dependencies.awaited_call[row];
	uint32_t operation = launch == MR_NO_ROW ? MR_NO_ROW : model->calls.operation[launch];
	bool is_known = operation != MR_NO_ROW && mr_operation_is_timed(model, operation);

	return is_known && model->dependencies.call[row] != MR_NO_ROW ? operation : MR_NO_ROW;
}

static int make_lists(struct mr_draft *draft)
{
	const struct mr_model *model = draft->model;
	uint32_t count = model->dependencies.table.count, calls = model->calls.table.count;

	draft->list_first = calloc((size_t)calls + 2, sizeof *draft->list_first);
	draft->listed = malloc(((size_t)count + 1) * sizeof *draft->listed);
	if (!draft->list_first || !draft->listed)
		return -ENOMEM;
	uint32_t *next =
		draft->list_first + 1; /* becomes the ends, which are the next ones' starts */
	for (uint32_t row = 0; row < count; row++)
		if (listed_operation(model, row) != MR_NO_ROW)
			next[model->dependencies.call[row] + 1]++;
	for (uint32_t call = 0; call < calls; call++)
		next[call + 1] += next[call];
	for (uint32_t row = 0; row < count; row++)
		if (listed_operation(model, row) != MR_NO_ROW)
			draft->listed[next[model->dependencies.call[row]]++] =
				listed_operation(model, row);
	return 0;
}

/* ---- cuts ------------------------------------------------------------------------------------------ */

/* By track, then by time. */
static int sort_cuts(struct mr_draft *draft, uint32_t track_count)
{
	size_t count = draft->cuts.count;
	mr_auto(free) struct mr_sort_item *items = mr_allocate_large((count + 1) * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch =
		mr_allocate_large((count + 1) * sizeof *scratch);
	struct mr_cut *sorted = mr_allocate_large((count + 1) * sizeof *sorted);

	draft->first_cut = calloc((size_t)track_count + 2, sizeof *draft->first_cut);
	if (!items || !scratch || !sorted || !draft->first_cut) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){mr_sort_key(draft->cuts.items[i].ns), (uint32_t)i};
	mr_sort(items, scratch, count);
	uint32_t *next = draft->first_cut + 1;
	for (size_t i = 0; i < count; i++)
		next[draft->cuts.items[i].track + 1]++;
	for (uint32_t track = 0; track < track_count; track++)
		next[track + 1] += next[track];
	for (size_t i = 0; i < count; i++) {
		struct mr_cut cut = draft->cuts.items[items[i].index];

		sorted[next[cut.track]++] = cut;
	}
	free(draft->cuts.items);
	draft->cuts.items = sorted;
	draft->cuts.capacity = count + 1;
	return 0;
}

/* ---- all pieces ------------------------------------------------------------------------------------ */

static void free_draft(struct mr_draft *draft)
{
	mr_vec_free(&draft->pieces);
	mr_vec_free(&draft->names);
	mr_vec_free(&draft->cuts);
	free(draft->first_cut);
	free(draft->first_piece);
	free(draft->of_operation);
	free(draft->makers);
	free(draft->list_first);
	free(draft->listed);
}

static int add_threads(struct mr_draft *draft)
{
	const struct mr_survey *survey = draft->model->survey;
	uint32_t count = (uint32_t)survey->tracks.count;
	int result = 0;

	for (uint32_t track = 0; result == 0 && track < count; track++) {
		draft->first_piece[track] = (uint32_t)draft->pieces.count;
		if (survey->tracks.items[track].kind == MR_TRACK_THREAD)
			result = mr_draft_add_thread(draft, track);
	}
	draft->first_piece[count] = (uint32_t)draft->pieces.count;
	return result;
}

static int make_draft(struct mr_draft *draft)
{
	const struct mr_model *model = draft->model;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	size_t operation_count = model->device_operations.table.count;

	draft->makers = mr_path_makers_make(model);
	draft->first_piece = calloc((size_t)track_count + 1, sizeof *draft->first_piece);
	draft->of_operation = malloc((operation_count + 1) * sizeof *draft->of_operation);
	if (!draft->makers || !draft->first_piece || !draft->of_operation)
		return -ENOMEM;
	for (size_t i = 0; i < operation_count; i++)
		draft->of_operation[i] = MR_NO_PIECE;
	int result = make_lists(draft);
	if (result == 0)
		result = mr_draft_cut_threads(draft);
	if (result == 0)
		result = mr_draft_cut_launches(draft);
	if (result == 0)
		result = sort_cuts(draft, track_count);
	if (result == 0)
		result = add_threads(draft);
	return result < 0 ? result : mr_draft_add_operations(draft);
}

/* ---- names to pieces --------------------------------------------------------------------------------- */

/* The last piece of a thread that had ended then. */
static uint32_t find_done(const struct mr_draft *draft, uint32_t track, int64_t ns)
{
	uint32_t first = draft->first_piece[track], low = first,
		 high = draft->first_piece[track + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (mr_piece_end_ns(&draft->pieces.items[middle]) <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? low - 1 : MR_NO_PIECE;
}

static uint32_t resolve(const struct mr_draft *draft, struct mr_name name)
{
	switch ((enum mr_name_kind)name.what) {
	case MR_NAME_PIECE:
		return name.number;
	case MR_NAME_OPERATION:
		return draft->of_operation[name.number];
	case MR_NAME_THREAD:
		return find_done(draft, name.number, name.ns);
	}
	return MR_NO_PIECE;
}

/* ---- in order of time -------------------------------------------------------------------------------- */

/* place[i]: where piece i of the draft goes. By start, then by end, then as they are. */
static uint32_t *find_places(const struct mr_draft *draft)
{
	size_t count = draft->pieces.count;
	mr_auto(free) struct mr_sort_item *items = mr_allocate_large((count + 1) * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch =
		mr_allocate_large((count + 1) * sizeof *scratch);
	uint32_t *places = mr_allocate_large((count + 1) * sizeof *places);

	if (!items || !scratch || !places) {
		free(places);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){
			mr_sort_key(mr_piece_end_ns(&draft->pieces.items[i])), (uint32_t)i};
	mr_sort(items, scratch, count);
	for (size_t i = 0; i < count; i++)
		items[i].key = mr_sort_key(draft->pieces.items[items[i].index].start_ns);
	mr_sort(items, scratch, count);
	for (size_t i = 0; i < count; i++)
		places[items[i].index] = (uint32_t)i;
	return places;
}

static int place_pieces(struct mr_course *course, const struct mr_draft *draft,
			const uint32_t *places)
{
	size_t count = draft->pieces.count;
	int result = mr_vec_reserve(&course->pieces, count + 1);

	if (result < 0)
		return result;
	course->count = (uint32_t)count;
	course->pieces.count = count + 1;
	course->first_ns = course->last_ns = 0;
	for (size_t i = 0; i < count; i++) {
		const struct mr_piece *piece = &draft->pieces.items[i];

		course->pieces.items[places[i]] = *piece;
		course->first_ns = i ? mr_min(course->first_ns, piece->start_ns) : piece->start_ns;
		course->last_ns = i ? mr_max(course->last_ns, mr_piece_end_ns(piece))
				    : mr_piece_end_ns(piece);
	}
	course->pieces.items[count] = (struct mr_piece){0};
	return 0;
}

/* False if times contradict it: what is to come first begins later, or would have had to end much earlier. */
static bool make_follow(const struct mr_course *course, uint32_t from, uint32_t to, uint8_t kind,
			struct mr_follow *ret_follow)
{
	int64_t lead_ns =
		mr_piece_end_ns(&course->pieces.items[from]) - course->pieces.items[to].start_ns;

	if (from >= to || lead_ns > UINT32_MAX)
		return false;
	*ret_follow = (struct mr_follow){from, lead_ns > 0 ? (uint32_t)lead_ns : 0, kind};
	return true;
}

/* What each piece follows, in the order of the pieces. */
static int place_follows(struct mr_course *course, const struct mr_draft *draft,
			 const uint32_t *places)
{
	int result = mr_vec_reserve(&course->follows, draft->names.count + 1);
	mr_auto(free) uint32_t *next = calloc((size_t)course->count + 2, sizeof *next);

	if (result < 0 || !next)
		return -ENOMEM;
	for (size_t i = 0; i < draft->names.count; i++)
		next[places[draft->names.items[i].piece] + 1]++;
	for (uint32_t i = 0; i <= course->count; i++) {
		course->pieces.items[i].first_follow = next[i];
		next[i + 1] += next[i];
	}
	course->follows.count = draft->names.count;
	for (size_t i = 0; i < draft->names.count; i++) {
		const struct mr_named *named = &draft->names.items[i];
		uint32_t from = resolve(draft, named->name), to = places[named->piece];
		struct mr_follow *follow = &course->follows.items[next[to]++];

		*follow = (struct mr_follow){MR_NO_PIECE, 0, named->name.follow};
		if (from != MR_NO_PIECE &&
		    !make_follow(course, places[from], to, named->name.follow, follow))
			course->contradictions++;
	}
	return 0;
}

static void find_delays(struct mr_course *course)
{
	for (uint32_t i = 0; i < course->count; i++) {
		struct mr_piece *piece = &course->pieces.items[i];
		int64_t ready_ns = course->first_ns;

		for (uint32_t at = piece->first_follow; at < piece[1].first_follow; at++) {
			const struct mr_follow *follow = &course->follows.items[at];

			if (follow->piece != MR_NO_PIECE)
				ready_ns = mr_max(
					ready_ns,
					mr_piece_end_ns(&course->pieces.items[follow->piece]) -
						follow->lead_ns);
		}
		piece->delay_ns = piece->start_ns - ready_ns;
	}
}

static int index_tracks(struct mr_course *course)
{
	uint32_t track_count = (uint32_t)course->model->survey->tracks.count;

	course->first_of_track = calloc((size_t)track_count + 2, sizeof *course->first_of_track);
	course->of_track = malloc(((size_t)course->count + 1) * sizeof *course->of_track);
	if (!course->first_of_track || !course->of_track)
		return -ENOMEM;
	uint32_t *next = course->first_of_track + 1;
	for (uint32_t i = 0; i < course->count; i++)
		next[course->pieces.items[i].track + 1]++;
	for (uint32_t track = 0; track < track_count; track++)
		next[track + 1] += next[track];
	for (uint32_t i = 0; i < course->count; i++)
		course->of_track[next[course->pieces.items[i].track]++] = i;
	return 0;
}

int mr_course_make(const struct mr_model *model, struct mr_course *ret_course)
{
	mr_auto(course) struct mr_course course = {.model = model};
	struct mr_draft draft = {.model = model};
	mr_auto(free) uint32_t *places = NULL;
	int result = make_draft(&draft);

	if (result == 0 && !(places = find_places(&draft)))
		result = -ENOMEM;
	if (result == 0)
		result = place_pieces(&course, &draft, places);
	if (result == 0)
		result = place_follows(&course, &draft, places);
	free_draft(&draft);
	if (result < 0)
		return result;
	find_delays(&course);
	result = index_tracks(&course);
	if (result < 0)
		return result;
	*ret_course = course;
	course = (struct mr_course){0};
	return 0;
}

void mr_course_free(struct mr_course *course)
{
	mr_vec_free(&course->pieces);
	mr_vec_free(&course->follows);
	free(course->first_of_track);
	free(course->of_track);
}

uint32_t mr_place_after(const struct mr_course *course, uint32_t track, int64_t ns)
{
	uint32_t low = course->first_of_track[track];
	uint32_t high = course->first_of_track[track + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (course->pieces.items[course->of_track[middle]].start_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t mr_piece_at(const struct mr_course *course, uint32_t track, int64_t ns)
{
	uint32_t place = mr_place_after(course, track, ns);

	return place > course->first_of_track[track] ? course->of_track[place - 1] : MR_NO_PIECE;
}
