/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes loading: an input is packets. Whatever they hold, every reference of a column leads to something that is there,
 * rows are in order, and nested ones sum up. Seeds: tests/corpus/fuzz_model.
 */
#include "packets_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many there are of what the column refers to; UINT64_MAX: it refers to nothing. */
static uint64_t limit_of(const struct mr_model *model, const struct mr_column_desc *column)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	switch (column->meaning) {
	case MR_MEANS_string:
		return mr_strings_count(&definitions->strings);
	case MR_MEANS_graph:
		return definitions->graphs.count;
	case MR_MEANS_node:
		return definitions->nodes.count;
	case MR_MEANS_device:
		return definitions->devices.count;
	case MR_MEANS_queue:
		return definitions->queues.count;
	case MR_MEANS_file:
		return definitions->files.count;
	case MR_MEANS_track:
		return model->survey->tracks.count;
	case MR_MEANS_process:
		return model->survey->processes.count;
	default:
		return UINT64_MAX;
	}
}

static void check_column(const struct mr_model *model, struct mr_table *table, uint32_t number)
{
	const struct mr_column_desc *column = &table->desc->columns[number];
	uint64_t limit = limit_of(model, column);
	const uint32_t *values = mr_table_columns(table)[number];

	if (limit == UINT64_MAX || column->bytes != sizeof *values)
		return;
	for (uint32_t row = 0; row < table->count; row++)
		require(values[row] < limit ||
			(column->meaning == MR_MEANS_track && values[row] == MR_NO_TRACK));
}

static void check_table(const struct mr_model *model, struct mr_table *table)
{
	const int64_t *start_ns = mr_table_columns(table)[1];

	for (uint32_t i = 0; i < table->desc->column_count; i++)
		check_column(model, table, i);
	require(table->first_of_track[model->survey->tracks.count] == table->count);
	for (size_t track = 0; track < model->survey->tracks.count; track++)
		for (uint32_t row = table->first_of_track[track] + 1;
		     row < table->first_of_track[track + 1]; row++)
			require(start_ns[row - 1] <= start_ns[row]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mr_auto(model) struct mr_model *model = model_of_packets(data, size);

	if (!model)
		return 0;
#define CHECK(name) check_table(model, &model->name.table);
	MR_TABLES(CHECK)
#undef CHECK
	return 0;
}
