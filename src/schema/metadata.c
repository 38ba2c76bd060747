/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/metadata.h"

#include <errno.h>
#include <inttypes.h>

#include "schema/packet.h"
#include "schema/schema.h"

static const char *const type_text[MR_TYPE_COUNT] = {
	[MR_u8] = "integer { size = 8; align = 8; signed = false; }",
	[MR_u16] = "integer { size = 16; align = 8; signed = false; }",
	[MR_u32] = "integer { size = 32; align = 8; signed = false; }",
	[MR_u48] = "integer { size = 48; align = 8; signed = false; }",
	[MR_u64] = "integer { size = 64; align = 8; signed = false; }",
	[MR_i32] = "integer { size = 32; align = 8; signed = true; }",
	[MR_i64] = "integer { size = 64; align = 8; signed = true; }",
	[MR_f64] = "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }",
	[MR_str] = "string { encoding = UTF8; }",
};

static void print_uuid(const uint8_t *uuid, FILE *file)
{
	for (int i = 0; i < 16; i++)
		fprintf(file, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static void print_trace(const struct mr_metadata *metadata, FILE *file)
{
	for (enum mr_type type = 0; type < MR_TYPE_COUNT; type++)
		fprintf(file, "typealias %s := %s;\n", type_text[type], mr_type_name(type));
	fputs("\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", file);
	print_uuid(metadata->trace_uuid, file);
	fputs("\";\n\tbyte_order = le;\n"
	      "\tpacket.header := struct {\n"
	      "\t\tu32 magic;\n"
	      "\t\tu8 uuid[16];\n"
	      "\t\tu32 stream_id;\n"
	      "\t\tu64 stream_instance_id;\n"
	      "\t};\n};\n\n",
	      file);
	fprintf(file,
		"env {\n\ttracer_name = \"millrace\";\n\thostname = \"%s\";\n"
		"\tuser_clock = %u;\n};\n\n",
		metadata->host, metadata->user_clock);
}

static void print_clock(const char *name, const struct mr_metadata_clock *clock, FILE *file)
{
	fprintf(file,
		"clock {\n\tname = \"%s\";\n\tdescription = \"%s\";\n\tfreq = %" PRIu64
		";\n\tprecision = %" PRIu64 ";\n\toffset_s = %" PRId64 ";\n\toffset = %" PRIu64
		";\n\tabsolute = TRUE;\n};\n\n",
		name, clock->description, clock->frequency, clock->precision_ns, clock->offset_s,
		clock->offset_ticks);
}

static void print_stream_class(enum mr_stream_class id, const char *clock, FILE *file)
{
	fprintf(file,
		"typealias integer { size = 32; align = 8; map = clock.%s.value; } := %s_time32;\n"
		"typealias integer { size = 64; align = 8; map = clock.%s.value; } := "
		"%s_time64;\n\n",
		clock, clock, clock, clock);
	fprintf(file,
		"stream {\n\tid = %d;\n"
		"\tevent.header := struct {\n"
		"\t\tenum : u8 { compact = 0 ... 254, extended = 255 } id;\n"
		"\t\tvariant <id> {\n"
		"\t\t\tstruct { %s_time32 timestamp; } compact;\n"
		"\t\t\tstruct { u8 id; %s_time64 timestamp; } extended;\n"
		"\t\t} v;\n"
		"\t};\n",
		id, clock, clock);
	fprintf(file,
		"\tpacket.context := struct {\n"
		"\t\t%s_time64 timestamp_begin;\n"
		"\t\t%s_time64 timestamp_end;\n"
		"\t\tu64 content_size;\n"
		"\t\tu64 packet_size;\n"
		"\t\tu64 packet_seq_num;\n"
		"\t\tu64 events_discarded;\n"
		"\t\tu32 process;\n"
		"\t\tu32 pid;\n"
		"\t\tu32 tid;\n"
		"\t\tu8 kind;\n"
		"\t\tu8 depth;\n"
		"\t\tu16 reserved;\n"
		"\t};\n};\n\n",
		clock, clock);
}

static void print_field(const struct mr_field_desc *field, FILE *file)
{
	if (!field->enumeration) {
		fprintf(file, "\t\t%s _%s;\n", mr_type_name(field->type), field->name);
		return;
	}
	fputs("\t\tenum : u8 {", file);
	for (uint32_t i = 0; i < field->enumeration->value_count; i++)
		fprintf(file, "%s %s = %u", i ? "," : "", field->enumeration->values[i].name,
			field->enumeration->values[i].number);
	fprintf(file, " } _%s;\n", field->name);
}

static void print_event(const struct mr_event_desc *event, enum mr_stream_class stream, FILE *file)
{
	fprintf(file,
		"event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %d;\n\tfields := struct {\n",
		event->name, event->id, stream);
	for (uint32_t i = 0; i < event->field_count; i++)
		print_field(&event->fields[i], file);
	fputs("\t};\n};\n\n", file);
}

int mr_metadata_print(const struct mr_metadata *metadata, FILE *file)
{
	fputs("/* CTF 1.8 */\n\n", file);
	print_trace(metadata, file);
	print_clock("user", &metadata->user, file);
	print_clock("monotonic", &metadata->monotonic, file);
	for (enum mr_stream_class class = MR_STREAM_USER; class <= MR_STREAM_KERNEL; class ++) {
		print_stream_class(class, class == MR_STREAM_USER ? "user" : "monotonic", file);
		for (int id = 0; id < MR_EVENT_EXTENDED; id++)
			if (mr_event_table[id].name)
				print_event(&mr_event_table[id], class, file);
	}
	return fflush(file) == 0 && !ferror(file) ? 0 : -EIO;
}
