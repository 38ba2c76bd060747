/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tasks.h"

#include <string.h>

#include "base/sort.h"
#include "clock/clock.h"

enum {
	TID_LIMIT = 1 << 22, /* the kernel's own; what is above is the product of damage */
};

struct mr_task_record {
	int64_t ns;
	uint32_t host;
	uint32_t tid;
	uint32_t other_tid; /* parent, or the thread's own before an exec */
	uint32_t pid;
	uint32_t inner_tid;
	uint32_t inner_pid;
	uint32_t text; /* string */
	int32_t status;
	uint8_t event;
};

/* ---- collecting --------------------------------------------------------------------------------- */

static void read_record(const struct mr_event *event, struct mr_task_record *record)
{
	switch (event->desc->id) {
	case MR_EVENT_kernel_fork: {
		const struct mr_event_kernel_fork *born = event->payload;

		record->tid = born->tid;
		record->other_tid = born->parent_tid;
		record->pid = born->pid;
		record->inner_tid = born->inner_tid ? born->inner_tid : born->tid;
		record->inner_pid = born->inner_pid ? born->inner_pid : born->pid;
		break;
	}
	case MR_EVENT_kernel_exec: {
		const struct mr_event_kernel_exec *exec = event->payload;

		record->tid = exec->tid;
		record->other_tid = exec->old_tid;
		break;
	}
	case MR_EVENT_kernel_exit: {
		const struct mr_event_kernel_exit *ended = event->payload;

		record->tid = ended->tid;
		record->status = ended->status;
		break;
	}
	case MR_EVENT_kernel_task_name: {
		const struct mr_event_kernel_task_name *named = event->payload;

		record->tid = named->tid;
		break;
	}
	}
}

int mr_tasks_note(struct mr_tasks *tasks, uint32_t host, struct mr_strings *strings,
		  const struct mr_event *event)
{
	struct mr_task_record record = {
		/* Kernel streams use the trace clock itself. */
		.ns = (int64_t)mr_min(event->ticks, (uint64_t)MR_CLOCK_MAX_NS),
		.host = host,
		.event = event->desc->id,
	};

	read_record(event, &record);
	if (record.tid == 0 || record.tid >= TID_LIMIT)
		return 0;
	if (event->text &&
	    mr_strings_intern(strings, event->text, strlen(event->text), &record.text) < 0)
		return -ENOMEM;
	tasks->tid_limit = mr_max(tasks->tid_limit, record.tid + 1);
	tasks->host_limit = mr_max(tasks->host_limit, host + 1);
	return mr_vec_push(&tasks->records, record);
}

/* ---- lives -------------------------------------------------------------------------------------- */

/* What a tid means at the time that has been reached. Most are never met, and cost no memory. */
struct holder {
	bool is_met;
	uint32_t task;        /* last one; MR_NO_TASK */
	uint32_t program;     /* last one whose pid this is */
	uint32_t name;        /* string */
	int64_t named_ns;     /* since when it has it */
	int64_t best_name_ns; /* how long the task's name so far was in use */
};

struct builder {
	struct mr_tasks *tasks;
	struct holder *holders; /* by place */
	uint32_t host;          /* whose records are applied */
};

static struct holder *holder_of(struct builder *builder, uint32_t tid)
{
	struct holder *holder =
		&builder->holders[mr_tasks_place(builder->tasks, builder->host, tid)];

	if (!holder->is_met)
		*holder =
			(struct holder){.is_met = true, .task = MR_NO_TASK, .program = UINT32_MAX};
	return holder;
}

static bool is_open(const struct builder *builder, uint32_t task)
{
	return task != MR_NO_TASK && builder->tasks->list.items[task].end == MR_TASK_RUNNING;
}

/* Of several names a task keeps the one it had longest. */
static void keep_name(struct builder *builder, struct holder *holder, int64_t ns)
{
	if (!is_open(builder, holder->task) || holder->name == 0)
		return;
	struct mr_task *task = &builder->tasks->list.items[holder->task];
	int64_t lasted_ns = ns - mr_max(holder->named_ns, task->begin_ns);

	if (lasted_ns >= holder->best_name_ns || task->name == 0) {
		holder->best_name_ns = lasted_ns;
		task->name = holder->name;
	}
}

static void end_task(struct builder *builder, struct holder *holder, int64_t ns,
		     enum mr_task_end end)
{
	if (!is_open(builder, holder->task))
		return;
	struct mr_task *task = &builder->tasks->list.items[holder->task];

	/* One that replaces its program has got the next one's name already. */
	if (end != MR_TASK_EXEC || task->name == 0)
		keep_name(builder, holder, ns);
	task->end = end;
	task->end_ns = ns;
}

static int begin_task(struct builder *builder, uint32_t tid, int64_t ns, struct mr_task task)
{
	struct holder *holder = holder_of(builder, tid);

	end_task(builder, holder, ns, MR_TASK_LOST);
	holder->task = (uint32_t)builder->tasks->list.count;
	holder->best_name_ns = 0;
	task.host = builder->host;
	task.tid = tid;
	task.begin_ns = ns;
	task.end_ns = INT64_MAX;
	task.track = UINT32_MAX;
	return mr_vec_push(&builder->tasks->list, task);
}

static int begin_program(struct builder *builder, struct mr_program program)
{
	holder_of(builder, program.pid)->program = (uint32_t)builder->tasks->programs.count;
	program.host = builder->host;
	program.process = UINT32_MAX;
	program.begin_ns = INT64_MAX;
	program.end_ns = INT64_MIN;
	return mr_vec_push(&builder->tasks->programs, program);
}

static int give_name(struct builder *builder, uint32_t tid, int64_t ns, uint32_t name)
{
	struct holder *holder = holder_of(builder, tid);

	if (holder->name == name)
		return 0;
	keep_name(builder, holder, ns);
	holder->name = name;
	holder->named_ns = ns;
	return mr_vec_push(&builder->tasks->names,
			   ((struct mr_task_name){builder->host, tid, name, ns}));
}

static uint32_t last_task_of(struct builder *builder, uint32_t tid)
{
	return tid < builder->tasks->tid_limit ? holder_of(builder, tid)->task : MR_NO_TASK;
}

static uint32_t program_of(const struct builder *builder, uint32_t task)
{
	return task == MR_NO_TASK ? UINT32_MAX : builder->tasks->list.items[task].program;
}

static int note_fork(struct builder *builder, const struct mr_task_record *record)
{
	uint32_t pid = record->pid < builder->tasks->tid_limit ? record->pid : record->tid;
	uint32_t next = (uint32_t)builder->tasks->programs.count;
	uint32_t maker = last_task_of(builder, record->other_tid);
	uint32_t parent = program_of(builder, maker);

	if (pid == record->tid || holder_of(builder, pid)->program == UINT32_MAX) {
		struct mr_program program = {.pid = pid,
					     .inner_pid = record->inner_pid,
					     .parent = parent == UINT32_MAX ? next : parent,
					     .previous = next};
		if (begin_program(builder, program) < 0)
			return -ENOMEM;
	}
	struct mr_task task = {.inner_tid = record->inner_tid,
			       .program = holder_of(builder, pid)->program,
			       .previous = MR_NO_TASK,
			       .parent = is_open(builder, maker) ? maker : MR_NO_TASK};
	if (begin_task(builder, record->tid, record->ns, task) < 0)
		return -ENOMEM;
	return give_name(builder, record->tid, record->ns, record->text);
}

/* The thread goes on under the tid of its process; all others of the process have ended. */
static int note_exec(struct builder *builder, const struct mr_task_record *record)
{
	const struct mr_tasks *tasks = builder->tasks;
	uint32_t old_tid = record->other_tid < tasks->tid_limit ? record->other_tid : record->tid;
	struct holder *old = holder_of(builder, old_tid);
	uint32_t next = (uint32_t)tasks->programs.count, name = old->name;
	struct mr_program program = {.pid = record->tid,
				     .inner_pid = record->tid,
				     .parent = next,
				     .previous = next,
				     .command = record->text};
	struct mr_task task = {.program = next, .previous = MR_NO_TASK, .parent = MR_NO_TASK};

	if (is_open(builder, old->task)) {
		uint32_t replaced = tasks->list.items[old->task].program;

		task.previous = old->task;
		program.inner_pid = tasks->programs.items[replaced].inner_pid;
		program.previous = replaced;
		end_task(builder, old, record->ns, MR_TASK_EXEC);
	}
	task.inner_tid = program.inner_pid;
	if (begin_program(builder, program) < 0 ||
	    begin_task(builder, record->tid, record->ns, task) < 0)
		return -ENOMEM;
	return name ? give_name(builder, record->tid, record->ns, name) : 0;
}

static void note_exit(struct builder *builder, const struct mr_task_record *record)
{
	struct holder *holder = holder_of(builder, record->tid);

	if (is_open(builder, holder->task))
		builder->tasks->list.items[holder->task].status = record->status;
	end_task(builder, holder, record->ns, MR_TASK_EXIT);
}

static int apply(struct builder *builder, const struct mr_task_record *record)
{
	builder->host = record->host;
	switch (record->event) {
	case MR_EVENT_kernel_fork:
		return note_fork(builder, record);
	case MR_EVENT_kernel_exec:
		return note_exec(builder, record);
	case MR_EVENT_kernel_exit:
		note_exit(builder, record);
		return 0;
	default:
		return give_name(builder, record->tid, record->ns, record->text);
	}
}

/* Each CPU has its own stream: their events are first merged in order of time. */
static int apply_all(struct builder *builder)
{
	const struct mr_tasks *tasks = builder->tasks;
	size_t count = tasks->records.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * count + 1) * sizeof *items);

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){mr_sort_key(tasks->records.items[i].ns), i};
	mr_sort(items, items + count, count);
	for (size_t i = 0; i < count; i++)
		if (apply(builder, &tasks->records.items[items[i].index]) < 0)
			return -ENOMEM;
	int64_t last_ns = count ? tasks->records.items[items[count - 1].index].ns : 0;
	for (size_t i = 0; i < tasks->list.count; i++) {
		builder->host = tasks->list.items[i].host;
		keep_name(builder, holder_of(builder, tasks->list.items[i].tid), last_ns);
	}
	return 0;
}

/* ---- finding ------------------------------------------------------------------------------------ */

static size_t place_of(const struct mr_tasks *tasks, const void *members, size_t stride,
		       size_t index)
{
	const uint32_t *host_and_tid = (const uint32_t *)((const char *)members + index * stride);

	return mr_tasks_place(tasks, host_and_tid[0], host_and_tid[1]);
}

/* Members are `stride` bytes apart, and each begins with its host and tid. */
static int index_by_tid(const struct mr_tasks *tasks, struct mr_by_tid *by_tid, const void *members,
			size_t stride, size_t count)
{
	size_t places = mr_tasks_places(tasks);
	uint32_t *first = by_tid->first = calloc(places + 2, sizeof *first);
	uint32_t *order = by_tid->order = malloc((count + 1) * sizeof *order);

	if (!first || !order)
		return -ENOMEM;
	/* first[p + 1] is where p is to be filled in next, and in the end where p + 1 begins. */
	for (size_t i = 0; i < count; i++)
		first[place_of(tasks, members, stride, i) + 1]++;
	uint32_t sum = 0;
	for (size_t place = 1; place <= places; place++) {
		uint32_t of_place = first[place];

		first[place] = sum;
		sum += of_place;
	}
	for (size_t i = 0; i < count; i++)
		order[first[place_of(tasks, members, stride, i) + 1]++] = (uint32_t)i;
	return 0;
}

int mr_tasks_build(struct mr_tasks *tasks)
{
	mr_auto(free) struct holder *holders = calloc(mr_tasks_places(tasks) + 1, sizeof *holders);
	struct builder builder = {tasks, holders, 0};

	if (!holders)
		return -ENOMEM;
	int result = apply_all(&builder);
	mr_vec_free(&tasks->records);
	if (result == 0)
		result = index_by_tid(tasks, &tasks->tasks_by_tid, tasks->list.items,
				      sizeof *tasks->list.items, tasks->list.count);
	if (result == 0)
		result = index_by_tid(tasks, &tasks->names_by_tid, tasks->names.items,
				      sizeof *tasks->names.items, tasks->names.count);
	return result;
}

void mr_tasks_free(struct mr_tasks *tasks)
{
	mr_vec_free(&tasks->list);
	mr_vec_free(&tasks->programs);
	mr_vec_free(&tasks->names);
	mr_vec_free(&tasks->records);
	free(tasks->tasks_by_tid.first);
	free(tasks->tasks_by_tid.order);
	free(tasks->names_by_tid.first);
	free(tasks->names_by_tid.order);
}

uint32_t mr_task_find(const struct mr_tasks *tasks, uint32_t host, uint32_t tid, int64_t ns)
{
	if (!mr_tasks_has_place(tasks, host, tid))
		return MR_NO_TASK;
	const struct mr_by_tid *by_tid = &tasks->tasks_by_tid;
	size_t place = mr_tasks_place(tasks, host, tid);
	uint32_t low = by_tid->first[place], high = by_tid->first[place + 1], first = low;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tasks->list.items[by_tid->order[middle]].begin_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? by_tid->order[low - 1] : MR_NO_TASK;
}

uint32_t mr_task_name_at(const struct mr_tasks *tasks, uint32_t host, uint32_t tid, int64_t ns)
{
	if (!mr_tasks_has_place(tasks, host, tid))
		return 0;
	const struct mr_by_tid *by_tid = &tasks->names_by_tid;
	size_t place = mr_tasks_place(tasks, host, tid);
	uint32_t low = by_tid->first[place], high = by_tid->first[place + 1], first = low;

	if (low == high)
		return 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tasks->names.items[by_tid->order[middle]].ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* Before its name was first recorded, it is assumed to have had the same name. */
	return tasks->names.items[by_tid->order[low > first ? low - 1 : first]].name;
}
