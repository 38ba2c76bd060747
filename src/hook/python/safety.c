/* SPDX-License-Identifier: Apache-2.0
 *
 * May a thread look at its own frames? When the interpreter ends, it frees the states and frames of threads that still run
 * outside of Python, and such a thread may stand still at any instruction. So it looks only if nobody can free them:
 *
 *     the main thread                  ends the interpreter itself
 *     a thread of class Thread that    is waited for before the interpreter ends
 *     is no daemon
 *     any that holds the GIL           nobody can end the interpreter meanwhile
 *
 * Others have no lines at events; samples from outside (src/launch) have them all the same.
 */
#include "hook/hook.h"
#include "hook/python/python.h"
#include "hook/python/thread_object.h"
#include "record/identity.h"
#include "record/peek.h"
#include "record/recorder.h"

/* Found out once for each thread, and again after a fork. */
static _Thread_local struct {
	uint64_t generation;
	bool is_known;
	bool is_safe;
} verdict;

/* Python waits for a thread that is no daemon. */
static bool is_awaited(uintptr_t thread_state)
{
	struct mr_peek peek = {0};
	const struct mr_python_reader reader = mr_own_reader(&peek);
	const struct mr_python *python = &mr_own_python.python;
	uintptr_t thread = mr_python_thread_object(python, &reader, thread_state);
	return thread && mr_own_python.false_object &&
	       mr_python_attribute(python, &reader, thread, "_daemonic") ==
		       mr_own_python.false_object;
}

__attribute__((noinline, cold)) static void find_out(uintptr_t thread_state)
{
	verdict.is_safe = mr_own_tid() == mr_own_pid() || is_awaited(thread_state);
	verdict.generation = mr_this_process.generation;
	verdict.is_known = true;
}

bool mr_python_may_look(uintptr_t thread_state)
{
	if (mr_unlikely(!verdict.is_known || verdict.generation != mr_this_process.generation))
		find_out(thread_state);
	return mr_likely(verdict.is_safe) ||
	       (mr_own_python.current_thread_state &&
		(uintptr_t)mr_own_python.current_thread_state() == thread_state);
}
