/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arena_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"

enum {
	USUAL_SLOTS = 1024, /* 64 MiB: as many threads may end between two looks of record */
	FIRST_SLOTS =
		128, /* of these, allocated before the program starts; then as many at a time */
	MIN_SLOTS = 64,
	RESERVED_SHARE = 8, /* one slot in so many is kept for definitions */
};

static const char shared_memory_folder[] = "/dev/shm";

/* ---- size ----------------------------------------------------------------------------------------- */

/* A limit as the kernel prints it; "max", or no such file: none. */
static uint64_t read_limit(const char *path)
{
	uint64_t limit;
	mr_auto(close_file) FILE *file = fopen(path, "re");
	return file && fscanf(file, "%" SCNu64, &limit) == 1 ? limit : UINT64_MAX;
}

/* The least limit of a control group and the groups around it. Cuts `group` off from its end. */
static uint64_t least_limit(const char *root, char *group, const char *name)
{
	uint64_t least = UINT64_MAX;
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		mr_auto(free) char *path = NULL;
		*end = 0;
		if (asprintf(&path, "%s%s/%s", root, group, name) < 0)
			break;
		least = mr_min(least, read_limit(path));
	}
	return least;
}

/* What the control groups allow: the pages of the arena count there. Lines are NUMBER:CONTROLLERS:GROUP. */
static uint64_t control_group_limit(void)
{
	uint64_t least = UINT64_MAX;
	mr_auto(close_file) FILE *file = fopen("/proc/self/cgroup", "re");
	mr_auto(free) char *line = NULL;
	size_t capacity = 0;
	while (file && getline(&line, &capacity, file) > 0) {
		char *group = strchr(line, '/');
		uint64_t limit = UINT64_MAX;
		line[strcspn(line, "\n")] = 0;
		if (group && strncmp(line, "0::", 3) == 0)
			limit = least_limit("/sys/fs/cgroup", group, "memory.max");
		else if (group && strstr(line, ":memory:"))
			limit = least_limit("/sys/fs/cgroup/memory", group,
					    "memory.limit_in_bytes");
		least = mr_min(least, limit);
	}
	return least;
}

uint64_t mr_arena_default_bytes(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	memory = mr_min(memory, control_group_limit());
	uint64_t least = mr_min(UINT64_C(64) << 20, memory / 16);
	uint64_t bytes = mr_max(mr_min(memory / 16, UINT64_C(2) << 30), least);
	/* All of it is mapped into every traced process, and must not take the program's address space. */
	struct rlimit space;
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		bytes = mr_min(bytes, (uint64_t)space.rlim_cur / 16);
	return bytes;
}

/* ---- file ----------------------------------------------------------------------------------------- */

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

void mr_arena_file_keep_name(struct mr_arena_file *file)
{
	char target[64];
	if (faccessat(AT_FDCWD, file->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return;
	file->removals++;
	snprintf(target, sizeof target, "/proc/%d/fd/%d", getpid(), file->fd);
	(void)!symlink(target, file->path);
}

/* What a recorder that is gone has left in the place of its arena's name. Nobody can reach the arena any more. */
static bool is_left_link(const char *path)
{
	char target[64];
	const char *name = strrchr(path, '/');
	struct stat status;
	ssize_t length = readlink(path, target, sizeof target - 1);
	return length > 6 && name && strncmp(name, "/millrace-arena-", 16) == 0 &&
	       memcmp(target, "/proc/", 6) == 0 && lstat(path, &status) == 0 &&
	       status.st_uid == geteuid();
}

/* Allocates what lies behind the first `slots` slots and lets them be claimed. */
static int provide_slots(struct mr_arena_file *file, uint32_t slots)
{
	struct mr_arena *arena = file->arena;
	off_t from = (off_t)mr_arena_file_bytes(file->slot_count);
	if (fallocate(file->fd, 0, from, (off_t)mr_arena_file_bytes(slots) - from) < 0)
		return -errno;
	file->slot_count = slots;
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
	struct mr_arena header = {.magic = MR_ARENA_MAGIC,
				  .version = MR_ARENA_VERSION,
				  .schema_check = mr_schema_check(),
				  .slot_capacity = slots};
	if (ftruncate(file->fd, (off_t)mr_arena_file_bytes(slots)) < 0)
		return mr_fail_errno(errno, "cannot size the arena %s", file->path);
	if (fallocate(file->fd, 0, 0, MR_ARENA_SLOTS_OFFSET) < 0)
		return mr_fail_errno(errno, "cannot allocate the arena %s", file->path);
	int result = map_file(file, mr_arena_file_bytes(slots));
	if (result < 0)
		return result;
	file->slot_capacity = slots;
	snprintf(header.arena_path, sizeof header.arena_path, "%s", file->path);
	if (getrandom(header.trace_uuid, sizeof header.trace_uuid, 0) != sizeof header.trace_uuid)
		return mr_fail_errno(errno, "cannot make a random trace id");
	*file->arena = header;
	result = provide_slots(file, mr_min(slots, (uint32_t)FIRST_SLOTS));
	return result < 0 ? mr_fail_errno(-result, "cannot allocate the arena %s", file->path) : 0;
}

int mr_arena_file_create(const char *directory, uint64_t bytes, struct mr_arena_file *ret_file)
{
	struct mr_arena_file file = {.fd = -1};
	uint64_t wanted = mr_max(bytes / MR_ARENA_SLOT_BYTES, (uint64_t)MIN_SLOTS);
	uint32_t slots = (uint32_t)mr_min(wanted, (uint64_t)MR_ARENA_SLOTS_MAX);
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
	struct stat status;
	if (is_left_link(path)) {
		unlink(path);
		return mr_fail(ENOENT, "the arena %s is gone", path);
	}
	/* Opening what is no regular file might block, or disturb a device. */
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return mr_fail(EINVAL, "%s is not an arena", path);
	mr_auto(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "cannot open the arena %s", path);
	if (status.st_uid != geteuid())
		return mr_fail(EPERM, "the arena %s belongs to another user", path);
	struct mr_arena_file file = {.fd = fd};
	uint64_t bytes = (uint64_t)status.st_size;
	snprintf(file.path, sizeof file.path, "%s", path);
	bool is_large_enough = S_ISREG(status.st_mode) && bytes >= MR_ARENA_HEADER_BYTES;
	int result = is_large_enough ? map_file(&file, bytes) : 0;
	if (result < 0)
		return result;
	if (!is_large_enough || !mr_arena_is_valid(file.arena, bytes)) {
		if (file.arena)
			munmap(file.arena, bytes);
		return mr_fail(EINVAL, "%s is not an arena of this version of millrace", path);
	}
	/* Read once each: processes of the recording may still be running. */
	file.slot_capacity = (uint32_t)((bytes - MR_ARENA_SLOTS_OFFSET) / MR_ARENA_SLOT_BYTES);
	file.slot_count = mr_min(atomic_load(&file.arena->slot_count), file.slot_capacity);
	fd = -1; /* it is the file's now */
	*ret_file = file;
	return 0;
}

int mr_arena_file_lock(const struct mr_arena_file *file)
{
	struct stat status;
	if (flock(file->fd, LOCK_EX | LOCK_NB) < 0)
		return mr_fail_errno(errno == EWOULDBLOCK ? EBUSY : errno,
				     "cannot lock the arena %s", file->path);
	if (fstat(file->fd, &status) < 0 || status.st_nlink == 0)
		return mr_fail(ENOENT, "the arena %s is gone", file->path);
	return 0;
}

bool mr_arena_file_complete(struct mr_arena_file *file)
{
	uint32_t usual = mr_min(file->slot_capacity, (uint32_t)USUAL_SLOTS);
	return file->slot_count >= usual ||
	       provide_slots(file, mr_min(usual, file->slot_count + FIRST_SLOTS)) < 0;
}

void mr_arena_file_grow(struct mr_arena_file *file, uint32_t free_slots)
{
	uint32_t count = file->slot_count, capacity = file->slot_capacity;
	/* In time, and not too much at once: while memory is being allocated nothing is drained. */
	if (count < capacity && free_slots < count / 2)
		provide_slots(file, mr_min(capacity, count + count / 2));
}

void mr_arena_file_close(struct mr_arena_file *file, bool remove)
{
	if (file->arena)
		munmap(file->arena, mr_arena_file_bytes(file->slot_capacity));
	if (remove && file->path[0])
		unlink(file->path);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct mr_arena_file){.fd = -1};
}
