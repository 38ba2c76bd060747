/* SPDX-License-Identifier: Apache-2.0 */
#include "query/plan.h"

#include <string.h>

enum {
	ROWID = -1,       /* as SQLite numbers it */
	ORDER_MARK = 'b', /* begins what rows are ordered by */
};

/* ---- choosing ------------------------------------------------------------------------------------- */

/* '\0' for conditions that narrow nothing. */
static char letter_of_condition(unsigned char operator)
{
	switch (operator) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	default:
		return '\0';
	}
}

static bool is_column(const struct mr_relation *relation, int number, uint32_t column)
{
	return relation->first_of_track && number >= 0 && (uint32_t)number == column;
}

/* Of the columns that rows stand in order of; '\0' for others. */
static char letter_of_column(const struct mr_relation *relation, int number)
{
	return number == ROWID                                   ? 'r'
	       : is_column(relation, number, relation->track)    ? 't'
	       : is_column(relation, number, relation->start_ns) ? 's'
								 : '\0';
}

static bool has_condition(const struct mr_relation *relation, const sqlite3_index_info *info,
			  char column, char condition)
{
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraint[i].usable &&
		    letter_of_column(relation, info->aConstraint[i].iColumn) == column &&
		    letter_of_condition(info->aConstraint[i].op) == condition)
			return true;
	return false;
}

/* Whether the rows of a value are looked up: for a join, that is, a value which is not the same for all
 * of the query. Where it is, a scan is as good, and leaves the order of rows to be chosen. */
static bool is_join(const struct mr_relation *relation, sqlite3_index_info *info, int i)
{
	int column = info->aConstraint[i].iColumn;
	sqlite3_value *constant;

	return info->aConstraint[i].usable && column >= 0 &&
	       info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       !relation->columns[column].dictionary && !letter_of_column(relation, column) &&
	       sqlite3_vtab_rhs_value(info, i, &constant) == SQLITE_NOTFOUND;
}

/* The condition for which rows are looked up, or -1. */
static int choose_lookup(const struct mr_relation *relation, sqlite3_index_info *info)
{
	if (!has_condition(relation, info, 'r', '='))
		for (int i = 0; i < info->nConstraint; i++)
			if (is_join(relation, info, i))
				return i;
	return -1;
}

/* Asks for the values of all conditions that help. Times do so within one track only. */
static void choose_conditions(const struct mr_relation *relation, sqlite3_index_info *info,
			      int lookup, sqlite3_str *plan)
{
	bool one_track = has_condition(relation, info, 't', '=');
	int count = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		char column = i == lookup
				      ? 'l'
				      : letter_of_column(relation, info->aConstraint[i].iColumn);
		char condition = letter_of_condition(info->aConstraint[i].op);

		if (!info->aConstraint[i].usable || !column || !condition ||
		    (column == 's' && !one_track))
			continue;
		info->aConstraintUsage[i].argvIndex = ++count;
		sqlite3_str_appendf(plan, "%c%c", column, condition);
	}
}

/* The table's own order is track, start_ns, rowid; in one track the track says nothing, and one row is in
 * any order. */
static bool is_own_order(const struct mr_relation *relation, const sqlite3_index_info *info)
{
	bool one_track = has_condition(relation, info, 't', '=');
	const char *wanted = one_track ? "s" : "ts";

	if (has_condition(relation, info, 'r', '='))
		return true;
	for (int i = 0; i < info->nOrderBy; i++) {
		char column = letter_of_column(relation, info->aOrderBy[i].iColumn);

		if (one_track && column == 't')
			continue;
		if (info->aOrderBy[i].desc)
			return false;
		if (column == 'r')
			return true;
		if (!column || column != *wanted)
			return false;
		wanted++;
	}
	return true;
}

static bool can_order(const struct mr_relation *relation, const sqlite3_index_info *info)
{
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn < 0 ||
		    !mr_order_is_possible(&relation->columns[info->aOrderBy[i].iColumn]))
			return false;
	return info->nOrderBy > 0 && info->nOrderBy <= MR_PLAN_TERMS;
}

/* Rough, but in the right order: one row before a few before one track before all rows. */
static double estimate_rows(const struct mr_relation *relation, const sqlite3_index_info *info,
			    int lookup)
{
	double rows = relation->end_row - relation->first_row;

	if (has_condition(relation, info, 'r', '='))
		return 1;
	if (has_condition(relation, info, 't', '='))
		rows /= mr_max(relation->track_count, 1u);
	if (lookup >= 0) {
		uint32_t end = relation->columns[info->aConstraint[lookup].iColumn].end;

		rows = mr_min(rows, end ? rows / end : 4.0);
	}
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraintUsage[i].argvIndex)
			rows /= 2;
	return mr_max(rows, 1.0);
}

int mr_plan_choose(const struct mr_relation *relation, sqlite3_index_info *info)
{
	sqlite3_str *plan = sqlite3_str_new(NULL);
	int lookup = choose_lookup(relation, info);

	choose_conditions(relation, info, lookup, plan);
	info->idxNum = lookup >= 0 ? info->aConstraint[lookup].iColumn : MR_PLAN_NO_LOOKUP;
	info->orderByConsumed = is_own_order(relation, info);
	double rows = estimate_rows(relation, info, lookup);
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = rows;
	if (!info->orderByConsumed && lookup < 0 && can_order(relation, info)) {
		sqlite3_str_appendall(plan, "by");
		for (int i = 0; i < info->nOrderBy; i++)
			sqlite3_str_appendf(plan, " %d%c", info->aOrderBy[i].iColumn,
					    info->aOrderBy[i].desc ? 'd' : 'a');
		info->orderByConsumed = true;
		info->estimatedCost += rows;
	}
	int result = sqlite3_str_errcode(plan);
	info->idxStr = sqlite3_str_finish(plan); /* NULL: nothing to say */
	info->needToFreeIdxStr = true;
	return result;
}

/* ---- carrying out --------------------------------------------------------------------------------- */

/* low <= value < high. */
struct range {
	int64_t low, high;
};

/* Values beyond what SQLite calls an integer narrow nothing. */
static void narrow(struct range *range, char condition, sqlite3_value *value)
{
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return;
	int64_t number = sqlite3_value_int64(value);
	int64_t next = number < INT64_MAX ? number + 1 : number;

	if (condition == '=' || condition == 'g')
		range->low = mr_max(range->low, number);
	if (condition == '>')
		range->low = mr_max(range->low, next);
	if (condition == '=' || condition == 'l')
		range->high = mr_min(range->high, next);
	if (condition == '<')
		range->high = mr_min(range->high, number);
}

/* The first row of [first, end) that does not start before `time`. */
static uint32_t bisect(const struct mr_relation *relation, uint32_t first, uint32_t end,
		       int64_t time)
{
	const struct mr_field *start_ns = &relation->columns[relation->start_ns].field;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if ((int64_t)mr_field_read(start_ns, middle) < time)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

void mr_plan_rows(const struct mr_relation *relation, const char *plan, sqlite3_value **values,
		  uint32_t *ret_first, uint32_t *ret_end)
{
	struct range rows = {relation->first_row, relation->end_row};
	struct range tracks = {0, relation->track_count};
	struct range times = {INT64_MIN, INT64_MAX};

	for (; plan && *plan && *plan != ORDER_MARK; plan += 2, values++)
		if (*plan != 'l')
			narrow(*plan == 'r'   ? &rows
			       : *plan == 't' ? &tracks
					      : &times,
			       plan[1], *values);
	*ret_first = *ret_end = relation->first_row;
	if (rows.low >= rows.high || (relation->first_of_track && tracks.low >= tracks.high))
		return;
	if (relation->first_of_track) {
		rows.low = mr_max(rows.low, (int64_t)relation->first_of_track[tracks.low]);
		rows.high = mr_min(rows.high, (int64_t)relation->first_of_track[tracks.high]);
	}
	uint32_t first = (uint32_t)rows.low, end = (uint32_t)mr_max(rows.low, rows.high);
	bool is_one_track = tracks.high - tracks.low == 1;
	*ret_first = is_one_track ? bisect(relation, first, end, times.low) : first;
	*ret_end = is_one_track && times.high < INT64_MAX
			   ? bisect(relation, *ret_first, end, times.high)
			   : end;
}

bool mr_plan_lookup(const char *plan, sqlite3_value **values, uint64_t *ret_value)
{
	for (; *plan != 'l'; plan += 2)
		values++;
	*ret_value = (uint64_t)sqlite3_value_int64(*values);
	return sqlite3_value_type(*values) == SQLITE_INTEGER;
}

uint32_t mr_plan_terms(const struct mr_relation *relation, const char *plan,
		       struct mr_order_term *terms)
{
	uint32_t count = 0;
	const char *at = plan ? strchr(plan, ORDER_MARK) : NULL;

	for (at = at ? strchr(at, ' ') : NULL; at; at = strchr(at, ' ')) {
		char *end;
		long column = strtol(at, &end, 10);

		terms[count++] = (struct mr_order_term){&relation->columns[column], *end == 'd'};
		at = end;
	}
	return count;
}
