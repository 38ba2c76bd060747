/* SPDX-License-Identifier: Apache-2.0
 *
 * Code objects of CPython: file, function and the line of an instruction; and texts. All is read by a reader (layout.h) and checked:
 * objects have the types that they should have, numbers are in their ranges.
 */
#ifndef MR_HOOK_PYTHON_CODE_H
#define MR_HOOK_PYTHON_CODE_H

#include "hook/python/layout.h"

enum {
	MR_PYTHON_FILE_BYTES = 1024, /* longer texts are cut */
	MR_PYTHON_NAME_BYTES = 512,
	MR_PYTHON_FRAMES =
		128, /* of a stack, from the innermost on; those further out are left out */
};

/* An interpreter, as far as reading its code needs it. */
struct mr_python {
	struct mr_python_layout layout;
	uintptr_t runtime;   /* _PyRuntime */
	uintptr_t code_type; /* PyCode_Type */
	uintptr_t text_type; /* PyUnicode_Type */
};

/* Of one frame: its code object, and which instruction of it runs: its address, or its number before 3.11. */
struct mr_python_frame {
	uintptr_t code;
	uint64_t instruction;
};

struct mr_python_code {
	uint32_t first_line;
	uint32_t line; /* of the instruction; the first line, if it has none */
	bool is_shim;  /* stands between calls from C (3.12), and is no line of the program */
	char file[MR_PYTHON_FILE_BYTES];
	char name[MR_PYTHON_NAME_BYTES]; /* with classes and functions around it from 3.11 on */
};

/* Pointers to code objects may have a tag in their low bits (3.14). */
static inline uintptr_t mr_python_untagged(uintptr_t pointer)
{
	return pointer & ~(uintptr_t)7;
}

/* Whether it is a code object: frames without one stand between calls from C (3.13 and later). */
bool mr_python_is_code(const struct mr_python *python, const struct mr_python_reader *reader,
		       uintptr_t code);

/* How many bytes into its code the frame's instruction is; negative: before the first. */
int64_t mr_python_instruction_offset(const struct mr_python *python,
				     const struct mr_python_frame *frame);

/* Copies a text object as UTF-8, cut where the room ends. */
bool mr_python_text_read(const struct mr_python *python, const struct mr_python_reader *reader,
			 uintptr_t at, char *ret_text, size_t room);

/* False if something cannot be read or is not what it should be. */
bool mr_python_code_read(const struct mr_python *python, const struct mr_python_reader *reader,
			 const struct mr_python_frame *frame, struct mr_python_code *ret_code);

#endif
