/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/python/thread_object.h"

#include <string.h>

enum {
	FRAMES_MAX = 1 << 14, /* deeper than Python lets programs go, unless they ask for it */
};

/* A frame, and its code object. */
struct place {
	uintptr_t frame, code;
};

/* Is it where every thread begins that Python starts? */
static bool is_beginning(const struct mr_python *python, const struct mr_python_reader *reader,
			 const struct place *place, bool *ret_is_shim)
{
	struct mr_python_code code;
	const struct mr_python_frame first = {
		place->code, python->layout.instruction_bytes
				     ? 0
				     : place->code + python->layout.code_instructions};
	*ret_is_shim = false;
	if (!place->frame || !mr_python_code_read(python, reader, &first, &code))
		return false;
	*ret_is_shim = code.is_shim;
	const char *dot = strrchr(code.name, '.');
	return strcmp(dot ? dot + 1 : code.name, "_bootstrap") == 0;
}

/* The outermost two frames that have code; false if they cannot be read. */
static bool find_outermost(const struct mr_python *python, const struct mr_python_reader *reader,
			   uintptr_t thread_state, struct place ret_places[2])
{
	const struct mr_python_layout *layout = &python->layout;
	uintptr_t frame;
	if (!mr_python_read(reader, &frame, thread_state + layout->thread_frame, sizeof frame) ||
	    (layout->frame_is_indirect && frame &&
	     !mr_python_read(reader, &frame, frame + layout->indirect_frame, sizeof frame)))
		return false;
	for (int left = FRAMES_MAX; frame && left > 0; left--) {
		uintptr_t code;
		if (!mr_python_read(reader, &code, frame + layout->frame_code, sizeof code))
			return false;
		code = mr_python_untagged(code);
		if (mr_python_is_code(python, reader, code)) {
			ret_places[1] = ret_places[0];
			ret_places[0] = (struct place){frame, code};
		}
		if (!mr_python_read(reader, &frame, frame + layout->frame_previous, sizeof frame))
			return false;
	}
	return true;
}

uintptr_t mr_python_thread_object(const struct mr_python *python,
				  const struct mr_python_reader *reader, uintptr_t thread_state)
{
	struct place places[2] = {{0}};
	uintptr_t self;
	bool is_shim;
	if (!find_outermost(python, reader, thread_state, places))
		return 0;
	const struct place *place = &places[0];
	if (!is_beginning(python, reader, place, &is_shim) &&
	    !(is_shim && is_beginning(python, reader, ++place, &is_shim)))
		return 0;
	return mr_python_read(reader, &self, place->frame + python->layout.frame_locals,
			      sizeof self)
		       ? mr_python_untagged(self)
		       : 0;
}
