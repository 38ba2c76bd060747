/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime level in the model: rows of calls, launches, device operations, waits and memory, and
 * how they hang together.
 *
 *     dependencies ──call──► calls ◄──call── device_operations         joined by (process, correlation),
 *          └───awaited_call──► │ ──operation──►                        never by order or time
 *                              ◄──call── kernel_launches
 *
 *     calls ──awaited──► device_operations ──after──► device_operations       what each waited for longest
 */
#ifndef MR_MODEL_RUNTIME_H
#define MR_MODEL_RUNTIME_H

#include "model/loader.h"

/* Before the first event: makes model->device_clocks and room in the tables. 0 or a negative errno. */
int mr_runtime_start(struct mr_model *model);

/* Makes room in model->device_clocks for the devices from `first` on, which were defined since. -ENOMEM. */
int mr_runtime_add_device_clocks(struct mr_model *model, size_t first);

/* Adds what an event of the runtime level says; others say nothing. */
int mr_runtime_add(struct mr_loader *loader, const struct mr_event *event);

/* A call that was open when its thread or the recording ended. */
int mr_runtime_add_unfinished_call(struct mr_loader *loader, struct mr_span span, uint32_t function,
				   uint64_t correlation);

/* When all events are read and nothing is sorted: links the tables, adds the operations that were
 * launched and not seen to end, and sorts calls and device_operations. */
int mr_runtime_join(struct mr_model *model);

/* When all tables are sorted and nested: finds what calls and operations waited for, and in which executions
 * of nodes calls were made (doc/causes.md says what is what). -ENOMEM. */
int mr_runtime_link_waits(struct mr_model *model);

/* What names a piece of memory while it lives, without padding. Frees of a runtime tell the handle alone. */
struct mr_memory_key {
	uint64_t address;
	uint32_t process;
	uint32_t teller;
	uint32_t device;    /* of a framework's */
	uint32_t allocator; /* likewise */
};

/* Of the piece at an address, in the names of the row's teller. */
struct mr_memory_key mr_memory_key(const struct mr_model *model, uint32_t row, uint64_t address);

/* What live bytes are counted of: the memory of one process on one device, by one teller. */
struct mr_memory_account {
	uint32_t process;
	uint32_t device; /* of that process; 0: the host, or not known */
	uint32_t teller;
};

/* Accounts have numbers, from 0: those of no device first. */
uint32_t mr_memory_account_count(const struct mr_model *model);
uint32_t mr_memory_account_of(const struct mr_model *model, uint32_t row);
struct mr_memory_account mr_memory_account(const struct mr_model *model, uint32_t number);

/* When all tables are sorted: finds what each free gives back, and the bytes that are live. */
int mr_memory_join(struct mr_model *model);

#endif
