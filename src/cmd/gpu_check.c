/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/gpu_check.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/command.h"
#include "launch/session.h"
#include "load/load.h"
#include "query/query.h"

/* A statement gives one number. */
struct check {
	const char *title;
	const char *sql;
	int64_t expected;
};

#define STREAM_OF(kind) "(select track from device_operations where kind = '" kind "')"
static const struct check checks[] = {
	{"calls of cuLaunchKernel", "select count(*) from calls where function = 'cuLaunchKernel'",
	 2 * MR_GPU_LAUNCHES},
	{"calls that failed", "select count(*) from calls where result != 0", 0},
	{"device kernels", "select count(*) from device_operations where kind = 'kernel'",
	 2 * MR_GPU_LAUNCHES},
	{"launches that lead to a device kernel of their own",
	 "select count(distinct o.call) from device_operations o join calls c on c.rowid = o.call "
	 "where o.kind = 'kernel' and c.function = 'cuLaunchKernel'",
	 2 * MR_GPU_LAUNCHES},
	{"names of device kernels",
	 "select count(*) from device_operations where name = 'millrace_check'",
	 2 * MR_GPU_LAUNCHES},
	{"copies of 1 MiB, one in each direction",
	 "select count(distinct kind) from device_operations where kind in ('copy_to_device', "
	 "'copy_from_device') and bytes = 1048576",
	 2},
	{"streams with 32 device kernels each",
	 "select count(*) from (select track from device_operations where kind = 'kernel' group by "
	 "track having count(*) = 32)",
	 2},
	{"streams of launches that are not those of their device kernels",
	 "select count(*) from device_operations o join calls c on c.rowid = o.call join tracks t "
	 "on t.rowid = o.track where t.queue != c.queue",
	 0},
	{"operations without times",
	 "select count(*) from device_operations where flags like '%UNFINISHED%' or flags like "
	 "'%UNTIMED%' or duration_ns = 0",
	 0},
	{"operations that began before their call",
	 "select count(*) from device_operations o join calls c on c.rowid = o.call where "
	 "o.start_ns + o.bound_ns < c.start_ns",
	 0},
	{"operations that ended after the call that waited for them",
	 "select count(*) from device_operations o join calls c on c.function = "
	 "'cuStreamSynchronize' where o.start_ns + o.duration_ns - o.bound_ns > c.start_ns + "
	 "c.duration_ns",
	 0},
	{"operations of one stream that overlap",
	 "select count(*) from device_operations a join device_operations b on a.track = b.track "
	 "and a.raw_start < b.raw_start and a.raw_end > b.raw_start",
	 0},
	{"operations of one stream in another order than their calls",
	 "select count(*) from device_operations a join calls c on c.rowid = a.call join "
	 "device_operations b on a.track = b.track join calls d on d.rowid = b.call where "
	 "a.raw_start < b.raw_start and c.start_ns > d.start_ns",
	 0},
	{"device kernels that did not wait for the event",
	 "select count(*) from device_operations where kind = 'kernel' and track = " STREAM_OF(
		 "copy_from_device") " and raw_start < (select max(raw_end) from device_operations "
				     "where track = " STREAM_OF("copy_to_device") ")",
	 0},
	{"operations whose times are uncertain by more than a millisecond",
	 "select count(*) from device_operations where bound_ns > 1000000", 0},
};

static int ask(struct mr_query *query, const char *sql, int64_t *ret_number)
{
	mr_auto(free) char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	if (!file)
		return mr_fail_errno(ENOMEM, "check the GPU");
	int result = mr_query_print(query, sql, MR_QUERY_CSV, file);
	if (fclose(file) != 0)
		return mr_fail_errno(ENOMEM, "check the GPU");
	/* A line with the name, a line with the number. */
	const char *line = result == 0 ? strchr(text, '\n') : NULL;
	if (result == 0)
		*ret_number = line ? strtoll(line + 1, NULL, 10) : -1;
	return result;
}

static int compare(const char *trace)
{
	mr_auto(model) struct mr_model *model = NULL;
	mr_auto(query) struct mr_query *query = NULL;
	int result = mr_model_load(trace, &model);
	unsigned int different = 0;
	if (result == 0)
		result = mr_query_open(model, &query);
	for (size_t i = 0; result == 0 && i < mr_countof(checks); i++) {
		int64_t found = 0;
		result = ask(query, checks[i].sql, &found);
		if (result < 0)
			break;
		different += found != checks[i].expected;
		if (found == checks[i].expected)
			printf("  ok       %s: %" PRId64 "\n", checks[i].title, found);
		else
			printf("  differs  %s: %" PRId64 ", expected %" PRId64 "\n",
			       checks[i].title, found, checks[i].expected);
	}
	if (result < 0)
		return result;
	printf("\n%s The trace is %s.\n",
	       different ? "CUDA is not traced as it should be: please report this."
			 : "CUDA is traced as it should be.",
	       trace);
	return different ? MR_EXIT_FAILURE : 0;
}

int mr_gpu_check(void)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	if (length < 0)
		return mr_fail_errno(errno, "find millrace");
	program[length] = 0;
	char *arguments[] = {program, "doctor", "--gpu-program", NULL};
	const struct mr_session_options options = {.arguments = arguments,
						   .levels = MR_LEVEL_runtime | MR_LEVEL_dataflow};
	struct mr_session_result outcome;
	bool has_failed;
	int result = mr_session_run(&options, &outcome, &has_failed);
	if (result < 0)
		return result;
	int status = WIFEXITED(outcome.wait_status) ? WEXITSTATUS(outcome.wait_status) : -1;
	if (status == MR_GPU_NO_CUDA)
		printf("There is no GPU of NVIDIA here, or no driver for it (libcuda.so.1).\n");
	else if (status != 0)
		printf("The program that is traced failed: see above.\n");
	else if (outcome.untraced_why)
		printf("The program was not instrumented: %s\n", outcome.untraced_why);
	else
		result = compare(outcome.path);
	bool is_compared = status == 0 && !outcome.untraced_why;
	mr_session_result_free(&outcome);
	return is_compared ? result : MR_EXIT_FAILURE;
}
