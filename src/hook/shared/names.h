/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that programs make up while they run: "step 17". Each is a definition, which stays for ever, so there is a limit to
 * how many different ones are recorded.
 */
#ifndef MR_HOOK_SHARED_NAMES_H
#define MR_HOOK_SHARED_NAMES_H

#include "record/recorder.h"

enum {
	MR_NAME_BYTES = 1024, /* longer ones are truncated */
};

/* The string of a name; 0: there are too many, or no memory. */
uint32_t mr_name_of(const char *name);

#endif
