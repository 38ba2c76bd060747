/* SPDX-License-Identifier: Apache-2.0 */
#include "import/protobuf.h"

#include "base/macros.h"

enum {
	FIELD_BYTES_MAX = 20, /* tag and number, or tag and length */
};

static bool read_varint(struct mr_message *message, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; message->at < message->end && shift < 64; shift += 7) {
		uint8_t byte = *message->at++;

		value |= (uint64_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool read_fixed(struct mr_message *message, size_t bytes, uint64_t *ret_value)
{
	if ((size_t)(message->end - message->at) < bytes)
		return false;
	*ret_value = 0;
	memcpy(ret_value, message->at,
	       bytes); /* little-endian, as all machines that we build for */
	message->at += bytes;
	return true;
}

/* Everything but the bytes themselves. */
static bool read_field(struct mr_message *message, struct mr_field *field)
{
	uint64_t tag;

	if (!read_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return false;
	*field = (struct mr_field){.number = (uint32_t)(tag >> 3), .wire = (enum mr_wire)(tag & 7)};
	switch (field->wire) {
	case MR_WIRE_VARINT:
	case MR_WIRE_BYTES:
		return read_varint(message, &field->value);
	case MR_WIRE_FIXED64:
		return read_fixed(message, 8, &field->value);
	case MR_WIRE_FIXED32:
		return read_fixed(message, 4, &field->value);
	}
	return false;
}

bool mr_message_next(struct mr_message *message, struct mr_field *ret_field)
{
	if (message->at >= message->end)
		return false;
	message->is_bad = !read_field(message, ret_field);
	if (!message->is_bad && ret_field->wire == MR_WIRE_BYTES) {
		message->is_bad = ret_field->value > (uint64_t)(message->end - message->at);
		ret_field->bytes = message->at;
		if (!message->is_bad)
			message->at += ret_field->value;
	}
	if (message->is_bad)
		message->at = message->end;
	return !message->is_bad;
}

bool mr_message_enter_first(const uint8_t *head, size_t count, struct mr_message *ret_message)
{
	struct mr_message file = {.at = head, .end = head + count};
	struct mr_field field;

	if (!read_field(&file, &field) || !mr_field_is(&field, 1, MR_WIRE_BYTES) || field.value < 2)
		return false;
	field.bytes = file.at;
	field.value = mr_min(field.value, (uint64_t)(file.end - file.at));
	*ret_message = mr_message_of(&field);
	return true;
}

/* ---- in a file ------------------------------------------------------------------------------------ */

enum mr_stream_found mr_stream_next(struct mr_source *source, uint64_t end,
				    struct mr_field *ret_field)
{
	while (source->end - source->at < FIELD_BYTES_MAX && mr_source_more(source)) {
	}
	if (source->at == source->end && (end == UINT64_MAX || source->offset == end))
		return source->problem ? MR_STREAM_BAD : MR_STREAM_END;
	if (source->offset >= end)
		return source->offset == end ? MR_STREAM_END : MR_STREAM_BAD;
	uint64_t left = mr_min((uint64_t)(source->end - source->at), end - source->offset);
	struct mr_message head = {.at = (const uint8_t *)source->at};
	head.end = head.at + left;
	if (!read_field(&head, ret_field))
		return MR_STREAM_BAD;
	mr_source_advance(source, (const char *)head.at);
	if (ret_field->wire == MR_WIRE_BYTES && ret_field->value > end - source->offset)
		return MR_STREAM_BAD;
	return MR_STREAM_FIELD;
}

bool mr_stream_take(struct mr_source *source, struct mr_field *field)
{
	while ((uint64_t)(source->end - source->at) < field->value)
		if (!mr_source_more(source))
			return false;
	field->bytes = (const uint8_t *)source->at;
	mr_source_advance(source, source->at + field->value);
	return true;
}

bool mr_stream_skip(struct mr_source *source, const struct mr_field *field)
{
	uint64_t left = field->wire == MR_WIRE_BYTES ? field->value : 0;

	while (left > 0) {
		uint64_t here = mr_min(left, (uint64_t)(source->end - source->at));

		mr_source_advance(source, source->at + here);
		left -= here;
		if (left > 0 && !mr_source_more(source))
			return false;
	}
	return true;
}
