/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/problem/file_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/cause/waiting.h"

static const struct {
	const char *name;
	enum mr_file_call kind;
} calls[] = {
	{"read", MR_FILE_CALL_READS},        {"pread64", MR_FILE_CALL_READS},
	{"readv", MR_FILE_CALL_READS},       {"preadv", MR_FILE_CALL_READS},
	{"preadv2", MR_FILE_CALL_READS},     {"write", MR_FILE_CALL_WRITES},
	{"pwrite64", MR_FILE_CALL_WRITES},   {"writev", MR_FILE_CALL_WRITES},
	{"pwritev", MR_FILE_CALL_WRITES},    {"pwritev2", MR_FILE_CALL_WRITES},
	{"fsync", MR_FILE_CALL_WRITES},      {"fdatasync", MR_FILE_CALL_WRITES},
	{"msync", MR_FILE_CALL_WRITES},      {"sync_file_range", MR_FILE_CALL_WRITES},
	{"ftruncate", MR_FILE_CALL_WRITES},  {"fallocate", MR_FILE_CALL_WRITES},
	{"syncfs", MR_FILE_CALL_CHANGES},    {"sync", MR_FILE_CALL_CHANGES},
	{"unlink", MR_FILE_CALL_CHANGES},    {"unlinkat", MR_FILE_CALL_CHANGES},
	{"rename", MR_FILE_CALL_CHANGES},    {"renameat", MR_FILE_CALL_CHANGES},
	{"renameat2", MR_FILE_CALL_CHANGES},
};

uint8_t *mr_file_calls_make(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint8_t *kinds = calloc(definitions->system_calls.count + 1, sizeof *kinds);

	for (size_t number = 0; kinds && number < definitions->system_calls.count; number++) {
		const char *name = mr_model_text(model, definitions->system_calls.items[number]);

		for (size_t i = 0; i < mr_countof(calls); i++)
			if (strcmp(name, calls[i].name) == 0)
				kinds[number] = (uint8_t)calls[i].kind;
	}
	return kinds;
}

/* Devices, and what the kernel says about itself: no data of the program. */
static bool is_made_by_kernel(const char *path)
{
	static const char *const folders[] = {"/dev/", "/proc/", "/sys/"};

	for (size_t i = 0; i < mr_countof(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

enum mr_file_call mr_station_file_call(const struct mr_model *model, const uint8_t *file_calls,
				       const struct mr_station *station)
{
	uint32_t row = station->system_call;

	if (row == MR_NO_ROW ||
	    model->system_calls.number[row] >= model->survey->definitions.system_calls.count)
		return MR_FILE_CALL_NONE;
	enum mr_file_call kind = file_calls[model->system_calls.number[row]];
	if (kind == MR_FILE_CALL_NONE)
		return kind;
	const char *path = mr_file_path(model, model->system_calls.file[row]);
	bool is_file =
		*path == '/' ? !is_made_by_kernel(path) : kind == MR_FILE_CALL_CHANGES && !*path;
	return is_file ? kind : MR_FILE_CALL_NONE;
}
