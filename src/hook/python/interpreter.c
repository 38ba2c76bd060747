/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the Python interpreter of the process, records where it has its state and its lock, and checks that its frames are
 * where layout.h expects them.
 *
 * From 3.8 to 3.14 the main interpreter's global lock, a condition variable with its mutex, lies inside the variable
 * _PyRuntime, so a thread that waits at an address in there waits for the GIL, even if no layout is known. Other
 * interpreters of the same process may have a GIL of their own, elsewhere.
 *
 * The check: the frames of the first thread that asks must lead to code objects, with texts for names, instructions
 * within the code, and lines that are those which the interpreter itself computes. All is read such that it cannot fault.
 * Only an interpreter that is there when the program starts is used, as that one cannot be unloaded.
 */
#include "hook/python/python.h"

#include <pthread.h>
#include <stdio.h>

#include "hook/hook.h"
#include "hook/symbols.h"
#include "record/peek.h"
#include "record/recorder.h"

struct mr_own_python mr_own_python;

static bool read_own(void *context, void *to, uintptr_t from, size_t bytes)
{
	return mr_peek_copy(context, to, (const void *)from, bytes);
}

struct mr_python_reader mr_own_reader(void *peek)
{
	return (struct mr_python_reader){.read = read_own, .context = peek};
}

static void refuse(const char *why)
{
	char text[256];
	snprintf(text, sizeof text, "Python's frames (%s): events carry no lines of Python", why);
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, text);
}

/* ---- finding it --------------------------------------------------------------------------------- */

/* As 0x030b02f0; before 3.11 it is a text only, which is the interpreter's to make: symbols tell the two apart. */
static uint32_t find_version(void)
{
	size_t bytes;
	const unsigned long *version = mr_symbol_find_object("Py_Version", &bytes);
	if (version && bytes == sizeof *version)
		return (uint32_t)*version;
	return mr_symbol_find("PyIter_Send")       ? 0x030a0000
	       : mr_symbol_find("PyFrame_GetCode") ? 0x03090000
						   : 0;
}

/* NULL if all is there, else what is not. */
static const char *find_parts(const void *runtime, size_t runtime_bytes)
{
	struct mr_own_python *own = &mr_own_python;
	uint8_t offsets[MR_PYTHON_OFFSETS_BYTES] = {0};
	struct mr_python_layout room;
	const char *why;

	memcpy(offsets, runtime, mr_min(sizeof offsets, runtime_bytes));
	const uint32_t version = find_version();
	const struct mr_python_layout *layout =
		mr_python_layout_find(version, offsets, &room, &why);
	if (!layout)
		return why;
	own->python = (struct mr_python){
		.layout = *layout,
		.runtime = (uintptr_t)runtime,
		.code_type = (uintptr_t)mr_symbol_find("PyCode_Type"),
		.text_type = (uintptr_t)mr_symbol_find("PyUnicode_Type"),
	};
	own->version = version;
	own->none = (uintptr_t)mr_symbol_find("_Py_NoneStruct");
	own->false_object = (uintptr_t)mr_symbol_find("_Py_FalseStruct");
	own->current_thread_state = mr_symbol_find("PyThreadState_GetUnchecked"); /* from 3.13 on */
	if (!own->current_thread_state)
		own->current_thread_state = mr_symbol_find("_PyThreadState_UncheckedGet");
	own->own_thread_state = mr_symbol_find("PyGILState_GetThisThreadState");
	own->line_of = mr_symbol_find("PyCode_Addr2Line");
	if (!own->python.code_type || !own->python.text_type || !own->none ||
	    !own->own_thread_state || !own->line_of ||
	    layout->runtime_lock + MR_PYTHON_LOCK_BYTES > runtime_bytes)
		return "the interpreter does not export all that is needed";
	return mr_peek_is_possible() ? NULL : "memory cannot be checked in this sandbox";
}

static void note_lock(uintptr_t address)
{
	const struct mr_event_interpreter_lock lock = {.address = address,
						       .bytes = MR_PYTHON_LOCK_BYTES};
	mr_define_event(MR_EVENT_interpreter_lock, &lock, sizeof lock, NULL);
}

static void start(void)
{
	size_t bytes;
	const void *runtime = mr_arena ? mr_symbol_find_object("_PyRuntime", &bytes) : NULL;
	struct mr_event_interpreter event;

	if (!runtime)
		return;
	event = (struct mr_event_interpreter){.address = (uintptr_t)runtime, .bytes = bytes};
	mr_define_event(MR_EVENT_interpreter, &event, sizeof event, NULL);
	const char *why = find_parts(runtime, bytes);
	if (why) {
		refuse(why);
		return;
	}
	if (mr_own_python.python.layout.runtime_lock)
		note_lock((uintptr_t)runtime + mr_own_python.python.layout.runtime_lock);
	const struct mr_own_python *own = &mr_own_python;
	mr_process_show_interpreter(&(struct mr_interpreter_place){
		(uintptr_t)runtime, own->python.code_type, own->python.text_type, own->version});
	atomic_store_explicit(&mr_own_python.state, MR_PYTHON_FOUND, memory_order_release);
}

/* ---- checking it -------------------------------------------------------------------------------- */

enum verdict {
	RUNS_NOTHING, /* no code in any frame: ask again later */
	IS_RIGHT,
	IS_WRONG,
};

static bool line_is_right(const struct mr_python *python, const struct mr_python_reader *reader,
			  const struct mr_python_frame *frame)
{
	struct mr_python_code code;
	int64_t offset = mr_python_instruction_offset(python, frame);
	if (offset < -2 || offset > INT32_MAX || !mr_python_code_read(python, reader, frame, &code))
		return false;
	int line = mr_own_python.line_of((const void *)frame->code, (int)offset);
	return line == (int)code.line || (line <= 0 && code.line == code.first_line);
}

static enum verdict check_frames(const struct mr_python *python, uintptr_t thread_state)
{
	struct mr_peek peek = {0};
	const struct mr_python_reader reader = mr_own_reader(&peek);
	const struct mr_python_layout *layout = &python->layout;
	enum verdict verdict = RUNS_NOTHING;
	uintptr_t frame, id;

	if (!mr_python_read(&reader, &id, thread_state + layout->thread_id, sizeof id) ||
	    id != (uintptr_t)pthread_self() ||
	    !mr_python_read(&reader, &frame, thread_state + layout->thread_frame, sizeof frame) ||
	    (layout->frame_is_indirect &&
	     !mr_python_read(&reader, &frame, frame + layout->indirect_frame, sizeof frame)))
		return IS_WRONG;
	for (int depth = 0; frame && depth < MR_PYTHON_FRAMES; depth++) {
		struct mr_python_frame at = {0};
		if (!mr_python_read(&reader, &at.code, frame + layout->frame_code,
				    sizeof at.code) ||
		    !mr_python_read(&reader, &at.instruction, frame + layout->frame_instruction,
				    sizeof at.instruction) ||
		    !mr_python_read(&reader, &frame, frame + layout->frame_previous, sizeof frame))
			return IS_WRONG;
		at.code = mr_python_untagged(at.code);
		if (!mr_python_is_code(python, &reader, at.code))
			continue; /* between calls from C; if the layout is wrong, there is no code at all */
		if (!line_is_right(python, &reader, &at))
			return IS_WRONG;
		verdict = IS_RIGHT;
	}
	return verdict;
}

/* In 3.12 and later: of the interpreter that the thread runs in, which is known to have a right layout. */
static void note_own_lock(const struct mr_python *python)
{
	struct mr_peek peek = {0};
	const struct mr_python_reader reader = mr_own_reader(&peek);
	uintptr_t interpreter, lock;
	if (!python->layout.runtime_lock &&
	    mr_python_read(&reader, &interpreter,
			   python->runtime + python->layout.runtime_interpreters,
			   sizeof interpreter) &&
	    mr_python_read(&reader, &lock, interpreter + python->layout.interpreter_lock,
			   sizeof lock) &&
	    lock)
		note_lock(lock);
}

bool mr_python_check(void)
{
	struct mr_own_python *own = &mr_own_python;
	uintptr_t thread_state = (uintptr_t)own->own_thread_state();
	enum verdict verdict =
		thread_state ? check_frames(&own->python, thread_state) : RUNS_NOTHING;
	uint8_t found = MR_PYTHON_FOUND;

	if (verdict == RUNS_NOTHING)
		return false;
	if (!atomic_compare_exchange_strong(&own->state, &found,
					    verdict == IS_RIGHT ? MR_PYTHON_READ : MR_PYTHON_NONE))
		return found == MR_PYTHON_READ; /* another thread was faster */
	if (verdict == IS_WRONG)
		refuse("the interpreter keeps them in another way than its version does");
	else
		note_own_lock(&own->python);
	return verdict == IS_RIGHT;
}

const struct mr_hook_functions mr_python_functions = {.start = start};
