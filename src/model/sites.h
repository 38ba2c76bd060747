/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of code, each with the lines that led to it: "train.py:41 load_batch < train.py:88 main". The same line reached
 * in the same way is one site, in all processes of a trace and for whoever saw it there: the process itself, or the
 * recorder from outside.
 *
 *     sites   line 41 ──► code load_batch, train.py      parent is always a site with a lower number,
 *       │ parent                                         so that walking up ends; 0: none
 *       ▼
 *             line 88 ──► code main, train.py
 */
#ifndef MR_MODEL_SITES_H
#define MR_MODEL_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/vector.h"

/* A function, a module ... */
struct mr_code {
	uint32_t file; /* string */
	uint32_t name; /* string */
	uint32_t first_line;
};

struct mr_site {
	uint32_t code;
	uint32_t line;
	uint32_t parent; /* site */
	uint32_t depth;  /* sites above it */
	uint32_t same;   /* the first site of this line, however it was reached */
	uint32_t stack;  /* string, as mr_sites_stack() writes it */
};

/* Number 0 of both lists means none. */
struct mr_sites {
	mr_vec(struct mr_code) codes;
	struct mr_site *items;
	size_t count;
	size_t capacity;
	struct mr_strings code_keys; /* what they are → number */
	struct mr_strings site_keys;
	struct mr_strings
		line_keys; /* code and line → the first site of it has this number in `firsts` */
	mr_vec(uint32_t) firsts;
};

enum {
	MR_STACK_SITES = 16,   /* in the text of a stack; those further out are left out */
	MR_STACK_BYTES = 2048, /* of that text */
};

int mr_sites_start(struct mr_sites *sites);
void mr_sites_free(struct mr_sites *sites);

/* Finds or adds it; 0 or -ENOMEM. What follows from code, line and parent of a site is computed here, but for its text. */
int mr_sites_add_code(struct mr_sites *sites, const struct mr_code *code, uint32_t *ret_number);
int mr_sites_add(struct mr_sites *sites, const struct mr_site *site, uint32_t *ret_number);

/* Writes the texts of all stacks into the strings. -ENOMEM. */
int mr_sites_write_stacks(struct mr_sites *sites, struct mr_strings *strings);

/* Where code comes from, by the path of its file; the second: that of a line. */
enum mr_code_origin {
	MR_CODE_PROGRAM,
	MR_CODE_LIBRARY, /* of the interpreter itself */
	MR_CODE_PACKAGE, /* installed, or without a file */
};
enum mr_code_origin mr_code_origin(const char *path);
enum mr_code_origin mr_sites_origin(const struct mr_sites *sites, const struct mr_strings *strings,
				    uint32_t site);

/* The innermost line of the program itself that led to the site; the site itself if there is none. */
uint32_t mr_sites_of_program(const struct mr_sites *sites, const struct mr_strings *strings,
			     uint32_t site);

/* "train.py:41 load_batch", without folders; the empty text for site 0. Returns ret_text. */
const char *mr_sites_line(const struct mr_sites *sites, const struct mr_strings *strings,
			  uint32_t site, char *ret_text, size_t room);

/* The same with up to `most` of the sites above: "train.py:41 load_batch < train.py:88 main < ...". */
const char *mr_sites_stack(const struct mr_sites *sites, const struct mr_strings *strings,
			   uint32_t site, uint32_t most, char *ret_text, size_t room);

#endif
