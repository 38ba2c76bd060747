/* SPDX-License-Identifier: Apache-2.0
 *
 * Attaches a process to the arena, and its forked children again.
 *
 * It keeps no descriptor and no thread. The page of struct mr_process is mapped with MADV_WIPEONFORK, so
 * that every child finds generation 0 in it, also a child made by _Fork() or a raw clone, which run no
 * atfork handlers.
 */
#include <pthread.h>

#include "record/identity.h"
#include "record/own_call.h"
#include "record/recorder.h"
#include "record/window.h"

union mr_process_page mr_process_page;
struct mr_arena *mr_arena;
static struct mr_arena attached; /* what mr_arena leads to in a traced program */
bool mr_ticks_are_counter;
bool mr_clock_is_forbidden;

char mr_library_path[MR_ARENA_PATH_BYTES];
char mr_arena_path[MR_ARENA_PATH_BYTES];

enum {
	LOCK_ATTEMPTS = 100000 /* yields */
};

_Atomic uint32_t mr_forbidden_calls;

static const _Atomic uint32_t no_levels;
const _Atomic uint32_t *mr_levels = &no_levels;

/* These survive fork on purpose: a child learns from them who its parent is, and what it need not look up. */
static uint32_t last_process;
static uint32_t last_pid;
static uint64_t pid_namespace;
static char program[sizeof((struct mr_process_entry *)0)->program];

static struct mr_interpreter_place interpreter; /* also of children */

static struct mr_process_entry *this_entry(void)
{
	return mr_arena_process(mr_arena, (uint32_t)mr_this_process.slot);
}

void mr_clock_forbid(bool is_forbidden)
{
	if (!mr_arena)
		return;
	mr_clock_is_forbidden = is_forbidden;
	mr_ticks_are_counter = !is_forbidden && mr_arena->user_clock == MR_trace_clock_tsc;
	mr_thread_choose_path();
}

uint64_t mr_ticks_slow(void)
{
	return mr_clock_is_forbidden ? 0 : mr_ticks_of_system(CLOCK_MONOTONIC);
}

void mr_count_loss(enum mr_loss_reason reason, uint64_t count)
{
	if (mr_this_process.generation != 0 && count > 0)
		atomic_fetch_add_explicit(&this_entry()->lost[reason], count, memory_order_relaxed);
}

bool mr_lock(_Atomic uintptr_t *lock)
{
	for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
		uintptr_t holder = 0;
		if (atomic_compare_exchange_strong_explicit(lock, &holder, (uintptr_t)&mr_self,
							    memory_order_acquire,
							    memory_order_relaxed))
			return true;
		if (holder == (uintptr_t)&mr_self)
			return false;
		mr_own_call(SYS_sched_yield);
	}
	return false;
}

void mr_unlock(_Atomic uintptr_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/* The namespace of this process's pid, so that record can translate it; 0 without /proc. */
static uint64_t find_pid_namespace(void)
{
	struct stat status;
	return mr_own_stat(AT_FDCWD, "/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* Looks up what a forked child knows from its parent. A child in a new pid namespace must look it up again;
 * it notices that because it cannot see its parent's pid. Returns that pid; of a child that may not ask, the pid of the
 * process that forked. */
static uint32_t look_up_self(enum mr_process_origin origin)
{
	long parent = mr_own_call(SYS_getppid);
	if (origin == MR_process_origin_exec || parent == 0)
		pid_namespace = find_pid_namespace();
	if (origin == MR_process_origin_exec) {
		long length = mr_own_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program,
					  sizeof program - 1);
		program[length > 0 ? length : 0] = 0;
	}
	return parent >= 0 ? (uint32_t)parent : last_pid;
}

/* The number of the live process with this pid in our namespace, or 0. */
static uint32_t find_process(uint32_t pid)
{
	uint32_t used = atomic_load_explicit(&mr_arena->tables->next_process, memory_order_relaxed);
	uint32_t found = 0;
	for (uint32_t i = 0; i < mr_min(used, (uint32_t)MR_ARENA_PROCESSES); i++) {
		struct mr_process_entry *entry = mr_arena_process(mr_arena, i);
		if (atomic_load_explicit(&entry->state, memory_order_acquire) == MR_PROCESS_LIVE &&
		    entry->pid == pid && entry->pid_namespace == pid_namespace)
			found = mr_max(found, entry->process);
	}
	return found;
}

static int32_t claim_entry(enum mr_process_origin origin, uint32_t pid, uint32_t parent_pid,
			   uint32_t parent_process)
{
	/* Before the claim: record searches only up to this number. */
	uint32_t number = atomic_fetch_add_explicit(&mr_arena->tables->next_process, 1,
						    memory_order_relaxed) +
			  1;
	int32_t slot = mr_arena_claim_process(mr_arena);
	if (slot < 0)
		return -1;
	struct mr_process_entry *entry = mr_arena_process(mr_arena, (uint32_t)slot);
	for (int i = 0; i < MR_LOSS_REASONS; i++)
		atomic_store_explicit(&entry->lost[i], 0, memory_order_relaxed);
	entry->process = number;
	entry->parent_process = parent_process;
	entry->pid = pid;
	entry->parent_pid = parent_pid;
	entry->first_definition = mr_definition_next();
	entry->pid_namespace = pid_namespace;
	entry->registered_ticks = mr_ticks_now();
	entry->origin = origin;
	entry->reason = MR_UNTRACED_NONE;
	entry->ended = 0;
	entry->is_announced = 0;
	atomic_store_explicit(&entry->interpreter.runtime, 0, memory_order_relaxed);
	entry->program[0] = 0;
	return slot;
}

static void show_interpreter(struct mr_process_entry *entry)
{
	entry->interpreter.code_type = interpreter.code_type;
	entry->interpreter.text_type = interpreter.text_type;
	entry->interpreter.version = interpreter.version;
	atomic_store_explicit(&entry->interpreter.runtime, interpreter.runtime,
			      memory_order_release);
}

void mr_process_show_interpreter(const struct mr_interpreter_place *place)
{
	interpreter = *place;
	if (mr_arena && mr_this_process.generation != 0)
		show_interpreter(this_entry());
}

/* Called in every forked child, where the first access to each page of code or data costs a fault. So system
 * calls are made without libc, and texts are measured without it. */
static bool begin_process(enum mr_process_origin origin, uint32_t pid)
{
	uint32_t parent_pid = look_up_self(origin);
	uint32_t parent = last_process;
	if (origin == MR_process_origin_exec) {
		parent = find_process(pid);
		if (parent == 0)
			parent = find_process(parent_pid);
	}
	int32_t slot = claim_entry(origin, pid, parent_pid, parent);
	if (slot < 0)
		return false;
	struct mr_process_entry *entry = mr_arena_process(mr_arena, (uint32_t)slot);
	memcpy(entry->program, program, sizeof program);
	show_interpreter(entry);
	mr_writer_reset(&mr_this_process.definitions);
	mr_this_process.slot = slot;
	mr_this_process.pid = last_pid = pid;
	mr_this_process.origin = origin;
	last_process = entry->process;
	/* Release: from here on record knows the process, announces it in the trace, and collects its
	 * packets when it has ended. */
	atomic_store_explicit(&entry->state, MR_PROCESS_LIVE, memory_order_release);
	mr_this_process.generation = entry->process;
	return true;
}

static bool restart(bool is_by_fork)
{
	if (!mr_lock(&mr_this_process.restart_lock))
		return false;
	if (mr_this_process.generation == 0 && !mr_this_process.is_refused) {
		uint32_t pid = mr_child_pid(is_by_fork);
		mr_this_process.is_known_to_libc = is_by_fork;
		mr_this_process.is_refused = pid == 0 || mr_clock_is_forbidden ||
					     !begin_process(MR_process_origin_fork, pid);
	}
	mr_unlock(&mr_this_process.restart_lock);
	return mr_this_process.generation != 0;
}

bool mr_process_restart(void)
{
	return restart(false);
}

static void on_fork_in_child(void)
{
	if (!mr_arena)
		return;
	/* Unless somebody else's atfork handler has recorded already, this thread has only its parent's state. */
	if (mr_self.generation != mr_this_process.generation)
		mr_thread_forget();
	restart(true);
}

/* Replaces mr_process_page by an empty page that the kernel empties again in every child. False if that is
 * not possible: a child could not be distinguished from its parent. */
static bool prepare_process_page(void)
{
	const size_t bytes = sizeof mr_process_page;
	long page = mr_own_call(SYS_mmap, &mr_process_page, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
	return page == (long)&mr_process_page &&
	       mr_own_call(SYS_madvise, page, bytes, MADV_WIPEONFORK) == 0;
}

/* Does everything that attaching needs, except for the entry in the arena. */
static bool use_arena(struct mr_arena *arena)
{
	static bool prepared;
	if (!prepare_process_page())
		return false;
	mr_arena = arena;
	mr_ticks_are_counter = arena->user_clock == MR_trace_clock_tsc;
	if (!prepared) {
		mr_identity_prepare();
		mr_thread_prepare();
		pthread_atfork(NULL, NULL, on_fork_in_child);
		prepared = true;
	}
	last_process = 0;
	return true;
}

void mr_process_attach_mapped(struct mr_arena *arena)
{
	bool is_attached = use_arena(arena) && begin_process(MR_process_origin_exec, mr_own_pid());
	mr_this_process.is_known_to_libc = is_attached;
	if (is_attached)
		mr_levels =
			arena->step_levels ? &arena->tables->step_levels : &arena->control->levels;
	else
		mr_arena = NULL;
}

void mr_process_adopt(struct mr_arena *arena, uint32_t slot)
{
	if (!use_arena(arena))
		return;
	mr_writer_reset(&mr_this_process.definitions);
	mr_this_process.slot = (int32_t)slot;
	mr_this_process.pid = mr_own_pid();
	mr_this_process.generation = MR_RECORDER_PROCESS;
}

enum mr_untraced_reason mr_process_attach(void)
{
	enum mr_untraced_reason reason = mr_windows_open(mr_arena_path, &attached);
	if (reason == MR_UNTRACED_NONE)
		mr_process_attach_mapped(&attached);
	return reason;
}

void mr_process_leave(enum mr_untraced_reason reason)
{
	if (mr_arena != &attached)
		return;
	if (mr_this_process.generation != 0)
		this_entry()->reason = (uint8_t)reason;
	mr_levels = &no_levels;
	mr_windows_leave(&attached);
}

void mr_process_end(void)
{
	if (!mr_arena || mr_this_process.generation == 0)
		return;
	/* Not into the thread's stream, which may have ended: pthread_exit() in main leads here. */
	const struct mr_event_process_end end = {};
	mr_define_event(MR_EVENT_process_end, &end, sizeof end, NULL);
	this_entry()->ended = 1;
}

void mr_process_note_untraced(uint32_t pid, const char *path, enum mr_untraced_reason reason)
{
	if (!mr_arena)
		return;
	int32_t slot = claim_entry(MR_process_origin_exec, pid, last_pid, last_process);
	if (slot < 0)
		return;
	struct mr_process_entry *entry = mr_arena_process(mr_arena, (uint32_t)slot);
	entry->reason = (uint8_t)reason;
	size_t length = mr_text_length(path, sizeof entry->program - 1);
	memcpy(entry->program, path, length);
	entry->program[length] = 0;
	atomic_store_explicit(&entry->state, MR_PROCESS_UNTRACED, memory_order_release);
}
