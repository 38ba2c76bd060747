/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory_capacity.h"

#include <stdlib.h>

uint64_t mr_device_capacity(const struct mr_model *model, uint32_t device)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_device *devices = definitions->devices.items;

	if (device == 0 || devices[device].memory_bytes)
		return devices[device].memory_bytes;
	for (uint32_t i = 1; i < definitions->devices.count; i++)
		if (devices[i].same == devices[device].same && devices[i].memory_bytes)
			return devices[i].memory_bytes;
	return 0;
}

/* Rows before the part say what was live when it began: of events at the same time the first row came first. */
static void begin(const struct mr_model *model, struct mr_memory_peak *peaks)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_memory *memory = &whole->memory;
	int64_t first_ns = mr_model_window(model).first_ns;

	for (uint32_t i = 0; i < mr_memory_account_count(model); i++)
		peaks[i] = (struct mr_memory_peak){.ns = MR_NO_TIME};
	for (uint32_t row = 0; model->whole && row < memory->table.count; row++) {
		struct mr_memory_peak *peak = &peaks[mr_memory_account_of(whole, row)];

		if (memory->start_ns[row] < first_ns && memory->start_ns[row] >= peak->ns)
			*peak = (struct mr_memory_peak){memory->live_bytes[row],
							memory->start_ns[row]};
	}
	for (uint32_t i = 0; i < mr_memory_account_count(model); i++)
		if (peaks[i].ns != MR_NO_TIME)
			peaks[i].ns = first_ns;
}

void mr_memory_peaks_find(const struct mr_model *model, struct mr_memory_peak *peaks)
{
	const struct mr_memory *memory = &model->memory;

	begin(model, peaks);
	for (uint32_t row = 0; row < memory->table.count; row++) {
		struct mr_memory_peak *peak = &peaks[mr_memory_account_of(model, row)];
		uint64_t bytes = memory->live_bytes[row];

		if (bytes > peak->bytes || peak->ns == MR_NO_TIME ||
		    (bytes == peak->bytes && memory->start_ns[row] < peak->ns))
			*peak = (struct mr_memory_peak){bytes, memory->start_ns[row]};
	}
}

bool *mr_find_allocators(const struct mr_model *model)
{
	const struct mr_memory *memory = &model->memory;
	bool *is_allocator = calloc(mr_strings_count(&model->survey->definitions.strings) + 1,
				    sizeof *is_allocator);

	for (uint32_t row = 0; is_allocator && row < memory->table.count; row++)
		if (memory->teller[row] == MR_MEMORY_RUNTIME && !memory->is_free[row] &&
		    memory->allocator[row])
			is_allocator[memory->allocator[row]] = true;
	return is_allocator;
}
