/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "hook/environment.h"
#include "hook/target.h"
#include "launch/arena_file.h"
#include "launch/child.h"
#include "launch/clock_samples.h"
#include "launch/descriptors.h"
#include "launch/directory.h"
#include "launch/drain.h"
#include "launch/kernel_level.h"
#include "launch/level_switch.h"
#include "launch/library.h"
#include "launch/manifest.h"
#include "launch/notes.h"
#include "launch/privilege.h"
#include "launch/python_samples.h"
#include "launch/session_files.h"
#include "launch/signals.h"
#include "launch/snapshot.h"
#include "launch/title.h"
#include "record/recorder.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
	SHORTEST_WAIT_MS = 1,
	LONGEST_WAIT_MS = 5,
	PROGRESS_NS = 500000000,
	REQUESTS_NS = 100000000,
	MANY_RECORDS = 1 << 12, /* of the kernel level; there is room for much more */
};

static const uint64_t descendants_wait_ns = 2 * SECOND_NS;
static const uint64_t alone_wait_ns = SECOND_NS / 40;
static const uint64_t default_max_bytes = UINT64_C(8) << 30;
static const uint64_t buffer_max_bytes = (uint64_t)MR_ARENA_SLOTS_MAX * MR_ARENA_SLOT_BYTES;

struct session {
	const struct mr_session_options *options;
	char *program; /* file that is executed */
	char *library;
	enum mr_untraced_reason untraced;
	struct mr_directory directory;
	struct mr_arena_file arena_file;
	struct mr_signals signals;
	struct rlimit descriptors; /* the program's */
	struct mr_child child;
	enum mr_trace_clock user_clock;
	struct mr_clock_samples clocks;
	struct mr_metadata metadata;
	struct mr_streams streams;
	struct mr_processes processes;
	struct mr_drain drain;
	struct mr_kernel_level kernel;
	struct mr_level_switch levels;
	struct mr_python_samples python;
	json_t *manifest;
	char host[256];
	uint64_t started_ns;
	uint64_t ended_ns;                   /* the program's end; 0: it runs */
	uint64_t started_ticks, ended_ticks; /* the same, of the user clock */
	uint64_t started_cpu_ns;             /* record's own CPU time then */
	bool is_outlived;                    /* a traced descendant was seen after its end */
	uint64_t alone_since_ns;             /* when a descendant was last seen */
	uint64_t next_sample_ns, next_progress_ns, next_request_ns;
	uint32_t snapshots;
	uint32_t reductions; /* as the manifest says */
	int wait_status;
};

static uint64_t now_ns(void)
{
	return mr_ticks_of_system(CLOCK_MONOTONIC);
}

/* ---- prepare ------------------------------------------------------------------------------------- */

static int prepare_arena(struct session *session)
{
	uint64_t bytes = session->options->buffer_bytes ? session->options->buffer_bytes
							: mr_arena_default_bytes();
	int result = mr_arena_file_create(session->directory.path, bytes, &session->arena_file);
	if (result < 0)
		return result;
	struct mr_arena *arena = session->arena_file.arena;
	arena->user_clock = arena->control->user_clock = (uint8_t)session->user_clock;
	mr_arena_file_switch(&session->arena_file, MR_LEVEL_core);
	mr_arena_file_set_folder(&session->arena_file, session->directory.path);
	/* In this order: an arena without a link to it would be left for ever, should record be killed. */
	if (symlinkat(session->arena_file.path, session->directory.fd, MR_ARENA_LINK) < 0)
		return mr_fail_errno(errno, "cannot write into %s", session->directory.path);
	result = mr_arena_file_publish(&session->arena_file);
	return result < 0 ? result : mr_arena_file_lock(&session->arena_file);
}

static int prepare_directory(struct session *session)
{
	int result = mr_directory_create(session->options->output, &session->directory);
	if (result < 0)
		return result;
	if (flock(session->directory.fd, LOCK_EX | LOCK_NB) < 0)
		return mr_fail_errno(errno, "cannot lock %s", session->directory.path);
	return mr_directory_reserve(&session->directory);
}

/* The only part that uses privileges. It gives them up, as far as the program is not to inherit them. */
static int open_kernel_level(struct session *session)
{
	struct mr_kernel_options options = session->options->kernel;
	struct mr_privilege privilege;
	int result = mr_privilege_find(session->options->as_root, &privilege);
	if (result < 0)
		return result;
	options.user = privilege.user;
	options.group = privilege.group;
	if (session->options->levels & MR_LEVEL_kernel)
		mr_kernel_level_open(&session->kernel, &options);
	return mr_privilege_leave(&privilege, session->kernel.mode == MR_KERNEL_PERF);
}

static int prepare(struct session *session, bool *ret_program_failed)
{
	if (session->options->buffer_bytes > buffer_max_bytes)
		return mr_fail(EINVAL, "the buffer is too large: the maximum is %" PRIu64 " GiB",
			       buffer_max_bytes >> 30);
	session->descriptors = mr_descriptors_raise_limit();
	session->user_clock = mr_clock_samples_begin(&session->clocks);
	int result = open_kernel_level(session);
	if (result < 0)
		return result;
	result = mr_child_find_program(session->options->arguments[0], &session->program);
	if (result < 0) {
		*ret_program_failed = result != -ENOMEM;
		return result;
	}
	static struct mr_target_scratch scratch;
	session->untraced = mr_target_inspect(AT_FDCWD, session->program, &scratch);
	result = mr_library_find(&session->library);
	if (result == 0)
		result = mr_signals_start(&session->signals);
	if (result == 0)
		result = prepare_directory(session);
	if (result == 0)
		result = prepare_arena(session);
	return result;
}

/* ---- start --------------------------------------------------------------------------------------- */

static struct mr_stream_limits limits_of(const struct session *session)
{
	const struct mr_session_options *options = session->options;
	uint64_t safe = mr_min(default_max_bytes, mr_directory_free_bytes(&session->directory) / 2);
	uint64_t frequency = session->metadata.user.frequency;
	struct mr_stream_limits limits = {.bytes = options->max_bytes ? options->max_bytes : safe};
	if (options->last_bytes)
		limits.bytes = mr_min(limits.bytes, options->last_bytes);
	limits.age_ticks = (uint64_t)((unsigned __int128)options->last_ns * frequency / SECOND_NS);
	return limits;
}

/* The child is forked before record attaches itself, so that it does not count as a traced child. */
static int start_child(struct session *session)
{
	struct mr_environment_wish wish = {.library = session->library,
					   .arena = session->arena_file.path,
					   .is_traced = session->untraced == MR_UNTRACED_NONE};
	char **given = mr_privilege_environment();
	mr_auto(free) void *memory = given ? malloc(mr_environment_bytes(given, &wish)) : NULL;
	if (!memory)
		return mr_fail(ENOMEM, "no memory for the environment");
	char **environment = mr_environment_build(memory, given, &wish);
	return mr_child_start(session->options->arguments, environment, &session->signals,
			      &session->descriptors, &session->child);
}

static struct mr_stream_clocks clocks_of(const struct session *session)
{
	const struct mr_clock_bracket *last = &session->clocks.last_monotonic;
	return (struct mr_stream_clocks){.user_ticks = last->after,
					 .monotonic_ns = last->value,
					 .ticks_per_second = session->metadata.user.frequency};
}

static int start(struct session *session, bool *ret_program_failed)
{
	int result = start_child(session);
	if (result < 0)
		return result;
	struct mr_arena *arena = session->arena_file.arena;
	mr_process_attach_mapped(arena);
	if (!mr_arena)
		return mr_fail(ENOMEM, "no memory to attach to the arena");
	mr_clock_samples_start(&session->clocks);
	gethostname(session->host, sizeof session->host - 1);
	session->metadata.host = session->host;
	memcpy(session->metadata.trace_uuid, arena->trace_uuid, sizeof arena->trace_uuid);
	mr_clock_samples_describe(&session->clocks, arena->user_clock, &session->metadata);
	mr_streams_init(&session->streams, session->directory.ctf, limits_of(session),
			clocks_of(session));
	mr_processes_init(&session->processes, &session->arena_file);
	mr_python_samples_init(&session->python, session->options->python_samples,
			       &session->processes);
	result = mr_drain_init(&session->drain, &session->arena_file, &session->streams,
			       &session->processes);
	mr_kernel_level_start(&session->kernel, session->child.pid, &session->drain);
	if (result == 0)
		result = mr_privilege_drop();
	mr_level_switch_init(&session->levels, session->options, &session->arena_file,
			     &session->kernel, &session->drain);
	session->manifest =
		mr_manifest_new(session->options, session->program, session->levels.mask);
	mr_kernel_level_tell(&session->kernel, session->manifest);
	mr_manifest_set_window(session->manifest, mr_ticks_now(), 0);
	mr_manifest_set_recorder(session->manifest, 0);
	if (result == 0)
		result = mr_directory_write_metadata(&session->directory, &session->metadata);
	if (result == 0)
		result = mr_manifest_write(session->manifest, &session->directory);
	if (result < 0)
		return result;
	if (session->untraced != MR_UNTRACED_NONE)
		mr_process_note_untraced((uint32_t)session->child.pid, session->program,
					 session->untraced);
	mr_level_switch_start(&session->levels);
	session->started_ns = now_ns();
	session->started_ticks = mr_ticks_now();
	session->started_cpu_ns = mr_ticks_of_system(CLOCK_PROCESS_CPUTIME_ID);
	session->next_sample_ns = session->started_ns + SECOND_NS;
	result = mr_child_release(&session->child);
	if (result < 0) {
		*ret_program_failed = true;
		return mr_fail_errno(-result, "cannot run %s", session->program);
	}
	return 0;
}

/* ---- run ----------------------------------------------------------------------------------------- */

/* Reaps the program; stops and continues along with it. */
static void look_at_child(struct session *session)
{
	while (session->ended_ns == 0) {
		siginfo_t info = {0};
		int status = 0;
		/* Should somebody else have reaped it, it has ended all the same. */
		bool is_reaped = waitid(P_PID, (id_t)session->child.pid, &info,
					WEXITED | WSTOPPED | WNOHANG | WNOWAIT) < 0;
		if (!is_reaped && info.si_pid == 0)
			return;
		waitpid(session->child.pid, &status, WUNTRACED | WNOHANG);
		if (info.si_code == CLD_STOPPED) {
			mr_signals_stop_along(&session->signals, session->child.pid);
		} else {
			session->wait_status = status;
			session->ended_ticks = mr_ticks_now();
			session->ended_ns = now_ns();
		}
	}
}

static void answer_request(struct session *session)
{
	if (!mr_snapshot_is_requested(&session->directory))
		return;
	mr_clock_samples_take(&session->clocks);
	mr_kernel_level_flush(&session->kernel);
	mr_kernel_level_tell(&session->kernel, session->manifest);
	mr_snapshot_make(&session->directory, &session->drain, &session->metadata,
			 session->manifest, ++session->snapshots);
}

/* Should record be killed, counts of system calls must not be taken for complete. */
static void note_reductions(struct session *session)
{
	uint32_t count = mr_kernel_level_reductions(&session->kernel);
	if (count == session->reductions)
		return;
	session->reductions = count;
	mr_kernel_level_tell(&session->kernel, session->manifest);
	mr_manifest_write(session->manifest, &session->directory);
}

static void do_periodic_work(struct session *session)
{
	uint64_t now = now_ns();
	mr_arena_file_keep_name(&session->arena_file);
	mr_level_switch_update(&session->levels, now - session->started_ns);
	if (now >= session->next_sample_ns) {
		mr_clock_samples_take(&session->clocks);
		session->streams.clocks = clocks_of(session);
		mr_streams_expire(&session->streams, mr_ticks_now());
		session->next_sample_ns = now + SECOND_NS;
	}
	if (now >= session->next_request_ns) {
		session->next_request_ns = now + REQUESTS_NS;
		answer_request(session);
		note_reductions(session);
	}
	if (session->options->show_progress && now >= session->next_progress_ns) {
		session->next_progress_ns = now + PROGRESS_NS;
		mr_title_show(now - session->started_ns, session->streams.written_bytes);
	}
}

/* The program has ended, and its descendants too, or they have had their time. Where the kernel level does not know of
 * all of them: in the midst of an exec a process shows no sign of being one, so for a moment none must be seen. */
static bool is_over(struct session *session)
{
	if (session->ended_ns == 0)
		return false;
	if (session->signals.asked_to_end)
		return true;
	uint64_t now = now_ns();
	bool is_one_alive = mr_processes_alive(&session->processes, MR_RECORDER_PROCESS) > 0;
	session->is_outlived |= is_one_alive;
	if (!is_one_alive && mr_kernel_level_are_all_gone(&session->kernel))
		return true;
	if (is_one_alive || mr_processes_is_one_coming(&session->processes))
		session->alone_since_ns = now;
	if (now - mr_max(session->ended_ns, session->alone_since_ns) >= alone_wait_ns)
		return true;
	return !session->options->wait_all && now - session->ended_ns >= descendants_wait_ns;
}

static void run(struct session *session)
{
	int wait_ms = 0;
	if (session->options->show_progress)
		mr_title_begin();
	while (!is_over(session)) {
		struct pollfd signals = {.fd = session->signals.fd, .events = POLLIN};
		pid_t program = session->ended_ns ? 0 : session->child.pid;
		int most_ms = mr_python_samples_wait_ms(&session->python, now_ns(), wait_ms);
		if (poll(&signals, 1, most_ms) > 0 && mr_signals_handle(&session->signals, program))
			look_at_child(session);
		mr_python_samples_take(&session->python, now_ns(), session->levels.is_on);
		bool is_busy = mr_drain_pass(&session->drain) > 0;
		is_busy |= mr_kernel_level_drain(&session->kernel) > MANY_RECORDS;
		if (session->ended_ns == 0 && !mr_arena_file_complete(&session->arena_file))
			wait_ms = 0; /* many threads may begin at once */
		else
			wait_ms = is_busy || wait_ms == 0
					  ? SHORTEST_WAIT_MS
					  : mr_min(wait_ms * 2, (int)LONGEST_WAIT_MS);
		do_periodic_work(session);
	}
	if (session->options->show_progress)
		mr_title_end();
}

/* ---- finish -------------------------------------------------------------------------------------- */

static void finish(struct session *session)
{
	answer_request(session);
	mr_directory_halve_reserve(&session->directory);
	mr_kernel_level_finish(&session->kernel);
	mr_clock_samples_take(&session->clocks);
	mr_python_samples_finish(&session->python);
	uint64_t recorded_ticks = mr_ticks_now();
	mr_arena_file_switch(&session->arena_file, 0);
	if (mr_processes_alive(&session->processes, MR_RECORDER_PROCESS) > 0)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* begun events end */
	mr_notes_collect(session->arena_file.path);
	mr_drain_finish(&session->drain);
	mr_processes_sort(&session->processes);
	unlinkat(session->directory.fd, MR_RESERVE_FILE, 0);
	mr_clock_samples_describe(&session->clocks, session->metadata.user_clock,
				  &session->metadata);
	uint64_t last_ticks = session->is_outlived
				      ? mr_processes_last_end(&session->processes,
							      MR_RECORDER_PROCESS, recorded_ticks)
				      : 0;
	mr_manifest_set_window(session->manifest, session->started_ticks,
			       mr_max(session->ended_ticks, last_ticks));
	mr_manifest_set_recorder(session->manifest, mr_ticks_of_system(CLOCK_PROCESS_CPUTIME_ID) -
							    session->started_cpu_ns);
	mr_manifest_set_exit(session->manifest, session->wait_status,
			     session->ended_ns - session->started_ns);
	mr_kernel_level_tell(&session->kernel, session->manifest);
	mr_manifest_finish(session->manifest, session->drain.stop_reason ? "stopped" : "complete",
			   &session->drain);
	if (mr_directory_write_metadata(&session->directory, &session->metadata) < 0 ||
	    mr_manifest_write(session->manifest, &session->directory) < 0)
		mr_drain_stop(&session->drain);
	unlinkat(session->directory.fd, MR_ARENA_LINK, 0);
	unlinkat(session->directory.fd, MR_SNAPSHOT_REQUEST, 0); /* too late: the asker sees it */
}

static void describe(struct session *session, struct mr_session_result *ret_result)
{
	struct mr_session_result result = {.path = mr_take(session->directory.path),
					   .wait_status = session->wait_status,
					   .bytes = session->streams.bytes,
					   .lost_events = mr_drain_lost_events(&session->drain),
					   .lost_packets = session->drain.lost_packets,
					   .overwritten_bytes = session->streams.overwritten_bytes,
					   .duration_ns = session->ended_ns - session->started_ns,
					   .stop_reason = mr_take(session->drain.stop_reason)};
	uint64_t kept_from = session->streams.kept_from_ticks;
	if (kept_from)
		result.kept_ns = (uint64_t)((unsigned __int128)(mr_ticks_now() - kept_from) *
					    SECOND_NS / session->metadata.user.frequency);
	for (size_t i = 0; i < session->processes.list.count; i++) {
		const struct mr_process_info *info = &session->processes.list.items[i];
		if (info->process == MR_RECORDER_PROCESS)
			continue;
		result.processes +=
			info->traced && !mr_processes_is_exec(&session->processes, info);
		result.untraced_processes += !info->traced;
		result.alive_processes += info->alive_at_end;
	}
	result.lost_definitions = mr_drain_lost_definitions(&session->drain);
	if (session->untraced != MR_UNTRACED_NONE)
		result.untraced_why = mr_untraced_reason_text(session->untraced);
	result.kernel_why = mr_take(session->kernel.why);
	result.kernel_mode = session->kernel.mode;
	*ret_result = result;
}

/* Undoes everything after a failure to start. */
static void give_up(struct session *session)
{
	if (session->child.pid > 0)
		mr_child_abandon(&session->child);
	mr_arena_file_close(&session->arena_file, true); /* may lie in the directory */
	if (session->directory.fd >= 0) {
		unlinkat(session->directory.fd, MR_RESERVE_FILE, 0);
		unlinkat(session->directory.fd, MR_ARENA_LINK, 0);
		mr_directory_remove(&session->directory);
	}
}

static void release(struct session *session)
{
	mr_signals_stop(&session->signals);
	mr_kernel_level_close(&session->kernel);
	mr_python_samples_free(&session->python);
	mr_drain_fini(&session->drain);
	mr_processes_fini(&session->processes);
	mr_streams_fini(&session->streams);
	json_decref(session->manifest);
	mr_arena_file_close(&session->arena_file, true);
	mr_directory_close(&session->directory);
	free(session->program);
	free(session->library);
}

int mr_session_run(const struct mr_session_options *options, struct mr_session_result *ret_result,
		   bool *ret_program_failed)
{
	struct session session = {.options = options,
				  .directory = {.fd = -1, .ctf = -1},
				  .arena_file = {.fd = -1},
				  .signals = {.fd = -1}};
	*ret_program_failed = false;
	mr_descriptors_hold_standard_streams();
	int result = prepare(&session, ret_program_failed);
	if (result == 0)
		result = start(&session, ret_program_failed);
	if (result == 0) {
		run(&session);
		finish(&session);
		describe(&session, ret_result);
	} else {
		give_up(&session);
	}
	release(&session);
	return result;
}

void mr_session_result_free(struct mr_session_result *result)
{
	free(result->path);
	free(result->stop_reason);
	free(result->kernel_why);
}
