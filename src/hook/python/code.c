/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of lines, one entry after the other; each covers the instructions behind those of the one before it:
 *
 *     3.9     bytes, lines            the line changes after so many bytes
 *     3.10    bytes, lines            a range of so many bytes, whose line is so many further; -128: has none
 *     3.11 +  1 kkkk nnn, numbers     nnn + 1 instructions of two bytes; kkkk says how the numbers give the line:
 *                                     0 … 9 the same line, 10 … 12 so many further, 13 and 14 by the first number,
 *                                     15 no line. Numbers have six bits a byte, and no byte of them has the high bit.
 */
#include "hook/python/code.h"

#include <string.h>

#include "base/macros.h"

enum {
	CHUNK_BYTES = 512,     /* of a table read at once */
	TABLE_MAX = 4 << 20,   /* bytes: code of a million lines */
	LINE_MAX = 1 << 28,    /* no file has more */
	NO_LINE = -128,        /* 3.10 */
	INSTRUCTION_BYTES = 2, /* from 3.11 on */
	KIND_FURTHER = 10,     /* ... so many lines */
	KIND_NUMBER_ONLY = 13, /* the line, no columns */
	KIND_NUMBER = 14,      /* the line and columns */
	KIND_NONE = 15,
	STATE_KIND_SHIFT = 2, /* in the state of a text: bytes per character */
	STATE_KIND_MASK = 7,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
};

/* ---- texts -------------------------------------------------------------------------------------- */

/* Appends a character as UTF-8; false if it does not fit. */
static bool put_character(char *text, size_t room, size_t *length, uint32_t character)
{
	char bytes[4];
	size_t count = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

	/* Halves of a surrogate pair stand for bytes of a file name that are no UTF-8. */
	if (character == 0 || character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) {
		character = '?';
		count = 1;
	}
	if (*length + count >= room)
		return false;
	for (size_t i = count; i-- > 1; character >>= 6)
		bytes[i] = (char)(0x80 | (character & 0x3f));
	bytes[0] = (char)(marks[count] | character);
	memcpy(text + *length, bytes, count);
	*length += count;
	return true;
}

/* Bytes of a character, and where the characters are; 0 if it is no text that we know. */
static uint32_t text_form(const struct mr_python *python, const uint8_t head[], uintptr_t at,
			  uint64_t *ret_characters, uintptr_t *ret_data)
{
	uintptr_t type;
	uint32_t state;
	memcpy(&type, head + MR_PYTHON_OBJECT_TYPE, sizeof type);
	memcpy(ret_characters, head + MR_PYTHON_BYTES_LENGTH, sizeof *ret_characters);
	memcpy(&state, head + MR_PYTHON_TEXT_STATE, sizeof state);
	uint32_t kind = state >> STATE_KIND_SHIFT & STATE_KIND_MASK;
	if (type != python->text_type || !(state & STATE_COMPACT) ||
	    (kind != 1 && kind != 2 && kind != 4))
		return 0;
	*ret_data = at + (state & STATE_ASCII ? python->layout.text_data
					      : python->layout.wide_text_data);
	return kind;
}

bool mr_python_text_read(const struct mr_python *python, const struct mr_python_reader *reader,
			 uintptr_t at, char *ret_text, size_t room)
{
	uint8_t head[MR_PYTHON_TEXT_STATE + 8];
	uint64_t characters;
	uintptr_t data;
	uint8_t bytes[MR_PYTHON_FILE_BYTES];
	if (!mr_python_read(reader, head, at, sizeof head))
		return false;
	uint32_t kind = text_form(python, head, at, &characters, &data);
	if (kind == 0)
		return false;
	size_t length = 0;
	for (uint64_t done = 0; done < characters;) {
		uint64_t count = mr_min(characters - done, (uint64_t)sizeof bytes / kind);
		if (!mr_python_read(reader, bytes, data + done * kind, count * kind))
			return false;
		for (uint64_t i = 0; i < count; i++) {
			uint32_t character = 0;
			memcpy(&character, bytes + i * kind, kind);
			if (!put_character(ret_text, room, &length, character)) {
				ret_text[length] = 0;
				return true;
			}
		}
		done += count;
	}
	ret_text[length] = 0;
	return true;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* A table of lines, read piece by piece. */
struct table {
	const struct mr_python_reader *reader;
	uintptr_t at;
	uint64_t left;
	size_t have, used;
	uint8_t bytes[CHUNK_BYTES];
};

/* The next byte, or -1 at the end. `peek` leaves it there. */
static int next_byte(struct table *table, bool peek)
{
	if (table->used == table->have) {
		table->have = (size_t)mr_min(table->left, (uint64_t)sizeof table->bytes);
		table->used = 0;
		if (table->have == 0 ||
		    !mr_python_read(table->reader, table->bytes, table->at, table->have)) {
			table->have = table->left = 0;
			return -1;
		}
		table->at += table->have;
		table->left -= table->have;
	}
	int byte = table->bytes[table->used];
	table->used += !peek;
	return byte;
}

static int64_t line_of_pairs(struct table *table, int64_t line, int64_t offset)
{
	for (int64_t at = 0;;) {
		int bytes = next_byte(table, false), lines = next_byte(table, false);
		at += bytes;
		if (lines < 0 || at > offset)
			return line;
		line += (int8_t)lines;
	}
}

/* 0: it has none. */
static int64_t line_of_ranges(struct table *table, int64_t line, int64_t offset)
{
	for (int64_t end = 0;;) {
		int bytes = next_byte(table, false), lines = next_byte(table, false);
		if (lines < 0)
			return 0;
		bool has_line = (int8_t)lines != NO_LINE;
		end += bytes;
		line += has_line ? (int8_t)lines : 0;
		if (offset < end)
			return has_line ? line : 0;
	}
}

/* A number of six bits a byte, lowest first; its own lowest bit is the sign. */
static int64_t signed_number(struct table *table)
{
	uint64_t number = 0;
	for (unsigned int shift = 0; shift < 36; shift += 6) {
		int byte = next_byte(table, true);
		if (byte < 0 || byte & 0x80)
			break;
		next_byte(table, false);
		number |= (uint64_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
}

static int64_t line_of_locations(struct table *table, int64_t line, int64_t offset)
{
	for (int64_t end = 0;;) {
		int first = next_byte(table, false);
		if (first < 0)
			return 0;
		int kind = first >> 3 & 15;
		end += ((first & 7) + 1) * INSTRUCTION_BYTES;
		if (kind == KIND_NUMBER_ONLY || kind == KIND_NUMBER)
			line += signed_number(table);
		else if (kind >= KIND_FURTHER && kind < KIND_NUMBER_ONLY)
			line += kind - KIND_FURTHER;
		if (offset < end)
			return kind == KIND_NONE ? 0 : line;
		for (int byte; (byte = next_byte(table, true)) >= 0 && !(byte & 0x80);)
			next_byte(table, false);
	}
}

static bool read_line(const struct mr_python *python, const struct mr_python_reader *reader,
		      uintptr_t bytes_object, int64_t offset, struct mr_python_code *code)
{
	struct table table = {.reader = reader, .at = bytes_object + MR_PYTHON_BYTES_DATA};
	int64_t line = code->first_line;
	if (!mr_python_read(reader, &table.left, bytes_object + MR_PYTHON_BYTES_LENGTH,
			    sizeof table.left) ||
	    table.left > TABLE_MAX)
		return false;
	if (offset >= 0)
		line = python->layout.lines == MR_PYTHON_LINES_PAIRS
			       ? line_of_pairs(&table, line, offset)
		       : python->layout.lines == MR_PYTHON_LINES_RANGES
			       ? line_of_ranges(&table, line, offset)
			       : line_of_locations(&table, line, offset);
	code->line = line > 0 && line < LINE_MAX ? (uint32_t)line : code->first_line;
	return true;
}

/* ---- code --------------------------------------------------------------------------------------- */

bool mr_python_is_code(const struct mr_python *python, const struct mr_python_reader *reader,
		       uintptr_t code)
{
	uintptr_t type;
	return mr_python_read(reader, &type, code + MR_PYTHON_OBJECT_TYPE, sizeof type) &&
	       type == python->code_type;
}

int64_t mr_python_instruction_offset(const struct mr_python *python,
				     const struct mr_python_frame *frame)
{
	const struct mr_python_layout *layout = &python->layout;
	if (layout->instruction_bytes > 0)
		return (int64_t)(int32_t)frame->instruction * layout->instruction_bytes;
	return (int64_t)(frame->instruction - (frame->code + layout->code_instructions));
}

bool mr_python_code_read(const struct mr_python *python, const struct mr_python_reader *reader,
			 const struct mr_python_frame *frame, struct mr_python_code *ret_code)
{
	const struct mr_python_layout *layout = &python->layout;
	const uintptr_t code = frame->code;
	uintptr_t file, name, lines;
	int32_t first_line;
	return mr_python_is_code(python, reader, code) &&
	       mr_python_read(reader, &file, code + layout->code_file, sizeof file) &&
	       mr_python_read(reader, &name, code + layout->code_name, sizeof name) &&
	       mr_python_read(reader, &lines, code + layout->code_lines, sizeof lines) &&
	       mr_python_read(reader, &first_line, code + layout->code_first_line,
			      sizeof first_line) &&
	       first_line >= 0 && first_line < LINE_MAX &&
	       (ret_code->first_line = (uint32_t)first_line, true) &&
	       mr_python_text_read(python, reader, file, ret_code->file, sizeof ret_code->file) &&
	       mr_python_text_read(python, reader, name, ret_code->name, sizeof ret_code->name) &&
	       (ret_code->is_shim = strcmp(ret_code->file, "<shim>") == 0, true) &&
	       read_line(python, reader, lines, mr_python_instruction_offset(python, frame),
			 ret_code);
}
