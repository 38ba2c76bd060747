/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/shared/pending.h"

#include "record/own_call.h"

enum {
	FIRST_CAPACITY = 128, /* operations */
	KEPT_CAPACITY = 8192, /* a larger ring is given back when it is empty */
};

static void drop(struct mr_pending *pending)
{
	if (pending->operations)
		mr_own_unmap(pending->operations,
			     pending->capacity * sizeof pending->operations[0]);
}

__attribute__((noinline)) bool mr_pending_grow(struct mr_pending *pending)
{
	uint32_t capacity = pending->capacity ? pending->capacity * 2 : FIRST_CAPACITY;
	struct mr_pending_operation *larger = mr_own_map(capacity * sizeof *larger);
	if (!larger)
		return false;
	for (uint32_t i = 0; i < pending->count; i++)
		larger[i] = *mr_pending_at(pending, i);
	drop(pending);
	pending->operations = larger;
	pending->capacity = capacity;
	pending->first = 0;
	return true;
}

void mr_pending_shrink(struct mr_pending *pending)
{
	if (pending->count > 0 || pending->capacity <= KEPT_CAPACITY)
		return;
	drop(pending);
	pending->operations = NULL;
	pending->capacity = 0;
}

bool mr_pending_put_back(struct mr_pending *pending, const struct mr_pending_operation *operation)
{
	if (pending->count == pending->capacity && !mr_pending_grow(pending))
		return false;
	pending->first--;
	pending->count++;
	uint32_t place = 0;
	for (; place + 1 < pending->count; place++) {
		const struct mr_pending_operation *earlier = mr_pending_at(pending, place + 1);
		if (earlier->correlation > operation->correlation)
			break;
		*mr_pending_at(pending, place) = *earlier;
	}
	*mr_pending_at(pending, place) = *operation;
	return true;
}

uint32_t mr_pending_take(struct mr_pending *pending, uint32_t most,
			 struct mr_pending_operation *ret_operations)
{
	uint32_t count = mr_min(most, pending->count);
	for (uint32_t i = 0; i < count; i++)
		ret_operations[i] = *mr_pending_at(pending, i);
	pending->first += count;
	pending->count -= count;
	pending->taken += count;
	return count;
}

bool mr_pending_remove(struct mr_pending *pending, const void *event,
		       struct mr_pending_operation *ret_operation)
{
	uint32_t place = 0;
	while (place < pending->count && mr_pending_at(pending, place)->event != event)
		place++;
	if (place == pending->count)
		return false;
	*ret_operation = *mr_pending_at(pending, place);
	for (; place > 0; place--)
		*mr_pending_at(pending, place) = *mr_pending_at(pending, place - 1);
	pending->first++;
	pending->count--;
	return true;
}

void mr_pending_write_unfinished(struct mr_pending *pending, uint32_t queue)
{
	for (uint32_t i = 0; i < pending->count; i++) {
		const struct mr_pending_operation *operation = mr_pending_at(pending, i);
		mr_emit(device_operation_unfinished, .queue = queue, .name = operation->name,
			.correlation = operation->correlation, .kind = operation->kind);
	}
	pending->count = 0;
}

void mr_pending_write_events(uint8_t event, const void *done, size_t bytes, uint32_t count)
{
	const uint8_t *from = done;
	uint64_t ticks;
	if (count == 0)
		return;
	uint8_t *at = mr_reserve_fast(
		event, count * (MR_COMPACT_HEADER_BYTES + bytes) - MR_COMPACT_HEADER_BYTES, &ticks);
	if (!at) {
		for (uint32_t i = 0; i < count; i++)
			mr_emit_slow(event, from + i * bytes, bytes, NULL);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			at = mr_put_header(at, event, ticks);
		memcpy(at, from + i * bytes, bytes);
		at += bytes;
	}
	mr_commit_fast(at, mr_self.writers[0].open_count);
}
