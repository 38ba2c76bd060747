/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "record/recorder.h"

enum {
	PROC_PATH_BYTES = 300
};

static uint64_t pid_namespace_of(const char *pid)
{
	char path[PROC_PATH_BYTES];
	struct stat status;
	snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

void mr_processes_init(struct mr_processes *processes, struct mr_arena *arena)
{
	*processes = (struct mr_processes){
		.arena = arena,
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
	mr_vec_free(&processes->polled);
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

/* Our pid for a process that knows itself as `pid` in another namespace; 0 if it is not there. */
static pid_t translate_pid(uint32_t pid, uint64_t namespace)
{
	DIR *folder = opendir("/proc");
	pid_t found = 0;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    pid_namespace_of(entry->d_name) == namespace &&
		    innermost_pid(entry->d_name) == pid)
			found = (pid_t)atoi(entry->d_name);
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
	/* What attached before record did (a recovery) cannot be told apart; it counts as alive. */
	if (registered_ticks < processes->first_ticks || ticks == 0)
		return false;
	unsigned __int128 since_first = registered_ticks - processes->first_ticks;
	uint64_t registered_ns =
		processes->first_boottime_ns + (uint64_t)(since_first * ns / ticks);
	return start_time_ns(pid) >
	       registered_ns + UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void watch(struct mr_processes *processes, size_t index,
		  const struct mr_process_entry *entry)
{
	struct mr_process_info *info = &processes->list.items[index];
	if (entry->pid_namespace == 0)
		return; /* whose pid that is nobody can say: it counts as alive until the end */
	bool ours = entry->pid_namespace == processes->own_pid_namespace;
	info->host_pid = ours ? (pid_t)entry->pid : translate_pid(entry->pid, entry->pid_namespace);
	if (info->host_pid == 0 ||
	    began_after(processes, info->host_pid, entry->registered_ticks)) {
		info->dead = true;
		return;
	}
	info->pidfd = (int)syscall(SYS_pidfd_open, info->host_pid, 0);
	if (info->pidfd < 0)
		info->dead = errno == ESRCH;
}

/* A program that attaches under the pid of another has replaced it. */
static void end_predecessors(struct mr_processes *processes, const struct mr_process_info *newer)
{
	for (size_t i = 0; i < processes->live.count; i++) {
		struct mr_process_info *info = &processes->list.items[processes->live.items[i]];
		if (info->traced && !info->dead && info->host_pid == newer->host_pid &&
		    info->host_pid && info->process < newer->process)
			info->dead = true;
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
static void announce(struct mr_process_entry *entry)
{
	const struct mr_event_process_start start = {.process = entry->process,
						     .pid = entry->pid,
						     .parent_process = entry->parent_process,
						     .parent_pid = entry->parent_pid,
						     .first_definition = entry->first_definition,
						     .start = entry->registered_ticks,
						     .origin = entry->origin};
	if (!entry->is_announced)
		entry->is_announced = mr_define_event(MR_EVENT_process_start, &start, sizeof start,
						      entry->program);
}

static int take_in(struct mr_processes *processes, uint32_t slot, bool traced)
{
	struct mr_process_entry *entry = mr_arena_process(processes->arena, slot);
	struct mr_process_info info = {.process = entry->process,
				       .parent_process = entry->parent_process,
				       .pid = entry->pid,
				       .pidfd = -1,
				       .slot = (int32_t)slot,
				       .reason = (enum mr_untraced_reason)entry->reason,
				       .traced = traced,
				       .dead = !traced,
				       .program =
					       strndup(entry->program, sizeof entry->program - 1)};
	size_t index = processes->list.count;
	if (!info.program || mr_vec_reserve(&processes->live, processes->live.count + 1) < 0 ||
	    mr_vec_push(&processes->list, info) < 0) {
		free(info.program);
		return mr_fail(ENOMEM, "no memory for the list of processes");
	}
	insert_live(processes, index);
	if (!traced) {
		mr_processes_retire(processes, index);
		return 0;
	}
	announce(entry);
	watch(processes, index, entry);
	end_predecessors(processes, &processes->list.items[index]);
	return 0;
}

static bool is_known(const struct mr_processes *processes, uint32_t process)
{
	for (size_t i = 0; i < processes->live.count; i++)
		if (processes->list.items[processes->live.items[i]].process == process)
			return true;
	return false;
}

int mr_processes_discover(struct mr_processes *processes)
{
	uint32_t next = atomic_load_explicit(&processes->arena->next_process, memory_order_acquire);
	if (next == processes->seen_process)
		return 0;
	bool complete = true;
	uint32_t used = mr_min(next, (uint32_t)MR_ARENA_PROCESSES);
	for (uint32_t slot = 0; slot < used; slot++) {
		struct mr_process_entry *entry = mr_arena_process(processes->arena, slot);
		uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
		complete &= state != MR_PROCESS_CLAIMED;
		if (state != MR_PROCESS_LIVE && state != MR_PROCESS_UNTRACED)
			continue;
		if (is_known(processes, entry->process))
			continue;
		int result = take_in(processes, slot, state == MR_PROCESS_LIVE);
		if (result < 0)
			return result;
	}
	if (complete)
		processes->seen_process = next;
	return 0;
}

/* ---- life and death ------------------------------------------------------------------------------ */

void mr_processes_check(struct mr_processes *processes)
{
	size_t count = processes->live.count;
	if (count == 0 || mr_vec_reserve(&processes->polled, count) < 0)
		return;
	struct pollfd *polled = processes->polled.items;
	for (size_t i = 0; i < count; i++) /* poll() passes over -1 */
		polled[i] =
			(struct pollfd){.fd = processes->list.items[processes->live.items[i]].pidfd,
					.events = POLLIN};
	bool is_polled = poll(polled, count, 0) >= 0;
	for (size_t i = 0; i < count; i++) {
		struct mr_process_info *info = &processes->list.items[processes->live.items[i]];
		if (info->pidfd >= 0)
			info->dead |= is_polled && polled[i].revents != 0;
		else if (info->host_pid > 0)
			info->dead |= kill(info->host_pid, 0) < 0 && errno == ESRCH;
	}
}

static void copy_losses(struct mr_process_info *info, struct mr_process_entry *entry)
{
	for (int i = 0; i < MR_LOSS_REASONS; i++)
		info->lost[i] = atomic_load_explicit(&entry->lost[i], memory_order_relaxed);
	info->ended = entry->ended;
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
	if (info->pidfd >= 0)
		close(info->pidfd);
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
			has_arena(entry->d_name, processes->arena->arena_path);
	if (folder)
		closedir(folder);
	return found;
}
