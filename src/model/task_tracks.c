/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task_tracks.h"

#include <string.h>
#include <sys/wait.h>

#include "base/sort.h"
#include "model/table.h"

enum {
	AMBIGUOUS = MR_NO_TRACK - 1 /* as a task's track, while tasks are joined */
};

/* Members of the kernel level (tasks, programs) and of the user streams (tracks, processes) that have the same
 * ids as the program sees them. */
struct group {
	const struct mr_sort_item *kernel;
	const struct mr_sort_item *user;
	size_t kernel_count;
	size_t user_count;
};

typedef void join(struct mr_survey *survey, const struct group *group);

static struct mr_task *task_of(const struct mr_survey *survey, const struct group *group, size_t i)
{
	return &survey->tasks.list.items[group->kernel[i].index];
}

/* ---- joining ------------------------------------------------------------------------------------ */

static bool is_alive_at(const struct mr_task *task, int64_t ns)
{
	return task->begin_ns <= ns && ns < task->end_ns;
}

/* The task that lives when a track begins. Where two do, neither is known to be it. */
static void join_beginning(struct mr_survey *survey, const struct group *group, uint32_t track)
{
	int64_t first_ns = survey->tracks.items[track].first_ns;
	size_t found = 0;

	for (size_t i = 0; i < group->kernel_count; i++)
		found += is_alive_at(task_of(survey, group, i), first_ns);
	for (size_t i = 0; i < group->kernel_count; i++) {
		struct mr_task *task = task_of(survey, group, i);

		if (is_alive_at(task, first_ns))
			task->track = found == 1 && task->track == MR_NO_TRACK ? track : AMBIGUOUS;
	}
}

/* A thread that reuses the tid of an earlier thread of its process: the user streams do not distinguish them. */
static void join_again(struct mr_survey *survey, const struct group *group, size_t at)
{
	struct mr_task *task = task_of(survey, group, at);

	for (size_t i = 0; i < at && task->track == MR_NO_TRACK; i++) {
		const struct mr_task *before = task_of(survey, group, i);

		if (before->program == task->program && before->track < AMBIGUOUS &&
		    survey->tracks.items[before->track].last_ns >= task->begin_ns)
			task->track = before->track;
	}
}

static void join_tracks(struct mr_survey *survey, const struct group *group)
{
	for (size_t i = 0; i < group->user_count; i++)
		join_beginning(survey, group, group->user[i].index);
	for (size_t i = 0; i < group->kernel_count; i++) {
		struct mr_task *task = task_of(survey, group, i);
		struct mr_program *program = &survey->tasks.programs.items[task->program];

		join_again(survey, group, i);
		if (task->track < AMBIGUOUS && program->process == UINT32_MAX)
			program->process = survey->tracks.items[task->track].process;
	}
}

static struct mr_program *program_of(const struct mr_survey *survey, const struct group *group,
				     size_t i)
{
	return &survey->tasks.programs.items[group->kernel[i].index];
}

static bool is_running_at(const struct mr_program *program, int64_t ns)
{
	return program->begin_ns <= ns && ns < program->end_ns;
}

/* The program that runs when a process begins, if there is but one. The tracks decide where two begin. */
static void join_processes(struct mr_survey *survey, const struct group *group)
{
	for (size_t i = 0; i < group->user_count; i++) {
		int64_t first_ns = survey->processes.items[group->user[i].index].first_ns;
		size_t found = 0;

		for (size_t j = 0; j < group->kernel_count; j++)
			found += is_running_at(program_of(survey, group, j), first_ns);
		for (size_t j = 0; found == 1 && j < group->kernel_count; j++) {
			struct mr_program *program = program_of(survey, group, j);

			if (is_running_at(program, first_ns))
				program->process = program->process == UINT32_MAX
							   ? group->user[i].index
							   : UINT32_MAX;
		}
	}
}

static size_t skip(const struct mr_sort_item *items, size_t count, size_t from, uint64_t key)
{
	while (from < count && items[from].key == key)
		from++;
	return from;
}

/* Items have room for three times `room`: kernel, user, and scratch. */
static void join_groups(struct mr_survey *survey, struct mr_sort_item *items, size_t room,
			size_t kernel_count, size_t user_count, join *join_group)
{
	struct mr_sort_item *user = items + room, *scratch = user + room;

	mr_sort(items, scratch, kernel_count);
	mr_sort(user, scratch, user_count);
	for (size_t at = 0, user_at = 0; at < kernel_count;) {
		uint64_t key = items[at].key;

		while (user_at < user_count && user[user_at].key < key)
			user_at++;
		struct group group = {.kernel = items + at, .user = user + user_at};
		group.kernel_count = skip(items, kernel_count, at, key) - at;
		group.user_count = skip(user, user_count, user_at, key) - user_at;
		join_group(survey, &group);
		at += group.kernel_count;
	}
}

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static int join_all(struct mr_survey *survey)
{
	const struct mr_tasks *tasks = &survey->tasks;
	size_t task_count = tasks->list.count, track_count = survey->tracks.count;
	size_t program_count = tasks->programs.count, process_count = survey->processes.count;
	size_t room = mr_max(task_count, track_count) + process_count + 1;
	mr_auto(free) struct mr_sort_item *items = malloc(3 * room * sizeof *items);

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < program_count; i++)
		items[i] = (struct mr_sort_item){tasks->programs.items[i].inner_pid, i};
	for (uint32_t i = 0; i < process_count; i++)
		items[room + i] = (struct mr_sort_item){survey->processes.items[i].pid, i};
	join_groups(survey, items, room, program_count, process_count, join_processes);
	for (uint32_t i = 0; i < task_count; i++) {
		const struct mr_task *task = &tasks->list.items[i];
		uint32_t pid = tasks->programs.items[task->program].inner_pid;

		items[i] = (struct mr_sort_item){key_of(pid, task->inner_tid), i};
	}
	for (uint32_t i = 0; i < track_count; i++) {
		const struct mr_track *track = &survey->tracks.items[i];
		uint32_t pid = survey->processes.items[track->process].pid;

		items[room + i] = (struct mr_sort_item){key_of(pid, track->tid), i};
	}
	join_groups(survey, items, room, task_count, track_count, join_tracks);
	return 0;
}

/* The recorder's child has the recorder's name until it becomes the program. */
static int name_beginnings(struct mr_survey *survey)
{
	static const char name[] = "(before exec)";
	uint32_t string;

	if (mr_strings_intern(&survey->definitions.strings, name, strlen(name), &string) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < survey->tasks.list.count; i++) {
		struct mr_task *task = &survey->tasks.list.items[i];

		if (task->end == MR_TASK_EXEC && task->previous == MR_NO_TASK &&
		    survey->tasks.programs.items[task->program].parent == task->program)
			task->name = string;
	}
	return 0;
}

/* A name that the program gives comes before those that the kernel knows. */
static void name_threads(struct mr_survey *survey)
{
	mr_said_names *names = &survey->definitions.thread_names;

	for (size_t i = 0; i < names->count; i++)
		for (size_t j = 0; j < survey->tracks.count; j++) {
			struct mr_track *track = &survey->tracks.items[j];

			if (track->process == names->items[i].process &&
			    track->tid == names->items[i].id)
				track->name = names->items[i].name;
		}
	mr_vec_free(names);
}

/* ---- what only the kernel level saw -------------------------------------------------------------- */

static int add_process(struct mr_survey *survey, uint32_t index)
{
	struct mr_program *program = &survey->tasks.programs.items[index];
	struct mr_process process = {
		.pid = program->inner_pid,
		.parent = (uint32_t)survey->processes.count,
		.program = program->command,
		.rank = MR_NO_ORDINAL,
		.world_size = MR_NO_ORDINAL,
		.local_rank = MR_NO_ORDINAL,
		.origin = program->previous == index ? MR_process_origin_fork
						     : MR_process_origin_exec,
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
	};

	if (program->parent != index)
		process.parent = survey->tasks.programs.items[program->parent].process;
	program->process = (uint32_t)survey->processes.count;
	if (mr_vec_push(&survey->definitions.scopes, (struct mr_definition_scope){0}) < 0)
		return -ENOMEM;
	return mr_vec_push(&survey->processes, process);
}

/* What a program replaced is where its process came from, whatever the user streams know. */
static void link_to_previous(struct mr_survey *survey, uint32_t index)
{
	const struct mr_program *program = &survey->tasks.programs.items[index];
	struct mr_process *process = &survey->processes.items[program->process];
	uint32_t previous = survey->tasks.programs.items[program->previous].process;

	if (program->previous != index && previous != program->process)
		process->parent = previous;
}

static int add_processes(struct mr_survey *survey)
{
	for (uint32_t i = 0; i < survey->tasks.programs.count; i++) {
		if (survey->tasks.programs.items[i].process == UINT32_MAX &&
		    add_process(survey, i) < 0)
			return -ENOMEM;
		link_to_previous(survey, i);
	}
	return 0;
}

/* One that was killed ends unseen, as in the user streams. */
static enum mr_process_end end_of(const struct mr_task *task)
{
	if (task->end == MR_TASK_EXEC)
		return MR_PROCESS_EXEC;
	return task->end == MR_TASK_EXIT && WIFEXITED(task->status) ? MR_PROCESS_EXIT
								    : MR_PROCESS_END_NOT_SEEN;
}

static void describe_process(struct mr_process *process, const struct mr_task *task, bool is_main)
{
	process->first_ns = mr_min(process->first_ns, task->begin_ns);
	process->last_ns = mr_max(process->last_ns, task->end_ns);
	if (process->program == 0)
		process->program = task->name;
	if (is_main && process->end == MR_PROCESS_END_NOT_SEEN)
		process->end = end_of(task);
}

static int add_track(struct mr_survey *survey, struct mr_task *task)
{
	uint32_t process = survey->tasks.programs.items[task->program].process;
	struct mr_track track = {
		.kind = MR_TRACK_THREAD,
		.process = process,
		.tid = task->inner_tid,
		.cpu = MR_NO_CPU,
		.kernel_name = task->name,
		.first_ns = task->begin_ns,
		.last_ns = task->end_ns,
	};

	survey->ambiguous_tasks += task->track == AMBIGUOUS;
	task->track = (uint32_t)survey->tracks.count;
	survey->processes.items[process].thread_count++;
	return mr_vec_push(&survey->tracks, track);
}

static int add_tracks(struct mr_survey *survey)
{
	for (size_t i = 0; i < survey->tasks.list.count; i++) {
		struct mr_task *task = &survey->tasks.list.items[i];
		const struct mr_program *program = &survey->tasks.programs.items[task->program];

		if (task->track >= AMBIGUOUS && add_track(survey, task) < 0)
			return -ENOMEM;
		describe_process(&survey->processes.items[program->process], task,
				 task->tid == program->pid);
		struct mr_track *track = &survey->tracks.items[task->track];
		if (track->kernel_name == 0)
			track->kernel_name = task->name;
	}
	return 0;
}

int mr_tasks_join(struct mr_survey *survey)
{
	for (size_t i = 0; i < survey->tasks.list.count; i++) {
		struct mr_task *task = &survey->tasks.list.items[i];
		struct mr_program *program = &survey->tasks.programs.items[task->program];

		if (task->end == MR_TASK_RUNNING)
			task->end_ns = mr_max(task->begin_ns, survey->last_kernel_ns);
		program->begin_ns = mr_min(program->begin_ns, task->begin_ns);
		program->end_ns = mr_max(program->end_ns, task->end_ns);
	}
	if (name_beginnings(survey) < 0 || join_all(survey) < 0 || add_processes(survey) < 0)
		return -ENOMEM;
	int result = add_tracks(survey);
	name_threads(survey);
	return result;
}
