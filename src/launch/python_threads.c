/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macros.h"

enum {
	INTERPRETERS_MAX = 64,
	THREADS_MAX = 4096,      /* of a process; the list might lead in a circle */
	DESCRIPTORS_MAX = 128,   /* kept open for a process; others are opened each time */
	OTHER_DESCRIPTORS = 200, /* kept free for stream files and the rest */
	PATH_BYTES = 80,
	LISTED_FOR_NS = 50000000,
};

/* Where the C library keeps a thread's tid, in what pthread_self() points to: for interpreters that do not note it. */
#if defined __x86_64__
enum {
	LIBC_TID = 720
};
#elif defined __aarch64__
enum {
	LIBC_TID = 208
};
#endif

/* ---- numbers ------------------------------------------------------------------------------------ */

/* The last number of the line NSpid: of the innermost namespace. */
static uint32_t innermost_tid(pid_t pid, const char *tid)
{
	char path[PATH_BYTES], line[256];
	snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", pid, tid);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		line[strcspn(line, "\n")] = 0;
		const char *last = strrchr(line, '\t');
		return last ? (uint32_t)strtoul(last, NULL, 10) : 0;
	}
	return 0;
}

static pid_t find_host_tid(const struct mr_python_threads *threads, uint32_t tid)
{
	char path[PATH_BYTES];
	pid_t found = 0;
	if (!threads->is_inside)
		return (pid_t)tid;
	snprintf(path, sizeof path, "/proc/%d/task", threads->pid);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    innermost_tid(threads->pid, entry->d_name) == tid)
			found = (pid_t)atoi(entry->d_name);
	if (folder)
		closedir(folder);
	return found;
}

/* 0: not known. */
static uint32_t read_tid(const struct mr_python *python, const struct mr_python_reader *reader,
			 uintptr_t state)
{
	uint64_t native = 0;
	uint32_t tid = 0;
	uintptr_t self;
	if (python->layout.thread_native_id)
		return mr_python_read(reader, &native, state + python->layout.thread_native_id,
				      sizeof native) &&
				       native <= INT32_MAX
			       ? (uint32_t)native
			       : 0;
	if (!mr_python_read(reader, &self, state + python->layout.thread_id, sizeof self) ||
	    !mr_python_read(reader, &tid, self + LIBC_TID, sizeof tid))
		return 0;
	return tid <= INT32_MAX ? tid : 0;
}

/* ---- the list ----------------------------------------------------------------------------------- */

static void close_thread(struct mr_python_thread *thread)
{
	if (thread->fd >= 0)
		close(thread->fd);
	thread->fd = -1;
}

/* Who starts a thread makes its state, which has the tid of its maker until the thread begins. */
static bool is_of_another(const struct mr_python_threads *threads, uint32_t tid)
{
	for (size_t i = 0; i < threads->list.count; i++)
		if (threads->list.items[i].tid == tid)
			return true;
	return false;
}

/* The lists of the interpreter and ours mostly have the same order. */
static bool note_listed(struct mr_python_threads *threads, const struct mr_python *python,
			const struct mr_python_reader *reader, uintptr_t state, size_t *at)
{
	uint32_t tid = read_tid(python, reader, state);
	size_t count = threads->list.count;
	if (tid == 0)
		return true; /* not yet begun, or gone */
	for (size_t i = 0; i < count; i++) {
		struct mr_python_thread *thread = &threads->list.items[(*at + i) % count];
		if (thread->state != state || thread->tid != tid)
			continue;
		thread->is_listed = true;
		*at = (*at + i + 1) % count;
		return true;
	}
	if (is_of_another(threads, tid)) {
		threads->is_stale = true; /* so it is asked again soon */
		return true;
	}
	return mr_vec_push(&threads->list,
			   ((struct mr_python_thread){.state = state,
						      .tid = tid,
						      .host_tid = find_host_tid(threads, tid),
						      .fd = -1,
						      .is_listed = true})) == 0;
}

static void forget_main(struct mr_python_threads *threads)
{
	if (threads->main.host_tid)
		close_thread(&threads->main);
	threads->main = (struct mr_python_thread){0};
}

/* The main thread goes on when the interpreter has ended. */
static void drop(struct mr_python_threads *threads, struct mr_python_thread *thread)
{
	if (thread->host_tid != threads->pid) {
		close_thread(thread);
		return;
	}
	forget_main(threads);
	threads->main = *thread;
}

static void drop_unlisted(struct mr_python_threads *threads)
{
	size_t kept = 0;
	for (size_t i = 0; i < threads->list.count; i++) {
		struct mr_python_thread *thread = &threads->list.items[i];
		if (!thread->is_listed) {
			drop(threads, thread);
			continue;
		}
		if (thread->host_tid == threads->pid)
			forget_main(threads);
		thread->is_listed = false;
		threads->list.items[kept++] = *thread;
	}
	threads->list.count = kept;
}

static bool is_up_to_date(const struct mr_python_threads *threads,
			  const struct mr_python_layout *layout,
			  const struct mr_python_reader *reader, uint64_t now_ns)
{
	uintptr_t head;
	return threads->list.count > 0 && !threads->is_stale &&
	       now_ns - threads->made_ns < LISTED_FOR_NS &&
	       mr_python_read(reader, &head, threads->interpreter + layout->interpreter_threads,
			      sizeof head) &&
	       head == threads->head;
}

bool mr_python_threads_update(struct mr_python_threads *threads, const struct mr_python *python,
			      struct mr_python_memory *memory, uint64_t now_ns)
{
	const struct mr_python_reader reader = mr_python_memory_reader(memory);
	const struct mr_python_layout *layout = &python->layout;
	uintptr_t interpreter = 0, state;
	size_t at = 0, count = 0;
	if (is_up_to_date(threads, layout, &reader, now_ns))
		return true;
	bool is_read =
		mr_python_read(&reader, &interpreter,
			       python->runtime + layout->runtime_interpreters, sizeof interpreter);
	threads->interpreter = interpreter;
	threads->made_ns = now_ns;
	threads->is_stale = false;
	if (is_read && interpreter)
		is_read = mr_python_read(&reader, &threads->head,
					 interpreter + layout->interpreter_threads,
					 sizeof threads->head);
	for (int i = 0; is_read && interpreter && i < INTERPRETERS_MAX; i++) {
		is_read = mr_python_read(&reader, &state, interpreter + layout->interpreter_threads,
					 sizeof state);
		while (is_read && state && count++ < THREADS_MAX)
			is_read = note_listed(threads, python, &reader, state, &at) &&
				  mr_python_read(&reader, &state, state + layout->thread_next,
						 sizeof state);
		is_read = is_read && mr_python_read(&reader, &interpreter,
						    interpreter + layout->interpreter_next,
						    sizeof interpreter);
	}
	if (is_read)
		drop_unlisted(threads);
	return is_read;
}

struct mr_python_thread *mr_python_threads_main(struct mr_python_threads *threads)
{
	for (size_t i = 0; i < threads->list.count; i++)
		if (threads->list.items[i].host_tid == threads->pid)
			return &threads->list.items[i];
	return threads->main.host_tid ? &threads->main : NULL;
}

void mr_python_threads_free(struct mr_python_threads *threads)
{
	forget_main(threads);
	for (size_t i = 0; i < threads->list.count; i++)
		close_thread(&threads->list.items[i]);
	mr_vec_free(&threads->list);
}

/* ---- time --------------------------------------------------------------------------------------- */

static int open_times(const struct mr_python_threads *threads,
		      const struct mr_python_thread *thread)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", threads->pid, thread->host_tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Whether stream files and the rest can still be opened if this one, the lowest that was free, stays open. */
static bool leaves_room(int fd)
{
	struct rlimit limit;
	return fd >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       (rlim_t)fd + OTHER_DESCRIPTORS <= limit.rlim_cur;
}

static bool read_ran(const struct mr_python_threads *threads, struct mr_python_thread *thread,
		     uint64_t *ret_ns)
{
	char text[80];
	bool is_one_of_few = thread == &threads->main ||
			     (size_t)(thread - threads->list.items) < DESCRIPTORS_MAX;
	int fd = thread->fd >= 0 ? thread->fd : open_times(threads, thread);
	bool is_kept = is_one_of_few && (thread->fd >= 0 || leaves_room(fd));
	ssize_t length = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
	if (fd >= 0 && !is_kept)
		close(fd);
	thread->fd = is_kept ? fd : -1;
	if (length <= 0)
		return false;
	text[length] = 0;
	*ret_ns = strtoull(text, NULL, 10);
	return true;
}

bool mr_python_thread_has_run(struct mr_python_threads *threads, struct mr_python_thread *thread,
			      uint64_t *ret_ns)
{
	uint64_t ran_ns = 0;
	if (thread->host_tid == 0)
		return false;
	if (!read_ran(threads, thread, &ran_ns)) {
		threads->is_stale = true;
		return false;
	}
	if (thread->is_measured && ran_ns <= thread->ran_ns)
		return false;
	*ret_ns = thread->is_measured ? ran_ns - thread->ran_ns : UINT64_MAX;
	thread->ran_ns = ran_ns;
	thread->is_measured = true;
	return true;
}
