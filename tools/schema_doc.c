/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints doc/events.md from the tables of src/schema: every event, field and enumeration.
 */
#include <stdio.h>

#include "schema/schema.h"

static void print_event(const struct mr_event_desc *event)
{
	printf("\n### %s\n\n%s\n\nNumber %u, level %s, %u bytes%s.\n", event->name, event->doc,
	       event->id, mr_level_name(event->level), event->fixed_bytes,
	       event->has_text ? " and a text" : "");
	if (event->field_count > 0)
		fputs("\n| field | type | meaning |\n|---|---|---|\n", stdout);
	for (uint32_t i = 0; i < event->field_count; i++) {
		const struct mr_field_desc *field = &event->fields[i];
		if (field->enumeration)
			printf("| %s | [%s](#%s) | %s |\n", field->name, field->enumeration->name,
			       field->enumeration->name, field->doc);
		else
			printf("| %s | %s | %s |\n", field->name, mr_type_name(field->type),
			       field->doc);
	}
}

static void print_enumeration(const struct mr_enum_desc *enumeration)
{
	printf("\n### %s\n\n| value | name |\n|---|---|\n", enumeration->name);
	for (uint32_t i = 0; i < enumeration->value_count; i++)
		printf("| %u | %s |\n", enumeration->values[i].number, enumeration->values[i].name);
}

int main(void)
{
	fputs("# Events of a millrace trace\n\n"
	      "tools/schema_doc.c prints this page from src/schema/events.def; `make doc` renews "
	      "it.\n\n"
	      "The time of an event is when it was written; an interval is written when it ends. "
	      "Types: u8 to u64 are unsigned integers of that many bits, i32 and i64 are signed, "
	      "f64 is a floating-point number, str is a UTF-8 text that ends with a zero byte. An "
	      "enumeration takes one byte. Fields are packed without padding, little-endian. A "
	      "field that refers to a string, node, graph, device, queue, file or clock holds its "
	      "id; 0 means none.\n\n"
	      "## Events\n",
	      stdout);
	for (uint32_t id = 0; id < MR_EVENT_EXTENDED; id++)
		if (mr_event_table[id].name)
			print_event(&mr_event_table[id]);
	fputs("\n## Enumerations\n", stdout);
	for (const struct mr_enum_desc *enumeration = mr_enum_table; enumeration->name;
	     enumeration++)
		print_enumeration(enumeration);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
