/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/whatif/edit.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

#include "analysis/device_time.h"
#include "base/error.h"
#include "model/lines.h"

static const char *const selector_names[MR_SELECTORS] = {
	[MR_SELECT_CAUSE] = "cause",     [MR_SELECT_TYPE] = "type",
	[MR_SELECT_NODE] = "node",       [MR_SELECT_KERNEL] = "kernel",
	[MR_SELECT_DEVICE] = "device",   [MR_SELECT_FUNCTION] = "function",
	[MR_SELECT_CODE] = "code",       [MR_SELECT_THREAD] = "thread",
	[MR_SELECT_PROCESS] = "process", [MR_SELECT_PROBLEM] = "problem",
};

const char *mr_selector_name(enum mr_selector_kind kind)
{
	return selector_names[kind];
}

/* ---- from text ---------------------------------------------------------------------------------------- */

static const char *after_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return strncmp(text, word, length) == 0 && text[length] == ' ' ? text + length + 1 : NULL;
}

bool mr_edit_is_one(const char *text)
{
	return after_word(text, "scale") || after_word(text, "drop");
}

static int parse_factor(const char *text, const char *whole, double *ret_factor)
{
	char *end;
	double factor = strtod(text, &end);
	bool is_percent = end != text && strcmp(end, "%") == 0;

	if (end == text || (*end && !is_percent) || !isfinite(factor) || factor < 0 || factor > 1e6)
		return mr_fail(EINVAL,
			       "'%s': the last word is the factor, a number from 0 on: 0.5 or 50%%",
			       whole);
	*ret_factor = is_percent ? factor / 100 : factor;
	return 0;
}

static int parse_selector(const char *text, size_t length, const char *whole, struct mr_edit *edit)
{
	for (int kind = 0; kind < MR_SELECTORS; kind++) {
		size_t name = strlen(selector_names[kind]);

		if (length <= name || strncmp(text, selector_names[kind], name) != 0 ||
		    text[name] != ':')
			continue;
		size_t rest = length - name - 1;
		if (rest == 0 || rest >= sizeof edit->pattern)
			break;
		edit->selector = (enum mr_selector_kind)kind;
		memcpy(edit->pattern, text + name + 1, rest);
		edit->pattern[rest] = 0;
		return 0;
	}
	return mr_fail(
		EINVAL,
		"'%s': say what, as cause:NAME, type:NAME, node:NAME, kernel:NAME, device:NAME, "
		"function:NAME, code:NAME, thread:NAME, process:NAME or problem:NAME",
		whole);
}

int mr_edit_parse(const char *text, struct mr_edit *ret_edit)
{
	const char *rest = after_word(text, "drop");
	struct mr_edit edit = {.is_drop = rest != NULL};
	size_t length;

	if (!rest)
		rest = after_word(text, "scale");
	if (!rest)
		return mr_fail(EINVAL, "'%s' is no edit: give 'scale WHAT FACTOR' or 'drop WHAT'",
			       text);
	length = strlen(rest);
	if (!edit.is_drop) {
		const char *space = strrchr(rest, ' ');
		int result = parse_factor(space ? space + 1 : "", text, &edit.factor);

		if (result < 0)
			return result;
		length = (size_t)(space - rest);
	}
	int result = parse_selector(rest, length, text, &edit);
	if (result == 0)
		*ret_edit = edit;
	return result;
}

/* ---- what it selects -------------------------------------------------------------------------------- */

static uint32_t node_of(const struct mr_model *model, const struct mr_piece *piece)
{
	return piece->execution == MR_NO_ROW ? 0 : model->node_executions.node[piece->execution];
}

static uint32_t function_of(const struct mr_model *model, const struct mr_piece *piece)
{
	uint32_t call = piece->operation == MR_NO_ROW
				? MR_NO_ROW
				: model->device_operations.call[piece->operation];

	if (call != MR_NO_ROW)
		return model->calls.function[call];
	bool is_call = piece->link.culprit == MR_CULPRIT_CALL ||
		       piece->link.culprit == MR_CULPRIT_FUNCTION;
	return is_call ? piece->link.what : 0;
}

/* The line of Python that the thread is at, or was at when it launched the operation; 0: not known. */
static uint32_t site_of(const struct mr_model *model, const struct mr_piece *piece)
{
	const struct mr_calls *calls = &model->calls;

	if (piece->operation == MR_NO_ROW)
		return mr_line_at(model, piece->track, piece->start_ns, NULL);
	uint32_t call = model->device_operations.call[piece->operation];
	return call == MR_NO_ROW
		       ? 0
		       : mr_line_at(model, calls->track[call], calls->start_ns[call], NULL);
}

static uint32_t code_of(const struct mr_model *model, const struct mr_piece *piece)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_sites *sites = &definitions->sites;
	uint32_t site = site_of(model, piece);

	if (site)
		site = mr_sites_of_program(sites, &definitions->strings, site);
	return site ? sites->codes.items[sites->items[site].code].name : 0;
}

uint32_t mr_piece_name(const struct mr_model *model, const struct mr_piece *piece,
		       enum mr_selector_kind kind)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_track *track = &survey->tracks.items[piece->track];
	uint32_t row = piece->operation, node = node_of(model, piece);

	switch (kind) {
	case MR_SELECT_TYPE:
		return survey->definitions.nodes.items[node].family;
	case MR_SELECT_NODE:
		return survey->definitions.nodes.items[node].name;
	case MR_SELECT_KERNEL:
		return row == MR_NO_ROW ? 0 : model->device_operations.name[row];
	case MR_SELECT_DEVICE:
		return row == MR_NO_ROW
			       ? 0
			       : survey->definitions.devices.items[mr_operation_device(model, row)]
					 .name;
	case MR_SELECT_FUNCTION:
		return function_of(model, piece);
	case MR_SELECT_CODE:
		return code_of(model, piece);
	case MR_SELECT_THREAD:
		return row == MR_NO_ROW ? track->name : 0;
	case MR_SELECT_PROCESS:
		return survey->processes.items[track->process].program;
	case MR_SELECT_CAUSE:
	case MR_SELECT_PROBLEM:
	case MR_SELECTORS:
		break;
	}
	return 0;
}

/* A pattern, and for each string of the model whether it matches. */
struct selection {
	const struct mr_model *model;
	const struct mr_edit *edit;
	uint8_t *known; /* 0: not yet, 1: no, 2: yes */
};

static bool matches_string(const struct selection *selection, uint32_t string)
{
	if (!selection->known[string])
		selection->known[string] = fnmatch(selection->edit->pattern,
						   mr_model_text(selection->model, string), 0) == 0
						   ? 2
						   : 1;
	return selection->known[string] == 2;
}

/* Is the thread in a function of that name, however deep? */
static bool matches_code(const struct selection *selection, const struct mr_piece *piece)
{
	const struct mr_sites *sites = &selection->model->survey->definitions.sites;

	for (uint32_t site = site_of(selection->model, piece); site;
	     site = sites->items[site].parent)
		if (matches_string(selection, sites->codes.items[sites->items[site].code].name))
			return true;
	return false;
}

/* Threads and processes go by their numbers, too. */
static bool matches_number(const struct selection *selection, const struct mr_piece *piece)
{
	const struct mr_survey *survey = selection->model->survey;
	const struct mr_track *track = &survey->tracks.items[piece->track];
	char text[16];

	if (selection->edit->selector == MR_SELECT_THREAD && piece->operation == MR_NO_ROW)
		snprintf(text, sizeof text, "%u", track->tid);
	else if (selection->edit->selector == MR_SELECT_PROCESS)
		snprintf(text, sizeof text, "%u", survey->processes.items[track->process].pid);
	else
		return false;
	return strcmp(text, selection->edit->pattern) == 0;
}

/* Not the thread's own doing: it takes as long, whatever the thread does then. */
static bool is_waiting_for_cpu(const struct mr_piece *piece)
{
	return piece->link.kind == MR_CAUSE_WAKE_UP || piece->link.kind == MR_CAUSE_PREEMPTED ||
	       piece->link.kind == MR_CAUSE_THROTTLED;
}

static bool matches(const struct selection *selection, const struct mr_piece *piece)
{
	if (selection->edit->selector == MR_SELECT_CAUSE)
		return fnmatch(selection->edit->pattern,
			       mr_cause_name((enum mr_cause_kind)piece->link.kind), 0) == 0;
	if (selection->edit->selector == MR_SELECT_CODE)
		return matches_code(selection, piece);
	if (is_waiting_for_cpu(piece))
		return false;
	uint32_t name = mr_piece_name(selection->model, piece, selection->edit->selector);
	if (name && matches_string(selection, name))
		return true;
	uint32_t node = node_of(selection->model, piece);
	if (selection->edit->selector == MR_SELECT_TYPE && node)
		return matches_string(selection,
				      selection->model->survey->definitions.nodes.items[node].type);
	return matches_number(selection, piece);
}

/* ---- causes that are no pieces -------------------------------------------------------------------------- */

/* Waits, which threads follow others for. */
static const struct {
	enum mr_cause_kind cause;
	enum mr_follow_kind follow;
} waits[] = {
	{MR_CAUSE_LOCK, MR_FOLLOW_LOCK},        {MR_CAUSE_GIL, MR_FOLLOW_GIL},
	{MR_CAUSE_PREEMPTED, MR_FOLLOW_CPU},    {MR_CAUSE_SYNC, MR_FOLLOW_SYNC},
	{MR_CAUSE_DEVICE_BUSY, MR_FOLLOW_ROOM},
};

/* What goes one way: who waits for it needs it. */
static const enum mr_cause_kind needed[] = {MR_CAUSE_HAND_OVER, MR_CAUSE_IPC, MR_CAUSE_CHILD,
					    MR_CAUSE_SIGNAL, MR_CAUSE_DEPENDENCY};

/* 1 << enum mr_follow_kind of all that the pattern names. */
static uint16_t find_freed(const struct mr_edit *edit)
{
	uint16_t freed = 0;

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (fnmatch(edit->pattern, mr_cause_name(waits[i].cause), 0) == 0)
			freed = (uint16_t)(freed | 1u << waits[i].follow);
	return freed;
}

static int refuse_needed(const struct mr_edit *edit)
{
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (strcmp(edit->pattern, mr_cause_name(needed[i])) == 0)
			return mr_fail(
				EINVAL,
				"cause:%s cannot be dropped: a thread that waits so needs what it "
				"waits for. Scale or drop what the other does instead",
				edit->pattern);
	return 0;
}

/* Whether a piece is freed from anything. */
static bool free_piece(const struct mr_course *course, uint32_t number, uint16_t freed,
		       struct mr_change *change)
{
	const struct mr_piece *piece = &course->pieces.items[number];
	bool is_freed = false;

	for (uint32_t at = piece->first_follow; at < piece[1].first_follow; at++)
		is_freed |= freed >> course->follows.items[at].kind & 1;
	change->freed[number] = (uint16_t)(change->freed[number] | freed);
	return is_freed;
}

/* ---- applying it ---------------------------------------------------------------------------------------- */

static int64_t scale(int64_t ns, double factor)
{
	return (int64_t)llround((double)ns * factor);
}

static bool apply_to_piece(const struct selection *selection, const struct mr_course *course,
			   uint32_t number, uint16_t freed, struct mr_change *change)
{
	const struct mr_piece *piece = &course->pieces.items[number];
	const struct mr_edit *edit = selection->edit;
	bool is_dispatch = edit->selector == MR_SELECT_CAUSE && piece->operation != MR_NO_ROW &&
			   piece->delay_ns > 0 &&
			   fnmatch(edit->pattern, mr_cause_name(MR_CAUSE_DISPATCH), 0) == 0;
	bool is_hit = matches(selection, piece);

	if (is_hit)
		change->duration_ns[number] = scale(change->duration_ns[number], edit->factor);
	/* What a function in Python does not do, it need not wait for either. */
	if (is_dispatch || (is_hit && edit->selector == MR_SELECT_CODE))
		change->delay_ns[number] = scale(change->delay_ns[number], edit->factor);
	bool is_freed = freed && free_piece(course, number, freed, change);
	return is_hit || is_dispatch || is_freed;
}

int mr_edit_apply(const struct mr_edit *edit, const struct mr_course *course,
		  struct mr_change *change)
{
	const struct mr_model *model = course->model;
	size_t strings = mr_strings_count(&model->survey->definitions.strings);
	mr_auto(free) uint8_t *known = calloc(strings + 1, sizeof *known);
	const struct selection selection = {model, edit, known};
	bool is_cause_dropped = edit->is_drop && edit->selector == MR_SELECT_CAUSE;
	uint32_t hits = 0;

	if (!known)
		return -ENOMEM;
	int result = is_cause_dropped ? refuse_needed(edit) : 0;
	if (result < 0)
		return result;
	uint16_t freed = is_cause_dropped ? find_freed(edit) : 0;
	for (uint32_t i = 0; i < course->count; i++)
		hits += apply_to_piece(&selection, course, i, freed, change);
	if (hits == 0)
		return mr_fail(ENOENT,
			       "there is no %s:%s in this trace; --list shows what there is",
			       selector_names[edit->selector], edit->pattern);
	return 0;
}
