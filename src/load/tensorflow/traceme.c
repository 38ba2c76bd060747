/* SPDX-License-Identifier: Apache-2.0 */
#include "load/tensorflow/traceme.h"

#include <ctype.h>
#include <string.h>

#include "model/column.h"

static struct mr_slice slice_to(const char *from, const char *to)
{
	return (struct mr_slice){from, (size_t)(to - from)};
}

static const char *metadata_of(const char *text)
{
	const char *mark = strchr(text, '#');
	return mark ? mark : text + strlen(text);
}

/* Where the value of KEY begins, or NULL. Values hold commas too: only ",key=" begins one. */
static const char *find_value(const char *text, const char *key)
{
	size_t length = strlen(key);
	for (const char *at = metadata_of(text); *at; at++)
		if ((*at == '#' || *at == ',') && strncmp(at + 1, key, length) == 0 &&
		    at[1 + length] == '=')
			return at + 1 + length + 1;
	return NULL;
}

/* A value ends where another key or the metadata does. */
static const char *end_of_value(const char *at)
{
	for (; *at && *at != '#'; at++) {
		const char *key = at + 1;
		if (*at != ',')
			continue;
		while (isalnum((unsigned char)*key) || *key == '_')
			key++;
		if (key > at + 1 && *key == '=')
			return at;
	}
	return at;
}

struct mr_slice mr_traceme_value(const char *text, const char *key)
{
	const char *value = find_value(text, key);
	return value ? slice_to(value, end_of_value(value)) : (struct mr_slice){"", 0};
}

static bool read_number(struct mr_slice slice, uint64_t *ret_number)
{
	bool is_negative = slice.length > 0 && slice.at[0] == '-';
	uint64_t number = 0;
	for (size_t i = is_negative; i < slice.length; i++)
		if (!isdigit((unsigned char)slice.at[i]) ||
		    __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(slice.at[i] - '0'), &number))
			return false;
	if (slice.length == is_negative || (is_negative && number > (uint64_t)INT64_MAX + 1))
		return false;
	*ret_number = is_negative ? -number : number;
	return true;
}

uint64_t mr_slice_number(struct mr_slice slice)
{
	uint64_t number = 0;
	return read_number(slice, &number) ? number : 0;
}

/* The place among the event's numbers of the value that begins at `value`. */
static uint8_t place_in_event(const char *text, const char *value)
{
	size_t before = 0;
	for (const char *at = metadata_of(text); at < value - 1; at++)
		before += at[0] == '=' && at[1] == '%';
	return before < MR_TRACEME_NUMBERS ? (uint8_t)before : MR_TRACEME_NONE;
}

/* A number that stands in the text gets the next place, after those that may be the event's: the text may be one that
 * was written as it is, and have '%' of its own. */
static uint8_t place_in_text(const char *text, const char *value, struct mr_traceme_parts *parts)
{
	struct mr_slice slice = slice_to(value, end_of_value(value));
	uint64_t number;
	uint8_t place = place_in_event(text, text + strlen(text));
	if (!read_number(slice, &number) || !slice.at[slice.length])
		return MR_TRACEME_NONE;
	while (place < MR_TRACEME_NUMBERS && parts->numbers[place].length > 0)
		place++;
	if (place >= MR_TRACEME_NUMBERS)
		return MR_TRACEME_NONE;
	parts->numbers[place] = slice;
	return place;
}

static uint8_t place_of(const char *text, const char *key, struct mr_traceme_parts *parts)
{
	const char *value = find_value(text, key);
	if (!value)
		return MR_TRACEME_NONE;
	return *value == '%' ? place_in_event(text, value) : place_in_text(text, value, parts);
}

static uint8_t first_place(const char *text, const char *const keys[],
			   struct mr_traceme_parts *parts)
{
	uint8_t place = MR_TRACEME_NONE;
	for (; *keys && place == MR_TRACEME_NONE; keys++)
		place = place_of(text, *keys, parts);
	return place;
}

/* The colon between node and type, or NULL: "Iterator::Root" and "EagerLocalExecute: MatMul" have none. */
static const char *find_type(const char *text, const char *end)
{
	const char *colon = memrchr(text, ':', (size_t)(end - text));
	if (!colon || colon == text || colon[-1] == ':')
		return NULL;
	const char *type = colon + 1;
	if (!isupper((unsigned char)*type) && *type != '_')
		return NULL;
	for (const char *at = type; at < end; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && *at != '>')
			return NULL;
	return memchr(text, ' ', (size_t)(colon - text)) ? NULL : colon;
}

static bool ends_with(struct mr_slice slice, const char *ending)
{
	size_t length = strlen(ending);
	return slice.length >= length &&
	       memcmp(slice.at + slice.length - length, ending, length) == 0;
}

static void read_operation(const char *text, const char *colon, const char *end,
			   struct mr_traceme *meaning, struct mr_traceme_parts *parts)
{
	meaning->kind = MR_TRACEME_OPERATION;
	parts->name = slice_to(text, colon);
	parts->type = slice_to(colon + 1, end);
	parts->detail = mr_traceme_value(text, "shape");
	meaning->is_receive = ends_with(parts->type, "Recv");
	if (meaning->is_receive || ends_with(parts->type, "Send"))
		parts->channel = mr_traceme_value(text, "key");
}

/* "Iterator::Root", and "ReduceIterator::Root" of a loop inside a function. MakeIterator has no id. */
static bool is_iterator(const char *text)
{
	static const char mark[] = "Iterator::";
	const char *colon = strchr(text, ':');
	size_t before = strlen("Iterator");

	return colon && (size_t)(colon - text) >= before &&
	       strncmp(colon - before, mark, strlen(mark)) == 0 && find_value(text, "id");
}

size_t mr_traceme_path(struct mr_slice name, char *buffer)
{
	const char *at = memchr(name.at, ':', name.length);
	const char *end = name.at + name.length;
	size_t length = 0;

	for (at = at ? at + 2 : end; at < end; at++) {
		const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;

		if (close)
			at = close;
		else
			buffer[length++] = *at;
	}
	return length;
}

/* Of the whole pipeline the root tells whether the framework tunes it. */
static uint8_t read_autotuning(const char *text)
{
	struct mr_slice value = mr_traceme_value(text, "autotune");

	if (value.length == 0)
		return find_value(text, "algorithm") ? 1 : MR_NO_TRUTH;
	return mr_slice_is(value, "true");
}

static void read_iterator(const char *text, struct mr_traceme *meaning,
			  struct mr_traceme_parts *parts)
{
	meaning->is_iterator = true;
	meaning->key = place_of(text, "id", parts);
	meaning->parent_key = place_of(text, "parent_id", parts);
	meaning->buffered = place_of(text, "buffered_elements", parts);
	meaning->buffer_limit = place_of(text, "buffer_limit", parts);
	meaning->parallelism = place_of(text, "parallelism", parts);
	meaning->is_autotuned = read_autotuning(text);
}

static void read_scope(const char *text, const char *end, struct mr_traceme *meaning,
		       struct mr_traceme_parts *parts)
{
	static const char *const runs[] = {"id", "step_id", NULL};
	static const char *const keys[] = {"_p", "_c", "element_id", NULL};

	meaning->step = place_of(text, "step_num", parts);
	meaning->kind = meaning->step == MR_TRACEME_NONE ? MR_TRACEME_SCOPE : MR_TRACEME_STEP;
	if (is_iterator(text)) {
		read_iterator(text, meaning, parts);
	} else {
		meaning->run = first_place(text, runs, parts);
		meaning->key = first_place(text, keys, parts);
	}
	parts->name = slice_to(text, end);
	parts->detail = *end ? slice_to(end + 1, text + strlen(text)) : (struct mr_slice){"", 0};
	if (ends_with(parts->detail, "#"))
		parts->detail.length--;
}

void mr_traceme_read(const char *text, struct mr_traceme *ret_meaning,
		     struct mr_traceme_parts *ret_parts)
{
	const char *end = metadata_of(text);
	const char *colon = find_type(text, end);

	*ret_meaning = (struct mr_traceme){.run = MR_TRACEME_NONE,
					   .key = MR_TRACEME_NONE,
					   .parent_key = MR_TRACEME_NONE,
					   .step = MR_TRACEME_NONE,
					   .parallelism = MR_TRACEME_NONE,
					   .buffer_limit = MR_TRACEME_NONE,
					   .buffered = MR_TRACEME_NONE,
					   .is_autotuned = MR_NO_TRUTH};
	*ret_parts = (struct mr_traceme_parts){
		.name = {"", 0}, .type = {"", 0}, .detail = {"", 0}, .channel = {"", 0}};
	if (colon)
		read_operation(text, colon, end, ret_meaning, ret_parts);
	else
		read_scope(text, end, ret_meaning, ret_parts);
}
