/* SPDX-License-Identifier: Apache-2.0 */
#include "finding_lookup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const char *findings_text(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	for (uint32_t column = 0; column < table->column_count; column++)
		if (strcmp(table->columns[column].key, key) == 0)
			return mr_finding_value(table, row, column)->text;
	fail_msg("no column %s", key);
	return NULL;
}

int64_t findings_number(const struct mr_finding_table *table, uint32_t row, const char *key)
{
	for (uint32_t column = 0; column < table->column_count; column++)
		if (strcmp(table->columns[column].key, key) == 0)
			return mr_finding_value(table, row, column)->number;
	fail_msg("no column %s", key);
	return 0;
}

int findings_row(const struct mr_finding_table *table, const char *key, const char *text,
		 const char *other_key, const char *other_text)
{
	for (uint32_t row = 0; table && row < table->row_count; row++)
		if (strcmp(findings_text(table, row, key), text) == 0 &&
		    (!other_key || strcmp(findings_text(table, row, other_key), other_text) == 0))
			return (int)row;
	return -1;
}

bool findings_say(const struct mr_findings *findings, const char *text)
{
	for (size_t i = 0; i < findings->list.count; i++)
		for (size_t j = 0; j < findings->list.items[i]->sentences.count; j++)
			if (strcmp(findings->list.items[i]->sentences.items[j].text, text) == 0)
				return true;
	return false;
}
