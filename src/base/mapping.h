/* SPDX-License-Identifier: Apache-2.0
 *
 * A file, mapped read-only.
 *
 * The size is fixed when the file is mapped: later additions are not visible, and deleting the file
 * does no harm. If somebody truncates the file while it is mapped, or the disk fails, the kernel answers an access to
 * the missing part with SIGBUS. A handler then puts zeros in the place of the rest of the mapping and notes it, so that
 * reading goes on to an end. What was made of such bytes is worthless: whoever has read calls mr_mappings_check()
 * before the result is used.
 */
#ifndef MR_BASE_MAPPING_H
#define MR_BASE_MAPPING_H

#include <stddef.h>
#include <stdint.h>

struct mr_mapping {
	const uint8_t *bytes; /* NULL if the file is empty */
	size_t size;
	struct mr_mapping_entry *entry; /* of the file (mapping.c); NULL: other memory */
};

/* Maps the regular file NAME in a directory (AT_FDCWD: the current one). */
int mr_mapping_open(int directory, const char *name, struct mr_mapping *ret_mapping);
void mr_mapping_close(struct mr_mapping *mapping);

/* -EIO with a cause if a part of a file that is mapped now could not be read. */
int mr_mappings_check(void);

static inline void mr_cleanup_mapping(struct mr_mapping *mapping)
{
	mr_mapping_close(mapping);
}

#endif
