/* SPDX-License-Identifier: Apache-2.0
 *
 * Where CPython keeps what says which line a thread executes:
 *
 *     _PyRuntime ─► interpreter ─► interpreter ...
 *                       └─► thread state ─► thread state ...
 *                                └─► frame ─► frame that called it ...
 *                                      └─► code object ─► file name, function name, table of lines
 *
 * Of 3.9 to 3.12 the places are in a table; from 3.13 on the interpreter says them itself, at the beginning of
 * _PyRuntime, for debuggers. Where they are wrong nevertheless (a build with other options), types do not match:
 * code.h checks them at each read.
 *
 * The same code reads its own process (src/hook/python) and another one (src/launch), through a reader that fails
 * where there is no memory.
 */
#ifndef MR_HOOK_PYTHON_LAYOUT_H
#define MR_HOOK_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies bytes of the process with the interpreter; false if they cannot be read. */
struct mr_python_reader {
	bool (*read)(void *context, void *to, uintptr_t from, size_t bytes);
	void *context;
};

static inline bool mr_python_read(const struct mr_python_reader *reader, void *to, uintptr_t from,
				  size_t bytes)
{
	return reader->read(reader->context, to, from, bytes);
}

enum mr_python_lines {
	MR_PYTHON_LINES_PAIRS, /* 3.9: steps of bytes and lines */
	MR_PYTHON_LINES_RANGES, /* 3.10: likewise, but each with its end, and ranges without a line */
	MR_PYTHON_LINES_LOCATIONS, /* from 3.11 on: a code with a length, and numbers of variable length */
};

/* Where instances of classes have their attributes (object.c). */
enum mr_python_attributes {
	MR_PYTHON_ATTRIBUTES_PLAIN,  /* 3.9, 3.10: a dictionary */
	MR_PYTHON_ATTRIBUTES_BESIDE, /* 3.11: an array or a dictionary, each with its own pointer */
	MR_PYTHON_ATTRIBUTES_TAGGED, /* 3.12: either, by one pointer with a tag */
	MR_PYTHON_ATTRIBUTES_INLINE, /* from 3.13 on: behind the object, or a dictionary */
};

enum {
	MR_PYTHON_OBJECT_TYPE = 8,   /* in every object: its type */
	MR_PYTHON_BYTES_LENGTH = 16, /* in bytes objects and texts */
	MR_PYTHON_BYTES_DATA = 32,   /* in bytes objects */
	MR_PYTHON_TEXT_STATE = 32,   /* in texts: how the characters are stored */
	MR_PYTHON_LOCK_BYTES = 208,  /* of a GIL: two pairs of condition and mutex, and numbers */
	MR_PYTHON_OFFSETS_BYTES =
		648, /* of what 3.13 and 3.14 say of themselves, as far as it is read */
};

/* Offsets in bytes. */
struct mr_python_layout {
	uint32_t
		runtime_finalizing; /* in _PyRuntime: the thread that ends the interpreter, or NULL */
	uint32_t ready_before_finalizing; /* so many bytes before: 1 when it is initialised */
	uint32_t runtime_interpreters;    /* in _PyRuntime: the first interpreter */
	uint32_t runtime_lock; /* in _PyRuntime: the GIL; 0: each interpreter points to its own */
	uint32_t interpreter_lock; /* in an interpreter: that pointer */
	uint32_t interpreter_next;
	uint32_t interpreter_threads;
	uint32_t thread_next;
	uint32_t thread_id;        /* pthread_self() */
	uint32_t thread_native_id; /* gettid(); 0: not kept */
	uint32_t thread_frame;     /* the frame, or a pointer to ... */
	bool frame_is_indirect;    /* ... a struct with the frame */
	uint32_t indirect_frame;   /* in that struct */
	uint32_t frame_previous;
	uint32_t frame_code;
	uint32_t frame_instruction; /* a pointer, or before 3.11 a number of 4 bytes */
	uint32_t instruction_bytes; /* before 3.11: what the number counts; 0: it is a pointer */
	uint32_t frame_locals;      /* local variables, the arguments first */
	uint32_t code_first_line;
	uint32_t code_file;
	uint32_t code_name;
	uint32_t code_lines;
	uint32_t code_instructions; /* from 3.11 on: where they begin */
	uint32_t text_data;         /* in a text of ASCII characters: where they are */
	uint32_t wide_text_data;    /* in another */
	uint32_t
		type_keys; /* in a class, from 3.11 on: names of attributes that its instances share */
	enum mr_python_lines lines;
	enum mr_python_attributes attributes;
};

/* The layout of a version, as 0x030b02f0. `offsets` is the beginning of _PyRuntime; needed from 3.13 on. NULL if there is
 * none; then `ret_why` says why. */
const struct mr_python_layout *mr_python_layout_find(uint32_t version,
						     const uint8_t offsets[MR_PYTHON_OFFSETS_BYTES],
						     struct mr_python_layout *room,
						     const char **ret_why);

#endif
