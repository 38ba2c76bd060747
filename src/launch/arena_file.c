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
#include "launch/arena_room.h"
#include "launch/leftovers.h"

enum {
	USUAL_SLOTS = 1024, /* 64 MiB: as many threads may end between two looks of record */
	FIRST_SLOTS = 64,   /* of these, allocated before the program starts: one millisecond ... */
	PART_SLOTS = 32,    /* ... and then so many at a time: nothing is drained meanwhile */
	MIN_SLOTS = 64,
	SPACE_PARTS = 16, /* of the address space, one part in so many */
};

static const char shared_memory_folder[] = MR_SHARED_MEMORY_FOLDER;

/* ---- size ----------------------------------------------------------------------------------------- */

uint64_t mr_arena_default_bytes(void)
{
	uint64_t bytes = mr_min(mr_arena_room_capacity(), UINT64_C(2) << 30);
	/* record maps all of it. */
	struct rlimit space;
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		bytes = mr_min(bytes, (uint64_t)space.rlim_cur / SPACE_PARTS);
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
	if (snprintf(ret_path, path_bytes, "%s/" MR_ARENA_NAME "%016" PRIx64, absolute, number) >=
	    (int)path_bytes)
		return mr_fail(ENAMETOOLONG, "the path of the trace is too long");
	int fd = open(absolute, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open(ret_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : mr_fail_errno(errno, "cannot create the arena in %s", folder);
}

void mr_arena_file_set_folder(const struct mr_arena_file *file, const char *path)
{
	struct mr_control *control = file->arena->control;
	mr_auto(free) char *absolute = realpath(path, NULL);
	snprintf(control->folder, sizeof control->folder, "%s", absolute ? absolute : "");
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
	return length > 6 && name &&
	       strncmp(name, "/" MR_ARENA_NAME, strlen("/" MR_ARENA_NAME)) == 0 &&
	       memcmp(target, "/proc/", 6) == 0 && lstat(path, &status) == 0 &&
	       status.st_uid == geteuid();
}

/* Allocates what lies behind the first `slots` slots and lets them be claimed. */
static int provide_slots(struct mr_arena_file *file, uint32_t slots)
{
	struct mr_control *control = file->arena->control;
	off_t from = (off_t)mr_arena_file_bytes(file->slot_count);
	if (fallocate(file->fd, 0, from, (off_t)mr_arena_file_bytes(slots) - from) < 0)
		return -errno;
	file->slot_count = slots;
	file->arena->slot_limit = slots; /* record itself claims no others */
	atomic_store_explicit(&control->slot_count, slots, memory_order_release);
	atomic_fetch_add_explicit(&control->freed, 1, memory_order_release);
	return 0;
}

static int map_file(struct mr_arena_file *file, uint32_t slots)
{
	void *mapped = mmap(NULL, mr_arena_file_bytes(slots), PROT_READ | PROT_WRITE, MAP_SHARED,
			    file->fd, 0);
	if (mapped == MAP_FAILED)
		return mr_fail_errno(errno, "cannot map the arena %s", file->path);
	file->memory = mapped;
	file->slot_capacity = slots;
	file->arena = calloc(1, sizeof *file->arena);
	return file->arena ? 0 : mr_fail(ENOMEM, "no memory for the arena");
}

static int fill_file(struct mr_arena_file *file, uint32_t slots)
{
	struct mr_control control = {.magic = MR_ARENA_MAGIC,
				     .version = MR_ARENA_VERSION,
				     .schema_check = mr_schema_check()};
	if (ftruncate(file->fd, (off_t)mr_arena_file_bytes(slots)) < 0)
		return mr_fail_errno(errno, "cannot size the arena %s", file->path);
	if (fallocate(file->fd, 0, 0, MR_ARENA_SLOTS_OFFSET) < 0)
		return mr_fail_errno(errno, "cannot allocate the arena %s", file->path);
	int result = map_file(file, slots);
	if (result < 0)
		return result;
	if (getrandom(control.trace_uuid, sizeof control.trace_uuid, 0) !=
	    sizeof control.trace_uuid)
		return mr_fail_errno(errno, "cannot make a random trace id");
	memcpy(file->memory, &control, sizeof control);
	mr_arena_use_whole(file->arena, file->memory, slots);
	uint32_t usual = mr_arena_room_first(file, mr_min(slots, (uint32_t)USUAL_SLOTS));
	result = provide_slots(file, mr_min(usual, (uint32_t)FIRST_SLOTS));
	return result < 0 ? mr_fail_errno(-result, "cannot allocate the arena %s", file->path) : 0;
}

int mr_arena_file_create(const char *directory, uint64_t bytes, struct mr_arena_file *ret_file)
{
	struct mr_arena_file file = {.fd = -1};
	mr_leftovers_remove();
	uint64_t wanted = mr_max(bytes / MR_ARENA_SLOT_BYTES, (uint64_t)MIN_SLOTS);
	uint32_t slots = (uint32_t)mr_min(wanted / MR_WINDOW_SLOTS * MR_WINDOW_SLOTS,
					  (uint64_t)MR_ARENA_SLOTS_MAX);
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

static void unmap_file(struct mr_arena_file *file)
{
	free(mr_take(file->arena));
	if (file->memory)
		munmap(mr_take(file->memory), mr_arena_file_bytes(file->slot_capacity));
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
	uint32_t slots = S_ISREG(status.st_mode) ? mr_arena_slots_of(bytes) : 0;
	int result = slots > 0 && bytes == mr_arena_file_bytes(slots) ? map_file(&file, slots) : 0;
	if (result == 0 && (!file.memory || !mr_control_is_valid(file.memory)))
		result = mr_fail(EINVAL, "%s is not an arena of this version of millrace", path);
	if (result < 0) {
		unmap_file(&file);
		return result;
	}
	mr_arena_use_whole(file.arena, file.memory, slots);
	file.slot_count = mr_arena_slot_count(file.arena);
	file.arena->slot_limit = file.slot_count;
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

void mr_arena_file_switch(const struct mr_arena_file *file, uint32_t levels)
{
	const struct mr_arena *arena = file->arena;
	atomic_store_explicit(&arena->tables->step_levels, levels, memory_order_relaxed);
	atomic_store_explicit(&arena->control->levels, levels, memory_order_relaxed);
}

uint32_t mr_arena_file_slots_in_use(struct mr_arena_file *file)
{
	uint32_t highest = mr_min(
		atomic_load_explicit(&file->arena->tables->highest_slot, memory_order_relaxed),
		file->slot_capacity - 1);
	file->highest_slot = mr_max(file->highest_slot, highest);
	return mr_max(file->slot_count, file->highest_slot + 1);
}

bool mr_arena_file_complete(struct mr_arena_file *file)
{
	uint32_t usual = file->usual_slots;
	return file->slot_count >= usual ||
	       provide_slots(file, mr_min(usual, file->slot_count + PART_SLOTS)) < 0;
}

void mr_arena_file_grow(struct mr_arena_file *file, uint32_t free_slots)
{
	uint32_t count = file->slot_count;
	bool needs_more = free_slots < count / 2;
	mr_arena_room_look(file, needs_more);
	uint32_t allowed = file->slots_allowed;
	/* In time, and not too much at once: while memory is being allocated nothing is drained. */
	if (needs_more && !mr_arena_room_restore(file) && count < allowed)
		provide_slots(file, mr_min(allowed, mr_align_up(count + count / 2,
								(uint32_t)MR_WINDOW_SLOTS)));
}

void mr_arena_file_close(struct mr_arena_file *file, bool remove)
{
	unmap_file(file);
	if (remove && file->path[0])
		unlink(file->path);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct mr_arena_file){.fd = -1};
}
