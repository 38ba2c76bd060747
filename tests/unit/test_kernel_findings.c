/* SPDX-License-Identifier: Apache-2.0
 *
 * What the analyses make of the kernel level, on a trace of two threads whose every nanosecond is known.
 *
 *     reader (7)   CPU 0  ├ run ┤ blocked: read of a pipe ┤ wants CPU 0 ┤ run ┤ blocked: disk ┤ run ┤ sleeps
 *                  100   200                              500           600   700            900   1000
 *     writer (8)   CPU 1        runs from 150 to 500, wakes the reader at 500, blocked in futex from then on
 *     CPU 0               from 200: idle until 520, then stress (99) until 600
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "kernel_trace.h"

enum {
	READ = 0,
	NANOSLEEP = 35,
	FUTEX = 202,
	PREAD = 17,
	PIPE = 1, /* files */
	DATA,
	SOCKET,
	TIMER, /* strings */
	END_NS = 1300,
};

static struct mr_model *model;
static struct mr_findings findings;

static void define(void)
{
	KERNEL(0, def_syscall, 50, "read", .number = READ);
	KERNEL(0, def_syscall, 50, "pread64", .number = PREAD);
	KERNEL(0, def_syscall, 50, "nanosleep", .number = NANOSLEEP);
	KERNEL(0, def_file, 50, "pipe:[1]", .id = PIPE);
	KERNEL(0, def_file, 50, "/data/train", .id = DATA);
	KERNEL(0, def_file, 50, "TCP:[1.2.3.4:5]", .id = SOCKET);
	KERNEL(0, def_string, 50, "hrtimer_wakeup", .id = TIMER);
	KERNEL(0, kernel_task_name, 60, "stress", .tid = 99);
	kernel_born(0, 90, 1, 7, 7, "reader");
	kernel_born(1, 140, 7, 8, 7, "writer");
}

static void write_cpu_0(void)
{
	kernel_switch(0, 100, 0, 7, 0);
	KERNEL(0, kernel_interrupt, 150, NULL, .tid = 7, .number = 1,
	       .kind = MR_interrupt_kind_softirq, .duration_ns = mr_u48_from(10));
	KERNEL(0, kernel_interrupt, 155, NULL, .tid = 7, .number = 9, .kind = MR_interrupt_kind_irq,
	       .duration_ns = mr_u48_from(30));
	kernel_switch(0, 200, 7, 0, MR_switch_reason_interruptible);
	kernel_switch(0, 520, 0, 99, MR_switch_reason_preempted);
	kernel_switch(0, 600, 99, 7, MR_switch_reason_preempted);
	KERNEL(0, kernel_syscall, 610, NULL, .tid = 7, .number = READ, .file = PIPE,
	       .duration_ns = mr_u48_from(420), .result = 1);
	KERNEL(0, kernel_socket, 620, NULL, .tid = 7, .file = SOCKET, .bytes = 1000);
	KERNEL(0, kernel_socket, 630, NULL, .tid = 7, .file = SOCKET, .bytes = 30,
	       .direction = MR_direction_receive);
	kernel_switch(0, 700, 7, 0, MR_switch_reason_disk);
	KERNEL(0, kernel_block_io, 890, NULL, .tid = 7, .device = 254 << 20 | 1, .bytes = 4096,
	       .queue_ns = mr_u48_from(40), .service_ns = mr_u48_from(140));
	KERNEL(0, kernel_waking, 900, NULL, .tid = 7, .waker_tid = 0,
	       .context = MR_wake_context_softirq);
	kernel_switch(0, 900, 0, 7, 0);
	KERNEL(0, kernel_syscall, 910, NULL, .tid = 7, .number = PREAD, .file = DATA,
	       .duration_ns = mr_u48_from(220), .result = 4096);
	KERNEL(0, kernel_major_fault, 950, NULL, .tid = 7, .address = 4096,
	       .duration_ns = mr_u48_from(25));
	kernel_switch(0, 1000, 7, 0, MR_switch_reason_interruptible);
	KERNEL(0, kernel_waking, 1200, NULL, .tid = 7, .waker_tid = 99, .source = TIMER,
	       .context = MR_wake_context_hrtimer);
	kernel_switch(0, 1200, 0, 7, 0);
	KERNEL(0, kernel_syscall_argument, 1220, NULL, .tid = 7, .number = NANOSLEEP,
	       .duration_ns = mr_u48_from(230), .result = 0);
}

static void write_cpu_1(void)
{
	kernel_switch(1, 150, 0, 8, 0);
	kernel_wake(1, 500, 7, 8);
	kernel_switch(1, 500, 8, 0, MR_switch_reason_interruptible);
	KERNEL(1, kernel_syscall_unfinished, END_NS, NULL, .tid = 8, .number = FUTEX,
	       .duration_ns = END_NS - 490, .reason = MR_unfinished_reason_recording_ended);
}

static int load(void **state)
{
	(void)state;
	kernel_trace_begin(2);
	define();
	write_cpu_0();
	write_cpu_1();
	model = kernel_trace_load(END_NS);
	return mr_analyse_threads(model, &findings) || mr_analyse_waits(model, &findings) ||
	       mr_analyse_preemption(model, &findings) ||
	       mr_analyse_system_calls(model, &findings) ||
	       mr_analyse_input_output(model, &findings);
}

static int unload(void **state)
{
	(void)state;
	mr_findings_free(&findings);
	kernel_trace_end(model);
	return 0;
}

/* ---- looking into tables ------------------------------------------------------------------------ */

static const struct mr_finding_table *table_of(const char *finding, const char *table)
{
	for (size_t i = 0; i < findings.list.count; i++)
		for (size_t j = 0; j < findings.list.items[i]->tables.count; j++) {
			const struct mr_finding_table *found =
				findings.list.items[i]->tables.items[j];

			if (strcmp(findings.list.items[i]->id, finding) == 0 &&
			    strcmp(found->id, table) == 0)
				return found;
		}
	fail_msg("no table %s of %s", table, finding);
	return NULL;
}

static uint32_t column_of(const struct mr_finding_table *table, const char *key)
{
	for (uint32_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].key, key) == 0)
			return i;
	fail_msg("no column %s", key);
	return 0;
}

/* A number of the row whose first cell is `name`. */
static int64_t number_of(const struct mr_finding_table *table, const char *name, const char *key)
{
	for (uint32_t row = 0; row < table->row_count; row++)
		if (strcmp(mr_finding_value(table, row, 0)->text, name) == 0)
			return mr_finding_value(table, row, column_of(table, key))->number;
	fail_msg("no row %s", name);
	return 0;
}

static int64_t sum_of(const struct mr_finding_table *table, const char *key)
{
	int64_t sum = 0;

	for (uint32_t row = 0; row < table->row_count; row++)
		sum += mr_finding_value(table, row, column_of(table, key))->number;
	return sum;
}

/* ---- the questions ------------------------------------------------------------------------------ */

static void test_threads(void **state)
{
	const struct mr_finding_table *table = table_of("threads", "by_thread");

	(void)state;
	assert_int_equal(table->row_count, 2);
	assert_int_equal(number_of(table, "reader", "life_ns"), END_NS - 90);
	assert_int_equal(number_of(table, "reader", "run_ns"), 100 + 100 + 100 + 100);
	assert_int_equal(number_of(table, "reader", "runnable_ns"), 10 + 100);
	assert_int_equal(number_of(table, "reader", "blocked_ns"), 300 + 200 + 200);
	assert_int_equal(number_of(table, "reader", "unknown_ns"), 0);
	assert_int_equal(number_of(table, "reader", "interrupted_ns"), 30);
	assert_int_equal(number_of(table, "writer", "run_ns"), 350);
	assert_int_equal(number_of(table, "writer", "blocked_ns"), END_NS - 500);
	assert_int_equal(sum_of(table_of("threads", "by_state"), "total_ns"),
			 END_NS - 90 + END_NS - 140);
}

static void test_waits(void **state)
{
	const struct mr_finding_table *kinds = table_of("waits", "by_wait");
	const struct mr_finding_table *calls = table_of("waits", "by_call");
	const struct mr_finding_table *wakers = table_of("waits", "by_waker");
	const int64_t blocked_ns = 700 + END_NS - 500;

	(void)state;
	assert_int_equal(number_of(kinds, "pipe or other local channel", "total_ns"), 300);
	assert_int_equal(number_of(kinds, "disk", "total_ns"), 200);
	assert_int_equal(number_of(kinds, "sleep", "total_ns"), 200);
	assert_int_equal(number_of(kinds, "other", "total_ns"), END_NS - 500); /* has no name */
	assert_int_equal(sum_of(kinds, "total_ns"), blocked_ns);
	assert_int_equal(number_of(calls, "pread64", "total_ns"), 200);
	assert_string_equal(mr_finding_value(calls, 1, 1)->text, "pipe:[1]");
	assert_int_equal(number_of(calls, "system call 202", "count"), 1);
	assert_int_equal(sum_of(calls, "total_ns"), blocked_ns);
	assert_int_equal(number_of(wakers, "writer", "waker_tid"), 8);
	assert_int_equal(number_of(wakers, "writer", "total_ns"), 300);
	assert_int_equal(number_of(wakers, "hrtimer_wakeup", "total_ns"), 200);
	assert_int_equal(number_of(wakers, "hrtimer_wakeup", "waker_tid"), MR_NO_VALUE);
	assert_int_equal(number_of(wakers, "(not recorded)", "total_ns"), END_NS - 500);
	assert_int_equal(sum_of(wakers, "total_ns"), blocked_ns);
}

static void test_preemption(void **state)
{
	const struct mr_finding_table *table = table_of("preemption", "by_occupant");

	(void)state;
	assert_int_equal(number_of(table, "stress", "total_ns"), 80);
	assert_int_equal(number_of(table, "stress", "occupant_tid"), 99);
	assert_int_equal(number_of(table, "(nobody: the CPU was waking up)", "total_ns"), 20);
	assert_int_equal(number_of(table, "(not known)", "total_ns"), 10 + 10); /* births */
}

static void test_system_calls(void **state)
{
	const struct mr_finding_table *table = table_of("system_calls", "by_call");

	(void)state;
	assert_int_equal(number_of(table, "read", "total_ns"), 420);
	assert_int_equal(number_of(table, "read", "blocked_ns"), 300);
	assert_int_equal(number_of(table, "pread64", "blocked_ns"), 200);
	assert_int_equal(number_of(table, "nanosleep", "count"), 1);
	assert_int_equal(number_of(table, "system call 202", "total_ns"), END_NS - 490);
}

static void test_input_output(void **state)
{
	const struct mr_finding_table *disks = table_of("input_output", "by_disk");
	const struct mr_finding_table *sockets = table_of("input_output", "by_socket");
	const struct mr_finding_table *interrupts = table_of("input_output", "by_interrupt");
	const struct mr_finding_table *files = table_of("input_output", "by_file");

	(void)state;
	assert_int_equal(files->row_count, 2);
	assert_int_equal(number_of(files, "pipe:[1]", "time_ns"), 420);
	assert_int_equal(number_of(files, "pipe:[1]", "read_bytes"), 1);
	assert_int_equal(number_of(files, "/data/train", "reads"), 1);
	assert_int_equal(number_of(files, "/data/train", "read_bytes"), 4096);
	assert_int_equal(number_of(files, "/data/train", "blocked_ns"), 200);
	assert_int_equal(number_of(files, "/data/train", "opens"), 0);
	assert_int_equal(number_of(disks, "254:1", "bytes"), 4096);
	assert_int_equal(number_of(disks, "254:1", "queue_ns"), 40);
	assert_int_equal(number_of(disks, "254:1", "service_ns"), 140);
	assert_int_equal(number_of(sockets, "TCP:[1.2.3.4:5]", "sent_bytes"), 1000);
	assert_int_equal(number_of(sockets, "TCP:[1.2.3.4:5]", "received_bytes"), 30);
	assert_int_equal(sum_of(table_of("input_output", "by_fault"), "total_ns"), 25);
	assert_int_equal(number_of(interrupts, "interrupt", "total_ns"), 20);
	assert_int_equal(number_of(interrupts, "softirq", "total_ns"), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),      cmocka_unit_test(test_waits),
		cmocka_unit_test(test_preemption),   cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_input_output),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
