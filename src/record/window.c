/* SPDX-License-Identifier: Apache-2.0 */
#include "record/window.h"

#include <sys/resource.h>

#include "record/own_call.h"
#include "record/recorder.h"

/* The file, to be found again; without an inode there is nothing to be mapped by need. */
static struct {
	dev_t device;
	ino_t inode;
} file;

static _Atomic uint32_t mapped_windows;

static size_t tables_bytes(uint32_t slots)
{
	return offsetof(struct mr_tables, states) + slots * sizeof(uint64_t);
}

/* A descriptor, or -errno. */
static int open_arena(const char *path, int mode, struct stat *ret_status)
{
	int fd = (int)mr_own_call(SYS_openat, AT_FDCWD, path,
				  mode | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	int result = (int)mr_own_call(SYS_fstat, fd, ret_status);
	if (result == 0 && !S_ISREG(ret_status->st_mode))
		result = -EINVAL;
	if (result < 0)
		mr_own_call(SYS_close, fd);
	return result < 0 ? result : fd;
}

/* NULL if it cannot be had. */
static void *map(int fd, uint64_t offset, size_t bytes, int protection)
{
	int saved_errno = errno;
	if (!mr_own_call_is_allowed(SYS_mmap))
		return NULL;
	void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, (off_t)offset);
	errno = saved_errno;
	if (memory == MAP_FAILED)
		return NULL;
	mr_own_call(SYS_madvise, memory, bytes, MADV_DONTDUMP);
	return memory;
}

/* After mlockall(MCL_FUTURE) it is locked, and would count for as long as it is. */
static char *map_window(int fd, uint32_t window)
{
	char *memory = map(fd, MR_ARENA_SLOTS_OFFSET + (uint64_t)window * MR_WINDOW_BYTES,
			   MR_WINDOW_BYTES, PROT_READ | PROT_WRITE);
	if (memory)
		mr_own_call(SYS_munlock, memory, MR_WINDOW_BYTES);
	return memory;
}

/* Another thread may just have mapped the same. */
static void keep_window(struct mr_arena *arena, uint32_t window, char *memory)
{
	char *none = NULL;
	if (atomic_compare_exchange_strong_explicit(&arena->windows[window], &none, memory,
						    memory_order_release, memory_order_relaxed))
		atomic_fetch_add_explicit(&mapped_windows, 1, memory_order_relaxed);
	else
		mr_own_unmap(memory, MR_WINDOW_BYTES);
}

static enum mr_window_result map_one(struct mr_arena *arena, int fd, enum mr_packet_kind kind,
				     uint32_t limit)
{
	int32_t window = mr_arena_emptiest_window(arena, kind, limit);
	if (window == MR_ARENA_NO_SLOT)
		return MR_WINDOW_NONE_FREE;
	char *memory = map_window(fd, (uint32_t)window);
	if (!memory)
		return MR_WINDOW_LIMITED;
	keep_window(arena, (uint32_t)window, memory);
	return MR_WINDOW_MAPPED;
}

static bool is_address_space_limited(void)
{
	struct rlimit limit;
	return mr_own_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) < 0 ||
	       limit.rlim_cur != RLIM_INFINITY;
}

enum mr_window_result mr_windows_map_more(struct mr_arena *arena, enum mr_packet_kind kind,
					  uint32_t limit)
{
	struct stat status;
	if (file.inode == 0)
		return MR_WINDOW_NONE_FREE;
	if (atomic_load_explicit(&mapped_windows, memory_order_relaxed) >= MR_WINDOWS_ALWAYS &&
	    is_address_space_limited())
		return MR_WINDOW_LIMITED;
	int fd = open_arena(mr_arena_path, O_RDWR, &status);
	if (fd < 0)
		return MR_WINDOW_LIMITED;
	bool is_same = status.st_dev == file.device && status.st_ino == file.inode &&
		       mr_arena_slots_of((uint64_t)status.st_size) == arena->slot_limit;
	enum mr_window_result result =
		is_same ? map_one(arena, fd, kind, limit) : MR_WINDOW_LIMITED;
	mr_own_call(SYS_close, fd);
	return result;
}

/* The highest one tells record how far to look. */
bool mr_windows_allocate(struct mr_arena *arena, uint32_t slot)
{
	_Atomic uint32_t *highest = &arena->tables->highest_slot;
	uint32_t seen = atomic_load_explicit(highest, memory_order_relaxed);
	while (seen < slot &&
	       !atomic_compare_exchange_weak_explicit(highest, &seen, slot, memory_order_relaxed,
						      memory_order_relaxed))
		;
	return mr_own_call(SYS_madvise, mr_arena_slot(arena, slot), MR_ARENA_SLOT_BYTES,
			   MADV_POPULATE_WRITE) == 0;
}

/* ---- attaching ---------------------------------------------------------------------------------- */

static enum mr_untraced_reason why_not_opened(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
		return MR_UNTRACED_OTHER_USER;
	case -EMFILE:
	case -ENFILE:
		return MR_UNTRACED_NO_DESCRIPTOR;
	case -ENOMEM:
		return MR_UNTRACED_LITTLE_MEMORY;
	default:
		return MR_UNTRACED_NO_ARENA;
	}
}

/* The control page comes from a descriptor that cannot write, so that nobody can make it writable later. */
static enum mr_untraced_reason map_control(const char *path, struct mr_control **ret_control,
					   uint32_t *ret_slots)
{
	struct stat status;
	int fd = open_arena(path, O_RDONLY, &status);
	if (fd < 0)
		return why_not_opened(fd);
	*ret_slots = mr_arena_slots_of((uint64_t)status.st_size);
	*ret_control = *ret_slots > 0 ? map(fd, 0, sizeof(struct mr_control), PROT_READ) : NULL;
	mr_own_call(SYS_close, fd);
	if (*ret_slots == 0)
		return MR_UNTRACED_OTHER_VERSION;
	if (!*ret_control)
		return MR_UNTRACED_LITTLE_MEMORY;
	if (mr_control_is_valid(*ret_control))
		return MR_UNTRACED_NONE;
	mr_own_unmap(*ret_control, sizeof(struct mr_control));
	return MR_UNTRACED_OTHER_VERSION;
}

static enum mr_untraced_reason map_tables(const char *path, uint32_t slots,
					  struct mr_control *control, struct mr_arena *ret_arena)
{
	struct stat status;
	int fd = open_arena(path, O_RDWR, &status);
	if (fd < 0)
		return why_not_opened(fd);
	struct mr_tables *tables =
		map(fd, MR_ARENA_TABLES_OFFSET, tables_bytes(slots), PROT_READ | PROT_WRITE);
	if (tables) {
		mr_own_call(SYS_munlock, tables, tables_bytes(slots));
		file.device = status.st_dev;
		file.inode = status.st_ino;
		mr_arena_use(ret_arena, control, tables, slots);
		for (int i = 0; i < MR_WINDOWS_ALWAYS; i++)
			map_one(ret_arena, fd, MR_PACKET_EVENTS, mr_arena_slot_count(ret_arena));
	}
	mr_own_call(SYS_close, fd);
	return tables ? MR_UNTRACED_NONE : MR_UNTRACED_LITTLE_MEMORY;
}

enum mr_untraced_reason mr_windows_open(const char *path, struct mr_arena *ret_arena)
{
	struct mr_control *control = NULL;
	uint32_t slots = 0;
	enum mr_untraced_reason reason = map_control(path, &control, &slots);
	if (reason != MR_UNTRACED_NONE)
		return reason;
	reason = map_tables(path, slots, control, ret_arena);
	if (reason != MR_UNTRACED_NONE)
		mr_own_unmap(control, sizeof *control);
	return reason;
}

/* ---- leaving ------------------------------------------------------------------------------------ */

typedef void part_function(void *memory, size_t bytes);

static void for_each_part(const struct mr_arena *arena, part_function *act)
{
	for (uint32_t i = 0; i < MR_ARENA_WINDOWS; i++)
		if (arena->windows[i])
			act(arena->windows[i], MR_WINDOW_BYTES);
	act(arena->tables, tables_bytes(arena->slot_limit));
	act(arena->control, sizeof *arena->control);
}

static void unlock(void *memory, size_t bytes)
{
	mr_own_call(SYS_munlock, memory, bytes);
}

/* At once: another thread may be using it. */
static void replace(void *memory, size_t bytes)
{
	mr_own_call(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1);
	unlock(memory, bytes);
}

void mr_windows_leave(struct mr_arena *arena)
{
	file.inode = 0;
	/* After mlockall() old and new memory count together, against a limit that is new to one who was root. */
	for_each_part(arena, unlock);
	for_each_part(arena, replace);
}
