/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analysis/problem/problem.h"

static const struct {
	const char *key;
	const char *framework; /* "": any, or none */
	const char *text;
} remedies[] = {
#define MR_REMEDY(key, framework, text) {#key, framework, text},
#include "analysis/problem/remedies.def"
#undef MR_REMEDY
};

const char *mr_remedy_of(const char *key, const char *framework)
{
	for (size_t i = 0; i < mr_countof(remedies); i++)
		if (strcmp(remedies[i].key, key) == 0 &&
		    (!*remedies[i].framework || strcmp(remedies[i].framework, framework) == 0))
			return remedies[i].text;
	return "";
}
