/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of an environment, as one text.
 */
#ifndef MR_TESTS_ENVIRONMENT_TEXT_H
#define MR_TESTS_ENVIRONMENT_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "hook/environment.h"

static const struct mr_environment_wish in = {.library = "/m.so", .arena = "/a", .is_traced = true};
static const struct mr_environment_wish out = {.library = "/m.so", .arena = "/a"};

/* Builds in memory of the promised size, so that valgrind and ASan see a byte too many, and joins the
 * entries with '|'. */
static const char *build(char *const *old, const struct mr_environment_wish *wish)
{
	static char joined[4096];
	void *memory = malloc(mr_environment_bytes(old, wish));
	assert_non_null(memory);
	joined[0] = 0;
	for (char **entry = mr_environment_build(memory, old, wish); *entry; entry++) {
		strcat(joined, joined[0] ? "|" : "");
		strcat(joined, *entry);
	}
	free(memory);
	return joined;
}

#define entries(...) ((char *const[]){__VA_ARGS__, NULL})

#endif
