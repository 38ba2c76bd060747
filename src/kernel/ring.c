/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"

int mr_ring_map(int fd, uint64_t bytes, struct mr_ring *ret_ring)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t rest_bytes = page + 2 * bytes;
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return mr_fail_errno(errno, "cannot map a ring buffer");
	uint8_t *rest = mmap(NULL, rest_bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (rest == MAP_FAILED) {
		int result = mr_fail_errno(errno, "cannot map a ring buffer");
		munmap(consumer, page);
		return result;
	}
	/* The traced program starts as a fork of this process and must not inherit the rings. */
	madvise(consumer, page, MADV_DONTFORK);
	madvise(rest, rest_bytes, MADV_DONTFORK);
	*ret_ring = (struct mr_ring){.consumer = consumer,
				     .producer = (const _Atomic uint64_t *)rest,
				     .data = rest + page,
				     .mask = bytes - 1,
				     .mapped = consumer,
				     .mapped_rest = rest,
				     .mapped_rest_bytes = rest_bytes};
	return 0;
}

void mr_ring_unmap(struct mr_ring *ring)
{
	if (!ring->mapped)
		return;
	munmap(ring->mapped, (size_t)sysconf(_SC_PAGESIZE));
	munmap(ring->mapped_rest, ring->mapped_rest_bytes);
	ring->mapped = NULL;
}

/* Moves the last record to where its time belongs. Usually there is nothing to do. */
static void sort_last(struct mr_ring_batch *batch)
{
	const struct mr_record *last = batch->records[batch->count - 1];
	uint32_t at = batch->count - 1;
	for (; at > 0 && mr_unlikely(batch->records[at - 1]->time_ns > last->time_ns); at--)
		batch->records[at] = batch->records[at - 1];
	batch->records[at] = last;
}

void mr_ring_read(const struct mr_ring *ring, struct mr_ring_batch *ret_batch)
{
	uint64_t at = atomic_load_explicit(ring->consumer, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(ring->producer, memory_order_acquire);
	ret_batch->count = 0;
	while (ret_batch->count < MR_RING_BATCH) {
		/* Read again at the end: records that interrupted the last one must be in the same batch. */
		if (at >= end) {
			end = atomic_load_explicit(ring->producer, memory_order_acquire);
			if (at >= end)
				break;
		}
		const uint8_t *header = ring->data + (at & ring->mask);
		uint32_t length = atomic_load_explicit((const _Atomic uint32_t *)header,
						       memory_order_acquire);
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		uint32_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		at += mr_align_up(bytes + BPF_RINGBUF_HDR_SZ, 8u);
		if (length & BPF_RINGBUF_DISCARD_BIT)
			continue;
		ret_batch->records[ret_batch->count++] =
			(const struct mr_record *)(header + BPF_RINGBUF_HDR_SZ);
		sort_last(ret_batch);
	}
	ret_batch->end = at;
}

void mr_ring_release(struct mr_ring *ring, const struct mr_ring_batch *batch)
{
	atomic_store_explicit(ring->consumer, batch->end, memory_order_release);
}
