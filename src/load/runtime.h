/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime level in the model: rows of calls, launches, device operations, waits and memory, and
 * the links between them.
 *
 *     dependencies ──call──► calls ◄──call── device_operations         joined by (process, correlation),
 *          └───awaited_call──► │ ──operation──►                        never by order or time
 *                              ◄──call── kernel_launches
 *
 *     calls ──awaited──► device_operations ──after──► device_operations       what each waited for last
 */
#ifndef MR_LOAD_RUNTIME_H
#define MR_LOAD_RUNTIME_H

#include "load/loader.h"

/* Before the first event: makes model->device_clocks and room in the tables. 0 or a negative errno. */
int mr_runtime_start(struct mr_model *model);

/* Makes room in model->device_clocks for the devices from `first` on, which were defined since. -ENOMEM. */
int mr_runtime_add_device_clocks(struct mr_model *model, size_t first);

/* Adds what an event of the runtime level says; others say nothing. */
int mr_runtime_add(struct mr_loader *loader, const struct mr_event *event);

/* Likewise, for what its tracer reports besides operations. (runtime_reports.c) */
int mr_runtime_add_report(struct mr_loader *loader, const struct mr_event *event);

/* A call that was open when its thread or the recording ended. */
int mr_runtime_add_unfinished_call(struct mr_loader *loader, struct mr_span span, uint32_t function,
				   uint64_t correlation);

/* When all events are read and nothing is sorted: links the tables, adds the operations that were
 * launched and not seen to end, and sorts calls and device_operations. */
int mr_runtime_join(struct mr_loader *loader);

/* When calls lead to their operations: which of them wait, where only their names say so. -ENOMEM. */
int mr_runtime_mark_waits(struct mr_model *model);

/* Then, and when all tables are sorted: finds what calls and operations waited for (doc/causes.md says what is what). -ENOMEM. */
int mr_runtime_link_waits(struct mr_model *model);

/* When they are nested, too: finds in which executions of nodes calls were made. -ENOMEM. */
int mr_runtime_link_executions(struct mr_model *model);

#endif
