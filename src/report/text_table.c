/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables as text: columns as wide as their widest cell, texts cut and spare columns left out where the
 * page is too narrow, numbers to the right, long tables ended by the sum of the other rows.
 */
#include "base/format.h"
#include "report/report.h"

#include <string.h>

enum {
	MAX_COLUMNS = 20,
	TEXT_WIDTH = 20,
	BRIEF_WIDTH = 14, /* before paths are shortened further */
	PATH_WIDTH = 48,
	MIN_TEXT_WIDTH = 8,
	INDENT = 2,
	GAP = 2,
	BAR_WIDTH = 40,
	OTHERS_BYTES = 24,
};

struct layout {
	const struct mr_finding_table *table;
	const struct mr_text_style *style;
	FILE *file;
	uint32_t shown_rows;
	bool is_hidden[MAX_COLUMNS];
	size_t width[MAX_COLUMNS];
	size_t percent_width[MAX_COLUMNS]; /* 0: no percentages beside the column */
	size_t bar_width[MAX_COLUMNS];     /* 0: no bars beside the column */
};

static bool is_text(const struct layout *layout, uint32_t column)
{
	return layout->table->columns[column].unit == MR_UNIT_TEXT;
}

static void format_number(const struct layout *layout, uint32_t column, int64_t number, char *to)
{
	switch (layout->table->columns[column].unit) {
	case MR_UNIT_NS:
		if (number == MR_NO_VALUE)
			strcpy(to, "not known");
		else
			mr_format_ns(to, number, layout->style->utf8);
		break;
	case MR_UNIT_BYTES:
		if (number == MR_NO_VALUE)
			strcpy(to, "-");
		else
			mr_format_bytes(to, number);
		break;
	case MR_UNIT_BYTES_PER_SECOND:
		if (number == MR_NO_VALUE) {
			strcpy(to, "-");
		} else {
			mr_format_bytes(to, number);
			strcat(to, "/s");
		}
		break;
	case MR_UNIT_PERMILLE:
		if (number == MR_NO_VALUE)
			strcpy(to, "-");
		else
			mr_format_percent(to, number, 1000);
		break;
	case MR_UNIT_THOUSANDTHS:
		if (number == MR_NO_VALUE)
			strcpy(to, "-");
		else
			snprintf(to, MR_FORMAT_BYTES, "%.2f", (double)number / 1000);
		break;
	case MR_UNIT_COUNT:
		if (number == MR_NO_VALUE)
			strcpy(to, "-");
		else
			mr_format_count(to, number);
		break;
	default:
		if (number == MR_NO_VALUE)
			strcpy(to, "-");
		else
			snprintf(to, MR_FORMAT_BYTES, "%lld", (long long)number);
	}
}

/* ---- the rows that are not shown ----------------------------------------------------------------- */

static bool is_additive(const struct layout *layout, uint32_t column)
{
	return layout->table->columns[column].flags & (MR_COLUMN_BREAKDOWN | MR_COLUMN_SUM);
}

static void name_others(const struct layout *layout, char *to)
{
	snprintf(to, OTHERS_BYTES, "(%u others)", layout->table->row_count - layout->shown_rows);
}

/* Not known if one of them is not. */
static int64_t sum_others(const struct layout *layout, uint32_t column)
{
	uint64_t sum = 0;

	for (uint32_t row = layout->shown_rows; row < layout->table->row_count; row++) {
		int64_t number = mr_finding_value(layout->table, row, column)->number;

		if (number == MR_NO_VALUE)
			return MR_NO_VALUE;
		sum += (uint64_t)number;
	}
	return (int64_t)sum;
}

/* ---- widths --------------------------------------------------------------------------------------- */

static bool is_same(const struct layout *layout, uint32_t column, uint32_t row)
{
	const union mr_value *first = mr_finding_value(layout->table, 0, column);
	const union mr_value *value = mr_finding_value(layout->table, row, column);

	return is_text(layout, column) ? strcmp(first->text, value->text) == 0
				       : first->number == value->number;
}

/* A name that is the same in all rows tells nothing, as a rule; nor does one that is empty. */
static bool is_useless(const struct layout *layout, uint32_t column)
{
	const struct mr_finding_column *desc = &layout->table->columns[column];

	if (column == 0 || (desc->unit != MR_UNIT_TEXT && desc->unit != MR_UNIT_NUMBER))
		return false;
	for (uint32_t row = 1; row < layout->table->row_count; row++)
		if (!is_same(layout, column, row))
			return false;
	return (layout->table->row_count > 1 && !(desc->flags & MR_COLUMN_TELLING)) ||
	       (is_text(layout, column) &&
		*mr_finding_value(layout->table, 0, column)->text == '\0');
}

/* Do two neighbours read the same? An empty text repeats any other. */
static bool repeats_cell(const struct layout *layout, uint32_t row, uint32_t column)
{
	const union mr_value *value = mr_finding_value(layout->table, row, column);
	char number[MR_FORMAT_BYTES], previous[MR_FORMAT_BYTES];

	if (is_text(layout, column))
		return *value->text == '\0' || strcmp(value->text, value[-1].text) == 0;
	format_number(layout, column, value->number, number);
	format_number(layout, column - 1, value[-1].number, previous);
	return strcmp(number, previous) == 0;
}

/* A type that is the name in every row that has one, as frameworks without a graph have it; a total that is the self
 * time, as nothing is nested: in the rows that are shown. */
static bool repeats_previous(const struct layout *layout, uint32_t column)
{
	const struct mr_finding_column *desc = &layout->table->columns[column];
	bool may_repeat = desc->unit == MR_UNIT_TEXT || desc->flags & MR_COLUMN_REPEATS;

	if (column == 0 || desc->unit != desc[-1].unit || !may_repeat)
		return false;
	for (uint32_t row = 0; row < layout->shown_rows; row++)
		if (!repeats_cell(layout, row, column))
			return false;
	return layout->shown_rows > 0;
}

static bool is_absent(const struct layout *layout, uint32_t column)
{
	if (!(layout->table->columns[column].flags & MR_COLUMN_RARE))
		return false;
	for (uint32_t row = 0; row < layout->table->row_count; row++)
		if (mr_finding_value(layout->table, row, column)->number != 0)
			return false;
	return true;
}

static void widen_number(struct layout *layout, uint32_t column, int64_t number)
{
	char cell[MR_FORMAT_BYTES];

	format_number(layout, column, number, cell);
	layout->width[column] = mr_max(layout->width[column], mr_text_width(cell));
}

static void measure_column(struct layout *layout, uint32_t column)
{
	const struct mr_finding_table *table = layout->table;
	const struct mr_finding_column *desc = &table->columns[column];

	layout->is_hidden[column] = desc->flags & MR_COLUMN_DATA || is_useless(layout, column) ||
				    is_absent(layout, column) || repeats_previous(layout, column);
	layout->width[column] = mr_text_width(desc->title);
	for (uint32_t row = 0; row < layout->shown_rows; row++) {
		const union mr_value *value = mr_finding_value(table, row, column);

		if (is_text(layout, column))
			layout->width[column] =
				mr_max(layout->width[column], mr_text_width(value->text));
		else
			widen_number(layout, column, value->number);
	}
	if (layout->shown_rows < table->row_count && is_additive(layout, column))
		widen_number(layout, column, sum_others(layout, column));
	if (desc->unit == MR_UNIT_NS && table->wholes[column] > 0 && table->row_count > 1)
		layout->percent_width[column] = strlen("100.0%");
	if (desc->flags & MR_COLUMN_BAR)
		layout->bar_width[column] = BAR_WIDTH;
}

static bool is_first(const struct layout *layout, uint32_t column)
{
	for (uint32_t i = 0; i < column; i++)
		if (!layout->is_hidden[i])
			return false;
	return true;
}

static void measure(struct layout *layout)
{
	char name[OTHERS_BYTES];

	for (uint32_t column = 0; column < layout->table->column_count; column++) {
		measure_column(layout, column);
		if (layout->shown_rows < layout->table->row_count && is_first(layout, column)) {
			name_others(layout, name);
			layout->width[column] = mr_max(layout->width[column], strlen(name));
		}
	}
}

static size_t total_width(const struct layout *layout)
{
	size_t total = INDENT;

	for (uint32_t column = 0; column < layout->table->column_count; column++) {
		if (layout->is_hidden[column])
			continue;
		total += layout->width[column] + GAP;
		if (layout->percent_width[column])
			total += layout->percent_width[column] + 1;
		if (layout->bar_width[column])
			total += layout->bar_width[column] + 1;
	}
	return total - GAP;
}

static bool is_too_wide(const struct layout *layout)
{
	return total_width(layout) > layout->style->width;
}

static bool is_path(const struct layout *layout, uint32_t column)
{
	return layout->table->columns[column].flags & MR_COLUMN_PATH;
}

/* Shortens the widest text, one by one, to no less than `least`, or `least_path` if it is a path, until the page is wide
 * enough. */
static void shorten_texts(struct layout *layout, size_t least, size_t least_path)
{
	while (is_too_wide(layout)) {
		uint32_t widest = MAX_COLUMNS;

		for (uint32_t column = 0; column < layout->table->column_count; column++)
			if (is_text(layout, column) && !layout->is_hidden[column] &&
			    layout->width[column] >
				    (is_path(layout, column) ? least_path : least) &&
			    (widest == MAX_COLUMNS ||
			     layout->width[column] > layout->width[widest]))
				widest = column;
		if (widest == MAX_COLUMNS)
			return;
		layout->width[widest]--;
	}
}

static void drop_spare_columns(struct layout *layout)
{
	for (uint32_t column = 0; column < layout->table->column_count; column++)
		if (is_too_wide(layout) && layout->table->columns[column].flags & MR_COLUMN_SPARE)
			layout->is_hidden[column] = true;
}

/* A name that can still be told from others is worth more than a spare number. */
static void fit(struct layout *layout)
{
	shorten_texts(layout, TEXT_WIDTH, PATH_WIDTH);
	drop_spare_columns(layout);
	shorten_texts(layout, BRIEF_WIDTH, PATH_WIDTH);
	shorten_texts(layout, MIN_TEXT_WIDTH, MIN_TEXT_WIDTH);
}

/* ---- printing ------------------------------------------------------------------------------------- */

/* The last visible column gets no padding on its right. */
static bool is_last(const struct layout *layout, uint32_t column)
{
	for (uint32_t i = column + 1; i < layout->table->column_count; i++)
		if (!layout->is_hidden[i])
			return false;
	return true;
}

static void print_cell(const struct layout *layout, uint32_t column, const char *text)
{
	size_t width = layout->width[column], used = mr_text_width(text);
	int padding = (int)(width > used ? width - used : 0);

	if (!is_text(layout, column))
		fprintf(layout->file, "%*s%s", padding, "", text);
	else
		fprintf(layout->file, "%s%*s", text, is_last(layout, column) ? 0 : padding, "");
}

static void print_text(const struct layout *layout, uint32_t column, const char *text)
{
	char cut[4 * layout->width[column] + 4];

	if (is_path(layout, column))
		mr_path_fit(cut, text, layout->width[column]);
	else
		mr_text_fit(cut, text, layout->width[column]);
	print_cell(layout, column, cut);
}

static void print_bar(const struct layout *layout, int64_t permille)
{
	int64_t length = permille == MR_NO_VALUE ? 0 : (permille * BAR_WIDTH + 999) / 1000;

	fputs(length ? " " : "", layout->file);
	for (int64_t i = 0; i < length; i++)
		fputs(layout->style->utf8 ? "█" : "#", layout->file);
}

static void print_number(const struct layout *layout, uint32_t column, int64_t number)
{
	char cell[MR_FORMAT_BYTES];

	format_number(layout, column, number, cell);
	print_cell(layout, column, cell);
	if (layout->percent_width[column]) {
		mr_format_percent(cell, number, layout->table->wholes[column]);
		fprintf(layout->file, " %*s", (int)layout->percent_width[column], cell);
	}
	if (layout->bar_width[column])
		print_bar(layout, number);
}

static void begin_cell(const struct layout *layout, uint32_t column)
{
	fprintf(layout->file, "%*s", column == 0 ? INDENT : GAP, "");
}

static void print_head(const struct layout *layout)
{
	fputs(layout->style->colour ? "\033[2m" : "", layout->file);
	for (uint32_t column = 0; column < layout->table->column_count; column++) {
		if (layout->is_hidden[column])
			continue;
		begin_cell(layout, column);
		print_cell(layout, column, layout->table->columns[column].title);
		if (layout->percent_width[column] && !is_last(layout, column))
			fprintf(layout->file, "%*s", (int)layout->percent_width[column] + 1, "");
	}
	fputs(layout->style->colour ? "\033[0m\n" : "\n", layout->file);
}

static void print_row(const struct layout *layout, uint32_t row)
{
	for (uint32_t column = 0; column < layout->table->column_count; column++) {
		const union mr_value *value = mr_finding_value(layout->table, row, column);

		if (layout->is_hidden[column])
			continue;
		begin_cell(layout, column);
		if (is_text(layout, column))
			print_text(layout, column, value->text);
		else
			print_number(layout, column, value->number);
	}
	fputc('\n', layout->file);
}

static void print_others(const struct layout *layout)
{
	const struct mr_finding_table *table = layout->table;
	char name[OTHERS_BYTES];

	name_others(layout, name);
	for (uint32_t column = 0; column < table->column_count; column++) {
		if (layout->is_hidden[column])
			continue;
		begin_cell(layout, column);
		if (is_first(layout, column))
			print_cell(layout, column, name);
		else if (is_additive(layout, column))
			print_number(layout, column, sum_others(layout, column));
		else
			print_cell(layout, column, "");
	}
	fputc('\n', layout->file);
}

void mr_finding_table_print(const struct mr_finding_table *table, const struct mr_text_style *style,
			    FILE *file)
{
	struct layout layout = {.table = table, .style = style, .file = file};
	uint32_t max_rows = style->brief && table->brief_rows ? table->brief_rows : style->max_rows;

	/* One row more is shown rather than summed up. */
	layout.shown_rows = table->row_count > max_rows + 1 ? max_rows : table->row_count;
	measure(&layout);
	fit(&layout);
	print_head(&layout);
	for (uint32_t row = 0; row < layout.shown_rows; row++)
		print_row(&layout, row);
	if (layout.shown_rows < table->row_count)
		print_others(&layout);
}
