/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome.h"

#include <errno.h>

#include "base/error.h"

_Static_assert((int)MR_SOURCE_PADDING >= (int)MR_SCAN_PADDING,
	       "a walk may begin anywhere in the window");

/* ---- one event ------------------------------------------------------------------------------------ */

/* Where the member of that name belongs; NULL if nobody wants it. */
static struct mr_json_value *place_of(struct mr_chrome_event *event,
				      const struct mr_json_value *key)
{
	switch (key->length) {
	case 2:
		return mr_json_is(key, "ts")   ? &event->time
		       : mr_json_is(key, "id") ? &event->id
					       : NULL;
	case 3:
		return mr_json_is(key, "cat")   ? &event->category
		       : mr_json_is(key, "pid") ? &event->pid
		       : mr_json_is(key, "tid") ? &event->tid
		       : mr_json_is(key, "dur") ? &event->duration
						: NULL;
	case 4:
		return mr_json_is(key, "name")   ? &event->name
		       : mr_json_is(key, "args") ? &event->args
						 : NULL;
	}
	return NULL;
}

static enum mr_scan_result scan_event(struct mr_scan *scan, struct mr_chrome_event *event)
{
	enum mr_scan_result result = mr_scan_enter(scan, '{');
	struct mr_json_value key, value;
	bool is_first = true;

	if (result != MR_SCAN_OK)
		return result;
	while ((result = mr_scan_member(scan, &is_first, &key, &value)) == MR_SCAN_OK) {
		struct mr_json_value *place = place_of(event, &key);

		if (place)
			*place = value;
		else if (mr_json_is(&key, "ph"))
			event->phase =
				value.kind == MR_JSON_STRING && value.length == 1 ? *value.text : 0;
	}
	return result == MR_SCAN_LAST ? MR_SCAN_OK : result;
}

/* ---- the list of events --------------------------------------------------------------------------- */

/* The rest of the text is lost. */
static int give_up(struct mr_source *source, struct mr_chrome_reader *reader,
		   enum mr_scan_result result)
{
	uint64_t offset = source->offset;
	const char *reason = result == MR_SCAN_BAD ? "not JSON from here on"
			     : source->problem     ? source->problem
						   : "the file ends too early";

	return reader->add_fault(reader, reason, offset, mr_source_drain(source));
}

/* An element that is no object is passed over. */
static enum mr_scan_result scan_element(struct mr_source *source, struct mr_scan *scan,
					struct mr_chrome_event *event, bool *ret_is_event)
{
	struct mr_json_value other;

	*ret_is_event = mr_scan_peek(scan) == '{';
	*event = (struct mr_chrome_event){
		.category = MR_JSON_NOTHING,
		.name = MR_JSON_NOTHING,
		.pid = MR_JSON_NOTHING,
		.tid = MR_JSON_NOTHING,
		.time = MR_JSON_NOTHING,
		.duration = MR_JSON_NOTHING,
		.id = MR_JSON_NOTHING,
		.args = MR_JSON_NOTHING,
		.offset = source->offset + (uint64_t)(scan->at - source->at),
	};
	const char *first = scan->at;
	enum mr_scan_result result =
		*ret_is_event ? scan_event(scan, event) : mr_scan_value(scan, &other);
	event->bytes = (uint64_t)(scan->at - first);
	return result;
}

/* Passes blanks, however many; the first byte of what follows, 0 at the end. */
static char pass_blanks(struct mr_source *source)
{
	struct mr_scan scan;
	char byte;

	do {
		scan = (struct mr_scan){source->at, source->end};
		byte = mr_scan_peek(&scan);
		mr_source_advance(source, scan.at);
	} while (!byte && source->at == source->end && mr_source_more(source));
	return byte;
}

/* One comma and one event. Nothing is done with before it is there as a whole. */
static enum mr_scan_result read_event(struct mr_source *source, bool *is_first,
				      struct mr_chrome_event *event, bool *ret_is_event)
{
	for (;;) {
		pass_blanks(source);
		struct mr_scan scan = {source->at, source->end};
		bool was_first = *is_first;
		enum mr_scan_result result = mr_scan_element(&scan, &was_first);

		if (result == MR_SCAN_OK)
			result = scan_element(source, &scan, event, ret_is_event);
		if (result == MR_SCAN_MORE && mr_source_more(source))
			continue;
		if (result == MR_SCAN_OK || result == MR_SCAN_LAST) {
			*is_first = false;
			mr_source_advance(source, scan.at);
		}
		return result;
	}
}

/* 0 when the list was closed, 1 when the text was given up. */
static int read_events(struct mr_source *source, struct mr_chrome_reader *reader)
{
	struct mr_chrome_event event;
	enum mr_scan_result found;
	bool is_first = true, is_event = false;
	int result = 0;

	while ((found = read_event(source, &is_first, &event, &is_event)) == MR_SCAN_OK) {
		if (is_event)
			result = reader->add_event(reader, &event);
		else
			result = reader->add_fault(reader, "not an event: not a JSON object",
						   event.offset, event.bytes);
		if (result < 0)
			return result;
	}
	if (found == MR_SCAN_LAST)
		return 0;
	result = give_up(source, reader, found);
	return result < 0 ? result : 1;
}

/* ---- around it ------------------------------------------------------------------------------------ */

struct member {
	struct mr_json_value key;
	struct mr_json_value value;
	bool is_events; /* its value is not read yet */
};

static enum mr_scan_result read_member(struct mr_source *source, bool *is_first,
				       struct member *member)
{
	for (;;) {
		struct mr_scan scan = {source->at, source->end};
		bool was_first = *is_first;
		enum mr_scan_result result = mr_scan_key(&scan, &was_first, &member->key);

		member->is_events = result == MR_SCAN_OK && mr_json_is(&member->key, "traceEvents");
		if (member->is_events)
			result = mr_scan_enter(&scan, '[');
		else if (result == MR_SCAN_OK)
			result = mr_scan_value(&scan, &member->value);
		if (result == MR_SCAN_MORE && mr_source_more(source))
			continue;
		if (result == MR_SCAN_OK || result == MR_SCAN_LAST) {
			*is_first = false;
			mr_source_advance(source, scan.at);
		}
		return result;
	}
}

/* Behind the list or object only blanks may follow. Reading on also finds that a compressed file is not whole. */
static int read_rest(struct mr_source *source, struct mr_chrome_reader *reader)
{
	char next = pass_blanks(source);
	uint64_t offset = source->offset;

	if (!next && !source->problem && source->at == source->end)
		return 0;
	const char *reason = source->problem ? source->problem
			     : next          ? "something else behind the end of the trace"
					     : "not JSON from here on";
	return reader->add_fault(reader, reason, offset, mr_source_drain(source));
}

static int read_object(struct mr_source *source, struct mr_chrome_reader *reader)
{
	enum mr_scan_result found;
	bool is_first = true, has_events = false;
	struct member member;

	while ((found = read_member(source, &is_first, &member)) == MR_SCAN_OK) {
		int result = member.is_events
				     ? read_events(source, reader)
				     : reader->add_member(reader, &member.key, &member.value);

		if (result != 0)
			return result < 0 ? result : 0;
		has_events |= member.is_events;
	}
	if (!has_events)
		return mr_fail(EINVAL, "not a trace: %s",
			       found == MR_SCAN_LAST  ? "it has no list of traceEvents"
			       : found == MR_SCAN_BAD ? "it is not JSON"
			       : source->problem      ? source->problem
						      : "it ends too early");
	return found == MR_SCAN_LAST ? read_rest(source, reader) : give_up(source, reader, found);
}

int mr_chrome_read(struct mr_source *source, struct mr_chrome_reader *reader)
{
	static const char byte_order_mark[] = "\xEF\xBB\xBF";
	char begin = pass_blanks(source);

	if (source->end - source->at >= 3 && memcmp(source->at, byte_order_mark, 3) == 0) {
		mr_source_advance(source, source->at + 3);
		begin = pass_blanks(source);
	}
	if (begin != '{' && begin != '[')
		return mr_fail(EINVAL, "not a trace: %s",
			       source->problem ? source->problem : "it is not JSON");
	mr_source_advance(source, source->at + 1);
	if (begin == '{')
		return read_object(source, reader);
	int result = read_events(source, reader);
	if (result != 0)
		return result < 0 ? result : 0;
	return read_rest(source, reader);
}
