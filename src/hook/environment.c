/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "base/macros.h"
#include "hook/environment.h"
#include "hook/hooks.h"

enum {
	VARIABLE_PLACES = MR_HOOKS * MR_HOOK_VARIABLES,
};

static const char arena_name[] = "MILLRACE_ARENA";

/* The variables of all hooks, in one row; NULL where a hook has fewer than others might. */
static const struct mr_hook_variable *variable_at(size_t index)
{
	const struct mr_hook_variable *variable =
		&mr_hooks[index / MR_HOOK_VARIABLES].variables[index % MR_HOOK_VARIABLES];
	return variable->name ? variable : NULL;
}

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

/* How many entries there may be: all old ones, one for each variable, the arena, the end. */
static size_t most_entries(char *const *old)
{
	return count_entries(old) + (size_t)VARIABLE_PLACES + 2;
}

size_t mr_environment_bytes(char *const *old, const struct mr_environment_wish *wish)
{
	size_t bytes =
		most_entries(old) * sizeof(char *) + sizeof arena_name + strlen(wish->arena) + 1;
	for (size_t i = 0; i < (size_t)VARIABLE_PLACES; i++) {
		const struct mr_hook_variable *variable = variable_at(i);
		const char *value = variable ? mr_environment_get(old, variable->name) : NULL;
		if (variable)
			bytes += strlen(variable->name) + 1 + strlen(wish->library) + 1 +
				 (value ? strlen(value) : 0) + 1;
	}
	return bytes;
}

/* Whether the only entry of the list has our library where it should be, or has it nowhere. */
static bool list_is_as_wished(const char *value, const struct mr_hook_variable *list,
			      const struct mr_environment_wish *wish)
{
	size_t library_length = strlen(wish->library);
	size_t first = SIZE_MAX, last = SIZE_MAX, count = 0;
	for (const char *item = value ? value : ""; *item;) {
		size_t length = strcspn(item, list->separators);
		if (length == library_length && memcmp(item, wish->library, length) == 0) {
			last = count;
			first = mr_min(first, count);
		}
		count++;
		item += length;
		item += *item != 0;
	}
	if (!wish->is_traced)
		return first == SIZE_MAX;
	return first == last && first == (list->is_ours_last ? count - 1 : 0);
}

static bool path_is_as_wished(const char *value, const struct mr_environment_wish *wish)
{
	bool is_ours = value && strcmp(value, wish->library) == 0;
	return wish->is_traced ? value && *value : !is_ours;
}

static size_t count_of(char *const *environment, const char *name)
{
	size_t count = 0;
	for (; environment && *environment; environment++)
		count += value_if(*environment, name) != NULL;
	return count;
}

bool mr_environment_is_as_wished(char *const *old, const struct mr_environment_wish *wish)
{
	const char *arena = mr_environment_get(old, arena_name);
	if (count_of(old, arena_name) != wish->is_traced ||
	    (wish->is_traced && strcmp(arena, wish->arena) != 0))
		return false;
	for (size_t i = 0; i < (size_t)VARIABLE_PLACES; i++) {
		const struct mr_hook_variable *variable = variable_at(i);
		const char *value = variable ? mr_environment_get(old, variable->name) : NULL;
		if (!variable)
			continue;
		if (count_of(old, variable->name) > 1 ||
		    !(variable->separators ? list_is_as_wished(value, variable, wish)
					   : path_is_as_wished(value, wish)))
			return false;
	}
	return true;
}

static char *append(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

/* "NAME=" */
static char *append_name(char *at, const char *name)
{
	at = append(at, name, strlen(name));
	*at++ = '=';
	return at;
}

/* Adds an item to the list that begins at `value`. */
static char *append_item(char *at, const char *value, const char *item, size_t length,
			 char separator)
{
	if (at > value)
		*at++ = separator;
	return append(at, item, length);
}

/* "LD_PRELOAD=library:others". Returns the end, or `at` itself if the list is empty. */
static char *put_list(char *at, const struct mr_hook_variable *list, const char *old,
		      const struct mr_environment_wish *wish)
{
	char *begin = at;
	char separator = list->separators[0];
	size_t library_length = strlen(wish->library);
	at = append_name(at, list->name);
	const char *value = at;
	if (wish->is_traced && !list->is_ours_last)
		at = append_item(at, value, wish->library, library_length, separator);
	for (const char *item = old ? old : ""; *item;) {
		size_t length = strcspn(item, list->separators);
		bool is_ours = length == library_length && memcmp(item, wish->library, length) == 0;
		if (length > 0 && !is_ours)
			at = append_item(at, value, item, length, separator);
		item += length;
		item += *item != 0;
	}
	if (wish->is_traced && list->is_ours_last)
		at = append_item(at, value, wish->library, library_length, separator);
	*at = 0;
	return at > value ? at + 1 : begin;
}

/* "CUDA_INJECTION64_PATH=library". Another's path stays. */
static char *put_path(char *at, const struct mr_hook_variable *path, const char *old,
		      const struct mr_environment_wish *wish)
{
	bool is_ours = old && strcmp(old, wish->library) == 0;
	bool is_free = !old || !*old || is_ours;
	const char *value = wish->is_traced && is_free ? wish->library : old;
	if (!value || (!wish->is_traced && is_ours))
		return at;
	at = append_name(at, path->name);
	return append(at, value, strlen(value) + 1);
}

static bool is_rebuilt(const char *entry)
{
	for (size_t i = 0; i < (size_t)VARIABLE_PLACES; i++) {
		const struct mr_hook_variable *variable = variable_at(i);
		if (variable && value_if(entry, variable->name))
			return true;
	}
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
	for (size_t i = 0; i < (size_t)VARIABLE_PLACES; i++) {
		const struct mr_hook_variable *variable = variable_at(i);
		if (!variable)
			continue;
		const char *value = mr_environment_get(old, variable->name);
		char *end = variable->separators ? put_list(text, variable, value, wish)
						 : put_path(text, variable, value, wish);
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
