/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call each operation of a stream belongs to, where only their order is known. A stretch is what a stream did between
 * two moments at which it had nothing left to do:
 *
 *     calls        memset   kernel A   memcpy   memcpy   kernel B
 *                    │         │          │        │         │
 *     operations   fill fill   A        copy     copy        B
 *
 * Each launch of a device kernel has just one operation, with the kernel's name: they divide the stretch. In between, a kind
 * of operation belongs to the only call of its kind, or, if there are as many, one to each; or sizes decide. What a graph
 * launches is not known beforehand, so it gets what the others leave; launches of one graph get equal shares. An operation
 * for which this does not hold is undecided.
 */
#ifndef MR_LOAD_HIP_STRETCH_H
#define MR_LOAD_HIP_STRETCH_H

#include <stdint.h>

enum mr_hip_work {
	MR_HIP_WORK_KERNEL,
	MR_HIP_WORK_COPY,
	MR_HIP_WORK_FILL,
	MR_HIP_WORK_GRAPH, /* a call that may launch all of these */
	MR_HIP_WORK_OTHER,
};

struct mr_hip_stretch_call {
	enum mr_hip_work work;
	uint32_t name;   /* of the device kernel; 0: not known */
	uint64_t object; /* the graph */
	uint64_t bytes;  /* 0: not known */
};

struct mr_hip_stretch_operation {
	enum mr_hip_work work;
	uint32_t name;
	uint64_t bytes; /* 0: not known */
	uint32_t call;  /* the answer: number of its call, or MR_HIP_UNDECIDED */
};

#define MR_HIP_UNDECIDED UINT32_MAX

void mr_hip_stretch_decide(const struct mr_hip_stretch_call *calls, uint32_t call_count,
			   struct mr_hip_stretch_operation *operations, uint32_t operation_count);

#endif
