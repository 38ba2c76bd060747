/* SPDX-License-Identifier: Apache-2.0
 *
 * A tools library of the program's own: it replaces an entry of HSA's table, and says what it has seen.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	VERSION_WORDS = 2,
	AGENT_GET_INFO = 6, /* place in the table */
};

typedef uint32_t get_info(uint64_t agent, uint32_t what, void *answer);

static get_info *next;
static unsigned int calls;

static uint32_t count_and_get_info(uint64_t agent, uint32_t what, void *answer)
{
	calls++;
	return next(agent, what, answer);
}

__attribute__((visibility("default"))) bool
OnLoad(uint64_t **root, uint64_t version, uint64_t failed_count, const char *const *failed);
__attribute__((visibility("default"))) void OnUnload(void);

bool OnLoad(uint64_t **root, uint64_t version, uint64_t failed_count, const char *const *failed)
{
	(void)version;
	(void)failed;
	get_info **place = (get_info **)&root[VERSION_WORDS][VERSION_WORDS + AGENT_GET_INFO];
	next = *place;
	*place = count_and_get_info;
	printf("tool: loaded, %u failed\n", (unsigned int)failed_count);
	return true;
}

void OnUnload(void)
{
	printf("tool: %s\n", calls > 0 ? "has seen calls" : "has seen nothing");
}
