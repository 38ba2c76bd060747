/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_records.h"

#include <stdlib.h>
#include <string.h>

enum {
	RECORDS_MAX = 4096,
};

/* How long each record of the last buffer is, as CUPTI knows it by kind and version. */
static uint16_t lengths[RECORDS_MAX];
static uint32_t record_count, current;

/* The hook calls it before anything else; here is nothing to start. */
void mr_hook_start(void);
void mr_hook_start(void)
{
}

static int next_record(uint8_t *buffer, size_t used, uint8_t **record)
{
	uint8_t *next = buffer;

	if (!*record)
		current = 0;
	else if (lengths[current] == 0)
		return 21; /* CUPTI_ERROR_INVALID_KIND */
	else
		next = *record + lengths[current++];
	if (next >= buffer + used || current >= record_count)
		return MR_CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = next;
	return MR_CUPTI_SUCCESS;
}

static int get_time(uint64_t *ret_ns)
{
	*ret_ns = mr_ticks_now();
	return MR_CUPTI_SUCCESS;
}

void cupti_records_start(void)
{
	mr_cuda = calloc(1, sizeof *mr_cuda);
	mr_cupti.cuptiActivityGetNextRecord = next_record;
	mr_cupti.cuptiGetTimestamp = get_time;
	if (mr_cuda)
		mr_cuda_clock_open(NULL);
}

void cupti_records_read(uint8_t *buffer, size_t bytes)
{
	mr_cuda_read_buffer(buffer, bytes, false);
}

size_t cupti_records_make(const uint8_t *input, size_t input_bytes, uint8_t *buffer, size_t bytes)
{
	static const char *const names[] = {NULL, "", "add", "void f<int>(float *)"};
	size_t used = 0;

	record_count = 0;
	while (input_bytes >= 2 && record_count < RECORDS_MAX) {
		uint32_t kind = input[0];
		uint16_t length = (uint16_t)(8 * input[1]);
		/* No version of CUPTI has shorter ones, in which the name would be what comes next. */
		if (kind == MR_CUPTI_KIND_CONCURRENT_KERNEL && length > 0 &&
		    length < mr_cupti_kernel.length)
			length = mr_cupti_kernel.length;
		size_t given = input_bytes - 2 < length ? input_bytes - 2 : length;

		if (used + length > bytes || used + sizeof kind > bytes)
			break;
		memset(buffer + used, 0, length);
		memcpy(buffer + used, input + 2, given);
		if (length >= mr_cupti_kernel.length)
			memcpy(buffer + used + mr_cupti_kernel.name,
			       &names[given ? input[2] % 4 : 0], sizeof names[0]);
		memcpy(buffer + used, &kind, sizeof kind);
		lengths[record_count++] = length;
		used += length;
		input += 2 + given;
		input_bytes -= 2 + given;
		if (length == 0) { /* nobody can step over it */
			used += sizeof kind;
			break;
		}
	}
	return used;
}
