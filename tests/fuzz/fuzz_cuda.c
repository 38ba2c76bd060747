/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes records of CUPTI: an input is a list of records (tests/unit/cupti_records.h), and its first byte says how many bytes
 * are missing at the end. Each record becomes one event, or is counted as lost, or is of a kind that is not read. Seeds:
 * tests/corpus/fuzz_cuda.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/cupti_records.h"
#include "../unit/memory_arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SLOTS = 64,
	BUFFER_BYTES = 64 << 10,
	MANY_STREAMS = 1024,
};

static struct {
	uint64_t operations;
	uint32_t streams;
} seen;

static void see(const struct test_event *event, void *unused)
{
	(void)unused;
	seen.operations += event->id == MR_EVENT_device_kernel ||
			   event->id == MR_EVENT_device_transfer ||
			   event->id == MR_EVENT_device_operation_unfinished ||
			   (event->id >= MR_EVENT_runtime_synchronisation &&
			    event->id <= MR_EVENT_runtime_memory);
	seen.streams += event->id == MR_EVENT_def_queue;
}

/* Anew from time to time, as streams stay for ever. */
static void start_again(void)
{
	if (mr_cuda && seen.streams < MANY_STREAMS)
		return;
	free(mr_cuda);
	cupti_records_start();
	seen.streams = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	uint8_t *buffer = malloc(BUFFER_BYTES);
	if (!buffer)
		abort();
	if (!test_arena)
		test_arena_attach(SLOTS);
	start_again();
	uint64_t lost_before = test_arena_lost(test_arena, MR_loss_reason_device_records);
	size_t used = cupti_records_make(data + 1, size - 1, buffer, BUFFER_BYTES);
	/* So that reading beyond the end is noticed. */
	size_t shown = used > data[0] ? used - data[0] : 0;
	uint8_t *exact = malloc(shown + 1);
	if (!exact)
		abort();
	memcpy(exact, buffer, shown);
	seen.operations = 0;
	cupti_records_read(exact, shown);
	test_arena_visit(test_arena, see, NULL);
	uint64_t lost = test_arena_lost(test_arena, MR_loss_reason_device_records) - lost_before;
	if (seen.operations + lost > size)
		abort();
	test_arena_drain_all();
	free(exact);
	free(buffer);
	return 0;
}
