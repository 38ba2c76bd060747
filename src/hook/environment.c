/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/macros.h"
#include "hook/environment.h"

static const char arena_name[] = "MILLRACE_ARENA";

/* A variable that lists libraries, in which ours has a place. */
struct list {
	const char *name;
	const char *separators; /* any of them parts items; ':' is what we write */
	bool is_ours_last;
};

/* The last layer of the list is the one the program's calls reach first. And while loaders read the
 * variable, they put a NUL behind each item: with ours at the end the program and those that inherit the
 * rest see what they would see without us. */
static const struct list lists[] = {
	{.name = "LD_PRELOAD", .separators = ": "},
	{.name = "OPENCL_LAYERS", .separators = ":", .is_ours_last = true},
};

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

static size_t count_entries(char *const *environment)
{
	size_t count = 0;
	while (environment && environment[count])
		count++;
	return count;
}

/* How many entries there may be: all old ones, one for each list, the arena, the end. */
static size_t most_entries(char *const *old)
{
	return count_entries(old) + mr_countof(lists) + 2;
}

size_t mr_environment_bytes(char *const *old, const struct mr_environment_wish *wish)
{
	size_t bytes =
		most_entries(old) * sizeof(char *) + sizeof arena_name + strlen(wish->arena) + 1;
	for (size_t i = 0; i < mr_countof(lists); i++) {
		const char *value = mr_environment_get(old, lists[i].name);
		bytes += strlen(lists[i].name) + 1 + strlen(wish->library) + 1 +
			 (value ? strlen(value) : 0) + 1;
	}
	return bytes;
}

static char *append(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

/* Adds an item to the list that begins at `value`. */
static char *append_item(char *at, const char *value, const char *item, size_t length)
{
	if (at > value)
		*at++ = ':';
	return append(at, item, length);
}

/* "LD_PRELOAD=library:others". Returns the end, or `at` itself if the list is empty. */
static char *put_list(char *at, const struct list *list, const char *old,
		      const struct mr_environment_wish *wish)
{
	char *begin = at;
	size_t library_length = strlen(wish->library);
	at = append(at, list->name, strlen(list->name));
	*at++ = '=';
	const char *value = at;
	if (wish->is_traced && !list->is_ours_last)
		at = append_item(at, value, wish->library, library_length);
	for (const char *item = old ? old : ""; *item;) {
		size_t length = strcspn(item, list->separators);
		bool is_ours = length == library_length && memcmp(item, wish->library, length) == 0;
		if (length > 0 && !is_ours)
			at = append_item(at, value, item, length);
		item += length;
		item += *item != 0;
	}
	if (wish->is_traced && list->is_ours_last)
		at = append_item(at, value, wish->library, library_length);
	*at = 0;
	return at > value ? at + 1 : begin;
}

static bool is_rebuilt(const char *entry)
{
	for (size_t i = 0; i < mr_countof(lists); i++)
		if (value_if(entry, lists[i].name))
			return true;
	return value_if(entry, arena_name) != NULL;
}

char **mr_environment_build(void *memory, char *const *old, const struct mr_environment_wish *wish)
{
	size_t count = count_entries(old);
	char **entries = memory;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!is_rebuilt(old[i]))
			entries[kept++] = old[i];
	char *text = (char *)(entries + most_entries(old));
	for (size_t i = 0; i < mr_countof(lists); i++) {
		char *end = put_list(text, &lists[i], mr_environment_get(old, lists[i].name), wish);
		if (end != text)
			entries[kept++] = text;
		text = end;
	}
	if (wish->is_traced) {
		entries[kept++] = text;
		text = append(text, arena_name, sizeof arena_name - 1);
		*text++ = '=';
		append(text, wish->arena, strlen(wish->arena) + 1);
	}
	entries[kept] = NULL;
	return entries;
}
