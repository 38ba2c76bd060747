/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the second half of doc/tables.md from the descriptions of src/model and src/query: every
 * table and every column.
 */
#include <stdio.h>

#include "query/describe.h"

static void print_table(const struct mr_table_desc *table)
{
	printf("\n### %s\n\n%s\n\n| column | type | meaning |\n|---|---|---|\n", table->name,
	       table->doc);
	for (uint32_t i = 0; i < table->column_count; i++) {
		struct mr_described columns[2];
		uint32_t count = mr_describe_column(&table->columns[i], columns);

		for (uint32_t j = 0; j < count; j++)
			printf("| %s | %s | %s |\n", columns[j].name,
			       columns[j].is_text ? "text" : "integer", columns[j].about);
	}
}

int main(void)
{
	fputs("## Tables\n\n"
	      "tools/tables_doc.c prints this section from src/model/table.h, "
	      "kernel_columns.h, runtime_columns.h and "
	      "src/query/lists.c; `make doc` renews it.\n",
	      stdout);
	for (const struct mr_table_desc *const *table = mr_described_tables; *table; table++)
		print_table(*table);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
