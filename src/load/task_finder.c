/* SPDX-License-Identifier: Apache-2.0 */
#include "load/task_finder.h"

int mr_task_finder_start(struct mr_task_finder *finder, const struct mr_tasks *tasks,
			 const struct mr_states_maker *states)
{
	size_t places = mr_tasks_places(tasks);
	uint32_t *next_of_tid = malloc((places + 1) * sizeof *next_of_tid);

	if (!next_of_tid)
		return -ENOMEM;
	for (size_t place = 0; place < places; place++)
		next_of_tid[place] = tasks->tasks_by_tid.first[place];
	*finder = (struct mr_task_finder){
		.tasks = tasks, .states = states, .next_of_tid = next_of_tid};
	return 0;
}

void mr_task_finder_free(struct mr_task_finder *finder)
{
	free(finder->next_of_tid);
}

/* After an exec by another thread than the first, that thread has the first one's tid a little before the
 * kernel says so. */
static uint32_t heir_of(const struct mr_task_finder *finder, uint32_t task, uint32_t next)
{
	const struct mr_task *heir = &finder->tasks->list.items[next];

	return heir->previous != MR_NO_TASK && heir->previous != task &&
			       mr_states_is_over(finder->states, task)
		       ? heir->previous
		       : task;
}

uint32_t mr_task_now(struct mr_task_finder *finder, uint32_t tid)
{
	const struct mr_tasks *tasks = finder->tasks;

	if (!mr_tasks_has_place(tasks, finder->host, tid))
		return MR_NO_TASK;
	size_t place = mr_tasks_place(tasks, finder->host, tid);
	uint32_t *next = &finder->next_of_tid[place];
	const uint32_t *of_tid = &tasks->tasks_by_tid.first[place];
	uint32_t first = of_tid[0], end = of_tid[1];

	while (*next < end &&
	       tasks->list.items[tasks->tasks_by_tid.order[*next]].begin_ns <= finder->now_ns)
		++*next;
	if (*next == first)
		return MR_NO_TASK;
	uint32_t task = tasks->tasks_by_tid.order[*next - 1];
	if (mr_likely(*next == end))
		return task;
	return heir_of(finder, task, tasks->tasks_by_tid.order[*next]);
}

uint32_t mr_task_track_now(struct mr_task_finder *finder, uint32_t tid)
{
	uint32_t task = mr_task_now(finder, tid);

	return task == MR_NO_TASK || mr_states_is_over(finder->states, task)
		       ? MR_NO_TRACK
		       : finder->tasks->list.items[task].track;
}

uint32_t mr_task_track_since(struct mr_task_finder *finder, uint32_t tid, int64_t start_ns)
{
	const struct mr_tasks *tasks = finder->tasks;
	uint32_t task = mr_task_now(finder, tid);

	if (task == MR_NO_TASK)
		return MR_NO_TRACK;
	while (start_ns < tasks->list.items[task].begin_ns &&
	       tasks->list.items[task].previous != MR_NO_TASK)
		task = tasks->list.items[task].previous;
	return tasks->list.items[task].track;
}
