/* SPDX-License-Identifier: Apache-2.0
 *
 * Lives of tasks, and which thread of the user streams each of them is: traces of a few events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_trace.h"
#include "schema/packet.h"
#include "trace_writer.h"

#define MS(milliseconds) ((uint64_t)(milliseconds)*1000000)

static struct packet packet;
static uint32_t stream_count;

static void user_begin(uint32_t process, uint32_t pid, uint32_t tid, uint64_t begin_ns,
		       uint64_t end_ns)
{
	memset(&packet, 0, offsetof(struct packet, bytes));
	packet.stream = 100 + stream_count++;
	packet.process = process;
	packet.pid = pid;
	packet.tid = tid;
	packet.begin = 2 * begin_ns; /* the user clock has two ticks for a nanosecond */
	packet.end = 2 * end_ns;
	packet_start(&packet);
}

static void user_end(void)
{
	char name[32];

	packet_finish(&packet);
	snprintf(name, sizeof name, "ctf/user_%u", stream_count);
	directory_write(kernel_trace_directory(), name, packet.bytes, packet.size);
}

/* The recorder's clock samples, and a thread that was there from `begin_ns` to `end_ns`. */
static void write_clocks(void)
{
	user_begin(MR_RECORDER_PROCESS, 50, 50, MS(1), MS(1000));
	for (uint64_t ms = 1; ms <= 901; ms += 450) {
		const struct mr_event_clock_sample sample = {.reference = MR_trace_clock_tsc,
							     .clock = MR_trace_clock_monotonic,
							     .before = 2 * MS(ms) - 2,
							     .value = MS(ms),
							     .after = 2 * MS(ms) + 2};
		packet_event(&packet, MR_EVENT_clock_sample, 2 * MS(ms) + 10, &sample,
			     sizeof sample);
	}
	user_end();
}

static void write_thread(uint32_t process, uint32_t pid, uint32_t tid, uint64_t begin_ns,
			 uint64_t end_ns)
{
	user_begin(process, pid, tid, begin_ns, end_ns);
	packet_event(&packet, MR_EVENT_thread_end, 2 * end_ns, "", 0);
	user_end();
}

static void start(void)
{
	stream_count = 0;
	kernel_trace_begin(2);
	write_clocks();
}

static const struct mr_task *task_at(const struct mr_model *model, uint32_t tid, uint64_t ns)
{
	uint32_t task = mr_task_find(&model->survey->tasks, MR_OWN_HOST, tid, (int64_t)ns);

	assert_int_not_equal(task, MR_NO_TASK);
	return &model->survey->tasks.list.items[task];
}

static uint32_t process_at(const struct mr_model *model, uint32_t tid, uint64_t ns)
{
	const struct mr_track *track = &model->survey->tracks.items[task_at(model, tid, ns)->track];

	return model->survey->processes.items[track->process].number;
}

/* One process, three programs: the first left no event, the others have numbers of their own. */
static void test_exec_divides_a_life(void **state)
{
	(void)state;
	start();
	kernel_born(0, MS(10), 1, 7, 7, "first");
	KERNEL(1, kernel_exec, MS(100), "second --flag", .tid = 7, .old_tid = 7);
	KERNEL(0, kernel_exec, MS(200), "third", .tid = 7, .old_tid = 7);
	KERNEL(0, kernel_exit, MS(300), NULL, .tid = 7, .status = 256);
	kernel_switch(0, MS(20), 0, 7, 0);
	write_thread(2, 7, 7, MS(110), MS(250)); /* its last packet is closed after the exec */
	write_thread(3, 7, 7, MS(210), MS(290));
	struct mr_model *model = kernel_trace_load(MS(400));

	assert_int_equal(process_at(model, 7, MS(50)), 0);
	assert_int_equal(process_at(model, 7, MS(150)), 2);
	assert_int_equal(process_at(model, 7, MS(250)), 3);
	assert_int_equal(task_at(model, 7, MS(50))->end, MR_TASK_EXEC);
	assert_int_equal(task_at(model, 7, MS(250))->status, 256);
	assert_int_equal(task_at(model, 7, MS(150))->end_ns, MS(200));
	assert_int_equal(mr_task_find(&model->survey->tasks, MR_OWN_HOST, 7, MS(9)), MR_NO_TASK);
	assert_int_equal(model->survey->ambiguous_tasks, 0);
	kernel_trace_end(model);
}

static const char *name_at(const struct mr_model *model, uint32_t tid, uint64_t ns)
{
	return mr_model_text(model, task_at(model, tid, ns)->name);
}

/* The kernel gives it the next program's name before it replaces the program, and perhaps lets it wait in between. */
static void test_name_before_exec(void **state)
{
	(void)state;
	start();
	kernel_born(0, MS(5), 1, 6, 6, "parent");
	kernel_born(0, MS(10), 6, 7, 7, "first");
	KERNEL(0, kernel_task_name, MS(20), "second", .tid = 7, .pid = 7);
	KERNEL(0, kernel_exec, MS(100), "second --flag", .tid = 7, .old_tid = 7);
	KERNEL(0, kernel_exit, MS(110), NULL, .tid = 7, .status = 0);
	kernel_switch(0, MS(15), 0, 7, 0);
	struct mr_model *model = kernel_trace_load(MS(400));

	assert_string_equal(name_at(model, 7, MS(50)), "first");
	assert_string_equal(name_at(model, 7, MS(105)), "second");
	kernel_trace_end(model);
}

/* Threads that left nothing belong to the process of those that did. */
static void test_silent_threads(void **state)
{
	(void)state;
	start();
	kernel_born(0, MS(10), 1, 7, 7, "main");
	kernel_born(0, MS(50), 7, 8, 7, "silent");
	kernel_born(1, MS(60), 8, 9, 9, "child");
	kernel_switch(0, MS(20), 0, 7, 0);
	write_thread(2, 7, 7, MS(30), MS(90));
	struct mr_model *model = kernel_trace_load(MS(400));
	const struct mr_survey *survey = model->survey;

	assert_int_equal(process_at(model, 8, MS(70)), 2);
	assert_int_not_equal(task_at(model, 8, MS(70))->track, task_at(model, 7, MS(70))->track);
	uint32_t child = survey->tracks.items[task_at(model, 9, MS(70))->track].process;
	assert_int_equal(survey->processes.items[child].number, 0);
	assert_int_equal(survey->processes.items[child].pid, 9);
	assert_int_equal(survey->processes.items[survey->processes.items[child].parent].number, 2);
	assert_string_equal(mr_model_text(model, survey->processes.items[child].program), "child");
	assert_int_equal(survey->first_queue_track, 3);
	kernel_trace_end(model);
}

/* A tid that comes again: in the same process the user streams have one track for both threads. */
static void test_tid_comes_again(void **state)
{
	(void)state;
	start();
	kernel_born(0, MS(10), 1, 7, 7, "main");
	kernel_born(0, MS(20), 7, 8, 7, "one");
	KERNEL(0, kernel_exit, MS(100), NULL, .tid = 8);
	kernel_born(1, MS(150), 7, 8, 7, "two");
	KERNEL(1, kernel_exit, MS(200), NULL, .tid = 8);
	kernel_born(0, MS(300), 7, 8, 8, "other");
	kernel_switch(0, MS(15), 0, 7, 0);
	write_thread(2, 7, 8, MS(30), MS(190));
	struct mr_model *model = kernel_trace_load(MS(400));

	assert_int_equal(process_at(model, 8, MS(50)), 2);
	assert_int_equal(process_at(model, 8, MS(160)), 2);
	assert_int_equal(task_at(model, 8, MS(50))->track, task_at(model, 8, MS(160))->track);
	assert_int_equal(process_at(model, 8, MS(350)), 0);
	assert_int_equal(task_at(model, 8, MS(120))->end, MR_TASK_EXIT);
	kernel_trace_end(model);
}

/* Two containers, each with a process that calls itself 1: which of them wrote the stream? */
static void test_namespaces_make_doubt(void **state)
{
	(void)state;
	start();
	KERNEL(0, kernel_fork, MS(10), "a", .tid = 70, .pid = 70, .inner_tid = 1, .inner_pid = 1);
	KERNEL(1, kernel_fork, MS(20), "b", .tid = 80, .pid = 80, .inner_tid = 1, .inner_pid = 1);
	KERNEL(1, kernel_fork, MS(30), "c", .tid = 90, .pid = 90, .inner_tid = 5, .inner_pid = 5);
	kernel_switch(0, MS(25), 0, 70, 0);
	write_thread(2, 1, 1, MS(40), MS(60));
	write_thread(3, 5, 5, MS(40), MS(60));
	struct mr_model *model = kernel_trace_load(MS(400));

	assert_int_equal(model->survey->ambiguous_tasks, 2);
	assert_int_not_equal(task_at(model, 70, MS(50))->track, task_at(model, 80, MS(50))->track);
	assert_int_not_equal(process_at(model, 70, MS(50)), 2);
	assert_int_equal(process_at(model, 90, MS(50)), 3);
	kernel_trace_end(model);
}

/* A thread that is not the first calls exec: it goes on under the tid of the process. */
static void test_exec_by_another_thread(void **state)
{
	(void)state;
	start();
	kernel_born(0, MS(10), 1, 7, 7, "main");
	kernel_born(0, MS(20), 7, 8, 7, "caller");
	kernel_wake(0, MS(25), 7, 1);
	kernel_switch(0, MS(30), 0, 7, 0);
	kernel_switch(1, MS(40), 0, 8, 0);
	KERNEL(0, kernel_exit, MS(50), NULL, .tid = 7);
	kernel_switch(0, MS(60), 7, 0, MR_switch_reason_exited);
	/* It has the tid already, and the kernel has not yet said so. */
	kernel_switch(1, MS(70), 7, 0, MR_switch_reason_preempted);
	kernel_switch(1, MS(80), 0, 7, 0);
	KERNEL(1, kernel_exec, MS(100), "next", .tid = 7, .old_tid = 8);
	kernel_switch(1, MS(150), 7, 0, MR_switch_reason_interruptible);
	struct mr_model *model = kernel_trace_load(MS(200));
	const struct mr_states *states = &model->states;
	const struct mr_task *caller = task_at(model, 8, MS(90));

	assert_int_equal(task_at(model, 7, MS(120))->previous,
			 mr_task_find(&model->survey->tasks, MR_OWN_HOST, 8, MS(90)));
	assert_int_equal(caller->end, MR_TASK_EXEC);
	uint32_t row = states->table.first_of_track[caller->track];
	static const struct {
		uint64_t begin_ms, end_ms;
		uint8_t state;
	} expected[] = {{20, 40, MR_STATE_RUNNABLE},
			{40, 70, MR_STATE_RUN},
			{70, 80, MR_STATE_RUNNABLE},
			{80, 100, MR_STATE_RUN}};
	assert_int_equal(states->table.first_of_track[caller->track + 1] - row,
			 mr_countof(expected));
	for (size_t i = 0; i < mr_countof(expected); i++, row++) {
		assert_int_equal(states->start_ns[row], MS(expected[i].begin_ms));
		assert_int_equal(states->duration_ns[row],
				 MS(expected[i].end_ms - expected[i].begin_ms));
		assert_int_equal(states->state[row], expected[i].state);
	}
	assert_int_equal(model->anomalies.contradictory, 0);
	kernel_trace_end(model);
}

/* Names of threads that are not traced, and of one that took the next program's name just before exec. */
static void test_names(void **state)
{
	(void)state;
	start();
	KERNEL(0, kernel_task_name, MS(5), "stress", .tid = 99);
	kernel_born(0, MS(8), 1, 6, 6, "millrace");
	KERNEL(0, kernel_exec, MS(9), "bash", .tid = 6, .old_tid = 6);
	kernel_born(0, MS(10), 6, 7, 7, "python3");
	KERNEL(0, kernel_task_name, MS(90), "sh", .tid = 7);
	KERNEL(0, kernel_exec, MS(100), "sh -c true", .tid = 7, .old_tid = 7);
	KERNEL(1, kernel_task_name, MS(200), "idler", .tid = 99);
	kernel_switch(0, MS(25), 0, 7, 0);
	struct mr_model *model = kernel_trace_load(MS(300));
	const struct mr_tasks *tasks = &model->survey->tasks;

	/* Nobody who is traced has made it: it is the recorder's child. */
	assert_string_equal(mr_model_text(model, task_at(model, 6, MS(8))->name), "(before exec)");
	assert_string_equal(mr_model_text(model, task_at(model, 7, MS(50))->name), "python3");
	assert_string_equal(mr_model_text(model, task_at(model, 7, MS(150))->name), "sh");
	assert_string_equal(mr_model_text(model, mr_task_name_at(tasks, MR_OWN_HOST, 99, MS(1))),
			    "stress");
	assert_string_equal(mr_model_text(model, mr_task_name_at(tasks, MR_OWN_HOST, 99, MS(199))),
			    "stress");
	assert_string_equal(mr_model_text(model, mr_task_name_at(tasks, MR_OWN_HOST, 99, MS(200))),
			    "idler");
	assert_string_equal(mr_model_text(model, mr_task_name_at(tasks, MR_OWN_HOST, 7, MS(95))),
			    "sh");
	assert_int_equal(mr_task_name_at(tasks, MR_OWN_HOST, 12345678, MS(1)), 0);
	kernel_trace_end(model);
}

static void note_name(struct mr_tasks *tasks, struct mr_strings *strings, uint32_t host,
		      const char *name)
{
	const struct mr_event_kernel_task_name named = {.tid = 99};
	const struct mr_event event = {.desc = &mr_event_table[MR_EVENT_kernel_task_name],
				       .ticks = MS(1),
				       .payload = &named,
				       .text = name};

	assert_int_equal(mr_tasks_note(tasks, host, strings, &event), 0);
}

static const char *name_on(const struct mr_tasks *tasks, const struct mr_strings *strings,
			   uint32_t host)
{
	return mr_strings_text(strings, mr_task_name_at(tasks, host, 99, MS(2)));
}

/* A tid is another thread on another host. */
static void test_hosts(void **state)
{
	struct mr_strings strings = {0};
	struct mr_tasks tasks = {0};
	uint32_t empty;

	(void)state;
	assert_int_equal(mr_strings_intern(&strings, "", 0, &empty), 0);
	note_name(&tasks, &strings, 2, "trainer");
	note_name(&tasks, &strings, 0, "stress");
	assert_int_equal(mr_tasks_build(&tasks), 0);
	assert_string_equal(name_on(&tasks, &strings, 0), "stress");
	assert_string_equal(name_on(&tasks, &strings, 1), "");
	assert_string_equal(name_on(&tasks, &strings, 2), "trainer");
	assert_string_equal(name_on(&tasks, &strings, 3), "");
	mr_tasks_free(&tasks);
	mr_strings_free(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec_divides_a_life),
		cmocka_unit_test(test_name_before_exec),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_silent_threads),
		cmocka_unit_test(test_tid_comes_again),
		cmocka_unit_test(test_namespaces_make_doubt),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
