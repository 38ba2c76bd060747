/* SPDX-License-Identifier: Apache-2.0
 *
 * One CPU's ring of records. The programs in the kernel write it, and we read it through shared memory, without
 * system calls and without wake-ups.
 *
 *     pages    consumer │ producer │ data ▒▒▒▒▒▒▒▒ │ the same data again, so that no record is split
 *
 * Positions count bytes and never wrap. A record's header holds its length, and whether it is still being written.
 * Records are in the order of reservation. If an interrupt occurs between the reservation of a record and its clock
 * read, the interrupt's record follows it but has an earlier time; so a batch is sorted by time. The interrupted
 * record is committed last, hence both are in one batch.
 */
#ifndef MR_KERNEL_RING_H
#define MR_KERNEL_RING_H

#include <stdint.h>

#include "kernel/records.h"

enum {
	MR_RING_BATCH = 4096, /* records */
};

struct mr_ring {
	_Atomic uint64_t *consumer;
	const _Atomic uint64_t *producer;
	const uint8_t *data;
	uint64_t mask; /* size of the data minus 1 */
	void *mapped;  /* consumer page; NULL: nothing is mapped */
	void *mapped_rest;
	uint64_t mapped_rest_bytes;
};

struct mr_ring_batch {
	uint64_t end; /* position after the last record */
	uint32_t count;
	const struct mr_record *records[MR_RING_BATCH]; /* in chronological order */
};

/* Maps the ring buffer map behind a descriptor. */
int mr_ring_map(int fd, uint64_t bytes, struct mr_ring *ret_ring);
void mr_ring_unmap(struct mr_ring *ring);

/* Finds the complete records; they stay in place until they are released. */
void mr_ring_read(const struct mr_ring *ring, struct mr_ring_batch *ret_batch);
void mr_ring_release(struct mr_ring *ring, const struct mr_ring_batch *batch);

#endif
