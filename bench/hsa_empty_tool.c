/* SPDX-License-Identifier: Apache-2.0
 *
 * A tools library of HSA that only passes a call on, as millrace's does, to measure what any costs.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
	VERSION_WORDS = 2,
	SYSTEM_GET_INFO = 2, /* place in the table */
};

#define PARAMETERS                                                                                 \
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, \
		uint64_t a7, uint64_t a8, uint64_t a9

typedef uint64_t hsa_function(PARAMETERS);

static hsa_function *next;

static uint64_t pass_on(PARAMETERS)
{
	return next(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9);
}

bool OnLoad(uint64_t **root);
void OnUnload(void);

bool OnLoad(uint64_t **root)
{
	hsa_function **place =
		(hsa_function **)&root[VERSION_WORDS][VERSION_WORDS + SYSTEM_GET_INFO];
	next = *place;
	*place = pass_on;
	return true;
}

void OnUnload(void)
{
}
