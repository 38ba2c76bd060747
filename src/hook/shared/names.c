/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/shared/names.h"

enum {
	NAMES_MAX = 1 << 16, /* different ones; further ones are not recorded */
};

static _Atomic uint32_t name_count;

uint32_t mr_name_of(const char *name)
{
	size_t bytes = mr_text_length(name, MR_NAME_BYTES);
	uint32_t id = mr_find_text(name, bytes);
	if (mr_likely(id != 0))
		return id;
	if (atomic_fetch_add_explicit(&name_count, 1, memory_order_relaxed) >= NAMES_MAX)
		return 0;
	return mr_define_text(name, bytes);
}
