/* SPDX-License-Identifier: Apache-2.0
 *
 * Dispatches: what a packet says, and the signal that it gets.
 */
#ifndef MR_HOOK_HSA_DISPATCHES_H
#define MR_HOOK_HSA_DISPATCHES_H

#include <stdint.h>

typedef void mr_hsa_packet_writer(const void *packets, uint64_t count);

/* ROCr calls it in the thread that rings the doorbell, with packets of the queue that `data` leads to. The writer may be
 * called once. */
void mr_hsa_on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		       mr_hsa_packet_writer *writer);

#endif
