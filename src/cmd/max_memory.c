/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/max_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/macros.h"
#include "base/memory_room.h"

enum {
	TIMES = 64, /* bytes of memory for each of the files; what traces need is a quarter of it */
	BLOCK_BYTES = 512,
};

static const uint64_t at_least = UINT64_C(2) << 30;

uint64_t mr_max_memory_given;

/* What it takes on the disk: a file with holes is not large. */
static uint64_t size_of(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, 0) == 0 && S_ISREG(status.st_mode)
		       ? mr_min((uint64_t)status.st_size, (uint64_t)status.st_blocks * BLOCK_BYTES)
		       : 0;
}

static uint64_t size_of_folder(const char *path)
{
	mr_auto(close_fd) int outer = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int inner = outer < 0 ? -1 : openat(outer, "ctf", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fdopendir(inner >= 0 ? inner : outer);
	struct dirent *entry;
	uint64_t bytes = 0;

	if (!directory)
		return 0;
	if (inner < 0)
		outer = -1; /* now owned by the directory */
	while ((entry = readdir(directory)))
		bytes += size_of(dirfd(directory), entry->d_name);
	closedir(directory);
	return bytes;
}

void mr_max_memory_set(const char *path)
{
	uint64_t files = mr_max(size_of(AT_FDCWD, path), size_of_folder(path));
	uint64_t memory = mr_memory_room("").limit;
	uint64_t usual = files < memory / TIMES ? at_least + TIMES * files : memory;

	mr_budget_set(mr_max_memory_given ? mr_max_memory_given : mr_min(usual, memory / 4 * 3));
}
