/* SPDX-License-Identifier: Apache-2.0 */
#include "load/passes.h"

const struct mr_pass *mr_passes_find_misplaced(const struct mr_pass *passes, uint32_t count)
{
	uint32_t given = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (passes[i].needs & ~given)
			return &passes[i];
		given |= passes[i].gives;
	}
	return NULL;
}

int mr_passes_run(struct mr_loader *loader, const struct mr_pass *passes, uint32_t count)
{
	int result = mr_passes_find_misplaced(passes, count) ? -EINVAL : 0;

	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = passes[i].run(loader);
	return result;
}
