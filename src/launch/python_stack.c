/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_stack.h"

#include "base/macros.h"

enum {
	LOOKS = 4,
};

/* Frames without code stand between calls from C; who reads the code finds that out. */
static bool look(const struct mr_python *python, const struct mr_python_reader *reader,
		 uintptr_t thread_state, struct mr_python_stack *stack)
{
	const struct mr_python_layout *layout = &python->layout;
	uintptr_t frame;
	stack->count = 0;
	if (!mr_python_read(reader, &frame, thread_state + layout->thread_frame, sizeof frame) ||
	    (layout->frame_is_indirect && frame &&
	     !mr_python_read(reader, &frame, frame + layout->indirect_frame, sizeof frame)))
		return false;
	while (frame && stack->count < MR_PYTHON_FRAMES) {
		struct mr_python_frame *at = &stack->frames[stack->count];
		stack->at[stack->count] = frame;
		if (!mr_python_read(reader, &at->code, frame + layout->frame_code,
				    sizeof at->code) ||
		    !mr_python_read(reader, &at->instruction, frame + layout->frame_instruction,
				    sizeof at->instruction) ||
		    !mr_python_read(reader, &frame, frame + layout->frame_previous, sizeof frame))
			return false;
		at->code = mr_python_untagged(at->code);
		if (layout->instruction_bytes > 0)
			at->instruction = (uint32_t)at->instruction;
		stack->count++;
	}
	return true;
}

static bool is_same_function(const struct mr_python_stack *a, uint32_t in_a,
			     const struct mr_python_stack *b, uint32_t in_b)
{
	return a->at[in_a] == b->at[in_b] && a->frames[in_a].code == b->frames[in_b].code;
}

/* Frames, from the outermost on, that are the same in both. A stack that was cut off has another outermost one. */
static uint32_t count_common(const struct mr_python_stack *a, const struct mr_python_stack *b)
{
	uint32_t most = mr_min(a->count, b->count), count = 0;
	while (count < most) {
		uint32_t in_a = a->count - 1 - count, in_b = b->count - 1 - count;
		if (!is_same_function(a, in_a, b, in_b) ||
		    a->frames[in_a].instruction != b->frames[in_b].instruction)
			break;
		count++;
	}
	return count;
}

static bool do_agree(const struct mr_python_stack *a, const struct mr_python_stack *b,
		     uint32_t common)
{
	return a->count == b->count &&
	       (common == a->count || (common == a->count - 1 && is_same_function(a, 0, b, 0)));
}

static void keep_outer(struct mr_python_stack *stack, uint32_t count)
{
	uint32_t inner = stack->count - count;
	for (uint32_t i = 0; i < count; i++) {
		stack->frames[i] = stack->frames[inner + i];
		stack->at[i] = stack->at[inner + i];
	}
	stack->count = count;
}

enum mr_python_sight mr_python_stack_see(const struct mr_python *python,
					 struct mr_python_memory *memory, uintptr_t thread_state,
					 struct mr_python_stack *ret_stack)
{
	const struct mr_python_reader reader = mr_python_memory_reader(memory);
	static struct mr_python_stack other; /* record has one thread */
	bool is_whole = look(python, &reader, thread_state, ret_stack);
	uint32_t common = 0;
	for (int i = 1; i < LOOKS; i++) {
		bool was_whole = is_whole;
		common = 0;
		other = *ret_stack;
		mr_python_memory_forget(memory);
		is_whole = look(python, &reader, thread_state, ret_stack);
		if (!is_whole || !was_whole)
			continue;
		common = count_common(&other, ret_stack);
		if (do_agree(&other, ret_stack, common))
			return MR_PYTHON_SEEN;
	}
	if (!is_whole)
		return MR_PYTHON_UNREADABLE;
	keep_outer(ret_stack, common);
	return common > 0 ? MR_PYTHON_SEEN : MR_PYTHON_TORN;
}
