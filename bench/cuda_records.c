/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_records ROUNDS BLOCK: measures what a record of a device kernel costs, from a buffer that CUPTI has completed to events
 * in the trace. Buffers are as large as the hook's own, with sixteen names on eight streams, as CUPTI 13 lays records out; a
 * function steps through them as CUPTI's does. The last line is how many bytes of the trace a record takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "hook/cuda/cuda.h"
#include "rounds.h"

enum {
	RECORD_BYTES = 216,
	RECORDS = MR_CUDA_BUFFER_BYTES / RECORD_BYTES,
	NAMES = 16,
	STREAMS = 8,
};

static uint8_t *buffer;
static uint64_t written;

/* The hook calls it before anything else; here is nothing to start. */
void mr_hook_start(void);
void mr_hook_start(void)
{
}

static int next_record(uint8_t *first, size_t used, uint8_t **record)
{
	uint8_t *next = *record ? *record + RECORD_BYTES : first;
	if (next >= first + used)
		return MR_CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = next;
	return MR_CUPTI_SUCCESS;
}

static int get_time(uint64_t *ret_ns)
{
	*ret_ns = mr_ticks_now();
	return MR_CUPTI_SUCCESS;
}

static void put(uint8_t *record, uint16_t place, uint64_t value, size_t bytes)
{
	memcpy(record + place, &value, bytes);
}

static void fill_buffer(void)
{
	static char names[NAMES][64];
	for (int i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof names[i], "void at::native::elementwise_kernel<%d>(int)",
			 i);
	for (uint32_t i = 0; i < RECORDS; i++) {
		uint8_t *record = buffer + (size_t)i * RECORD_BYTES;
		put(record, 0, MR_CUPTI_KIND_CONCURRENT_KERNEL, 4);
		put(record, mr_cupti_kernel.start, 1000 + i, 8);
		put(record, mr_cupti_kernel.end, 1001 + i, 8);
		put(record, mr_cupti_kernel.context, 1, 4);
		put(record, mr_cupti_kernel.stream, 7 + i % STREAMS, 4);
		put(record, mr_cupti_kernel.correlation, 1 + i, 4);
		put(record, mr_cupti_kernel.name, (uintptr_t)names[i % NAMES], 8);
	}
}

static void run_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(mr_ticks_of_counter());
}

static void run_records(uint32_t count)
{
	for (uint32_t left = count; left > 0;) {
		uint32_t now = left < RECORDS ? left : RECORDS;
		mr_cuda_read_buffer(buffer, (size_t)now * RECORD_BYTES, false);
		left -= now;
		written += now;
	}
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock = {"clock", run_clock},
				       records = {"record", run_records};
	const struct bench_loop *const loops[] = {&clock, &clock, &records};
	mr_cuda = calloc(1, sizeof *mr_cuda);
	buffer = calloc(1, MR_CUDA_BUFFER_BYTES);
	if (argc != 3 || !mr_cuda || !buffer || !bench_arena_start(MR_LEVEL_runtime)) {
		fputs("usage: cuda_records ROUNDS BLOCK\n", stderr);
		return 2;
	}
	mr_cupti.cuptiActivityGetNextRecord = next_record;
	mr_cupti.cuptiGetTimestamp = get_time;
	mr_cuda_clock_open(NULL);
	fill_buffer();
	bench_rounds(loops, mr_countof(loops), bench_number(argv[1]), bench_number(argv[2]));
	uint64_t lost = bench_arena_end();
	printf("%.2f bytes\n", (double)bench_arena_bytes() / (double)written);
	if (lost)
		fprintf(stderr, "%llu events lost\n", (unsigned long long)lost);
	return lost != 0;
}
