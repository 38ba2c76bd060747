/* SPDX-License-Identifier: Apache-2.0
 *
 * Where NVTX and we meet. Every library with NVTX inside calls InitializeInjectionNvtx2() for itself, with its own tables.
 * InitializeInjectionNvtxExtension() is not exported on purpose: NVTX would take a tool that has it for one that decodes
 * structured payloads.
 */
#include "hook/hook.h"
#include "hook/nvtx/nvtx.h"
#include "record/recorder.h"

static void fill(const struct mr_nvtx_callbacks *callbacks, const struct mr_nvtx_row *rows)
{
	for (const struct mr_nvtx_row *row = rows; row->module; row++) {
		mr_nvtx_function ***table = NULL;
		unsigned int count = 0;
		if (callbacks->get_table(row->module, &table, &count) && table &&
		    row->place < count && table[row->place])
			*table[row->place] = row->function;
	}
}

/* As NVTX knows it. False: this library is not annotated; it does nothing then. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(mr_nvtx_get_table *get);

int InitializeInjectionNvtx2(mr_nvtx_get_table *get)
{
	mr_hook_start();
	const struct mr_nvtx_callbacks *callbacks = get ? get(MR_NVTX_TABLE_CALLBACKS) : NULL;
	if (!mr_arena || !(mr_arena->control->wanted_levels & MR_LEVEL_dataflow) || !callbacks ||
	    callbacks->bytes < sizeof *callbacks || !callbacks->get_table)
		return 0;
	fill(callbacks, mr_nvtx_range_rows);
	fill(callbacks, mr_nvtx_name_rows);
	return 1;
}

const struct mr_hook_functions mr_nvtx_functions = {0};
