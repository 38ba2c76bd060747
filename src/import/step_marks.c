/* SPDX-License-Identifier: Apache-2.0 */
#include "import/step_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What follows the words of a spelling. */
enum rest {
	REST_NUMBER, /* the step's number, and nothing behind it */
	REST_ANY,    /* what the step is about */
	REST_NONE,
};

struct spelling {
	const char *words;
	size_t length;
	enum rest rest;
	bool is_anywhere; /* the words may stand in the middle */
};

#define SPELLING(words, ...)                          \
	{                                             \
		words, sizeof(words) - 1, __VA_ARGS__ \
	}

/* The best first. A profiler's own mark is what its user asked for; a number says that there are others. */
static const struct spelling spellings[] = {
	SPELLING("ProfilerStep#", REST_NUMBER, false),
	SPELLING("iteration", REST_NUMBER, false),
	SPELLING("train_step", REST_NUMBER, false),
	SPELLING("training_step", REST_NUMBER, false),
	SPELLING("step", REST_NUMBER, false),
	SPELLING("iter", REST_NUMBER, false),
	SPELLING("train", REST_NUMBER, false),
	SPELLING("step[", REST_ANY, false),
	SPELLING("execute_", REST_ANY, false),
	SPELLING("run_training_batch", REST_NONE, true),
	SPELLING("run_training_epoch_step", REST_NONE, true),
	SPELLING("train_step", REST_NONE, false),
	SPELLING("training_step", REST_NONE, false),
};

/* The number that ends a name: behind separators, perhaps in brackets. */
static bool read_number(const char *text, size_t length, uint64_t *ret_number)
{
	size_t at = 0, end = length;
	uint64_t number = 0;

	while (at < end && strchr(" #:_=-[(", text[at]))
		at++;
	while (end > at && strchr("])", text[end - 1]))
		end--;
	if (at == end)
		return false;
	for (; at < end; at++)
		if (text[at] < '0' || text[at] > '9' ||
		    __builtin_mul_overflow(number, UINT64_C(10), &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text[at] - '0'), &number))
			return false;
	*ret_number = number;
	return true;
}

static bool is_spelt(const struct spelling *spelling, const char *name, size_t length,
		     uint64_t *ret_number)
{
	if (length < spelling->length)
		return false;
	if (spelling->is_anywhere)
		return memmem(name, length, spelling->words, spelling->length);
	if (strncasecmp(name, spelling->words, spelling->length) != 0)
		return false;
	if (spelling->rest == REST_NUMBER)
		return read_number(name + spelling->length, length - spelling->length, ret_number);
	return spelling->rest == REST_ANY || length == spelling->length;
}

int mr_step_marks_note(struct mr_step_marks *marks, const char *name, size_t length,
		       struct mr_step_mark mark, bool *ret_is_only_that)
{
	mark.spelling = 0;
	while (mark.spelling < mr_countof(spellings) &&
	       !is_spelt(&spellings[mark.spelling], name, length, &mark.number))
		mark.spelling++;
	*ret_is_only_that = mark.spelling == 0;
	return mark.spelling < mr_countof(spellings) ? mr_vec_push(&marks->list, mark) : 0;
}

int mr_step_marks_note_numbered(struct mr_step_marks *marks, struct mr_step_mark mark)
{
	mark.spelling = 0;
	return mr_vec_push(&marks->list, mark);
}

/* ---- when all are known --------------------------------------------------------------------------- */

/* By thread and time; of those that begin together the longer one first. */
static int compare_marks(const void *left, const void *right)
{
	const struct mr_step_mark *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Keeps those of the best spelling that lie in no other of their thread. */
static void choose(struct mr_step_marks *marks)
{
	struct mr_step_mark *list = marks->list.items;
	uint32_t best = UINT32_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < marks->list.count; i++)
		best = mr_min(best, list[i].spelling);
	for (size_t i = 0; i < marks->list.count; i++)
		if (list[i].spelling == best)
			list[kept++] = list[i];
	marks->list.count = kept;
	qsort(list, kept, sizeof *list, compare_marks);
	kept = 0;
	for (size_t i = 0; i < marks->list.count; i++)
		if (kept == 0 || list[kept - 1].thread != list[i].thread ||
		    list[i].start_ns >= list[kept - 1].end_ns)
			list[kept++] = list[i];
	marks->list.count = kept;
}

/* Numbers count if all marks of a thread have one, in order. A profiler's always do. */
static bool are_numbered(const struct mr_step_marks *marks)
{
	const struct mr_step_mark *list = marks->list.items;

	if (list[0].spelling == 0 || spellings[list[0].spelling].rest != REST_NUMBER)
		return list[0].spelling == 0;
	for (size_t i = 1; i < marks->list.count; i++)
		if (list[i].thread == list[i - 1].thread && list[i].number <= list[i - 1].number)
			return false;
	return true;
}

int mr_step_marks_add_steps(struct mr_step_marks *marks, struct mr_builder *builder)
{
	uint64_t count = 0;
	int result = 0;

	if (marks->list.count == 0)
		return 0;
	choose(marks);
	bool has_numbers = are_numbered(marks);
	for (size_t i = 0; result == 0 && i < marks->list.count; i++) {
		const struct mr_step_mark *mark = &marks->list.items[i];

		if (i > 0 && mark->thread != mark[-1].thread)
			count = 0;
		const struct mr_event_step_interval step = {
			.step = has_numbers ? mark->number : count++,
			.duration_ticks = (uint64_t)(mark->end_ns - mark->start_ns)};
		result = mr_builder_add(builder, mark->thread, mark->start_ns, mark->end_ns,
					MR_EVENT_step_interval, &step);
	}
	return result;
}

void mr_step_marks_free(struct mr_step_marks *marks)
{
	mr_vec_free(&marks->list);
}
