/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads did with each file, pipe and socket, as system calls show it: the table Files. What goes through
 * memory maps and io_uring is no system call of the file's. Of a call that has two files the first one is known.
 */
#include "analysis/input_output.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"

enum {
	BRIEF_ROWS = 8,
};

/* What a system call does with its file. */
enum act {
	OTHER,
	OPEN,
	READ,
	WRITE,
	READ_MESSAGES, /* returns how many, not how long they are */
	WRITE_MESSAGES,
};

struct file_sum {
	uint32_t path;   /* string */
	bool is_partial; /* of some calls only the time in which they blocked is known */
	uint64_t calls;
	uint64_t opens;
	uint64_t reads;
	uint64_t writes;
	uint64_t read_bytes;
	uint64_t written_bytes;
	int64_t time_ns;
	int64_t blocked_ns;
};

struct files {
	const struct mr_model *model;
	struct mr_strings paths;      /* numbers of strings: files of one path are one row */
	mr_vec(struct file_sum) sums; /* in the order of paths */
	uint8_t *acts;                /* by number of the system call */
	size_t act_count;
	int64_t time_ns;
};

/* ---- system calls ------------------------------------------------------------------------------- */

static enum act act_of(const char *name)
{
	static const struct {
		const char *name;
		enum act act;
	} acts[] = {
		{"open", OPEN},
		{"creat", OPEN},
		{"openat", OPEN},
		{"openat2", OPEN},
		{"open_by_handle_at", OPEN},
		{"read", READ},
		{"pread64", READ},
		{"readv", READ},
		{"preadv", READ},
		{"preadv2", READ},
		{"recvfrom", READ},
		{"recvmsg", READ},
		{"recvmmsg", READ_MESSAGES},
		{"splice", READ},
		{"copy_file_range", READ},
		{"write", WRITE},
		{"pwrite64", WRITE},
		{"writev", WRITE},
		{"pwritev", WRITE},
		{"pwritev2", WRITE},
		{"sendto", WRITE},
		{"sendmsg", WRITE},
		{"sendmmsg", WRITE_MESSAGES},
		{"sendfile", WRITE},
	};

	for (size_t i = 0; i < mr_countof(acts); i++)
		if (strcmp(acts[i].name, name) == 0)
			return acts[i].act;
	return OTHER;
}

static int find_acts(struct files *files)
{
	const struct mr_definitions *definitions = &files->model->survey->definitions;

	files->act_count = definitions->system_calls.count;
	files->acts = calloc(files->act_count + 1, sizeof *files->acts);
	if (!files->acts)
		return -ENOMEM;
	for (size_t i = 0; i < files->act_count; i++)
		files->acts[i] =
			act_of(mr_model_text(files->model, definitions->system_calls.items[i]));
	return 0;
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* NULL without memory. It moves when another is added. */
static struct file_sum *sum_of(struct files *files, uint32_t file)
{
	uint32_t path = files->model->survey->definitions.files.items[file].path, number;

	if (mr_strings_intern(&files->paths, &path, sizeof path, &number) < 0 ||
	    (number == files->sums.count &&
	     mr_vec_push(&files->sums, ((struct file_sum){.path = path})) < 0))
		return NULL;
	return &files->sums.items[number];
}

static void add_act(struct file_sum *sum, enum act act, int64_t result)
{
	uint64_t bytes = result > 0 ? (uint64_t)result : 0;

	switch (act) {
	case OPEN: /* that of one that failed is the folder where it looked */
		sum->opens += result >= 0;
		break;
	case READ:
		sum->reads++;
		sum->read_bytes += bytes;
		break;
	case WRITE:
		sum->writes++;
		sum->written_bytes += bytes;
		break;
	case READ_MESSAGES:
		sum->reads++;
		break;
	case WRITE_MESSAGES:
		sum->writes++;
		break;
	case OTHER:
		break;
	}
}

static int add_up(struct files *files)
{
	const struct mr_system_calls *calls = &files->model->system_calls;

	for (uint32_t row = 0; row < calls->table.count; row++) {
		uint32_t number = calls->number[row];
		struct file_sum *sum;

		if (calls->file[row] == 0)
			continue;
		sum = sum_of(files, calls->file[row]);
		if (!sum)
			return -ENOMEM;
		sum->calls++;
		sum->is_partial |= (calls->flags[row] & MR_ROW_BLOCKED) != 0;
		mr_ns_add(&sum->time_ns, calls->duration_ns[row]);
		mr_ns_add(&sum->blocked_ns, calls->blocked_ns[row]);
		mr_ns_add(&files->time_ns, calls->duration_ns[row]);
		add_act(sum, number < files->act_count ? files->acts[number] : OTHER,
			calls->flags[row] & MR_ROW_UNFINISHED ? -1 : calls->result[row]);
	}
	return 0;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct file_sum *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? 1 : -1;
	return (a->path > b->path) - (a->path < b->path);
}

/* Where only calls that block were recorded, and of them only that, what they did is not known. */
static void fill(const struct mr_model *model, const struct file_sum *sum, union mr_value *cells)
{
	bool is_known = !sum->is_partial;
	const char *path = mr_model_text(model, sum->path);

	(cells++)->text = *path ? path : "(not known)";
	(cells++)->number = (int64_t)sum->calls;
	(cells++)->number = is_known ? (int64_t)sum->opens : MR_NO_VALUE;
	(cells++)->number = is_known ? (int64_t)sum->reads : MR_NO_VALUE;
	(cells++)->number = is_known ? (int64_t)sum->writes : MR_NO_VALUE;
	(cells++)->number = is_known ? (int64_t)sum->read_bytes : MR_NO_VALUE;
	(cells++)->number = is_known ? (int64_t)sum->written_bytes : MR_NO_VALUE;
	(cells++)->number = sum->time_ns;
	(cells++)->number = sum->blocked_ns;
}

static int show(struct files *files, struct mr_findings *findings, struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"file", "file", MR_UNIT_TEXT, MR_COLUMN_PATH},
		{"count", "calls", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
		{"opens", "opens", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
		{"reads", "reads", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
		{"writes", "writes", MR_UNIT_COUNT, MR_COLUMN_SUM | MR_COLUMN_SPARE},
		{"read_bytes", "read", MR_UNIT_BYTES, MR_COLUMN_SUM},
		{"written_bytes", "written", MR_UNIT_BYTES, MR_COLUMN_SUM},
		{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
		{"blocked_ns", "blocked", MR_UNIT_NS, MR_COLUMN_SUM},
	};
	uint32_t count = (uint32_t)files->sums.count;
	struct mr_finding_table *table = mr_finding_add_table(findings, finding, "by_file", "Files",
							      columns, mr_countof(columns), count);

	if (!table)
		return -ENOMEM;
	qsort(files->sums.items, count, sizeof *files->sums.items, compare);
	for (uint32_t i = 0; i < count; i++)
		fill(files->model, &files->sums.items[i], mr_finding_value(table, i, 0));
	table->wholes[mr_finding_column(table, "time_ns")] = files->time_ns;
	table->brief_rows = BRIEF_ROWS;
	mr_finding_check(table);
	return 0;
}

bool mr_has_files(const struct mr_model *model)
{
	for (uint32_t row = 0; row < model->system_calls.table.count; row++)
		if (model->system_calls.file[row])
			return true;
	return false;
}

int mr_tabulate_files(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	struct files files = {.model = model};
	int result = find_acts(&files);

	if (result == 0)
		result = add_up(&files);
	if (result == 0 && files.sums.count)
		result = show(&files, findings, finding);
	mr_strings_free(&files.paths);
	mr_vec_free(&files.sums);
	free(files.acts);
	return result;
}
