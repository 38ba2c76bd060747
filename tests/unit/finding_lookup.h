/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks into findings by the names of their columns, as whoever reads their JSON does. A column that is not there ends
 * the test.
 */
#ifndef MR_TESTS_UNIT_FINDING_LOOKUP_H
#define MR_TESTS_UNIT_FINDING_LOOKUP_H

#include "analysis/finding/finding.h"

const char *findings_text(const struct mr_finding_table *table, uint32_t row, const char *key);
int64_t findings_number(const struct mr_finding_table *table, uint32_t row, const char *key);

/* The row where two columns hold these texts; `other_key` NULL: where one does. -1 if there is none. */
int findings_row(const struct mr_finding_table *table, const char *key, const char *text,
		 const char *other_key, const char *other_text);

/* Is that one of the sentences? */
bool findings_say(const struct mr_findings *findings, const char *text);

#endif
