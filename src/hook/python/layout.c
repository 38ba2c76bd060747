/* SPDX-License-Identifier: Apache-2.0
 *
 * The table for 3.9 to 3.12 was made by compiling offsetof() against the headers of each; a minor version keeps it.
 *
 * From 3.13 on, _PyRuntime begins with "xdebugpy", the version, and offsets of eight bytes each. Which offset stands
 * where differs from one minor version to the next.
 */
#include "hook/python/layout.h"

#include <string.h>

enum {
	VERSION_BITS = 16, /* of 0x030b02f0, major and minor are left of these */
};

static const struct mr_python_layout layout_3_9 = {
	.runtime_finalizing = 16,
	.ready_before_finalizing = 4,
	.runtime_interpreters = 32,
	.runtime_lock = 352,
	.interpreter_next = 0,
	.interpreter_threads = 8,
	.thread_next = 8,
	.thread_id = 176,
	.thread_frame = 24,
	.frame_previous = 24,
	.frame_code = 32,
	.frame_instruction = 104,
	.instruction_bytes = 1,
	.frame_locals = 360,
	.code_first_line = 40,
	.code_file = 104,
	.code_name = 112,
	.code_lines = 120,
	.text_data = 48,
	.wide_text_data = 72,
	.lines = MR_PYTHON_LINES_PAIRS,
	.attributes = MR_PYTHON_ATTRIBUTES_PLAIN,
};

static const struct mr_python_layout layout_3_10 = {
	.runtime_finalizing = 16,
	.ready_before_finalizing = 4,
	.runtime_interpreters = 32,
	.runtime_lock = 352,
	.interpreter_next = 0,
	.interpreter_threads = 8,
	.thread_next = 8,
	.thread_id = 176,
	.thread_frame = 24,
	.frame_previous = 24,
	.frame_code = 32,
	.frame_instruction = 96,
	.instruction_bytes = 2,
	.frame_locals = 352,
	.code_first_line = 40,
	.code_file = 104,
	.code_name = 112,
	.code_lines = 120,
	.text_data = 48,
	.wide_text_data = 72,
	.lines = MR_PYTHON_LINES_RANGES,
	.attributes = MR_PYTHON_ATTRIBUTES_PLAIN,
};

static const struct mr_python_layout layout_3_11 = {
	.runtime_finalizing = 24,
	.ready_before_finalizing = 8,
	.runtime_interpreters = 40,
	.runtime_lock = 360,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_id = 152,
	.thread_native_id = 160,
	.thread_frame = 56,
	.frame_is_indirect = true,
	.indirect_frame = 8,
	.frame_previous = 48,
	.frame_code = 32,
	.frame_instruction = 56,
	.frame_locals = 72,
	.code_first_line = 72,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_instructions = 184,
	.text_data = 48,
	.wide_text_data = 72,
	.type_keys = 872,
	.lines = MR_PYTHON_LINES_LOCATIONS,
	.attributes = MR_PYTHON_ATTRIBUTES_BESIDE,
};

static const struct mr_python_layout layout_3_12 = {
	.runtime_finalizing = 24,
	.ready_before_finalizing = 8,
	.runtime_interpreters = 40,
	.interpreter_lock = 384,
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_next = 8,
	.thread_id = 136,
	.thread_native_id = 144,
	.thread_frame = 56,
	.frame_is_indirect = true,
	.indirect_frame = 0,
	.frame_previous = 8,
	.frame_code = 0,
	.frame_instruction = 56,
	.frame_locals = 72,
	.code_first_line = 68,
	.code_file = 112,
	.code_name = 128,
	.code_lines = 136,
	.code_instructions = 192,
	.text_data = 40,
	.wide_text_data = 56,
	.type_keys = 880,
	.lines = MR_PYTHON_LINES_LOCATIONS,
	.attributes = MR_PYTHON_ATTRIBUTES_TAGGED,
};

/* Which of the numbers behind "xdebugpy" says what. */
struct places {
	uint8_t interpreter_next, interpreter_threads, interpreter_lock;
	uint8_t thread_next, thread_frame, thread_id, thread_native_id;
	uint8_t frame_previous, frame_code, frame_instruction, frame_locals;
	uint8_t code_file, code_name, code_lines, code_first_line, code_instructions;
	uint8_t object_type, bytes_length, bytes_data, text_state, text_data;
};

enum {
	PLACE_VERSION = 0,
	PLACE_FREE_THREADED = 1,
	PLACE_FINALIZING = 3,
	PLACE_INTERPRETERS = 4,
	PLACES = (MR_PYTHON_OFFSETS_BYTES - 8) / 8,
	OFFSET_MAX = 1 << 20, /* none is larger */
	TYPE_KEYS = 880,      /* they do not say this one; it is as in 3.12 */
	READY_BEFORE = 8,     /* likewise */
};

static const struct places places_3_13 = {
	.interpreter_next = 7,
	.interpreter_threads = 8,
	.interpreter_lock = 13,
	.thread_next = 20,
	.thread_frame = 22,
	.thread_id = 23,
	.thread_native_id = 24,
	.frame_previous = 28,
	.frame_code = 29,
	.frame_instruction = 30,
	.frame_locals = 31,
	.code_file = 34,
	.code_name = 36,
	.code_lines = 37,
	.code_first_line = 38,
	.code_instructions = 42,
	.object_type = 44,
	.bytes_length = 64,
	.bytes_data = 65,
	.text_state = 67,
	.text_data = 69,
};

static const struct places places_3_14 = {
	.interpreter_next = 7,
	.interpreter_threads = 8,
	.interpreter_lock = 14,
	.thread_next = 23,
	.thread_frame = 25,
	.thread_id = 26,
	.thread_native_id = 27,
	.frame_previous = 31,
	.frame_code = 32,
	.frame_instruction = 33,
	.frame_locals = 34,
	.code_file = 39,
	.code_name = 41,
	.code_lines = 42,
	.code_first_line = 43,
	.code_instructions = 47,
	.object_type = 50,
	.bytes_length = 74,
	.bytes_data = 75,
	.text_state = 77,
	.text_data = 79,
};

static const struct mr_python_layout *read_offsets(const struct places *places, uint32_t version,
						   const uint8_t bytes[MR_PYTHON_OFFSETS_BYTES],
						   struct mr_python_layout *room,
						   const char **ret_why)
{
	uint64_t said[PLACES];
	*ret_why = "the interpreter's own offsets are not as expected";
	if (memcmp(bytes, "xdebugpy", 8) != 0)
		return NULL;
	memcpy(said, bytes + 8, sizeof said);
	if (said[PLACE_VERSION] != version)
		return NULL;
	if (said[PLACE_FREE_THREADED]) {
		*ret_why = "the interpreter is free-threaded: its threads move code while others "
			   "run it";
		return NULL;
	}
	if (said[places->object_type] != MR_PYTHON_OBJECT_TYPE ||
	    said[places->bytes_length] != MR_PYTHON_BYTES_LENGTH ||
	    said[places->bytes_data] != MR_PYTHON_BYTES_DATA ||
	    said[places->text_state] != MR_PYTHON_TEXT_STATE)
		return NULL;
	*room = (struct mr_python_layout){.lines = MR_PYTHON_LINES_LOCATIONS,
					  .ready_before_finalizing = READY_BEFORE,
					  .type_keys = TYPE_KEYS,
					  .attributes = MR_PYTHON_ATTRIBUTES_INLINE};
	bool is_sane = true;
#define TAKE(member, place)                  \
	is_sane &= said[place] < OFFSET_MAX; \
	room->member = (uint32_t)said[place]
	TAKE(runtime_finalizing, PLACE_FINALIZING);
	TAKE(runtime_interpreters, PLACE_INTERPRETERS);
	TAKE(interpreter_lock, places->interpreter_lock);
	TAKE(interpreter_next, places->interpreter_next);
	TAKE(interpreter_threads, places->interpreter_threads);
	TAKE(thread_next, places->thread_next);
	TAKE(thread_id, places->thread_id);
	TAKE(thread_native_id, places->thread_native_id);
	TAKE(thread_frame, places->thread_frame);
	TAKE(frame_previous, places->frame_previous);
	TAKE(frame_code, places->frame_code);
	TAKE(frame_instruction, places->frame_instruction);
	TAKE(frame_locals, places->frame_locals);
	TAKE(code_first_line, places->code_first_line);
	TAKE(code_file, places->code_file);
	TAKE(code_name, places->code_name);
	TAKE(code_lines, places->code_lines);
	TAKE(code_instructions, places->code_instructions);
	TAKE(text_data, places->text_data);
#undef TAKE
	room->wide_text_data = room->text_data + 16; /* a length and a pointer more */
	return is_sane ? room : NULL;
}

const struct mr_python_layout *mr_python_layout_find(uint32_t version,
						     const uint8_t offsets[MR_PYTHON_OFFSETS_BYTES],
						     struct mr_python_layout *room,
						     const char **ret_why)
{
	switch (version >> VERSION_BITS) {
	case 0x0309:
		return &layout_3_9;
	case 0x030a:
		return &layout_3_10;
	case 0x030b:
		return &layout_3_11;
	case 0x030c:
		return &layout_3_12;
	case 0x030d:
		return read_offsets(&places_3_13, version, offsets, room, ret_why);
	case 0x030e:
		return read_offsets(&places_3_14, version, offsets, room, ret_why);
	default:
		*ret_why = "its version is not one of 3.9 to 3.14";
		return NULL;
	}
}
