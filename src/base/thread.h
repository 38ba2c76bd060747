/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that work beside the one that called, which takes all signals.
 */
#ifndef MR_BASE_THREAD_H
#define MR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False: there is no thread. Otherwise it is to be joined. */
bool mr_thread_start(void *(*run)(void *data), void *data, pthread_t *ret_thread);

#endif
