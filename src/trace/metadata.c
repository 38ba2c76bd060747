/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/metadata.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "trace/types.h"

/* 64 bits of nanoseconds cannot represent a clock offset beyond 272 years. */
#define OFFSET_MAX_S (INT64_C(1) << 33)

/* The tokens of a struct, from "struct" to its closing brace. */
struct body {
	mr_vec(struct mr_token) tokens;
};

struct parser {
	struct mr_tsdl tsdl;
	struct mr_trace_metadata *metadata;
	struct mr_types types;
	mr_vec(struct mr_wire_label) labels; /* of the event being read */
	struct body packet_header;
	struct body packet_context[MR_STREAM_CLASSES];
	struct body event_header[MR_STREAM_CLASSES];
	bool has_uuid;
};

static void free_parser(struct parser *parser)
{
	mr_types_free(&parser->types);
	mr_vec_free(&parser->labels);
	mr_vec_free(&parser->packet_header.tokens);
	for (int class = 0; class < MR_STREAM_CLASSES; class ++) {
		mr_vec_free(&parser->packet_context[class].tokens);
		mr_vec_free(&parser->event_header[class].tokens);
	}
}

static void take_string(struct mr_tsdl *tsdl, const char **ret_text)
{
	struct mr_token token = mr_tsdl_take(tsdl, MR_TOKEN_STRING);
	if (tsdl->error)
		return;
	char *text = strndup(token.text, token.length);
	if (!text)
		return mr_tsdl_fail_memory(tsdl);
	free((char *)*ret_text);
	*ret_text = text;
}

static void parse_alias(struct parser *parser)
{
	mr_types_parse_alias(&parser->types, &parser->tsdl);
}

/* ---- events ---------------------------------------------------------------------------------- */

static enum mr_type parse_enum(struct parser *parser, struct mr_wire_field *field)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	mr_tsdl_expect(tsdl, ":");
	enum mr_type type = mr_types_parse(&parser->types, tsdl);
	if (type != MR_u8)
		mr_tsdl_fail(tsdl, "an enumeration is stored as u8");
	field->first_label = (uint32_t)parser->labels.count;
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		struct mr_wire_label label = {.name = mr_tsdl_take_key(tsdl)};
		label.number = (uint8_t)mr_tsdl_take_number(tsdl, UINT8_MAX);
		if (mr_vec_push(&parser->labels, label) < 0)
			mr_tsdl_fail_memory(tsdl);
		if (!mr_token_is(tsdl->token, "}"))
			mr_tsdl_expect(tsdl, ",");
	}
	field->label_count = (uint32_t)parser->labels.count - field->first_label;
	return type;
}

/* Field names begin with an underscore, so that none of them is a keyword. */
static struct mr_token take_field_name(struct mr_tsdl *tsdl)
{
	struct mr_token name = mr_tsdl_take(tsdl, MR_TOKEN_NAME);
	if (name.length > 1 && *name.text == '_') {
		name.text++;
		name.length--;
	}
	return name;
}

static void parse_fields(struct parser *parser, struct mr_wire_event *event)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	mr_tsdl_expect(tsdl, ":=");
	mr_tsdl_expect(tsdl, "struct");
	mr_tsdl_expect(tsdl, "{");
	event->field_count = 0;
	while (mr_tsdl_more(tsdl)) {
		if (event->field_count == MR_WIRE_FIELDS_MAX)
			return mr_tsdl_fail(tsdl, "an event has too many fields");
		if (event->field_count && event->fields[event->field_count - 1].type == MR_str)
			return mr_tsdl_fail(tsdl, "a text can only be the last field");
		struct mr_wire_field field = {0};
		if (mr_tsdl_accept(tsdl, "enum"))
			field.type = parse_enum(parser, &field);
		else
			field.type = mr_types_parse(&parser->types, tsdl);
		field.name = take_field_name(tsdl);
		mr_tsdl_expect(tsdl, ";");
		event->fields[event->field_count++] = field;
	}
}

static void parse_event(struct parser *parser)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	struct mr_wire_event event = {.name.text = ""};
	uint64_t id = MR_EVENT_EXTENDED, class = MR_STREAM_CLASSES;
	parser->labels.count = 0;
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		if (mr_tsdl_accept(tsdl, "fields")) {
			parse_fields(parser, &event);
		} else {
			struct mr_token key = mr_tsdl_take_key(tsdl);
			if (mr_token_is(key, "name"))
				event.name = mr_tsdl_take(tsdl, MR_TOKEN_STRING);
			else if (mr_token_is(key, "id"))
				id = mr_tsdl_take_number(tsdl, MR_EVENT_EXTENDED - 1);
			else if (mr_token_is(key, "stream_id"))
				class = mr_tsdl_take_number(tsdl, MR_STREAM_CLASSES - 1);
			else
				mr_tsdl_refuse(tsdl, "event attribute", key);
		}
		mr_tsdl_expect(tsdl, ";");
	}
	if (id == MR_EVENT_EXTENDED || class == MR_STREAM_CLASSES || event.name.length == 0)
		return mr_tsdl_fail(tsdl, "an event needs a name, an id and a stream_id");
	struct mr_layout *layout = &parser->metadata->layouts[class][id];
	if (layout->declared)
		return mr_tsdl_fail(tsdl, "two events have id %d", (int)id);
	event.labels = parser->labels.items;
	if (!tsdl->error && mr_layout_make(&event, layout) < 0)
		mr_tsdl_fail_memory(tsdl);
}

/* ---- trace, clocks, streams ------------------------------------------------------------------ */

static int hexadecimal(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 01234567-89ab-cdef-0123-456789abcdef */
static bool read_uuid(struct mr_token token, uint8_t *uuid)
{
	if (token.length != 36)
		return false;
	uint32_t digits = 0;
	for (uint32_t i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		int digit = hexadecimal(token.text[i]);
		if (is_dash ? token.text[i] != '-' : digit < 0)
			return false;
		if (is_dash)
			continue;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | digit);
		digits++;
	}
	return true;
}

static void take_body(struct mr_tsdl *tsdl, struct body *body)
{
	mr_tsdl_expect(tsdl, ":=");
	if (body->tokens.count)
		return mr_tsdl_fail(tsdl, "this layout is given twice");
	uint32_t depth = 0;
	do {
		struct mr_token token = mr_tsdl_take_any(tsdl);
		depth += mr_token_is(token, "{");
		depth -= mr_token_is(token, "}") && depth > 0;
		if (mr_vec_push(&body->tokens, token) < 0)
			mr_tsdl_fail_memory(tsdl);
	} while (!tsdl->error && (depth > 0 || body->tokens.count == 1));
}

static void parse_trace(struct parser *parser)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		if (mr_tsdl_accept(tsdl, "packet.header")) {
			take_body(tsdl, &parser->packet_header);
		} else {
			struct mr_token key = mr_tsdl_take_key(tsdl);
			if (mr_token_is(key, "major"))
				mr_tsdl_expect_number(tsdl, 1);
			else if (mr_token_is(key, "minor"))
				mr_tsdl_expect_number(tsdl, 8);
			else if (mr_token_is(key, "byte_order"))
				mr_tsdl_expect(tsdl, "le");
			else if (!mr_token_is(key, "uuid"))
				mr_tsdl_refuse(tsdl, "trace attribute", key);
			else if (!read_uuid(mr_tsdl_take(tsdl, MR_TOKEN_STRING),
					    parser->metadata->identity.trace_uuid))
				mr_tsdl_fail(tsdl, "this is not a UUID");
			else
				parser->has_uuid = true;
		}
		mr_tsdl_expect(tsdl, ";");
	}
}

/* Facts about the run. Those that this program does not use may have any name and value. */
static void parse_env(struct parser *parser)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	struct mr_metadata *identity = &parser->metadata->identity;
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl)) {
		struct mr_token key = mr_tsdl_take_key(tsdl);
		if (mr_token_is(key, "hostname"))
			take_string(tsdl, &identity->host);
		else if (mr_token_is(key, "user_clock"))
			identity->user_clock =
				(uint8_t)mr_tsdl_take_number(tsdl, MR_trace_clock_monotonic);
		else
			mr_tsdl_take_any(tsdl);
		mr_tsdl_expect(tsdl, ";");
	}
}

static void parse_clock_attribute(struct mr_tsdl *tsdl, struct mr_token *name,
				  struct mr_metadata_clock *clock)
{
	struct mr_token key = mr_tsdl_take_key(tsdl);
	if (mr_token_is(key, "name"))
		*name = mr_tsdl_take(tsdl, MR_TOKEN_STRING);
	else if (mr_token_is(key, "description"))
		take_string(tsdl, &clock->description);
	else if (mr_token_is(key, "freq"))
		clock->frequency = mr_tsdl_take_number(tsdl, UINT64_MAX);
	else if (mr_token_is(key, "precision"))
		clock->precision_ns = mr_tsdl_take_number(tsdl, UINT64_MAX);
	else if (mr_token_is(key, "offset_s"))
		clock->offset_s = mr_tsdl_take_signed(tsdl, OFFSET_MAX_S);
	else if (mr_token_is(key, "offset"))
		clock->offset_ticks = mr_tsdl_take_number(tsdl, UINT64_MAX);
	else if (mr_token_is(key, "absolute"))
		mr_tsdl_expect(tsdl, "TRUE");
	else
		mr_tsdl_refuse(tsdl, "clock attribute", key);
	mr_tsdl_expect(tsdl, ";");
}

static void parse_clock(struct parser *parser)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	struct mr_token name = {.text = ""};
	struct mr_metadata_clock clock = {0};
	mr_tsdl_expect(tsdl, "{");
	while (mr_tsdl_more(tsdl))
		parse_clock_attribute(tsdl, &name, &clock);

	struct mr_metadata *identity = &parser->metadata->identity;
	struct mr_metadata_clock *target = NULL;
	if (mr_token_is(name, "user"))
		target = &identity->user;
	else if (mr_token_is(name, "monotonic"))
		target = &identity->monotonic;
	if (!target)
		mr_tsdl_refuse(tsdl, "clock", name);
	else if (clock.frequency == 0)
		mr_tsdl_fail(tsdl, "a clock needs a frequency");
	else if (target->frequency)
		mr_tsdl_fail(tsdl, "this clock is described twice");
	if (tsdl->error)
		free((char *)clock.description);
	else
		*target = clock;
}

/* The id must come first: it determines which headers follow. */
static void parse_stream(struct parser *parser)
{
	struct mr_tsdl *tsdl = &parser->tsdl;
	mr_tsdl_expect(tsdl, "{");
	mr_tsdl_expect(tsdl, "id");
	mr_tsdl_expect(tsdl, "=");
	uint64_t class = mr_tsdl_take_number(tsdl, MR_STREAM_CLASSES - 1);
	mr_tsdl_expect(tsdl, ";");
	while (mr_tsdl_more(tsdl)) {
		if (mr_tsdl_accept(tsdl, "event.header"))
			take_body(tsdl, &parser->event_header[class]);
		else if (mr_tsdl_accept(tsdl, "packet.context"))
			take_body(tsdl, &parser->packet_context[class]);
		else
			mr_tsdl_refuse(tsdl, "stream attribute", tsdl->token);
		mr_tsdl_expect(tsdl, ";");
	}
}

static int parse_text(struct parser *parser, const char *text, size_t length)
{
	static const struct {
		const char *name;
		void (*parse)(struct parser *parser);
	} blocks[] = {
		{"typealias", parse_alias}, {"trace", parse_trace},   {"env", parse_env},
		{"clock", parse_clock},     {"stream", parse_stream}, {"event", parse_event},
	};
	struct mr_tsdl *tsdl = &parser->tsdl;
	mr_tsdl_start(tsdl, text, length);
	while (!tsdl->error && tsdl->token.kind != MR_TOKEN_END) {
		size_t i = 0;
		while (i < mr_countof(blocks) && !mr_tsdl_accept(tsdl, blocks[i].name))
			i++;
		if (i == mr_countof(blocks)) {
			mr_tsdl_refuse(tsdl, "block", tsdl->token);
			break;
		}
		blocks[i].parse(parser);
		mr_tsdl_expect(tsdl, ";");
	}
	return tsdl->error;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Until it is declared, an event is unknown and takes the slow path. */
static struct mr_trace_metadata *new_metadata(void)
{
	struct mr_trace_metadata *metadata = calloc(1, sizeof *metadata);
	if (!metadata) {
		mr_fail_errno(ENOMEM, "metadata");
		return NULL;
	}
	for (int class = 0; class < MR_STREAM_CLASSES; class ++)
		for (int id = 0; id < 256; id++)
			metadata->layouts[class][id].plain_bytes = MR_LAYOUT_NOT_PLAIN;
	return metadata;
}

static int check_body(const char *name, const struct body *theirs, const struct body *ours)
{
	if (theirs->tokens.count == 0)
		return mr_fail(EINVAL, "it has no %s", name);
	for (size_t i = 0; i < theirs->tokens.count; i++)
		if (i == ours->tokens.count ||
		    !mr_token_equal(theirs->tokens.items[i], ours->tokens.items[i]))
			return mr_fail(EINVAL, "line %u: this %s is not millrace's",
				       theirs->tokens.items[i].line, name);
	/* Bodies end at their closing brace, so a shorter one has been found different by now. */
	return 0;
}

/* Packets must have the layout of struct mr_packet. Only schema/metadata.c describes that layout in
 * TSDL: we print its text, parse it in the same way, and compare. */
static int check_packets(const struct parser *theirs)
{
	mr_auto(free) char *text = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return mr_fail_errno(errno, "cannot print metadata");
	int error = mr_metadata_print(&theirs->metadata->identity, file);
	/* If there is no memory, the C library reports success and leaves no text. */
	if (fclose(file) != 0 || error < 0 || !text)
		return mr_fail_errno(ENOMEM, "cannot print metadata");

	struct parser ours = {.metadata = new_metadata()};
	error = ours.metadata ? parse_text(&ours, text, length) : -ENOMEM;
	if (error == 0)
		error = mr_types_check(&theirs->types, &ours.types);
	if (error == 0)
		error = check_body("packet.header", &theirs->packet_header, &ours.packet_header);
	for (int class = 0; class < MR_STREAM_CLASSES && error == 0; class ++) {
		error = check_body("packet.context", &theirs->packet_context[class],
				   &ours.packet_context[class]);
		if (error == 0)
			error = check_body("event.header", &theirs->event_header[class],
					   &ours.event_header[class]);
	}
	free_parser(&ours);
	mr_trace_metadata_free(ours.metadata);
	return error;
}

static int check_complete(const struct parser *parser)
{
	const struct mr_metadata *identity = &parser->metadata->identity;
	if (!parser->has_uuid)
		return mr_fail(EINVAL, "it has no uuid");
	if (!identity->user.frequency || !identity->monotonic.frequency)
		return mr_fail(EINVAL, "a clock is missing");
	if (!identity->host || !identity->user.description || !identity->monotonic.description)
		return mr_fail(EINVAL, "the host or the description of a clock is missing");
	if (identity->user_clock == MR_trace_clock_none)
		return mr_fail(EINVAL, "it does not say what the user clock is");
	return check_packets(parser);
}

int mr_trace_metadata_parse(const char *text, size_t length,
			    struct mr_trace_metadata **ret_metadata)
{
	struct parser parser = {.metadata = new_metadata()};
	if (!parser.metadata)
		return -ENOMEM;
	int error = parse_text(&parser, length ? text : "", length);
	if (error == 0)
		error = check_complete(&parser);
	if (error == 0)
		*ret_metadata = mr_take(parser.metadata);
	free_parser(&parser);
	mr_trace_metadata_free(parser.metadata);
	return error;
}

void mr_trace_metadata_free(struct mr_trace_metadata *metadata)
{
	if (!metadata)
		return;
	for (int class = 0; class < MR_STREAM_CLASSES; class ++)
		for (int id = 0; id < 256; id++)
			free(metadata->layouts[class][id].moves);
	free((char *)metadata->identity.host);
	free((char *)metadata->identity.user.description);
	free((char *)metadata->identity.monotonic.description);
	free(metadata);
}
