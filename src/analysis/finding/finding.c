/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/finding.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

void mr_findings_free(struct mr_findings *findings)
{
	for (size_t i = 0; i < findings->list.count; i++) {
		struct mr_finding *finding = findings->list.items[i];

		mr_vec_free(&finding->sentences);
		mr_vec_free(&finding->tables);
		mr_vec_free(&finding->evidence);
	}
	mr_vec_free(&findings->list);
	for (size_t i = 0; i < findings->diagnosis.problems.count; i++)
		mr_vec_free(&findings->diagnosis.problems.items[i].evidence);
	mr_vec_free(&findings->diagnosis.problems);
	mr_region_free(&findings->region);
}

struct mr_finding *mr_findings_add(struct mr_findings *findings, const char *id, const char *title)
{
	struct mr_finding *finding = mr_region_allocate(&findings->region, sizeof *finding);

	if (!finding || mr_vec_push(&findings->list, finding) < 0)
		return NULL;
	finding->id = id;
	finding->title = title;
	return finding;
}

int mr_finding_say(struct mr_findings *findings, struct mr_finding *finding,
		   enum mr_severity severity, const char *format, ...)
{
	va_list arguments;
	char *printed = NULL;

	va_start(arguments, format);
	int length = vasprintf(&printed, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	const char *text = mr_region_copy(&findings->region, printed, (size_t)length);
	free(printed);
	if (!text)
		return -ENOMEM;
	finding->severity = mr_max(finding->severity, severity);
	return mr_vec_push(&finding->sentences, ((struct mr_sentence){severity, text}));
}

struct mr_finding_table *mr_finding_add_table(struct mr_findings *findings,
					      struct mr_finding *finding, const char *id,
					      const char *title,
					      const struct mr_finding_column *columns,
					      uint32_t column_count, uint32_t row_count)
{
	struct mr_region *region = &findings->region;
	struct mr_finding_table *table = mr_region_allocate(region, sizeof *table);

	if (!table)
		return NULL;
	*table = (struct mr_finding_table){
		.id = id,
		.title = title,
		.columns = columns,
		.column_count = column_count,
		.row_count = row_count,
		.values = mr_region_allocate(region, (size_t)row_count * column_count *
							     sizeof *table->values),
		.wholes = mr_region_allocate(region, column_count * sizeof *table->wholes),
	};
	if (!table->values || !table->wholes || mr_vec_push(&finding->tables, table) < 0)
		return NULL;
	return table;
}

int mr_finding_prove(struct mr_finding *finding, struct mr_evidence evidence)
{
	return mr_vec_push(&finding->evidence, evidence);
}

struct mr_finding *mr_findings_find(const struct mr_findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->list.count; i++)
		if (strcmp(findings->list.items[i]->id, id) == 0)
			return findings->list.items[i];
	return NULL;
}

const struct mr_finding_table *mr_findings_find_table(const struct mr_findings *findings,
						      const char *finding, const char *table)
{
	const struct mr_finding *found = mr_findings_find(findings, finding);

	for (size_t i = 0; found && i < found->tables.count; i++)
		if (strcmp(found->tables.items[i]->id, table) == 0)
			return found->tables.items[i];
	return NULL;
}

uint32_t mr_finding_column(const struct mr_finding_table *table, const char *key)
{
	uint32_t column = 0;

	while (strcmp(table->columns[column].key, key) != 0)
		column++;
	return column;
}

void mr_finding_check(const struct mr_finding_table *table)
{
	for (uint32_t column = 0; column < table->column_count; column++) {
		uint64_t sum = 0;

		if (!(table->columns[column].flags & MR_COLUMN_BREAKDOWN))
			continue;
		for (uint32_t row = 0; row < table->row_count; row++)
			sum += (uint64_t)mr_finding_value(table, row, column)->number;
		assert(sum == (uint64_t)table->wholes[column]);
		(void)sum;
	}
}

const char *mr_severity_name(enum mr_severity severity)
{
	switch (severity) {
	case MR_SEVERITY_FINE:
		return "fine";
	case MR_SEVERITY_NOTE:
		return "note";
	case MR_SEVERITY_WARNING:
		return "warning";
	}
	return "fine";
}

const char *mr_confidence_name(enum mr_confidence confidence)
{
	switch (confidence) {
	case MR_CONFIDENCE_POSSIBLE:
		return "possible";
	case MR_CONFIDENCE_LIKELY:
		return "likely";
	case MR_CONFIDENCE_SURE:
		return "sure";
	}
	return "possible";
}
