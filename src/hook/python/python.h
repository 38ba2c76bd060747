/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of Python behind what a hook records. A hook calls mr_python_note() before it writes an event, on the thread
 * that the event is about:
 *
 *     mr_python_note();                                 writes `site`, if the thread is not where it was last time
 *     mr_emit(...);  or  mr_interval_begin(...);
 *
 * Of what begins and ends in one call of a C function, either end will do: Python stands still meanwhile. The loader
 * gives the row mr_loader.site, the site that was noted last. What begins in one line of Python and ends in another, such
 * as an annotation, is noted when it begins; the loader asks mr_loader_site_at() with its beginning (load/sites.h).
 * A hook that does not note must not have its rows given a site: it would be one of before.
 *
 * The thread reads its own frames, which nobody else changes, so it needs no GIL; safety.c says which threads may. In a program without an interpreter
 * that is one load and a branch. Where the interpreter is not as expected nothing is read, and the trace says why.
 */
#ifndef MR_HOOK_PYTHON_PYTHON_H
#define MR_HOOK_PYTHON_PYTHON_H

#include <stdatomic.h>

#include "base/macros.h"
#include "hook/python/code.h"

enum mr_python_state {
	MR_PYTHON_NONE,  /* no interpreter, or one whose frames are not read */
	MR_PYTHON_FOUND, /* not yet checked: it runs nothing so far */
	MR_PYTHON_READ,  /* its frames are as expected */
};

/* The interpreter of this process. Everything in it is complete before `state` says so. (interpreter.c) */
struct mr_own_python {
	_Atomic uint8_t state; /* enum mr_python_state */
	struct mr_python python;
	uint32_t version;       /* as 0x030b02f0 */
	uintptr_t false_object; /* False; 0: not known */
	uintptr_t none; /* the object None, which stands for the code of frames without any */
	void *(*own_thread_state)(void);     /* PyGILState_GetThisThreadState() */
	void *(*current_thread_state)(void); /* the same if the thread holds the GIL; may be NULL */
	int (*line_of)(const void *code, int); /* PyCode_Addr2Line() */
};

extern struct mr_own_python mr_own_python __attribute__((visibility("hidden")));

/* Reads this process, wherever it can be read. The context is a struct mr_peek. (interpreter.c) */
struct mr_python_reader mr_own_reader(void *peek);

/* Compares what this thread's frames say with what the interpreter says of them. False until that is settled, and if it
 * is not as expected. (interpreter.c) */
bool mr_python_check(void);

/* Whether the thread may look at its own frames: nobody can free them meanwhile. (safety.c) */
bool mr_python_may_look(uintptr_t thread_state);

/* The thread's innermost frame, or 0. (sites.c) */
uintptr_t mr_python_frame_of(uintptr_t thread_state);

/* The innermost frame of the calling thread; 0: none, or it must not be looked at. (sites.c) */
uintptr_t mr_python_own_frame(void);

/* A function whose frames somebody looks for. Each is found when its first line gets a site. (sites.c) */
struct mr_python_watched {
	const char *name;       /* without the classes around it */
	const char *file;       /* the end of its path */
	_Atomic uintptr_t code; /* its code object; 0: not yet found */
	struct mr_python_watched *next;
	bool is_watched;
};

/* Before the program begins. (sites.c) */
void mr_python_watch(struct mr_python_watched *watched);

/* Where the calling thread is in Python: the id of a site (event def_site); 0: nowhere, or not known. (sites.c) */
uint32_t mr_python_site(void);

/* Writes the event `site` if the thread's last one says something else. (sites.c) */
void mr_python_note_site(void);

static inline bool mr_python_is_there(void)
{
	return mr_unlikely(atomic_load_explicit(&mr_own_python.state, memory_order_relaxed) !=
			   MR_PYTHON_NONE);
}

static inline void mr_python_note(void)
{
	if (mr_python_is_there())
		mr_python_note_site();
}

#endif
