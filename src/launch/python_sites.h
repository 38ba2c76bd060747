/* SPDX-License-Identifier: Apache-2.0
 *
 * From frames of another process to the id of a site, which the recorder defines in its own name:
 *
 *     code object ──► code: its number here          looked at again from time to time, as addresses are used again
 *     (site of the caller, code, instruction) ──► site
 *
 * What a process shows may be anything: texts are bounded, and so is the number of sites.
 */
#ifndef MR_LAUNCH_PYTHON_SITES_H
#define MR_LAUNCH_PYTHON_SITES_H

#include "base/strings.h"
#include "base/vector.h"
#include "launch/python_stack.h"

/* A code object, as long as it stays the same. */
struct mr_python_known {
	uint64_t checked_ns;
	int32_t first_line;
	uintptr_t file, name, lines; /* objects of the process */
	uint32_t number; /* here; 0: it is none, such as what stands between calls from C */
};

/* Of one process. A zeroed one is empty. */
struct mr_python_sites {
	struct mr_strings codes; /* address of a code object → index into `known` */
	mr_vec(struct mr_python_known) known;
	struct mr_strings keys; /* struct key → index into `sites` */
	mr_vec(uint32_t) sites; /* ids */
	uint32_t numbers;       /* given so far */
};

/* Of all processes: the same line is defined once. A zeroed one is empty. */
struct mr_python_defined {
	struct mr_strings codes; /* file, name, first line → index into `code_ids` */
	mr_vec(uint32_t) code_ids;
	struct mr_strings sites; /* code, line, parent → index into `site_ids` */
	mr_vec(uint32_t) site_ids;
};

void mr_python_sites_free(struct mr_python_sites *sites);
void mr_python_defined_free(struct mr_python_defined *defined);

/* 0: no Python, or there is no room for more. */
uint32_t mr_python_sites_find(struct mr_python_sites *sites, struct mr_python_defined *defined,
			      const struct mr_python *python, struct mr_python_memory *memory,
			      const struct mr_python_stack *stack, uint64_t now_ns);

/* A site of the interpreter's own work, for time in which it executes no Python: a name without a file. 0: there is no room
 * for more. */
uint32_t mr_python_sites_own(struct mr_python_defined *defined, const char *name);

#endif
