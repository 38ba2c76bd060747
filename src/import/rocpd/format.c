/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "import/rocpd/rocpd.h"

#define KERNELS "rocpd_kernel_dispatch"

/* The recordings of a file: what follows the name of a table that each has. */
#define SUFFIXES                                                                               \
	"SELECT substr(name, length('" KERNELS "') + 1) FROM main.sqlite_master WHERE type = " \
	"'table' AND name LIKE '" KERNELS "%' ORDER BY 1"

static enum mr_sniff sniff(const struct mr_head *head)
{
	sqlite3_stmt *rows = NULL;

	if (head->is_folder || !mr_database_is(head))
		return MR_SNIFF_NO;
	sqlite3 *database = mr_database_open(head->path);
	bool is_one = database && mr_database_prepare(database, SUFFIXES, &rows) == 0 && rows &&
		      mr_database_next(rows) == 1;

	sqlite3_finalize(rows);
	sqlite3_close(database);
	return is_one ? MR_SNIFF_SURE : MR_SNIFF_NO;
}

static int read_recording(void *reader, sqlite3_stmt *row)
{
	struct mr_rocpd *rocpd = reader;
	char table[256];

	rocpd->suffix = (const char *)sqlite3_column_text(row, 0);
	if (!rocpd->suffix)
		return 0;
	snprintf(table, sizeof table, "rocpd_timestamp%s", rocpd->suffix);
	rocpd->has_tracks = mr_database_has_table(rocpd->database, table);
	return mr_rocpd_read(rocpd);
}

static int read_trace(struct mr_import *import)
{
	struct mr_rocpd rocpd = {.import = import,
				 .builder = &import->builder,
				 .database = mr_database_open(import->path)};
	sqlite3_stmt *rows = NULL;
	int result =
		rocpd.database ? mr_database_prepare(rocpd.database, SUFFIXES, &rows) : -ENOMEM;

	if (result == 0)
		result = mr_database_each(import, rows, read_recording, &rocpd);
	if (result == 0)
		result = mr_step_marks_add_steps(&rocpd.marks, rocpd.builder);
	sqlite3_close(rocpd.database);
	mr_vec_free(&rocpd.first_threads);
	mr_step_marks_free(&rocpd.marks);
	return result;
}

const struct mr_format mr_rocpd_format = {
	.name = "SQLite of rocprofv3 (rocpd)",
	.sniff = sniff,
	.read = read_trace,
};
