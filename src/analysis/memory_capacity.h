/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory there is, and how much of it was held at most.
 */
#ifndef MR_ANALYSIS_MEMORY_CAPACITY_H
#define MR_ANALYSIS_MEMORY_CAPACITY_H

#include "model/memory_accounts.h"

/* Of a device, whoever of those that use it knows; 0: not known, or no device. */
uint64_t mr_device_capacity(const struct mr_model *model, uint32_t device);

struct mr_memory_peak {
	uint64_t bytes;
	int64_t ns; /* the first time that so much was live */
};

/* By account, in the part that the model shows: it begins with what was live before. `peaks` must be zeroed. */
void mr_memory_peaks_find(const struct mr_model *model, struct mr_memory_peak *peaks);

/* By string: does a runtime allocate memory by this function? To be freed; NULL without memory. */
bool *mr_find_allocators(const struct mr_model *model);

#endif
