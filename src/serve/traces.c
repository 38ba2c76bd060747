/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/traces.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

int mr_traces_open(struct mr_traces *traces, const char *path)
{
	if (traces->count == MR_TRACES_MAX)
		return mr_fail(ENOSPC, "%s: %d traces are open already", path, MR_TRACES_MAX);
	int result = mr_loading_start(path, &traces->items[traces->count]);

	if (result == 0)
		traces->count++;
	return result;
}

void mr_traces_free(struct mr_traces *traces)
{
	while (traces->count > 0)
		mr_loading_free(traces->items[--traces->count]);
}

int mr_traces_wait(struct mr_traces *traces, int patience_ms)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < traces->count; i++)
		result = mr_loading_wait(traces->items[i], patience_ms);
	return result;
}

struct mr_loading *mr_traces_find(const struct mr_traces *traces, const char *path,
				  const char **ret_name)
{
	char prefix[32];

	for (uint32_t i = 0; i < traces->count; i++) {
		size_t length = (size_t)snprintf(prefix, sizeof prefix, "traces/%u/", i);

		if (strncmp(path, prefix, length) == 0) {
			*ret_name = path + length;
			return traces->items[i];
		}
	}
	return NULL;
}
