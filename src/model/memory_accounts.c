/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_accounts.h"

enum {
	TELLERS = 2
};

/* Each process has the host, and devices of its own: the same device has another number in another process. */
uint32_t mr_memory_account_count(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;

	return (uint32_t)(survey->processes.count + survey->definitions.devices.count) * TELLERS;
}

static uint32_t process_of(const struct mr_model *model, uint32_t row)
{
	return model->survey->tracks.items[model->memory.track[row]].process;
}

uint32_t mr_memory_account_of(const struct mr_model *model, uint32_t row)
{
	uint32_t device = model->memory.device[row];
	uint32_t holder =
		device ? (uint32_t)model->survey->processes.count + device : process_of(model, row);

	return holder * TELLERS + model->memory.teller[row];
}

struct mr_memory_account mr_memory_account(const struct mr_model *model, uint32_t number)
{
	uint32_t holder = number / TELLERS, teller = number % TELLERS;
	uint32_t processes = (uint32_t)model->survey->processes.count;

	if (holder < processes)
		return (struct mr_memory_account){holder, 0, teller};
	uint32_t device = holder - processes;
	return (struct mr_memory_account){model->survey->definitions.devices.items[device].process,
					  device, teller};
}

struct mr_memory_key mr_memory_key(const struct mr_model *model, uint32_t row, uint64_t address)
{
	const struct mr_memory *memory = &model->memory;
	bool is_runtime = memory->teller[row] == MR_MEMORY_RUNTIME;

	return (struct mr_memory_key){
		.address = address,
		.process = process_of(model, row),
		.teller = memory->teller[row],
		.device = is_runtime ? 0 : memory->device[row],
		.allocator = is_runtime ? 0 : memory->allocator[row],
	};
}
