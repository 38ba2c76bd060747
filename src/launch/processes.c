/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "record/recorder.h"

enum {
	PROC_PATH_BYTES = 300,
	OTHER_DESCRIPTORS = 300, /* kept free for stream files and the rest */
	POLL_MAX = 256,          /* poll() refuses more than RLIMIT_NOFILE at once */
	LIST_MAX =
		1
		<< 20, /* more than a day of a busy shell: a process cannot make record grow for ever */
	HIDDEN = -1,
};

static const uint64_t lost_max = UINT64_C(1)
				 << 48; /* sums do not overflow, whatever a process says */

static uint64_t pid_namespace_of(const char *pid)
{
	char path[PROC_PATH_BYTES];
	struct stat status;
	snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

static size_t spare_descriptors(void)
{
	struct rlimit limit;
	bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
	return is_known && limit.rlim_cur > OTHER_DESCRIPTORS ? limit.rlim_cur - OTHER_DESCRIPTORS
							      : 0;
}

void mr_processes_init(struct mr_processes *processes, const struct mr_arena_file *file)
{
	*processes = (struct mr_processes){
		.arena = file->arena,
		.arena_path = file->path,
		.pidfds_max = spare_descriptors(),
		.own_pid_namespace = pid_namespace_of("self"),
		.first_ticks = mr_ticks_now(),
		.first_boottime_ns = mr_ticks_of_system(CLOCK_BOOTTIME),
	};
}

void mr_processes_fini(struct mr_processes *processes)
{
	for (size_t i = 0; i < processes->list.count; i++) {
		struct mr_process_info *info = &processes->list.items[i];
		if (info->pidfd >= 0)
			close(info->pidfd);
		free(info->program);
	}
	mr_vec_free(&processes->list);
	mr_vec_free(&processes->live);
}

/* ---- finding a process -------------------------------------------------------------------------- */

/* The innermost pid of a process, from the last number of its NSpid line. */
static uint32_t innermost_pid(const char *pid)
{
	char path[PROC_PATH_BYTES], line[256];
	snprintf(path, sizeof path, "/proc/%s/status", pid);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	uint32_t found = 0;
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (char *at = line + 6, *end;
		     *at && (found = (uint32_t)strtoul(at, &end, 10), end != at);)
			at = isspace((unsigned char)*end) && isdigit((unsigned char)end[1])
				     ? end
				     : end + strlen(end);
		break;
	}
	return found;
}

/* Was it, or the process it was forked from, executed with our arena in the environment? */
static bool has_arena(const char *pid, const char *arena_path)
{
	static const char name[] = "MILLRACE_ARENA=";
	char path[PROC_PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	mr_auto(free) char *entry = NULL;
	size_t capacity = 0;
	while (file && getdelim(&entry, &capacity, 0, file) > 0)
		if (strncmp(entry, name, sizeof name - 1) == 0 &&
		    strcmp(entry + sizeof name - 1, arena_path) == 0)
			return true;
	return false;
}

/* Is this the process that knows itself as `pid` in `namespace` (0: it had no /proc to ask)? Our pid for
 * it, 0, or HIDDEN if we may not look. */
static pid_t match_pid(const struct mr_processes *processes, const char *candidate, uint32_t pid,
		       uint64_t namespace)
{
	if (!isdigit((unsigned char)candidate[0]) || innermost_pid(candidate) != pid)
		return 0;
	errno = 0;
	bool matches = namespace ? pid_namespace_of(candidate) == namespace
				 : has_arena(candidate, processes->arena_path);
	if (matches)
		return (pid_t)atoi(candidate);
	return errno == EACCES || errno == EPERM ? HIDDEN : 0;
}

/* Our pid for a process of another namespace; 0 if it is not there, HIDDEN if we cannot say. */
static pid_t translate_pid(const struct mr_processes *processes, uint32_t pid, uint64_t namespace)
{
	DIR *folder = opendir("/proc");
	/* Every namespace has a process 1. One that is not shown (hidepid) means that others are not. */
	pid_t found = folder && access("/proc/1", F_OK) == 0 ? 0 : HIDDEN;
	for (struct dirent *entry; folder && found <= 0 && (entry = readdir(folder));) {
		pid_t match = match_pid(processes, entry->d_name, pid, namespace);
		found = match ? match : found;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* When the process began, CLOCK_BOOTTIME; 0 if it is not there. */
static uint64_t start_time_ns(pid_t pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	if (!file || !fgets(text, sizeof text, file))
		return 0;
	char *at = strrchr(text, ')'); /* the name may hold anything, even parentheses */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	uint64_t ticks = at ? strtoull(at, NULL, 10) : 0;
	return ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* True if the process began after another one attached under its pid: that one is gone. */
static bool began_after(const struct mr_processes *processes, pid_t pid, uint64_t registered_ticks)
{
	uint64_t ticks = mr_ticks_now() - processes->first_ticks;
	uint64_t ns = mr_ticks_of_system(CLOCK_BOOTTIME) - processes->first_boottime_ns;
	/* A process that attached before record did (a recovery) cannot be distinguished; it counts as alive. */
	if (registered_ticks < processes->first_ticks || ticks == 0)
		return false;
	unsigned __int128 since_first = registered_ticks - processes->first_ticks;
	uint64_t registered_ns =
		processes->first_boottime_ns + (uint64_t)(since_first * ns / ticks);
	return start_time_ns(pid) >
	       registered_ns + UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* Gets a pidfd for a process whose pid we know, if there are some to spare. */
static void watch(struct mr_processes *processes, struct mr_process_info *info)
{
	if (began_after(processes, info->host_pid, info->registered_ticks)) {
		info->dead = true;
		return;
	}
	if (processes->pidfds >= processes->pidfds_max)
		return;
	info->pidfd = (int)syscall(SYS_pidfd_open, info->host_pid, 0);
	if (info->pidfd >= 0)
		processes->pidfds++;
	else if (errno == ESRCH)
		info->dead = true;
	else
		processes->pidfds_max = processes->pidfds; /* no more than these, it seems */
}

static void find(struct mr_processes *processes, struct mr_process_info *info,
		 uint64_t pid_namespace)
{
	bool is_pid = info->pid > 0 && info->pid <= INT_MAX;
	bool is_ours = pid_namespace && pid_namespace == processes->own_pid_namespace;
	pid_t pid = HIDDEN;
	if (is_pid)
		pid = is_ours ? (pid_t)info->pid
			      : translate_pid(processes, info->pid, pid_namespace);
	info->host_pid = pid == HIDDEN ? 0 : pid;
	info->dead = pid == 0;
	if (info->host_pid)
		watch(processes, info);
}

/* Notes that the newer of two programs of one process has taken the place of the older. */
static void replace(struct mr_process_info *older, const struct mr_process_info *newer)
{
	older->dead = true;
	if (!older->gone_ticks || newer->registered_ticks < older->gone_ticks)
		older->gone_ticks = newer->registered_ticks;
}

/* Of several that attached under one pid only the newest program is still there, in whatever order they
 * were found. */
static void end_replaced(struct mr_processes *processes, struct mr_process_info *found)
{
	for (size_t i = 0; i < processes->live.count && found->host_pid; i++) {
		struct mr_process_info *other = &processes->list.items[processes->live.items[i]];
		if (!other->traced || other->host_pid != found->host_pid)
			continue;
		if (other->process < found->process)
			replace(other, found);
		else if (found->process < other->process)
			replace(found, other);
	}
}

/* Keeps the list in order of process numbers; there is room for one more. */
static void insert_live(struct mr_processes *processes, size_t index)
{
	size_t *live = processes->live.items;
	size_t at = processes->live.count++;
	for (; at > 0 &&
	       processes->list.items[live[at - 1]].process > processes->list.items[index].process;
	     at--)
		live[at] = live[at - 1];
	live[at] = index;
}

/* Writes process_start on the process's behalf: it has better things to do, especially after a fork. */
static bool announce(const struct mr_process_entry *entry, const char *program)
{
	const struct mr_event_process_start start = {.process = entry->process,
						     .pid = entry->pid,
						     .parent_process = entry->parent_process,
						     .parent_pid = entry->parent_pid,
						     .first_definition = entry->first_definition,
						     .start = entry->registered_ticks,
						     .origin = entry->origin};
	return mr_define_event(MR_EVENT_process_start, &start, sizeof start, program);
}

/* Anything may stand there. */
static enum mr_untraced_reason reason_of(uint8_t number)
{
	return number < MR_UNTRACED_REASONS ? (enum mr_untraced_reason)number : MR_UNTRACED_NONE;
}

static int take_in(struct mr_processes *processes, uint32_t slot, bool traced)
{
	struct mr_process_entry *shared = mr_arena_process(processes->arena, slot), entry;
	memcpy(&entry, shared, sizeof entry);
	struct mr_process_info info = {.process = entry.process,
				       .parent_process = entry.parent_process,
				       .pid = entry.pid,
				       .pidfd = -1,
				       .slot = (int32_t)slot,
				       .registered_ticks = entry.registered_ticks,
				       .reason = reason_of(entry.reason),
				       .traced = traced,
				       .dead = !traced,
				       .program = strndup(entry.program, sizeof entry.program - 1)};
	size_t index = processes->list.count;
	if (!info.program || mr_vec_reserve(&processes->live, processes->live.count + 1) < 0 ||
	    mr_vec_push(&processes->list, info) < 0) {
		free(info.program);
		return mr_fail(ENOMEM, "no memory for the list of processes");
	}
	insert_live(processes, index);
	processes->is_taken[slot] = true;
	if (!traced) {
		mr_processes_retire(processes, index);
		return 0;
	}
	if (entry.is_announced == 0)
		shared->is_announced = announce(&entry, info.program);
	find(processes, &processes->list.items[index], entry.pid_namespace);
	end_replaced(processes, &processes->list.items[index]);
	return 0;
}

int mr_processes_discover(struct mr_processes *processes)
{
	struct mr_arena *arena = processes->arena;
	struct mr_tables *tables = arena->tables;
	uint32_t refused = atomic_load_explicit(&tables->processes_refused, memory_order_relaxed);
	uint32_t next = atomic_load_explicit(&tables->next_process, memory_order_acquire);
	/* A process takes its number before its entry. While one of those numbers has not turned up, the
	 * entry may be filled in at any moment. */
	if (next == processes->list.count + processes->unlisted + refused)
		return 0;
	uint32_t used = mr_min(next, (uint32_t)MR_ARENA_PROCESSES);
	for (uint32_t slot = 0; slot < used; slot++) {
		struct mr_process_entry *entry = mr_arena_process(arena, slot);
		uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
		if (state != MR_PROCESS_LIVE && state != MR_PROCESS_UNTRACED)
			continue;
		if (processes->is_taken[slot])
			continue;
		if (processes->list.count >= LIST_MAX) {
			processes->unlisted++;
			atomic_store_explicit(&entry->state, MR_PROCESS_FREE, memory_order_release);
			continue;
		}
		int result = take_in(processes, slot, state == MR_PROCESS_LIVE);
		if (result < 0)
			return result;
	}
	return 0;
}

/* ---- life and death ------------------------------------------------------------------------------ */

static void check_by_pid(struct mr_processes *processes, struct mr_process_info *info)
{
	if (kill(info->host_pid, 0) < 0 && errno == ESRCH)
		info->dead = true;
	else if (processes->pidfds < processes->pidfds_max)
		watch(processes, info);
}

static void check_some(struct mr_processes *processes, const size_t *indexes, size_t count)
{
	struct pollfd polled[POLL_MAX];
	for (size_t i = 0; i < count; i++) /* poll() passes over -1 */
		polled[i] = (struct pollfd){.fd = processes->list.items[indexes[i]].pidfd,
					    .events = POLLIN};
	bool is_polled = poll(polled, count, 0) >= 0;
	for (size_t i = 0; i < count; i++) {
		struct mr_process_info *info = &processes->list.items[indexes[i]];
		if (info->pidfd >= 0)
			info->dead |= is_polled && polled[i].revents != 0;
		else if (info->host_pid > 0 && !info->dead)
			check_by_pid(processes, info);
	}
}

void mr_processes_check(struct mr_processes *processes)
{
	size_t count = processes->live.count;
	for (size_t first = 0; first < count; first += POLL_MAX)
		check_some(processes, processes->live.items + first,
			   mr_min(count - first, (size_t)POLL_MAX));
	uint64_t now = mr_ticks_now();
	for (size_t i = 0; i < count; i++) {
		struct mr_process_info *info = &processes->list.items[processes->live.items[i]];
		if (info->dead && !info->gone_ticks)
			info->gone_ticks = now;
	}
}

static void copy_losses(struct mr_process_info *info, struct mr_process_entry *entry)
{
	for (int i = 0; i < MR_LOSS_REASONS; i++)
		info->lost[i] = mr_min(atomic_load_explicit(&entry->lost[i], memory_order_relaxed),
				       lost_max);
	info->ended = entry->ended != 0;
	info->reason = reason_of(entry->reason);
}

void mr_processes_update_losses(struct mr_processes *processes)
{
	for (size_t i = 0; i < processes->live.count; i++) {
		struct mr_process_info *info = &processes->list.items[processes->live.items[i]];
		copy_losses(info, mr_arena_process(processes->arena, (uint32_t)info->slot));
	}
}

void mr_processes_retire(struct mr_processes *processes, size_t index)
{
	struct mr_process_info *info = &processes->list.items[index];
	struct mr_process_entry *entry = mr_arena_process(processes->arena, (uint32_t)info->slot);
	copy_losses(info, entry);
	if (info->pidfd >= 0) {
		close(info->pidfd);
		processes->pidfds--;
	}
	processes->is_taken[info->slot] = false;
	info->pidfd = -1;
	info->slot = -1;
	info->dead = true;
	atomic_store_explicit(&entry->state, MR_PROCESS_FREE, memory_order_release);
	for (size_t i = 0; i < processes->live.count; i++) {
		if (processes->live.items[i] != index)
			continue;
		memmove(&processes->live.items[i], &processes->live.items[i + 1],
			(--processes->live.count - i) * sizeof processes->live.items[0]);
		break;
	}
}

uint32_t mr_processes_alive(const struct mr_processes *processes, uint32_t except)
{
	uint32_t alive = 0;
	for (size_t i = 0; i < processes->live.count; i++) {
		const struct mr_process_info *info =
			&processes->list.items[processes->live.items[i]];
		alive += info->traced && !info->dead && info->process != except;
	}
	return alive;
}

static bool is_live(const struct mr_processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->live.count; i++)
		if (processes->list.items[processes->live.items[i]].host_pid == pid)
			return true;
	return false;
}

bool mr_processes_is_one_coming(const struct mr_processes *processes)
{
	DIR *folder = opendir("/proc");
	bool found = false;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		found = isdigit((unsigned char)entry->d_name[0]) &&
			!is_live(processes, (pid_t)atoi(entry->d_name)) &&
			has_arena(entry->d_name, processes->arena_path);
	if (folder)
		closedir(folder);
	return found;
}

uint64_t mr_processes_last_end(const struct mr_processes *processes, uint32_t except,
			       uint64_t now_ticks)
{
	uint64_t last = 0;
	for (size_t i = 0; i < processes->list.count; i++) {
		const struct mr_process_info *info = &processes->list.items[i];
		if (info->traced && info->process != except)
			last = mr_max(last, info->alive_at_end ? now_ticks : info->gone_ticks);
	}
	return last;
}

/* ---- afterwards ---------------------------------------------------------------------------------- */

static int by_process(const void *a, const void *b)
{
	const struct mr_process_info *left = a, *right = b;
	return (left->process > right->process) - (left->process < right->process);
}

void mr_processes_sort(struct mr_processes *processes)
{
	if (processes->list.count > 1)
		qsort(processes->list.items, processes->list.count, sizeof *processes->list.items,
		      by_process);
}

bool mr_processes_is_exec(const struct mr_processes *processes, const struct mr_process_info *info)
{
	const struct mr_process_info wanted = {.process = info->parent_process};
	const struct mr_process_info *parent = NULL;
	if (processes->list.count > 0)
		parent = bsearch(&wanted, processes->list.items, processes->list.count,
				 sizeof wanted, by_process);
	return parent && parent->pid == info->pid && parent->host_pid == info->host_pid;
}
