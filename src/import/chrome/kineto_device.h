/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals of devices and of the runtimes that drive them:
 *
 *     cat cuda_runtime ... ──► runtime_call, with args.correlation      on the thread that called
 *              │ launches
 *              ▼
 *     cat kernel,          ──► device_operation, with the same number   on (args.device, args.stream), for now
 *     gpu_memcpy, gpu_memset                                            by the event's own thread
 *
 * Which process an operation belongs to is known only when all calls are read (kineto_launches.c); who calls is
 * noted here for that. Categories have old names and new ones, both are known.
 */
#ifndef MR_IMPORT_CHROME_KINETO_DEVICE_H
#define MR_IMPORT_CHROME_KINETO_DEVICE_H

#include "import/chrome/kineto.h"

/* The queue of a stream, if the file has operations on it; otherwise 0. */
uint32_t mr_kineto_find_queue(const struct mr_kineto *kineto,
			      const struct mr_kineto_stream *stream);

/* Adds the event if it is one of these; otherwise *ret_is_one is false, and it is left to the caller. 0, also
 * for one that is refused, or -ENOMEM. */
int mr_kineto_add_device_event(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			       const struct mr_kineto_interval *at, bool *ret_is_one);

#endif
