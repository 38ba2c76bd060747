/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program in Python calls its threads (threading.Thread.name), read from outside:
 *
 *     thread state ─► frames ─► the outermost: Thread._bootstrap(self)
 *                                                               └─► _name
 *
 * The main thread and threads that were not started by Python have no such frame: they have the kernel's name alone.
 * A name may come late or change, so it is read again from time to time.
 */
#ifndef MR_LAUNCH_PYTHON_NAMES_H
#define MR_LAUNCH_PYTHON_NAMES_H

#include "launch/python_threads.h"

/* Looks, if it is time. True if the thread has a name that is not the one it had: thread->name. */
bool mr_python_name_update(struct mr_python_thread *thread, const struct mr_python *python,
			   struct mr_python_memory *memory, uint64_t now_ns);

#endif
