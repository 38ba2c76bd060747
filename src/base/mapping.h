/* SPDX-License-Identifier: Apache-2.0
 *
 * A file, mapped read-only.
 *
 * The size is fixed when the file is mapped: later additions are not visible, and deleting the file
 * does no harm. The file must not be truncated while it is mapped: the kernel answers an access to
 * the missing part with SIGBUS.
 */
#ifndef MR_BASE_MAPPING_H
#define MR_BASE_MAPPING_H

#include <stddef.h>
#include <stdint.h>

struct mr_mapping {
	const uint8_t *bytes; /* NULL if the file is empty */
	size_t size;
};

/* Maps the regular file NAME in a directory (AT_FDCWD: the current one). */
int mr_mapping_open(int directory, const char *name, struct mr_mapping *ret_mapping);
void mr_mapping_close(struct mr_mapping *mapping);

static inline void mr_cleanup_mapping(struct mr_mapping *mapping)
{
	mr_mapping_close(mapping);
}

#endif
