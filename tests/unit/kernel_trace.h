/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes small kernel-level traces for tests: events of any CPU, handed over in order of time.
 *
 *     kernel_trace_begin(2);
 *     KERNEL(0, kernel_switch, 100, NULL, .previous_tid = 0, .next_tid = 7);
 *     struct mr_model *model = kernel_trace_load();       // then kernel_trace_end()
 *
 * The life of tasks goes to the CPU's definitions, as the collector does it.
 */
#ifndef MR_TESTS_UNIT_KERNEL_TRACE_H
#define MR_TESTS_UNIT_KERNEL_TRACE_H

#include "model/model.h"

enum {
	KERNEL_TRACE_CPUS = 4
};

void kernel_trace_begin(uint32_t cpu_count);
void kernel_trace_put(uint32_t cpu, uint8_t id, uint64_t ns, const void *fields, size_t size,
		      const char *text);

#define KERNEL(cpu, name, ns, text, ...)                                                    \
	do {                                                                                \
		const struct mr_event_##name fields_ = {__VA_ARGS__};                       \
		kernel_trace_put(cpu, MR_EVENT_##name, ns, &fields_, sizeof fields_, text); \
	} while (0)

/* Ends the CPU's packet of events there. The next one is so many further; the first ones need not be 0. */
void kernel_trace_cut(uint32_t cpu, uint64_t end_ns, uint32_t missing_packets);

/* A switch, a waking by the thread `waker`. */
void kernel_switch(uint32_t cpu, uint64_t ns, uint32_t previous_tid, uint32_t next_tid,
		   enum mr_switch_reason reason);
void kernel_wake(uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t waker);
void kernel_born(uint32_t cpu, uint64_t ns, uint32_t parent_tid, uint32_t tid, uint32_t pid,
		 const char *name);

/* The recorder says that it switched the levels on at a time and off at another, multiples of 10; 0: not. */
void kernel_trace_switch_levels(uint64_t on_ns, uint64_t off_ns);

/* The folder, to which user streams may be added before it is loaded. */
const char *kernel_trace_directory(void);

/* The trace ends then. */
struct mr_model *kernel_trace_load(uint64_t end_ns);
void kernel_trace_end(struct mr_model *model);

#endif
