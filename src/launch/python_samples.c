/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "launch/python_names.h"
#include "record/recorder.h"

enum {
	FAILURES_MAX = 100, /* an interpreter that begins or ends cannot be read for a moment */
	NAME_BYTES = 320,
};

void mr_python_samples_init(struct mr_python_samples *samples, uint32_t rate,
			    const struct mr_processes *processes)
{
	*samples = (struct mr_python_samples){
		.processes = processes, .rate = rate, .random = mr_ticks_now() | 1};
	samples->memory = rate ? calloc(1, sizeof *samples->memory) : NULL;
	if (!samples->memory)
		samples->rate = 0;
}

static void free_process(struct mr_python_process *process)
{
	mr_python_threads_free(&process->threads);
	mr_python_sites_free(&process->sites);
}

void mr_python_samples_free(struct mr_python_samples *samples)
{
	for (size_t i = 0; i < samples->list.count; i++)
		free_process(&samples->list.items[i]);
	mr_vec_free(&samples->list);
	mr_python_defined_free(&samples->defined);
	free(samples->memory);
}

/* ---- processes ---------------------------------------------------------------------------------- */

/* Health says so. */
static void give_up(struct mr_python_process *process, const char *why)
{
	char text[NAME_BYTES];
	snprintf(text, sizeof text,
		 "Python between events (%s): process %d has no samples of its lines", why,
		 process->threads.pid);
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, text);
	process->is_given_up = true;
}

static const char *explain(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return "the kernel does not let the recorder read the program's memory: "
		       "kernel.yama.ptrace_scope is above 1, the program runs as another user, or "
		       "a container lacks CAP_SYS_PTRACE";
	case ENOSYS:
		return "the kernel has no process_vm_readv";
	}
	return "the interpreter is not where its process says";
}

/* From 3.13 on the interpreter itself says where it has what. */
static bool find_layout(struct mr_python_samples *samples, struct mr_python_process *process,
			uint32_t version)
{
	const struct mr_python_reader reader = mr_python_memory_reader(samples->memory);
	uint8_t offsets[MR_PYTHON_OFFSETS_BYTES] = {0};
	struct mr_python_layout room;
	const char *why = "";
	mr_python_memory_start(samples->memory, process->threads.pid);
	if (!mr_python_read(&reader, offsets, process->python.runtime, sizeof offsets)) {
		give_up(process, explain(samples->memory->error));
		return false;
	}
	const struct mr_python_layout *layout =
		mr_python_layout_find(version, offsets, &room, &why);
	if (layout)
		process->python.layout = *layout;
	else
		give_up(process, why);
	return layout != NULL;
}

static struct mr_python_process *find_process(struct mr_python_samples *samples, uint32_t number)
{
	for (size_t i = 0; i < samples->list.count; i++)
		if (samples->list.items[i].process == number)
			return &samples->list.items[i];
	return NULL;
}

static void take_in(struct mr_python_samples *samples, const struct mr_process_info *info,
		    const struct mr_interpreter_place *shared, uint64_t runtime)
{
	struct mr_python_process added = {
		.process = info->process,
		.python = {.runtime = (uintptr_t)runtime,
			   .code_type = (uintptr_t)shared->code_type,
			   .text_type = (uintptr_t)shared->text_type},
		.threads = {.pid = info->host_pid,
			    .is_inside = info->pid != (uint32_t)info->host_pid},
		.is_there = true,
	};
	find_layout(samples, &added, (uint32_t)shared->version);
	if (mr_vec_push(&samples->list, added) < 0)
		free_process(&added);
}

/* Processes come and go. */
static void update_processes(struct mr_python_samples *samples)
{
	const struct mr_processes *processes = samples->processes;
	for (size_t i = 0; i < processes->live.count; i++) {
		const struct mr_process_info *info =
			&processes->list.items[processes->live.items[i]];
		if (!info->traced || info->dead || info->host_pid <= 0 || info->slot < 0 ||
		    info->process == MR_RECORDER_PROCESS)
			continue;
		struct mr_process_entry *entry =
			mr_arena_process(processes->arena, (uint32_t)info->slot);
		uint64_t runtime =
			atomic_load_explicit(&entry->interpreter.runtime, memory_order_acquire);
		struct mr_python_process *known =
			runtime ? find_process(samples, info->process) : NULL;
		if (known)
			known->is_there = true;
		else if (runtime)
			take_in(samples, info, &entry->interpreter, runtime);
	}
	size_t kept = 0;
	for (size_t i = 0; i < samples->list.count; i++) {
		struct mr_python_process *process = &samples->list.items[i];
		if (!process->is_there) {
			free_process(process);
			continue;
		}
		process->is_there = false;
		samples->list.items[kept++] = *process;
	}
	samples->list.count = kept;
}

/* ---- samples ------------------------------------------------------------------------------------ */

/* The clock of a process's CPU time, as clock_getcpuclockid() makes it: cheaper than a file. */
static bool has_run(struct mr_python_process *process)
{
	clockid_t clock = (clockid_t)(~(unsigned int)process->threads.pid << 3 | 2);
	struct timespec time;
	if (clock_gettime(clock, &time) < 0)
		return false;
	uint64_t ran_ns = (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
	bool is_more = ran_ns != process->ran_ns;
	process->ran_ns = ran_ns;
	return is_more;
}

/* Of a thread without frames: what the interpreter itself does then, 0 if that is not known. */
static uint32_t find_own_work(struct mr_python_samples *samples, struct mr_python_process *process,
			      const struct mr_python_thread *thread)
{
	const struct mr_python_reader reader = mr_python_memory_reader(samples->memory);
	const struct mr_python_layout *layout = &process->python.layout;
	const uintptr_t finalizing = process->python.runtime + layout->runtime_finalizing;
	uintptr_t ended_by = 0;
	int32_t is_ready = 1;
	if (!mr_python_read(&reader, &ended_by, finalizing, sizeof ended_by) ||
	    !mr_python_read(&reader, &is_ready, finalizing - layout->ready_before_finalizing,
			    sizeof is_ready))
		return 0;
	if (ended_by == thread->state)
		return mr_python_sites_own(&samples->defined, "(end of the interpreter)");
	return ended_by == 0 && !is_ready
		       ? mr_python_sites_own(&samples->defined, "(start of the interpreter)")
		       : 0;
}

static void emit_sample(struct mr_python_samples *samples, const struct mr_python_process *process,
			const struct mr_python_thread *thread, uint32_t site, uint64_t ran_ns)
{
	mr_emit(python_sample, .process = process->process, .tid = thread->tid, .site = site,
		.cpu_ns = mr_u48_from(mr_min(ran_ns, MR_U48_MAX)));
	samples->samples++;
}

/* If it is dropped, the next sample stands for its time as well. */
static void sample_thread(struct mr_python_samples *samples, struct mr_python_process *process,
			  struct mr_python_thread *thread, uint64_t ran_ns, uint64_t now_ns)
{
	static struct mr_python_stack stack; /* record has one thread */
	mr_python_memory_expect(samples->memory, &thread->pages);
	enum mr_python_sight sight =
		mr_python_stack_see(&process->python, samples->memory, thread->state, &stack);
	if (sight != MR_PYTHON_SEEN) {
		samples->torn++;
		if (ran_ns != UINT64_MAX)
			thread->ran_ns -= ran_ns;
		return;
	}
	uint32_t site = mr_python_sites_find(&process->sites, &samples->defined, &process->python,
					     samples->memory, &stack, now_ns);
	thread->pages = samples->memory->used;
	if (site == 0)
		site = find_own_work(samples, process, thread);
	emit_sample(samples, process, thread, site, ran_ns);
}

/* All of them: one that waits has a name, too. */
static void read_names(struct mr_python_samples *samples, struct mr_python_process *process,
		       uint64_t now_ns)
{
	for (size_t i = 0; i < process->threads.list.count; i++) {
		struct mr_python_thread *thread = &process->threads.list.items[i];
		if (mr_python_name_update(thread, &process->python, samples->memory, now_ns))
			mr_emit_text(python_thread_name, thread->name, .process = process->process,
				     .tid = thread->tid);
	}
}

/* What the main thread does when there is no interpreter any more: destructors, and giving back memory. */
static void sample_end(struct mr_python_samples *samples, struct mr_python_process *process,
		       const char *what)
{
	struct mr_python_thread *thread = mr_python_threads_main(&process->threads);
	uint64_t ran_ns;
	if (thread && mr_python_thread_has_run(&process->threads, thread, &ran_ns))
		emit_sample(samples, process, thread, mr_python_sites_own(&samples->defined, what),
			    ran_ns);
}

static void sample_process(struct mr_python_samples *samples, struct mr_python_process *process,
			   uint64_t now_ns)
{
	mr_python_memory_start(samples->memory, process->threads.pid);
	if (!mr_python_threads_update(&process->threads, &process->python, samples->memory,
				      now_ns)) {
		int error = samples->memory->error;
		if (error == ESRCH) /* it has no memory any more */
			sample_end(samples, process, "(end of the process)");
		else if (error == EPERM || ++process->failures >= FAILURES_MAX)
			give_up(process, explain(error));
		return;
	}
	process->failures = 0;
	if (process->threads.list.count == 0)
		sample_end(samples, process, "(after the interpreter)");
	read_names(samples, process, now_ns);
	for (size_t i = 0; i < process->threads.list.count; i++) {
		struct mr_python_thread *thread = &process->threads.list.items[i];
		uint64_t ran_ns;
		if (mr_python_thread_has_run(&process->threads, thread, &ran_ns))
			sample_thread(samples, process, thread, ran_ns, now_ns);
	}
}

static uint64_t next_random(struct mr_python_samples *samples)
{
	samples->random ^= samples->random << 13;
	samples->random ^= samples->random >> 7;
	samples->random ^= samples->random << 17;
	return samples->random;
}

int mr_python_samples_wait_ms(const struct mr_python_samples *samples, uint64_t now_ns, int most)
{
	if (samples->rate == 0 || samples->list.count == 0)
		return most;
	uint64_t wait_ns = samples->next_ns > now_ns ? samples->next_ns - now_ns : 0;
	/* Not less, as the recorder would look again and again for the rest of the millisecond. */
	return (int)mr_min((uint64_t)most, (wait_ns + 999999) / 1000000);
}

void mr_python_samples_take(struct mr_python_samples *samples, uint64_t now_ns, bool is_on)
{
	if (samples->rate == 0 || now_ns < samples->next_ns)
		return;
	/* From half the period to one and a half. */
	uint64_t period_ns = UINT64_C(1000000000) / samples->rate;
	uint64_t since_ns = mr_max(samples->next_ns, now_ns - mr_min(now_ns, period_ns));
	samples->next_ns = since_ns + period_ns / 2 + next_random(samples) % period_ns;
	update_processes(samples);
	for (size_t i = 0; is_on && i < samples->list.count; i++) {
		struct mr_python_process *process = &samples->list.items[i];
		if (!process->is_given_up && has_run(process))
			sample_process(samples, process, now_ns);
	}
}

void mr_python_samples_finish(const struct mr_python_samples *samples)
{
	const struct mr_event_python_sampling event = {
		.rate = samples->rate, .samples = samples->samples, .torn = samples->torn};
	if (samples->samples || samples->torn)
		mr_define_event(MR_EVENT_python_sampling, &event, sizeof event, NULL);
}
