/* SPDX-License-Identifier: Apache-2.0
 *
 * What a critical path asks about threads: how it calls what they do, and for whom they work. A thread that computes
 * something for another one, which waits for it (thread_waits of the model), is a worker, and the other its client:
 *
 *     client   ── forward ──┤           waits            ├── optimizer ──
 *     worker                 ├── backward ──┤├── ... ───┤
 *     path     ── client ───┤────────── worker ──────────┤─── client ────
 */
#ifndef MR_ANALYSIS_CRITICAL_PATH_THREADS_H
#define MR_ANALYSIS_CRITICAL_PATH_THREADS_H

#include "analysis/cause/activity.h"

/* What is `cpu` or `call` elsewhere is `launch` inside a launching call. */
struct mr_link mr_path_link_of(const struct mr_model *model, const struct mr_activity *activity);

/* The thread is blocked, and nothing that is known ended that. */
bool mr_path_is_endless(const struct mr_model *model, uint32_t state);

/* By track: the client of that thread, or MR_NO_TRACK. NULL without memory. */
uint32_t *mr_path_clients_make(const struct mr_model *model);

/* If the thread waits for a worker before that time, the activity becomes that: the worker its waker, from when it began. */
void mr_path_find_worker(const struct mr_model *model, uint32_t thread, int64_t ns,
			 struct mr_activity *activity);

/* Since when, before that time, the client has waited for its worker; MR_NO_TIME: it does not wait, or there is none. */
int64_t mr_path_works_since_ns(const struct mr_model *model, uint32_t client, int64_t ns);

/* The worker records nothing, and its client does not wait: what happens is the client's doing. */
bool mr_path_is_idle_worker(const struct mr_model *model, const struct mr_activity *activity,
			    uint32_t client, int64_t ns);

#endif
