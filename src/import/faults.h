/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a file that could not be imported. A file may be wrong a million times in the same way: each kind of
 * fault is listed once, with the place of the first and the sum of all.
 */
#ifndef MR_IMPORT_FAULTS_H
#define MR_IMPORT_FAULTS_H

#include <stdint.h>

#include "base/vector.h"

/* What could not be imported for the same reason. */
struct mr_import_fault {
	const char *reason; /* borrowed for as long as the list lives */
	uint64_t offset;    /* of the first, in the uncompressed text */
	uint64_t bytes;     /* of all */
	uint64_t count;
};

/* No two have the same reason. A zeroed list is empty and valid. */
struct mr_import_faults {
	mr_vec(struct mr_import_fault) list;
};

/* 0 or -ENOMEM. */
int mr_import_faults_add(struct mr_import_faults *faults, const char *reason, uint64_t offset,
			 uint64_t bytes);
void mr_import_faults_free(struct mr_import_faults *faults);

#endif
