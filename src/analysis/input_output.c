/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads asked of files, disks and sockets, and what memory and interrupts cost them.
 */
#include "analysis/analysis.h"

#include <stdlib.h>

#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"
#include "analysis/input_output.h"
#include "base/error.h"

/* ---- disks -------------------------------------------------------------------------------------- */

struct disk_key {
	uint32_t device;
	uint32_t operation;
};

struct disk_sum {
	struct disk_key key;
	uint64_t requests;
	uint64_t bytes;
	int64_t queue_ns;
	int64_t service_ns;
	uint64_t errors;
};

typedef mr_vec(struct disk_sum) disk_sums;

/* There are few disks, so looking through all is fast enough. */
static struct disk_sum *find_disk(disk_sums *sums, struct disk_key key)
{
	for (size_t i = 0; i < sums->count; i++)
		if (sums->items[i].key.device == key.device &&
		    sums->items[i].key.operation == key.operation)
			return &sums->items[i];
	if (mr_vec_push(sums, (struct disk_sum){.key = key}) < 0)
		return NULL;
	return &sums->items[sums->count - 1];
}

static int add_up_disks(const struct mr_model *model, disk_sums *sums)
{
	const struct mr_block_io *io = &model->block_io;

	for (uint32_t row = 0; row < io->table.count; row++) {
		struct disk_sum *sum =
			find_disk(sums, (struct disk_key){io->device[row], io->operation[row]});

		if (!sum)
			return -ENOMEM;
		sum->requests++;
		sum->bytes += io->bytes[row];
		mr_ns_add(&sum->queue_ns, io->queue_ns[row]);
		mr_ns_add(&sum->service_ns, io->duration_ns[row] - io->queue_ns[row]);
		sum->errors += io->error[row] != 0;
	}
	return 0;
}

static int show_disks(struct mr_findings *findings, struct mr_finding *finding,
		      const disk_sums *sums)
{
	static const struct mr_finding_column columns[] = {
		{"device", "disk", MR_UNIT_TEXT, 0},
		{"operation", "operation", MR_UNIT_TEXT, 0},
		{"requests", "requests", MR_UNIT_COUNT, MR_COLUMN_SUM},
		{"bytes", "bytes", MR_UNIT_BYTES, MR_COLUMN_SUM},
		{"queue_ns", "in queue", MR_UNIT_NS, MR_COLUMN_SUM},
		{"service_ns", "in service", MR_UNIT_NS, MR_COLUMN_SUM},
		{"errors", "errors", MR_UNIT_COUNT, MR_COLUMN_SUM},
	};
	static const char *const operations[] = {
		[MR_block_operation_read] = "read",   [MR_block_operation_write] = "write",
		[MR_block_operation_flush] = "flush", [MR_block_operation_discard] = "discard",
		[MR_block_operation_other] = "other",
	};
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "by_disk", "Disks", columns,
				     mr_countof(columns), (uint32_t)sums->count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct disk_sum *sum = &sums->items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].text = mr_region_print(&findings->region, "%u:%u", sum->key.device >> 20,
						sum->key.device & ((1u << 20) - 1));
		if (!cells[0].text)
			return -ENOMEM;
		cells[1].text = sum->key.operation < mr_countof(operations)
					? operations[sum->key.operation]
					: "?";
		cells[2].number = (int64_t)sum->requests;
		cells[3].number = (int64_t)sum->bytes;
		cells[4].number = sum->queue_ns;
		cells[5].number = sum->service_ns;
		cells[6].number = (int64_t)sum->errors;
	}
	return 0;
}

static int add_disks(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	disk_sums sums = {0};
	int result = add_up_disks(model, &sums);

	if (result == 0 && sums.count)
		result = show_disks(findings, finding, &sums);
	mr_vec_free(&sums);
	return result;
}

/* ---- sockets ------------------------------------------------------------------------------------ */

struct socket_sum {
	uint32_t file;
	uint64_t sent;
	uint64_t received;
};

static int compare_sockets(const void *left, const void *right)
{
	const struct socket_sum *a = left, *b = right;
	uint64_t of_a = a->sent + a->received, of_b = b->sent + b->received;

	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return (a->file > b->file) - (a->file < b->file);
}

static int add_sockets(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"socket", "socket", MR_UNIT_TEXT, 0},
		{"sent_bytes", "sent", MR_UNIT_BYTES, MR_COLUMN_SUM},
		{"received_bytes", "received", MR_UNIT_BYTES, MR_COLUMN_SUM},
	};
	const struct mr_socket_bytes *traffic = &model->socket_bytes;
	size_t file_count = model->survey->definitions.files.count;
	mr_auto(free) struct socket_sum *sums = calloc(file_count, sizeof *sums);
	uint32_t count = 0;

	if (!sums)
		return -ENOMEM;
	for (uint32_t row = 0; row < traffic->table.count; row++) {
		struct socket_sum *sum = &sums[traffic->file[row]];

		*(traffic->is_receive[row] ? &sum->received : &sum->sent) += traffic->bytes[row];
	}
	for (uint32_t file = 0; file < file_count; file++)
		if (sums[file].sent || sums[file].received) {
			sums[count] = sums[file];
			sums[count++].file = file;
		}
	qsort(sums, count, sizeof *sums, compare_sockets);
	struct mr_finding_table *table =
		count ? mr_finding_add_table(findings, finding, "by_socket", "Sockets", columns,
					     mr_countof(columns), count)
		      : NULL;
	if (count && !table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].text = sums[i].file ? mr_file_path(model, sums[i].file) : "(not known)";
		cells[1].number = (int64_t)sums[i].sent;
		cells[2].number = (int64_t)sums[i].received;
	}
	return 0;
}

/* ---- memory and interrupts ---------------------------------------------------------------------- */

static int name_thread(const struct mr_model *model, struct mr_findings *findings, const void *key,
		       uint32_t row, union mr_value *cells)
{
	uint32_t track = *(const uint32_t *)key;

	(void)findings, (void)row;
	cells[0].text = mr_track_text(model, track);
	cells[1].number = mr_track_pid(model, track);
	cells[2].number = model->survey->tracks.items[track].tid;
	return 0;
}

static int add_faults(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"thread", "thread", MR_UNIT_TEXT, 0},
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"tid", "tid", MR_UNIT_NUMBER, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_fault", "Major faults, by thread", columns,
						  mr_countof(columns), name_thread};
	const struct mr_major_faults *faults = &model->major_faults;
	mr_auto(tally) struct mr_tally tally = {0};
	int64_t whole_ns = 0;

	if (faults->table.count == 0)
		return 0;
	for (uint32_t row = 0; row < faults->table.count; row++) {
		mr_ns_add(&whole_ns, faults->duration_ns[row]);
		if (mr_tally_add(&tally, &faults->track[row], sizeof faults->track[row],
				 faults->duration_ns[row], row) < 0)
			return -ENOMEM;
	}
	return mr_tally_show(&tally, model, findings, finding, &look, whole_ns);
}

struct interrupt_key {
	uint32_t kind;
	uint32_t number;
};

static int name_interrupt(const struct mr_model *model, struct mr_findings *findings,
			  const void *key, uint32_t row, union mr_value *cells)
{
	const struct interrupt_key *interrupt = key;

	(void)model, (void)row;
	cells[0].text = mr_interrupt_kind_name(interrupt->kind);
	cells[1].text = mr_interrupt_text(&findings->region, interrupt->kind, interrupt->number);
	return cells[1].text ? 0 : -ENOMEM;
}

/* By the time that is an interrupt's own, so that none counts twice. */
static int add_interrupts(const struct mr_model *model, struct mr_findings *findings,
			  struct mr_finding *finding)
{
	static const struct mr_finding_column columns[] = {
		{"interrupt", "kind", MR_UNIT_TEXT, 0},
		{"interrupt_name", "which", MR_UNIT_TEXT, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_interrupt", "Taken by interrupts", columns,
						  mr_countof(columns), name_interrupt};
	const struct mr_interrupts *interrupts = &model->interrupts;
	mr_auto(tally) struct mr_tally tally = {0};
	int64_t whole_ns = 0;

	if (interrupts->table.count == 0)
		return 0;
	for (uint32_t row = 0; row < interrupts->table.count; row++) {
		const struct interrupt_key key = {interrupts->kind[row], interrupts->number[row]};

		mr_ns_add(&whole_ns, interrupts->self_ns[row]);
		if (mr_tally_add(&tally, &key, sizeof key, interrupts->self_ns[row], row) < 0)
			return -ENOMEM;
	}
	return mr_tally_show(&tally, model, findings, finding, &look, whole_ns);
}

int mr_analyse_input_output(const struct mr_model *model, struct mr_findings *findings)
{
	if (!model->block_io.table.count && !model->socket_bytes.table.count &&
	    !model->major_faults.table.count && !model->interrupts.table.count &&
	    !mr_has_files(model))
		return 0;
	struct mr_finding *finding = mr_finding_begin(findings, "input_output");
	if (!finding || mr_tabulate_files(model, findings, finding) < 0 ||
	    add_disks(model, findings, finding) < 0 || add_sockets(model, findings, finding) < 0 ||
	    add_faults(model, findings, finding) < 0 ||
	    add_interrupts(model, findings, finding) < 0)
		return mr_fail_errno(ENOMEM, "analyse input and output");
	return 0;
}
