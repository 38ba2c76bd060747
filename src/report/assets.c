/* SPDX-License-Identifier: Apache-2.0 */
#include "report/assets.h"

#include <string.h>

const struct mr_asset *mr_asset_find(const char *path)
{
	for (size_t i = 0; i < mr_asset_count; i++)
		if (strcmp(mr_assets[i].path, path) == 0)
			return &mr_assets[i];
	return NULL;
}
