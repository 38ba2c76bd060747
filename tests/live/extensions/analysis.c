/* SPDX-License-Identifier: Apache-2.0
 *
 * An analysis that needs another one's finding, and says which it got.
 */
#include "analysis/analysis.h"

static const struct mr_finding_column columns[] = {
	{"finding", "finding", MR_UNIT_TEXT, 0},
	{"sentences", "sentences", MR_UNIT_COUNT, MR_COLUMN_SUM},
};

int mr_analyse_weather(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_finding *memory = mr_findings_find(findings, "memory");
	struct mr_finding *finding = mr_finding_begin(findings, "weather");
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "sky", "Sky", columns, 2, 1);

	(void)model;
	mr_finding_value(table, 0, 0)->text =
		memory ? memory->title : "memory was not looked at yet";
	mr_finding_value(table, 0, 1)->number = 7;
	return mr_finding_say(findings, finding, MR_SEVERITY_NOTE, "The sky was blue.");
}
