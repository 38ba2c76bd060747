/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sites.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"

int mr_sites_start(struct mr_sites *sites)
{
	uint32_t none;
	int result = mr_sites_add_code(sites, &(struct mr_code){0}, &none);
	return result | mr_sites_add(sites, &(struct mr_site){0}, &none);
}

void mr_sites_free(struct mr_sites *sites)
{
	mr_vec_free(&sites->codes);
	mr_vec_free(sites);
	mr_strings_free(&sites->code_keys);
	mr_strings_free(&sites->site_keys);
	mr_strings_free(&sites->line_keys);
	mr_vec_free(&sites->firsts);
}

int mr_sites_add_code(struct mr_sites *sites, const struct mr_code *code, uint32_t *ret_number)
{
	if (mr_strings_intern(&sites->code_keys, code, sizeof *code, ret_number) < 0)
		return -ENOMEM;
	return *ret_number < sites->codes.count ? 0 : mr_vec_push(&sites->codes, *code);
}

static int find_first(struct mr_sites *sites, struct mr_site *site, uint32_t number)
{
	const uint32_t key[] = {site->code, site->line};
	uint32_t place;
	if (mr_strings_intern(&sites->line_keys, key, sizeof key, &place) < 0 ||
	    (place == sites->firsts.count && mr_vec_push(&sites->firsts, number) < 0))
		return -ENOMEM;
	site->same = sites->firsts.items[place];
	return 0;
}

int mr_sites_add(struct mr_sites *sites, const struct mr_site *site, uint32_t *ret_number)
{
	struct mr_site added = {.code = site->code, .line = site->line, .parent = site->parent};
	if (mr_strings_intern(&sites->site_keys, &added, sizeof added, ret_number) < 0)
		return -ENOMEM;
	if (*ret_number < sites->count)
		return 0;
	added.depth = added.parent ? sites->items[added.parent].depth + 1 : 0;
	if (find_first(sites, &added, *ret_number) < 0)
		return -ENOMEM;
	return mr_vec_push(sites, added);
}

enum mr_code_origin mr_code_origin(const char *path)
{
	static const char *const packages[] = {"/site-packages/", "/dist-packages/"};
	static const char *const libraries[] = {"/lib/python", "/lib64/python", "<frozen "};

	if (*path == '\0')
		return MR_CODE_PACKAGE;
	for (size_t i = 0; i < mr_countof(packages); i++)
		if (strstr(path, packages[i]))
			return MR_CODE_PACKAGE;
	for (size_t i = 0; i < mr_countof(libraries); i++)
		if (strstr(path, libraries[i]))
			return MR_CODE_LIBRARY;
	return MR_CODE_PROGRAM;
}

enum mr_code_origin mr_sites_origin(const struct mr_sites *sites, const struct mr_strings *strings,
				    uint32_t site)
{
	const struct mr_code *code = &sites->codes.items[sites->items[site].code];

	return mr_code_origin(mr_strings_text(strings, code->file));
}

uint32_t mr_sites_of_program(const struct mr_sites *sites, const struct mr_strings *strings,
			     uint32_t site)
{
	for (uint32_t i = site; i; i = sites->items[i].parent)
		if (mr_sites_origin(sites, strings, i) == MR_CODE_PROGRAM)
			return i;
	return site;
}

int mr_sites_write_stacks(struct mr_sites *sites, struct mr_strings *strings)
{
	char text[MR_STACK_BYTES];
	for (uint32_t i = 1; i < sites->count; i++) {
		mr_sites_stack(sites, strings, i, MR_STACK_SITES - 1, text, sizeof text);
		if (mr_strings_intern(strings, text, strlen(text), &sites->items[i].stack) < 0)
			return -ENOMEM;
	}
	return 0;
}

const char *mr_sites_line(const struct mr_sites *sites, const struct mr_strings *strings,
			  uint32_t site, char *ret_text, size_t room)
{
	const struct mr_site *at = &sites->items[site];
	const struct mr_code *code = &sites->codes.items[at->code];
	const char *file = mr_strings_text(strings, code->file);
	const char *slash = strrchr(file, '/');
	ret_text[0] = 0;
	if (site && !*file) /* the interpreter's own work */
		snprintf(ret_text, room, "%s", mr_strings_text(strings, code->name));
	else if (site)
		snprintf(ret_text, room, "%s:%u %s", slash ? slash + 1 : file, at->line,
			 mr_strings_text(strings, code->name));
	return ret_text;
}

const char *mr_sites_stack(const struct mr_sites *sites, const struct mr_strings *strings,
			   uint32_t site, uint32_t most, char *ret_text, size_t room)
{
	size_t length = strlen(mr_sites_line(sites, strings, site, ret_text, room));
	for (uint32_t above = sites->items[site].parent; above && length + 4 < room;
	     above = sites->items[above].parent) {
		length = mr_min(length + (size_t)snprintf(ret_text + length, room - length, " < "),
				room - 1);
		if (most-- == 0) {
			snprintf(ret_text + length, room - length, "...");
			break;
		}
		length += strlen(
			mr_sites_line(sites, strings, above, ret_text + length, room - length));
	}
	return ret_text;
}
