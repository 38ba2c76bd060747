/* SPDX-License-Identifier: Apache-2.0 */
#include "query/describe.h"

#include <string.h>

#include "base/error.h"

#define TABLE(name)     &mr_##name##_desc,
#define LIST(name, ...) &mr_##name##_desc,
const struct mr_table_desc *const mr_described_tables[] = {MR_TABLES(TABLE) MR_LISTS(LIST) NULL};

/* ---- columns -------------------------------------------------------------------------------------- */

static void add(char *about, const char *before, const char *text)
{
	size_t used = strlen(about);

	snprintf(about + used, MR_ABOUT_BYTES - used, "%s%s", before, text);
}

static void add_values(char *about, const char *enumeration)
{
	const struct mr_enum_desc *desc = mr_enum_find(enumeration);

	for (uint32_t i = 0; i < desc->value_count; i++)
		add(about, i ? ", " : "", desc->values[i].name);
}

static void add_meaning(char *about, const struct mr_column_desc *desc)
{
	const struct mr_list *list = mr_list_of(desc->meaning);

	if (list || desc->meaning == MR_MEANS_row)
		add(about, "; row of ", list ? list->desc->name : desc->of);
	if (desc->meaning == MR_MEANS_enumeration)
		add(about, "; one of ", "");
	if (desc->meaning == MR_MEANS_row_flags)
		add(about, "; NULL, or some of ", "");
	if (desc->meaning == MR_MEANS_enumeration || desc->meaning == MR_MEANS_row_flags)
		add_values(about, desc->of);
}

uint32_t mr_describe_column(const struct mr_column_desc *desc, struct mr_described *ret_columns)
{
	const struct mr_list *list = mr_list_of(desc->meaning);
	struct mr_described *own = &ret_columns[0], *second = &ret_columns[1];

	own->is_text = mr_relation_is_text(desc);
	snprintf(own->name, sizeof own->name, "%s", desc->name);
	snprintf(own->about, sizeof own->about, "%s", desc->doc);
	add_meaning(own->about, desc);
	if (!mr_relation_second_name(desc, second->name))
		return 1;
	second->is_text = true;
	snprintf(second->about, sizeof second->about, "%s of it", mr_list_name(list)->name);
	return 2;
}

/* ---- requests ------------------------------------------------------------------------------------- */

static void print_schema(const struct mr_table_desc *desc, FILE *file)
{
	fprintf(file, "-- %s\nCREATE TABLE %s (\n", desc->doc, desc->name);
	for (uint32_t i = 0; i < desc->column_count; i++) {
		struct mr_described columns[2];
		uint32_t count = mr_describe_column(&desc->columns[i], columns);

		for (uint32_t j = 0; j < count; j++) {
			bool is_last = i + 1 == desc->column_count && j + 1 == count;

			fprintf(file, "  %s %s%s -- %s\n", columns[j].name,
				columns[j].is_text ? "TEXT" : "INTEGER", is_last ? "" : ",",
				columns[j].about);
		}
	}
	fputs(");\n", file);
}

static int print_schemas(const char *name, FILE *file)
{
	bool is_found = false;

	for (const struct mr_table_desc *const *desc = mr_described_tables; *desc; desc++) {
		if (*name && strcmp((*desc)->name, name) != 0)
			continue;
		if (is_found)
			fputc('\n', file);
		print_schema(*desc, file);
		is_found = true;
	}
	return is_found ? 0 : mr_fail(EINVAL, "there is no table '%s': see .tables", name);
}

static void print_tables(FILE *file)
{
	for (const struct mr_table_desc *const *desc = mr_described_tables; *desc; desc++)
		fprintf(file, "%-20s %s\n", (*desc)->name, (*desc)->doc);
}

/* Copies the next word, or "" where there is none; returns what follows it. */
static const char *next_word(const char *text, char *to, size_t room)
{
	static const char separators[] = " \t\r\n;";

	text += strspn(text, separators);
	size_t length = strcspn(text, separators);
	snprintf(to, room, "%.*s", (int)length, text);
	return text + length;
}

int mr_describe(const char *request, FILE *file)
{
	char verb[16], name[MR_RELATION_NAME_BYTES], more[2];
	const char *rest = next_word(request, verb, sizeof verb);

	rest = next_word(rest, name, sizeof name);
	next_word(rest, more, sizeof more);
	if (strcmp(verb, ".schema") == 0 && !*more)
		return print_schemas(name, file);
	if (strcmp(verb, ".tables") != 0 || *name)
		return mr_fail(EINVAL, "'%s' is not known: give .tables, .schema or .schema TABLE",
			       request);
	print_tables(file);
	return 0;
}
