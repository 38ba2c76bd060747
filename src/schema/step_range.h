/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ranges are the steps, if the user says it (`--step-range`): those of one name, or, if it ends with '*', those whose
 * names begin so: "step *". The recorder and the loader must agree.
 */
#ifndef MR_SCHEMA_STEP_RANGE_H
#define MR_SCHEMA_STEP_RANGE_H

#include <stdbool.h>
#include <string.h>

enum {
	MR_STEP_RANGE_BYTES = 256 /* of the name, with its NUL */
};

static inline bool mr_step_range_has(const char *wanted, const char *name)
{
	size_t length = strlen(wanted);
	if (length > 0 && wanted[length - 1] == '*')
		return strncmp(name, wanted, length - 1) == 0;
	return strcmp(name, wanted) == 0;
}

#endif
