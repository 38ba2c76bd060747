/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/error.h"

int mr_mapping_open(int directory, const char *name, struct mr_mapping *ret_mapping)
{
	/* O_NONBLOCK: a named pipe must not make us wait for a writer. */
	mr_auto(close_fd) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return mr_fail_errno(errno, "cannot open %s", name);
	struct stat status;
	if (fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "cannot examine %s", name);
	if (!S_ISREG(status.st_mode))
		return mr_fail(EINVAL, "%s is not a regular file", name);
	struct mr_mapping mapping = {.size = (size_t)status.st_size};
	if (mapping.size > 0) {
		void *bytes = mmap(NULL, mapping.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED)
			return mr_fail_errno(errno, "cannot map %s", name);
		mapping.bytes = bytes;
	}
	*ret_mapping = mapping;
	return 0;
}

void mr_mapping_close(struct mr_mapping *mapping)
{
	if (mapping->bytes)
		munmap((void *)mapping->bytes, mapping->size);
	*mapping = (struct mr_mapping){0};
}
