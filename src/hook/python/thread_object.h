/* SPDX-License-Identifier: Apache-2.0
 *
 * The object of class threading.Thread behind a thread:
 *
 *     thread state ─► frames ─► the outermost: Thread._bootstrap(self)
 *
 * The main thread and threads that Python did not start have no such frame.
 */
#ifndef MR_HOOK_PYTHON_THREAD_OBJECT_H
#define MR_HOOK_PYTHON_THREAD_OBJECT_H

#include "hook/python/object.h"

/* 0 if there is none, or it cannot be read. */
uintptr_t mr_python_thread_object(const struct mr_python *python,
				  const struct mr_python_reader *reader, uintptr_t thread_state);

#endif
