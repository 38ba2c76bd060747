/* SPDX-License-Identifier: Apache-2.0 */
#include "import/faults.h"

#include <string.h>

int mr_import_faults_add(struct mr_import_faults *faults, const char *reason, uint64_t offset,
			 uint64_t bytes)
{
	for (size_t i = 0; i < faults->list.count; i++) {
		struct mr_import_fault *fault = &faults->list.items[i];

		if (strcmp(fault->reason, reason) == 0) {
			fault->bytes += bytes;
			fault->count++;
			return 0;
		}
	}
	return mr_vec_push(&faults->list, ((struct mr_import_fault){reason, offset, bytes, 1}));
}

void mr_import_faults_free(struct mr_import_faults *faults)
{
	mr_vec_free(&faults->list);
}
