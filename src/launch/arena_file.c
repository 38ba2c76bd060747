/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arena_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"

enum {
	FIRST_SLOTS = 1024, /* 64 MiB: as many threads may end between two looks of record */
	MIN_SLOTS = 64,
	RESERVED_SHARE = 8, /* one slot in so many is kept for definitions */
};

static const char shared_memory_folder[] = "/dev/shm";

uint64_t mr_arena_default_bytes(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	return mr_max(mr_min(memory / 64, UINT64_C(1) << 30), UINT64_C(64) << 20);
}

static bool has_room(const char *folder, uint64_t bytes)
{
	struct statvfs status;
	return statvfs(folder, &status) == 0 &&
	       (uint64_t)status.f_bavail * status.f_frsize >= bytes;
}

/* Without a name where the file system can do that: should record be killed now, nothing is left. */
static int make_file(const char *folder, char *ret_path, size_t path_bytes)
{
	/* Absolute: traced programs look for it from wherever they are. */
	mr_auto(free) char *absolute = realpath(folder, NULL);
	uint64_t number;
	if (!absolute || getrandom(&number, sizeof number, 0) != sizeof number)
		return mr_fail_errno(errno, "cannot create the arena in %s", folder);
	if (snprintf(ret_path, path_bytes, "%s/millrace-arena-%016" PRIx64, absolute, number) >=
	    (int)path_bytes)
		return mr_fail(ENAMETOOLONG, "the path of the trace is too long");
	int fd = open(absolute, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open(ret_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : mr_fail_errno(errno, "cannot create the arena in %s", folder);
}

int mr_arena_file_publish(const struct mr_arena_file *file)
{
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", file->fd);
	if (linkat(AT_FDCWD, name, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) < 0 && errno != EEXIST)
		return mr_fail_errno(errno, "cannot create the arena %s", file->path);
	return 0;
}

/* Allocates what lies behind the first `slots` slots and lets them be claimed. */
static int provide_slots(struct mr_arena_file *file, uint32_t slots)
{
	struct mr_arena *arena = file->arena;
	uint32_t old = atomic_load_explicit(&arena->slot_count, memory_order_relaxed);
	off_t from = (off_t)(arena->slots_offset + (uint64_t)old * MR_ARENA_SLOT_BYTES);
	if (fallocate(file->fd, 0, from, (off_t)(slots - old) * MR_ARENA_SLOT_BYTES) < 0)
		return -errno;
	atomic_store_explicit(&arena->reserved_slots, slots / RESERVED_SHARE, memory_order_relaxed);
	atomic_store_explicit(&arena->slot_count, slots, memory_order_release);
	atomic_fetch_add_explicit(&arena->freed, 1, memory_order_release);
	return 0;
}

static int map_file(struct mr_arena_file *file, uint64_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
	if (mapped == MAP_FAILED)
		return mr_fail_errno(errno, "cannot map the arena %s", file->path);
	file->arena = mapped;
	return 0;
}

static int fill_file(struct mr_arena_file *file, uint32_t slots)
{
	struct mr_arena layout = {.magic = MR_ARENA_MAGIC,
				  .version = MR_ARENA_VERSION,
				  .schema_check = mr_schema_check()};
	mr_arena_layout(&layout, slots);
	if (ftruncate(file->fd, (off_t)layout.file_bytes) < 0)
		return mr_fail_errno(errno, "cannot size the arena %s", file->path);
	if (fallocate(file->fd, 0, 0, (off_t)layout.slots_offset) < 0)
		return mr_fail_errno(errno, "cannot allocate the arena %s", file->path);
	int result = map_file(file, layout.file_bytes);
	if (result < 0)
		return result;
	snprintf(layout.arena_path, sizeof layout.arena_path, "%s", file->path);
	if (getrandom(layout.trace_uuid, sizeof layout.trace_uuid, 0) != sizeof layout.trace_uuid)
		return mr_fail_errno(errno, "cannot make a random trace id");
	*file->arena = layout;
	result = provide_slots(file, mr_min(slots, (uint32_t)FIRST_SLOTS));
	return result < 0 ? mr_fail_errno(-result, "cannot allocate the arena %s", file->path) : 0;
}

int mr_arena_file_create(const char *directory, uint64_t bytes, struct mr_arena_file *ret_file)
{
	struct mr_arena_file file = {.fd = -1};
	uint32_t slots = (uint32_t)mr_max(bytes / MR_ARENA_SLOT_BYTES, (uint64_t)MIN_SLOTS);
	bool in_memory = has_room(shared_memory_folder, bytes + bytes / 4);
	file.fd = make_file(in_memory ? shared_memory_folder : directory, file.path,
			    sizeof file.path);
	if (file.fd < 0 && in_memory)
		file.fd = make_file(directory, file.path, sizeof file.path);
	if (file.fd < 0)
		return file.fd;
	int result = fill_file(&file, slots);
	if (result < 0) {
		mr_arena_file_close(&file, true);
		return result;
	}
	*ret_file = file;
	return 0;
}

int mr_arena_file_open(const char *path, struct mr_arena_file *ret_file)
{
	struct mr_arena_file file = {.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
	struct stat status;
	if (file.fd < 0 || fstat(file.fd, &status) < 0)
		return mr_fail_errno(errno, "cannot open the arena %s", path);
	snprintf(file.path, sizeof file.path, "%s", path);
	bool is_arena = status.st_size >= MR_ARENA_HEADER_BYTES && S_ISREG(status.st_mode);
	int result = is_arena ? map_file(&file, (uint64_t)status.st_size) : 0;
	if (result == 0 && is_arena && !mr_arena_is_valid(file.arena, (uint64_t)status.st_size)) {
		munmap(file.arena, (size_t)status.st_size);
		is_arena = false;
	}
	if (result == 0 && !is_arena)
		result = mr_fail(EINVAL, "%s is not an arena of this version of millrace", path);
	if (result < 0) {
		close(file.fd);
		return result;
	}
	*ret_file = file;
	return 0;
}

void mr_arena_file_grow(struct mr_arena_file *file, uint32_t free_slots)
{
	uint32_t count = atomic_load_explicit(&file->arena->slot_count, memory_order_relaxed);
	uint32_t capacity = file->arena->slot_capacity;
	if (count < capacity && free_slots < count / 2)
		provide_slots(file, count > capacity / 2 ? capacity : count * 2);
}

void mr_arena_file_close(struct mr_arena_file *file, bool remove)
{
	if (file->arena)
		munmap(file->arena, file->arena->file_bytes);
	if (remove && file->path[0])
		unlink(file->path);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct mr_arena_file){.fd = -1};
}
