/* SPDX-License-Identifier: Apache-2.0 */
#include "query/relation.h"

#include <string.h>

enum {
	BYTE_VALUES = 256
};

/* What all relations of a model share while they are made. */
struct maker {
	const struct mr_model *model;
	struct mr_region *region;
	const struct mr_dictionary *strings;
};

bool mr_relation_is_text(const struct mr_column_desc *desc)
{
	return desc->meaning == MR_MEANS_string || desc->meaning == MR_MEANS_enumeration ||
	       desc->meaning == MR_MEANS_row_flags;
}

bool mr_relation_second_name(const struct mr_column_desc *desc, char *ret_name)
{
	const struct mr_list *list = mr_list_of(desc->meaning);

	if (list)
		snprintf(ret_name, MR_RELATION_NAME_BYTES, "%s_%s", desc->name,
			 mr_list_name(list)->name);
	return list;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static const char *name_of_value(const struct mr_enum_desc *desc, uint32_t value)
{
	for (uint32_t i = 0; i < desc->value_count; i++)
		if (desc->values[i].number == value)
			return desc->values[i].name;
	return "?";
}

/* "UNFINISHED,OVERLAPS"; "" of no bit. */
static const char *names_of_bits(struct mr_region *region, const struct mr_enum_desc *desc,
				 uint32_t bits)
{
	const char *text = "";

	for (uint32_t bit = 1; text && bit < BYTE_VALUES; bit <<= 1)
		if (bits & bit)
			text = mr_region_print(region, "%s%s%s", text, *text ? "," : "",
					       name_of_value(desc, bit));
	return text;
}

/* The texts of all values that a byte can have. */
static const struct mr_dictionary *make_dictionary(struct maker *maker,
						   const struct mr_column_desc *column)
{
	const struct mr_enum_desc *desc = mr_enum_find(column->of);
	struct mr_dictionary *made = mr_region_allocate(maker->region, sizeof *made);
	const char **texts = mr_region_allocate(maker->region, BYTE_VALUES * sizeof *texts);
	uint32_t *lengths = mr_region_allocate(maker->region, BYTE_VALUES * sizeof *lengths);

	if (!made || !texts || !lengths)
		return NULL;
	for (uint32_t value = 0; value < BYTE_VALUES; value++) {
		texts[value] = column->meaning == MR_MEANS_row_flags
				       ? names_of_bits(maker->region, desc, value)
				       : name_of_value(desc, value);
		if (!texts[value])
			return NULL;
		lengths[value] = (uint32_t)strlen(texts[value]);
	}
	*made = (struct mr_dictionary){texts, lengths, BYTE_VALUES};
	return made;
}

/* ---- columns -------------------------------------------------------------------------------------- */

static struct mr_field field_of(const struct mr_list_rows *rows, const struct mr_column_desc *desc)
{
	const uint8_t *first = rows->items;

	return (struct mr_field){first ? first + desc->offset : NULL, rows->item_bytes,
				 desc->bytes};
}

static int add_own(struct maker *maker, const struct mr_column_desc *desc, struct mr_field field,
		   struct mr_relation_column *column)
{
	*column = (struct mr_relation_column){.name = desc->name, .desc = desc, .field = field};
	if (desc->meaning == MR_MEANS_string)
		column->dictionary = maker->strings;
	else if (mr_relation_is_text(desc))
		column->dictionary = make_dictionary(maker, desc);
	return mr_relation_is_text(desc) && !column->dictionary ? -ENOMEM : 0;
}

/* The number of a system call is one also where its name is not known. */
static bool is_index(const struct mr_list *list)
{
	return list->meaning != MR_MEANS_system_call;
}

/* The column's own values are rows of a list: bounds them, and adds their names as a second column. */
static int add_names(struct maker *maker, const char *name, struct mr_relation_column *column)
{
	const struct mr_list *list = mr_list_of(column->desc->meaning);
	const struct mr_list_rows rows = list->rows(maker->model);
	struct mr_relation_column *second = column + 1;

	*second = *column;
	second->name = mr_region_copy(maker->region, name, strlen(name));
	second->dictionary = maker->strings;
	second->end = rows.count;
	second->names = field_of(&rows, mr_list_name(list));
	if (is_index(list)) {
		column->first = list->first_row;
		column->end = rows.count;
	}
	return second->name ? 0 : -ENOMEM;
}

static int add_columns(struct maker *maker, struct mr_relation *relation,
		       const struct mr_table_desc *desc, const struct mr_field *fields)
{
	char second[MR_RELATION_NAME_BYTES];
	struct mr_relation_column *columns =
		mr_region_allocate(maker->region, 2 * desc->column_count * sizeof *columns);
	int result = columns ? 0 : -ENOMEM;

	relation->columns = columns;
	for (uint32_t i = 0; result == 0 && i < desc->column_count; i++) {
		struct mr_relation_column *column = &columns[relation->column_count++];

		result = add_own(maker, &desc->columns[i], fields[i], column);
		if (result == 0 && mr_relation_second_name(&desc->columns[i], second)) {
			result = add_names(maker, second, column);
			relation->column_count++;
		}
	}
	return result;
}

/* ---- relations ------------------------------------------------------------------------------------ */

static uint32_t column_called(const struct mr_relation *relation, const char *name)
{
	uint32_t column = 0;

	while (strcmp(relation->columns[column].name, name) != 0)
		column++;
	return column;
}

static int add_table(struct maker *maker, const struct mr_table *table,
		     struct mr_relation *relation)
{
	const struct mr_table_desc *desc = table->desc;
	void *const *columns = (void *const *)(table + 1);
	mr_auto(free) struct mr_field *fields = calloc(desc->column_count, sizeof *fields);

	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < desc->column_count; i++)
		fields[i] = (struct mr_field){columns[i], desc->columns[i].bytes,
					      desc->columns[i].bytes};
	*relation = (struct mr_relation){
		.name = desc->name,
		.end_row = table->count,
		.first_of_track = table->first_of_track,
		.track_count = (uint32_t)maker->model->survey->tracks.count,
	};
	int result = add_columns(maker, relation, desc, fields);
	if (result == 0) {
		relation->track = column_called(relation, "track");
		relation->start_ns = column_called(relation, "start_ns");
	}
	return result;
}

static int add_list(struct maker *maker, const struct mr_list *list, struct mr_relation *relation)
{
	const struct mr_list_rows rows = list->rows(maker->model);
	const struct mr_table_desc *desc = list->desc;
	mr_auto(free) struct mr_field *fields = calloc(desc->column_count, sizeof *fields);

	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < desc->column_count; i++)
		fields[i] = field_of(&rows, &desc->columns[i]);
	*relation = (struct mr_relation){
		.name = desc->name,
		.first_row = mr_min(list->first_row, rows.count),
		.end_row = rows.count,
	};
	return add_columns(maker, relation, desc, fields);
}

static int add_all(struct maker *maker, struct mr_relations *relations)
{
#define TABLE(name) &maker->model->name.table,
	const struct mr_table *tables[] = {MR_TABLES(TABLE)};
#undef TABLE
	int result = 0;

	relations->items = mr_region_allocate(maker->region, (mr_countof(tables) + mr_list_count) *
								     sizeof *relations->items);
	if (!relations->items)
		return -ENOMEM;
	for (size_t i = 0; result == 0 && i < mr_countof(tables); i++)
		result = add_table(maker, tables[i], &relations->items[relations->count++]);
	for (uint32_t i = 0; result == 0 && i < mr_list_count; i++)
		result = add_list(maker, &mr_lists[i], &relations->items[relations->count++]);
	return result;
}

int mr_relations_make(const struct mr_model *model, struct mr_relations *ret_relations)
{
	const struct mr_strings *strings = &model->survey->definitions.strings;
	struct mr_relations made = {0};
	struct mr_dictionary *texts = mr_region_allocate(&made.region, sizeof *texts);

	if (!texts)
		return -ENOMEM;
	*texts = (struct mr_dictionary){strings->texts.items, strings->lengths.items,
					mr_strings_count(strings)};
	int result = add_all(&(struct maker){model, &made.region, texts}, &made);
	if (result < 0)
		mr_relations_free(&made);
	else
		*ret_relations = made;
	return result;
}

void mr_relations_free(struct mr_relations *relations)
{
	mr_region_free(&relations->region);
}
