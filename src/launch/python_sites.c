/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_sites.h"

#include <stdio.h>

#include "record/recorder.h"

enum {
	SITES_MAX = 1 << 18, /* of one process, and of all */
	CHECKED_FOR_NS = 500000000,
};

struct key {
	uint32_t parent;
	uint32_t code;
	uint64_t instruction; /* relative to the code, or its number */
};

void mr_python_sites_free(struct mr_python_sites *sites)
{
	mr_strings_free(&sites->codes);
	mr_vec_free(&sites->known);
	mr_strings_free(&sites->keys);
	mr_vec_free(&sites->sites);
}

void mr_python_defined_free(struct mr_python_defined *defined)
{
	mr_strings_free(&defined->codes);
	mr_vec_free(&defined->code_ids);
	mr_strings_free(&defined->sites);
	mr_vec_free(&defined->site_ids);
}

/* ---- defining ----------------------------------------------------------------------------------- */

static uint32_t define_code(struct mr_python_defined *defined, const struct mr_python_code *code)
{
	struct mr_event_def_code event = {.file = mr_define_string(code->file),
					  .name = mr_define_string(code->name),
					  .first_line = code->first_line};
	const uint32_t key[] = {event.file, event.name, event.first_line};
	uint32_t index;
	if (mr_strings_count(&defined->codes) >= SITES_MAX ||
	    mr_strings_intern(&defined->codes, key, sizeof key, &index) < 0)
		return 0;
	if (index < defined->code_ids.count)
		return defined->code_ids.items[index];
	event.id = mr_definition_take();
	bool is_defined = mr_define_event(MR_EVENT_def_code, &event, sizeof event, NULL);
	if (mr_vec_push(&defined->code_ids, is_defined ? event.id : 0) < 0)
		return 0;
	return is_defined ? event.id : 0;
}

static uint32_t define_site(struct mr_python_defined *defined, uint32_t code, uint32_t line,
			    uint32_t parent)
{
	const uint32_t key[] = {code, line, parent};
	uint32_t index;
	if (mr_strings_count(&defined->sites) >= SITES_MAX ||
	    mr_strings_intern(&defined->sites, key, sizeof key, &index) < 0)
		return 0;
	if (index < defined->site_ids.count)
		return defined->site_ids.items[index];
	const struct mr_event_def_site event = {
		.id = mr_definition_take(), .code = code, .line = line, .parent = parent};
	bool is_defined = mr_define_event(MR_EVENT_def_site, &event, sizeof event, NULL);
	if (mr_vec_push(&defined->site_ids, is_defined ? event.id : 0) < 0)
		return 0;
	return is_defined ? event.id : 0;
}

/* ---- code objects ------------------------------------------------------------------------------- */

static bool read_identity(const struct mr_python *python, const struct mr_python_reader *reader,
			  uintptr_t code, struct mr_python_known *known)
{
	const struct mr_python_layout *layout = &python->layout;
	return mr_python_is_code(python, reader, code) &&
	       mr_python_read(reader, &known->first_line, code + layout->code_first_line,
			      sizeof known->first_line) &&
	       mr_python_read(reader, &known->file, code + layout->code_file, sizeof known->file) &&
	       mr_python_read(reader, &known->name, code + layout->code_name, sizeof known->name) &&
	       mr_python_read(reader, &known->lines, code + layout->code_lines,
			      sizeof known->lines);
}

static bool is_same(const struct mr_python_known *a, const struct mr_python_known *b)
{
	return a->number != 0 && a->first_line == b->first_line && a->file == b->file &&
	       a->name == b->name && a->lines == b->lines;
}

/* Is it code of the program? Not what stands between calls from C (3.12). */
static bool is_of_program(const struct mr_python *python, const struct mr_python_reader *reader,
			  const struct mr_python_frame *frame)
{
	static struct mr_python_code code; /* record has one thread */
	return mr_python_code_read(python, reader, frame, &code) && !code.is_shim;
}

/* The number of a frame's code object; 0 if it is none. */
static uint32_t number_of(struct mr_python_sites *sites, const struct mr_python *python,
			  const struct mr_python_reader *reader,
			  const struct mr_python_frame *frame, bool is_innermost, uint64_t now_ns)
{
	const uintptr_t code = frame->code;
	struct mr_python_known now = {.checked_ns = now_ns};
	uint32_t index;
	if (mr_strings_count(&sites->codes) >= SITES_MAX ||
	    mr_strings_intern(&sites->codes, &code, sizeof code, &index) < 0 ||
	    (index == sites->known.count &&
	     mr_vec_push(&sites->known, ((struct mr_python_known){0})) < 0))
		return 0;
	struct mr_python_known *known = &sites->known.items[index];
	if (known->checked_ns && !is_innermost && now_ns - known->checked_ns < CHECKED_FOR_NS)
		return known->number;
	if (!read_identity(python, reader, code, &now))
		now.number = 0;
	else if (is_same(known, &now))
		now.number = known->number;
	else if (is_of_program(python, reader, frame))
		now.number = ++sites->numbers;
	*known = now;
	return now.number;
}

/* ---- sites -------------------------------------------------------------------------------------- */

static uint32_t define(struct mr_python_defined *defined, const struct mr_python *python,
		       const struct mr_python_reader *reader, const struct mr_python_frame *frame,
		       uint32_t parent)
{
	static struct mr_python_code code; /* record has one thread */
	if (!mr_python_code_read(python, reader, frame, &code))
		return 0;
	uint32_t id = define_code(defined, &code);
	return id ? define_site(defined, id, code.line, parent) : 0;
}

static uint32_t find_one(struct mr_python_sites *sites, struct mr_python_defined *defined,
			 const struct mr_python *python, const struct mr_python_reader *reader,
			 const struct mr_python_frame *frame, struct key key)
{
	uint32_t index;
	if (mr_strings_count(&sites->keys) >= SITES_MAX ||
	    mr_strings_intern(&sites->keys, &key, sizeof key, &index) < 0)
		return 0;
	if (index < sites->sites.count && sites->sites.items[index])
		return sites->sites.items[index];
	uint32_t id = define(defined, python, reader, frame, key.parent);
	if (index == sites->sites.count && mr_vec_push(&sites->sites, id) < 0)
		return 0;
	return sites->sites.items[index] = id;
}

uint32_t mr_python_sites_find(struct mr_python_sites *sites, struct mr_python_defined *defined,
			      const struct mr_python *python, struct mr_python_memory *memory,
			      const struct mr_python_stack *stack, uint64_t now_ns)
{
	const struct mr_python_reader reader = mr_python_memory_reader(memory);
	uint32_t site = 0;
	for (uint32_t i = stack->count; i-- > 0;) {
		const struct mr_python_frame *frame = &stack->frames[i];
		uint32_t code = number_of(sites, python, &reader, frame, i == 0, now_ns);
		if (code == 0)
			continue;
		struct key key = {site, code,
				  (uint64_t)mr_python_instruction_offset(python, frame)};
		site = find_one(sites, defined, python, &reader, frame, key);
		if (site == 0)
			return 0;
	}
	return site;
}

uint32_t mr_python_sites_own(struct mr_python_defined *defined, const char *name)
{
	static struct mr_python_code code; /* record has one thread */
	snprintf(code.name, sizeof code.name, "%s", name);
	uint32_t id = define_code(defined, &code);
	return id ? define_site(defined, id, 0, 0) : 0;
}
