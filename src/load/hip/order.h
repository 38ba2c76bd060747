/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of streams whose operations HIP's own threads have launched (order.c), and how their order is decided
 * (streams.c).
 */
#ifndef MR_LOAD_HIP_ORDER_H
#define MR_LOAD_HIP_ORDER_H

#include "load/hip/stretch.h"
#include "load/loader.h"

/* A call that has put work into a stream, or waited for one. */
struct mr_hip_order {
	uint64_t correlation;
	int64_t start_ns;
	int64_t end_ns;
	uint32_t process;
	uint32_t stream; /* 0: all of the device */
	uint32_t device;
	uint32_t name;
	uint32_t call; /* its row; MR_NO_ROW: it was not recorded */
	bool is_blocking;
};

struct mr_hip_submission {
	uint64_t correlation;
	int64_t ns;
	uint32_t process;
	uint32_t stream;
	uint32_t track;
	uint32_t operation; /* its row; MR_NO_ROW: it was not recorded */
	uint64_t decided;   /* correlation of its call; 0: undecided */
};

struct mr_hip_orders {
	struct mr_hip_order *items;
	size_t count;
};

struct mr_hip_submissions {
	struct mr_hip_submission *items;
	size_t count;
};

/* Finds the calls of all submissions, as far as order decides them. Sorts both. 0 or -ENOMEM. */
int mr_hip_streams_decide(const struct mr_model *model, struct mr_hip_orders orders,
			  struct mr_hip_submissions submissions);

#endif
