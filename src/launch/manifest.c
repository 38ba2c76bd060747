/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "hook/rank.h"
#include "hook/target.h"
#include "launch/cpu_time.h"
#include "launch/session.h"
#include "record/recorder.h"

enum {
	MANIFEST_FORMAT = 1
};

/* Command lines may hold any bytes; JSON may not. */
static json_t *text(const char *bytes)
{
	json_t *value = json_string(bytes);
	if (value)
		return value;
	size_t length = strlen(bytes);
	mr_auto(free) char *ascii = strdup(bytes);
	for (size_t i = 0; ascii && i < length; i++)
		if ((unsigned char)ascii[i] >= 0x80)
			ascii[i] = '?';
	return json_string(ascii ? ascii : "");
}

static void set_boot_id(json_t *manifest)
{
	char line[64] = "";
	mr_auto(close_file) FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (file && fgets(line, sizeof line, file))
		line[strcspn(line, "\n")] = 0;
	json_object_set_new(manifest, "boot_id", text(line));
}

/* Of the recorder itself, where one records each rank by itself; processes of the trace say their own. */
static void set_rank(json_t *manifest)
{
	struct mr_rank rank;

	if (!mr_rank_find(&rank))
		return;
	json_t *object = json_pack("{sI ss}", "rank", (json_int_t)rank.rank, "source", rank.source);
	if (rank.world_size != MR_NO_RANK)
		json_object_set_new(object, "world_size", json_integer(rank.world_size));
	if (rank.local_rank != MR_NO_RANK)
		json_object_set_new(object, "local_rank", json_integer(rank.local_rank));
	json_object_set_new(manifest, "rank", object);
}

static void set_cpu_time(json_t *manifest, const char *when)
{
	struct mr_cpu_time time;
	if (mr_cpu_time_read(&time) == 0)
		json_object_set_new(manifest, when,
				    json_pack("{sI sI}", "all_ns", (json_int_t)time.all_ns,
					      "stolen_ns", (json_int_t)time.stolen_ns));
}

static json_t *levels_array(uint32_t levels)
{
	json_t *array = json_array();
	for (uint32_t level = MR_LEVEL_dataflow; level <= MR_LEVEL_kernel; level <<= 1)
		if (levels & level)
			json_array_append_new(array, json_string(mr_level_name(level)));
	return array;
}

static json_t *options_object(const struct mr_session_options *options)
{
	return json_pack("{sI sI sI sI ss? sI sI sI sb}", "delay_ns", (json_int_t)options->delay_ns,
			 "duration_ns", (json_int_t)options->duration_ns, "first_step",
			 (json_int_t)options->first_step, "last_step",
			 options->has_steps ? (json_int_t)options->last_step : -1, "step_range",
			 options->step_range, "max_bytes", (json_int_t)options->max_bytes,
			 "last_bytes", (json_int_t)options->last_bytes, "last_ns",
			 (json_int_t)options->last_ns, "wait_all", (int)options->wait_all);
}

json_t *mr_manifest_new(const struct mr_session_options *options, const char *program,
			uint32_t levels)
{
	json_t *manifest = json_object();
	struct utsname system;
	char folder[PATH_MAX];
	uname(&system);
	json_object_set_new(manifest, "format", json_integer(MANIFEST_FORMAT));
	json_object_set_new(manifest, "millrace", json_string(MR_VERSION));
	json_object_set_new(manifest, "state", json_string("recording"));
	json_object_set_new(manifest, "program", text(program));
	json_t *command = json_array();
	for (char *const *argument = options->arguments; !options->no_arguments && *argument;
	     argument++)
		json_array_append_new(command, text(*argument));
	json_object_set_new(manifest, "command", command);
	if (!options->no_arguments && getcwd(folder, sizeof folder))
		json_object_set_new(manifest, "working_directory", text(folder));
	json_object_set_new(manifest, "host", text(system.nodename));
	json_object_set_new(manifest, "kernel", text(system.release));
	set_boot_id(manifest);
	set_rank(manifest);
	json_object_set_new(manifest, "started_realtime_ns",
			    json_integer((json_int_t)mr_ticks_of_system(CLOCK_REALTIME)));
	set_cpu_time(manifest, "cpu_time_at_start");
	json_object_set_new(manifest, "levels", levels_array(levels));
	json_object_set_new(manifest, "options", options_object(options));
	return manifest;
}

json_t *mr_manifest_load(const struct mr_directory *directory)
{
	int fd = openat(directory->fd, "manifest.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	json_t *manifest = json_loadfd(fd, 0, NULL);
	close(fd);
	if (!json_is_object(manifest)) {
		json_decref(manifest);
		return NULL;
	}
	return manifest;
}

void mr_manifest_set_window(json_t *manifest, uint64_t from_ticks, uint64_t to_ticks)
{
	json_object_set_new(manifest, "window",
			    json_pack("{sI sI}", "from_ticks", (json_int_t)from_ticks, "to_ticks",
				      (json_int_t)to_ticks));
}

void mr_manifest_set_recorder(json_t *manifest, uint64_t cpu_ns)
{
	char name[16] = "";
	prctl(PR_GET_NAME, name);
	json_object_set_new(manifest, "recorder",
			    json_pack("{sI so sI}", "pid", (json_int_t)getpid(), "name", text(name),
				      "cpu_ns", (json_int_t)cpu_ns));
}

void mr_manifest_set_exit(json_t *manifest, int wait_status, uint64_t duration_ns)
{
	json_object_set_new(manifest, "duration_ns", json_integer((json_int_t)duration_ns));
	json_object_set_new(manifest, "exit",
			    WIFSIGNALED(wait_status)
				    ? json_pack("{si}", "signal", WTERMSIG(wait_status))
				    : json_pack("{si}", "code", WEXITSTATUS(wait_status)));
}

void mr_manifest_set_lost(json_t *manifest, const char *reason)
{
	const char *state = json_string_value(json_object_get(manifest, "state"));
	if (state && strcmp(state, "recording") != 0)
		return;
	json_object_set_new(manifest, "state", json_string("lost"));
	json_object_set_new(manifest, "stop_reason", json_string(reason));
}

static json_t *process_object(const struct mr_process_info *info)
{
	json_t *process =
		json_pack("{sI sI sI ss sb sb sb}", "process", (json_int_t)info->process, "pid",
			  (json_int_t)info->pid, "parent_process", (json_int_t)info->parent_process,
			  "seen", info->traced ? "library" : "wrapper", "traced", (int)info->traced,
			  "ended", (int)!info->alive_at_end, "orderly", (int)info->ended);
	json_object_set_new(process, "program", text(info->program));
	/* Of a process with the library inside: why it went on without, at some time. */
	json_object_set_new(process, "reason",
			    info->traced && info->reason == MR_UNTRACED_NONE
				    ? json_null()
				    : text(mr_untraced_reason_text(info->reason)));
	return process;
}

static json_t *losses_object(const struct mr_drain *drain)
{
	static const struct mr_enum_desc *reasons;
	for (reasons = mr_enum_table; strcmp(reasons->name, "loss_reason") != 0;)
		reasons++;
	uint64_t by_reason[MR_DRAIN_LOSS_REASONS];
	mr_drain_losses(drain, by_reason);
	json_t *object = json_object();
	for (uint32_t i = 0; i < reasons->value_count; i++)
		json_object_set_new(object, reasons->values[i].name,
				    json_integer((json_int_t)by_reason[reasons->values[i].number]));
	return json_pack("{sI sI sI so}", "events", (json_int_t)mr_drain_lost_events(drain),
			 "definitions", (json_int_t)by_reason[MR_loss_reason_definition], "packets",
			 (json_int_t)drain->lost_packets, "by_reason", object);
}

/* ---- the kernel level ---------------------------------------------------------------------------- */

/* Processes of whose system calls only those that block are recorded, since when. */
static json_t *reduced_array(const struct mr_kernel_status *status)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < mr_min(status->reduced_count, (uint32_t)MR_KERNEL_REDUCED_MAX);
	     i++) {
		const struct mr_kernel_reduced *reduced = &status->reduced[i];
		if (reduced->since_ns)
			json_array_append_new(array, json_pack("{sI so sI}", "pid",
							       (json_int_t)reduced->pid, "name",
							       text(reduced->name), "since_ns",
							       (json_int_t)reduced->since_ns));
	}
	return array;
}

void mr_manifest_set_kernel(json_t *manifest, const struct mr_kernel_status *status,
			    const char *why)
{
	static const char *const modes[] = {"off", "perf", "bpf"};
	static const char *const syscalls[] = {"auto", "all", "blocking", "none"};
	json_t *kernel = json_object(), *lost = json_array(), *off = json_array();
	json_object_set_new(kernel, "mode", json_string(modes[status ? status->mode : 0]));
	json_object_set_new(kernel, "reason", why ? text(why) : json_null());
	for (size_t i = 0; status && i < status->off_count; i++)
		json_array_append_new(off, json_pack("{so so}", "what", text(status->off[i].what),
						     "why", text(status->off[i].why)));
	for (uint32_t cpu = 0; status && cpu < status->cpu_count && status->lost_by_cpu; cpu++)
		json_array_append_new(lost, json_integer((json_int_t)status->lost_by_cpu[cpu]));
	if (status) {
		json_object_set_new(kernel, "syscalls", json_string(syscalls[status->syscalls]));
		json_object_set_new(kernel, "reduced_above", json_integer(MR_KERNEL_CALLS_MAX));
		json_object_set_new(kernel, "reduced", reduced_array(status));
		json_object_set_new(kernel, "reduced_count", json_integer(status->reduced_count));
		json_object_set_new(kernel, "all_reduced_since_ns",
				    json_integer((json_int_t)status->calls_ended_ns));
		json_object_set_new(kernel, "guarded_threads",
				    json_integer((json_int_t)status->guarded));
		json_object_set_new(kernel, "events", json_integer((json_int_t)status->events));
		json_object_set_new(kernel, "files", json_integer((json_int_t)status->files));
		json_object_set_new(kernel, "lost_syscalls",
				    json_integer((json_int_t)status->lost_syscalls));
		json_object_set_new(kernel, "not_followed",
				    json_integer((json_int_t)status->not_followed));
	}
	json_object_set_new(kernel, "lost_by_cpu", lost);
	json_object_set_new(kernel, "off", off);
	json_object_set_new(manifest, "kernel_level", kernel);
}

/* The kernel level sees processes that no wrapper and no library saw, unless it lost some. */
static bool saw_all_processes(const json_t *manifest, const struct mr_drain *drain)
{
	const json_t *kernel = json_object_get(manifest, "kernel_level");
	const char *mode = json_string_value(json_object_get(kernel, "mode"));
	return mode && strcmp(mode, "off") != 0 && !drain->is_recovery &&
	       !drain->lost_by_kernel[MR_loss_reason_kernel_buffer_full] &&
	       !drain->lost_by_kernel[MR_loss_reason_kernel_task_not_followed];
}

/* ---- the end ------------------------------------------------------------------------------------- */

void mr_manifest_finish(json_t *manifest, const char *state, const struct mr_drain *drain)
{
	const struct mr_arena_file *file = drain->file;
	const struct mr_streams *streams = drain->streams;
	json_t *processes = json_array();
	for (size_t i = 0; i < drain->processes->list.count; i++)
		if (drain->processes->list.items[i].process != drain->own_process)
			json_array_append_new(processes,
					      process_object(&drain->processes->list.items[i]));
	json_object_set_new(manifest, "state", json_string(state));
	json_object_set_new(manifest, "stop_reason",
			    drain->stop_reason ? text(drain->stop_reason) : json_null());
	json_object_set_new(manifest, "ended_realtime_ns",
			    json_integer((json_int_t)mr_ticks_of_system(CLOCK_REALTIME)));
	if (!drain->is_recovery) /* which may be hours later */
		set_cpu_time(manifest, "cpu_time_at_end");
	json_object_set_new(manifest, "processes", processes);
	json_object_set_new(manifest, "processes_refused",
			    json_integer((json_int_t)file->arena->tables->processes_refused +
					 drain->processes->unlisted));
	json_object_set_new(manifest, "events_refused",
			    json_integer((json_int_t)mr_drain_refused_events(drain)));
	json_object_set_new(manifest, "unseen_processes_possible",
			    json_boolean(!saw_all_processes(manifest, drain)));
	json_object_set_new(manifest, "losses", losses_object(drain));
	json_object_set_new(manifest, "arena",
			    json_pack("{sI sI sI sI}", "bytes",
				      (json_int_t)mr_arena_file_bytes(file->slot_capacity),
				      "packet_bytes", (json_int_t)MR_ARENA_PACKET_BYTES, "packets",
				      (json_int_t)file->slot_count, "removals",
				      (json_int_t)file->removals));
	json_object_set_new(
		manifest, "kept",
		json_pack("{sI sI sI sI sI}", "bytes", (json_int_t)streams->bytes,
			  "overwritten_packets", (json_int_t)streams->overwritten_packets,
			  "overwritten_user_packets", (json_int_t)streams->overwritten_user_packets,
			  "overwritten_bytes", (json_int_t)streams->overwritten_bytes, "from_ticks",
			  (json_int_t)streams->kept_from_ticks));
}

static int print_manifest(FILE *file, const void *manifest)
{
	return json_dumpf(manifest, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF ? 0
											   : -EIO;
}

int mr_manifest_write(json_t *manifest, const struct mr_directory *directory)
{
	return mr_directory_replace(directory->fd, "manifest.json", print_manifest, manifest);
}
