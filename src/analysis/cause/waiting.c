/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/waiting.h"

#include <string.h>

/* What a call waits for that blocks. FILE: that depends on the file. */
#define FILE_DECIDES MR_WAIT_COUNT

enum {
	TASK_NAME_LENGTH = 15
};

struct call_kind {
	const char *name; /* or its beginning, if it ends in * */
	uint8_t kind;
};

static const struct call_kind call_kinds[] = {
	{"futex*", MR_WAIT_LOCK},
	{"flock", MR_WAIT_LOCK},
	{"fcntl", MR_WAIT_LOCK},
	{"nanosleep", MR_WAIT_SLEEP},
	{"clock_nanosleep", MR_WAIT_SLEEP},
	{"pause", MR_WAIT_SLEEP},
	{"rt_sigtimedwait", MR_WAIT_SLEEP},
	{"rt_sigsuspend", MR_WAIT_SLEEP},
	{"wait4", MR_WAIT_CHILD},
	{"waitid", MR_WAIT_CHILD},
	{"vfork", MR_WAIT_CHILD},
	{"clone*", MR_WAIT_CHILD},
	{"poll", MR_WAIT_POLL},
	{"ppoll", MR_WAIT_POLL},
	{"select", MR_WAIT_POLL},
	{"pselect6", MR_WAIT_POLL},
	{"epoll_*", MR_WAIT_POLL},
	{"io_uring_enter", MR_WAIT_POLL},
	{"connect", MR_WAIT_NETWORK},
	{"accept*", MR_WAIT_NETWORK},
	{"recv*", MR_WAIT_NETWORK},
	{"send*", MR_WAIT_NETWORK},
	{"msg*", MR_WAIT_IPC},
	{"sem*", MR_WAIT_IPC},
	{"mq_*", MR_WAIT_IPC},
	{"read*", FILE_DECIDES},
	{"pread*", FILE_DECIDES},
	{"write*", FILE_DECIDES},
	{"pwrite*", FILE_DECIDES},
	{"splice", FILE_DECIDES},
	{"fsync", MR_WAIT_DISK},
	{"fdatasync", MR_WAIT_DISK},
	{"sync*", MR_WAIT_DISK},
	{"msync", MR_WAIT_DISK},
	{"open*", FILE_DECIDES},
	{"close", FILE_DECIDES},
};

static const struct call_kind file_kinds[] = {
	{"pipe:*", MR_WAIT_IPC},
	{"UNIX*", MR_WAIT_IPC},
	{"anon_inode:[eventfd]*", MR_WAIT_IPC},
	{"anon_inode:[timerfd]*", MR_WAIT_SLEEP},
	{"anon_inode:inotify*", MR_WAIT_OTHER},
	{"TCP*", MR_WAIT_NETWORK},
	{"UDP*", MR_WAIT_NETWORK},
	{"ICMP*", MR_WAIT_NETWORK},
	{"SCTP*", MR_WAIT_NETWORK},
	{"RAW*", MR_WAIT_NETWORK},
	{"socket:*", MR_WAIT_NETWORK},
	{"/dev/*", MR_WAIT_OTHER},
	{"/*", MR_WAIT_DISK},
};

static bool is_like(const char *text, const char *pattern)
{
	size_t length = strlen(pattern);

	return pattern[length - 1] == '*' ? strncmp(text, pattern, length - 1) == 0
					  : strcmp(text, pattern) == 0;
}

static uint8_t look_up(const struct call_kind *kinds, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (*name == *kinds[i].name && is_like(name, kinds[i].name))
			return kinds[i].kind;
	return MR_WAIT_OTHER;
}

static const char *name_of_call(const struct mr_model *model, uint32_t number)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t name = number < definitions->system_calls.count
				? definitions->system_calls.items[number]
				: 0;

	return mr_model_text(model, name);
}

static enum mr_wait_kind kind_of_call(const struct mr_model *model, uint32_t call)
{
	uint8_t kind = look_up(call_kinds, mr_countof(call_kinds),
			       name_of_call(model, model->system_calls.number[call]));
	const char *file = mr_file_path(model, model->system_calls.file[call]);

	if (*file && (kind == FILE_DECIDES || kind == MR_WAIT_NETWORK))
		return look_up(file_kinds, mr_countof(file_kinds), file);
	return kind == FILE_DECIDES ? MR_WAIT_OTHER : kind;
}

enum mr_wait_kind mr_wait_kind_of(const struct mr_model *model, uint32_t row)
{
	uint32_t call = model->states.system_call[row];

	switch (model->states.reason[row]) {
	case MR_REASON_DISK:
		return MR_WAIT_DISK;
	case MR_REASON_STOPPED:
		return MR_WAIT_STOPPED;
	}
	if (model->states.exchange[row] == MR_EXCHANGE_GIL)
		return MR_WAIT_GIL;
	if (model->states.exchange[row] == MR_EXCHANGE_HAND_OVER)
		return MR_WAIT_HAND_OVER;
	return call == MR_NO_ROW ? MR_WAIT_UNKNOWN : kind_of_call(model, call);
}

const char *mr_thread_state_name(enum mr_thread_state state)
{
	static const char *const names[MR_STATE_COUNT] = {
		[MR_STATE_RUN] = "running",
		[MR_STATE_RUNNABLE] = "runnable",
		[MR_STATE_BLOCKED] = "blocked",
		[MR_STATE_UNKNOWN] = "unknown",
	};

	return names[state];
}

const char *mr_state_reason_name(enum mr_state_reason reason)
{
	static const char *const names[MR_REASON_COUNT] = {
		[MR_REASON_NONE] = "",
		[MR_REASON_NEW] = "new",
		[MR_REASON_WOKEN] = "woken",
		[MR_REASON_PREEMPTED] = "preempted",
		[MR_REASON_YIELDED] = "yielded",
		[MR_REASON_THROTTLED] = "throttled (cgroup limit)",
		[MR_REASON_INTERRUPTIBLE] = "interruptible sleep",
		[MR_REASON_UNINTERRUPTIBLE] = "uninterruptible sleep",
		[MR_REASON_DISK] = "disk sleep",
		[MR_REASON_STOPPED] = "stopped by a signal or debugger",
		[MR_REASON_NOT_TOLD] = "cause not recorded",
		[MR_REASON_LOST] = "events lost",
		[MR_REASON_NOT_RECORDED] = "not in the recording",
	};

	return names[reason];
}

const char *mr_wait_kind_name(enum mr_wait_kind kind)
{
	static const char *const names[MR_WAIT_COUNT] = {
		[MR_WAIT_UNKNOWN] = "not known", [MR_WAIT_DISK] = "disk",
		[MR_WAIT_LOCK] = "lock",         [MR_WAIT_NETWORK] = "network",
		[MR_WAIT_SLEEP] = "sleep",       [MR_WAIT_IPC] = "pipe or other local channel",
		[MR_WAIT_CHILD] = "child",       [MR_WAIT_POLL] = "any of several (poll)",
		[MR_WAIT_STOPPED] = "stopped",   [MR_WAIT_OTHER] = "other",
		[MR_WAIT_GIL] = "GIL",           [MR_WAIT_HAND_OVER] = "another thread",
	};

	return names[kind];
}

const char *mr_system_call_text(const struct mr_model *model, struct mr_findings *findings,
				uint32_t number)
{
	const char *name = name_of_call(model, number);

	return *name ? name : mr_region_print(&findings->region, "system call %u", number);
}

const char *mr_interrupt_kind_name(uint32_t kind)
{
	static const char *const kinds[] = {
		[MR_interrupt_kind_irq] = "interrupt",
		[MR_interrupt_kind_softirq] = "softirq",
		[MR_interrupt_kind_vector] = "vector",
	};

	return kind < mr_countof(kinds) ? kinds[kind] : "?";
}

const char *mr_interrupt_text(struct mr_region *region, uint32_t kind, uint32_t number)
{
	static const char *const softirqs[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					       "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
	/* Only x86 has vectors. */
	static const char *const vectors[256] = {
		[0xec] = "local timer",         [0xf6] = "irq work",      [0xfa] = "thermal",
		[0xfb] = "call function (one)", [0xfc] = "call function", [0xfd] = "reschedule",
	};

	if (kind == MR_interrupt_kind_softirq && number < mr_countof(softirqs))
		return softirqs[number];
	if (kind == MR_interrupt_kind_vector && number < mr_countof(vectors) && vectors[number])
		return vectors[number];
	return mr_region_print(region, "%u", number);
}

const char *mr_file_path(const struct mr_model *model, uint32_t file)
{
	return mr_model_text(model, model->survey->definitions.files.items[file].path);
}

const char *mr_track_text(const struct mr_model *model, uint32_t track)
{
	uint32_t name = model->survey->tracks.items[track].name;

	return name ? mr_model_text(model, name) : "(no name)";
}

uint32_t mr_track_pid(const struct mr_model *model, uint32_t track)
{
	const struct mr_survey *survey = model->survey;

	return survey->processes.items[survey->tracks.items[track].process].pid;
}

/* As the manifest says; older ones do not: then as its program is called, which the kernel cuts. */
static const char *recorder_name(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;

	if (model->manifest && model->manifest->recorder_name)
		return model->manifest->recorder_name;
	for (size_t i = 0; i < survey->processes.count; i++) {
		const char *program = mr_model_text(model, survey->processes.items[i].program);
		const char *slash = strrchr(program, '/');

		if (survey->processes.items[i].number == MR_RECORDER_PROCESS)
			return slash ? slash + 1 : program;
	}
	return "";
}

bool mr_is_recorder(const struct mr_model *model, uint32_t name)
{
	const char *own = recorder_name(model), *text = mr_model_text(model, name);
	size_t length = mr_min(strlen(own), (size_t)TASK_NAME_LENGTH);

	return name && length && strncmp(text, own, length) == 0 &&
	       (text[length] == 0 || text[length] == '-');
}

struct mr_evidence mr_state_evidence(const struct mr_model *model, uint32_t row, const char *what)
{
	uint32_t track = model->states.track[row];

	return (struct mr_evidence){
		.what = what,
		.track = track,
		.pid = mr_track_pid(model, track),
		.tid = model->survey->tracks.items[track].tid,
		.start_ns = model->states.start_ns[row],
		.duration_ns = model->states.duration_ns[row],
	};
}
