/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "hook/environment.h"

static const char preload_name[] = "LD_PRELOAD";
static const char arena_name[] = "MILLRACE_ARENA";
static const char separators[] = ": "; /* both part the items of LD_PRELOAD */

static const char *value_if(const char *entry, const char *name)
{
	size_t length = strlen(name);
	return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1
									 : NULL;
}

const char *mr_environment_get(char *const *environment, const char *name)
{
	const char *found = NULL;
	for (; environment && *environment; environment++) {
		const char *value = value_if(*environment, name);
		if (value)
			found = value;
	}
	return found;
}

size_t mr_environment_bytes(char *const *old, const struct mr_environment_wish *wish)
{
	size_t count = 0;
	while (old && old[count])
		count++;
	const char *preload = mr_environment_get(old, preload_name);
	size_t preload_bytes = preload ? strlen(preload) : 0;
	return (count + 3) * sizeof(char *) + sizeof preload_name + strlen(wish->library) + 2 +
	       preload_bytes + sizeof arena_name + strlen(wish->arena) + 1;
}

static char *append(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

/* "LD_PRELOAD=library:others". Returns the end, or `at` itself if nothing is to be preloaded. */
static char *put_preload(char *at, const char *old, const struct mr_environment_wish *wish)
{
	char *begin = at;
	size_t library_length = strlen(wish->library);
	at = append(at, preload_name, sizeof preload_name - 1);
	char *value = at;
	*at++ = '=';
	if (wish->is_traced)
		at = append(at, wish->library, library_length);
	for (const char *item = old ? old : ""; *item;) {
		size_t length = strcspn(item, separators);
		bool is_ours = length == library_length && memcmp(item, wish->library, length) == 0;
		if (length > 0 && !is_ours) {
			if (at > value + 1)
				*at++ = ':';
			at = append(at, item, length);
		}
		item += length;
		item += *item != 0;
	}
	*at = 0;
	return at > value + 1 ? at + 1 : begin;
}

char **mr_environment_build(void *memory, char *const *old, const struct mr_environment_wish *wish)
{
	size_t count = 0;
	while (old && old[count])
		count++;
	char **entries = memory;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!value_if(old[i], preload_name) && !value_if(old[i], arena_name))
			entries[kept++] = old[i];
	char *text = (char *)(entries + count + 3);
	char *end = put_preload(text, mr_environment_get(old, preload_name), wish);
	if (end != text)
		entries[kept++] = text;
	if (wish->is_traced) {
		entries[kept++] = end;
		end = append(end, arena_name, sizeof arena_name - 1);
		*end++ = '=';
		append(end, wish->arena, strlen(wish->arena) + 1);
	}
	entries[kept] = NULL;
	return entries;
}
