/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace record: runs a program, traces it, and exits with its status.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "analysis/loss.h"
#include "base/error.h"
#include "base/format.h"
#include "base/quote.h"
#include "cmd/command.h"
#include "hook/rank.h"
#include "launch/python_samples.h"
#include "launch/session.h"
#include "load/load.h"
#include "record/arena.h"

enum {
	EXIT_OWN_FAILURE = 125,
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
	LEAST_BYTES = MR_ARENA_SLOT_BYTES /* less would not hold a single packet */
};

static struct {
	const char *output;
	uint32_t levels;
	bool quiet;
	uint64_t delay_ns;
	uint64_t duration_ns;
	const char *steps;
	const char *step_range;
	uint64_t max_bytes;
	const char *last;
	uint64_t buffer_bytes;
	bool no_arguments;
	int wait;
	int syscalls;
	uint64_t kernel_buffer_bytes;
	const char *python_samples;
	bool as_root;
} given;

static const char *const level_names[] = {"kernel", "runtime", "dataflow", NULL};
static const uint32_t level_bits[] = {MR_LEVEL_kernel, MR_LEVEL_runtime, MR_LEVEL_dataflow};
static const char *const syscall_names[] = {"auto", "all", "blocking", "none", NULL};
static const char *const wait_names[] = {"program", "all", NULL};

static const struct mr_option options[] = {
	MR_STRING('o', "output", &given.output, "DIR",
		  "trace folder to create; %r is the rank, in a job of several"),
	MR_SET('l', "levels", &given.levels, level_names, "LIST",
	       "levels to record, of kernel,runtime,dataflow; by default all that are permitted"),
	MR_CHOICE(0, "syscalls", &given.syscalls, syscall_names, "WHICH",
		  "system calls to record: all, only those in which threads block, none, or auto: "
		  "all, but only blocking ones of a process that makes very many"),
	MR_DURATION(0, "delay", &given.delay_ns, "TIME", "start recording after TIME"),
	MR_DURATION_FROM(0, "duration", &given.duration_ns, 1, "TIME",
			 "record for TIME, then let the program run on untraced"),
	MR_STRING(0, "steps", &given.steps, "A..B", "record only steps A to B, counted from 0"),
	MR_STRING(0, "step-range", &given.step_range, "NAME",
		  "the ranges of NVTX or annotations of PyTorch of this name are the steps; "
		  "'NAME*': all that begin so"),
	MR_SIZE_FROM(
		0, "max-size", &given.max_bytes, LEAST_BYTES, "SIZE",
		"keep only the newest SIZE of events; by default 8G, or half of the free space"),
	MR_STRING(0, "last", &given.last, "SIZE|TIME",
		  "flight recorder: keep only the newest SIZE (64M) or TIME (30s)"),
	MR_SIZE_FROM(0, "buffer", &given.buffer_bytes, LEAST_BYTES, "SIZE",
		     "memory for events on their way to the disk; by default at most 1/16 of the "
		     "machine's memory"),
	MR_SIZE_FROM(0, "kernel-buffer", &given.kernel_buffer_bytes, LEAST_BYTES, "SIZE",
		     "memory for events of the kernel level, per CPU"),
	MR_STRING(0, "python-samples", &given.python_samples, "N|off",
		  "how often a second to look where threads are in Python; by default 200"),
	MR_CHOICE(0, "wait", &given.wait, wait_names, "WHOM",
		  "end with the program (its descendants get two seconds), or when all have ended"),
	MR_FLAG(0, "no-args", &given.no_arguments, "keep the command line out of the trace"),
	MR_FLAG(0, "as-root", &given.as_root,
		"under sudo: run the program as root, not as the user who ran sudo"),
	MR_FLAG('q', "quiet", &given.quiet, "print nothing but errors"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace record -- sh -c 'echo hello'", "trace a program"},
	{"millrace record -o run.mill --levels runtime,dataflow -- true",
	 "choose the name and the levels"},
	{"millrace record --syscalls=blocking -- true", "do not slow down other processes"},
	{"millrace record --last 64M -- true", "keep only the newest 64 MiB"},
	{"millrace record --steps 100..104 -- true", "trace five steps of a training"},
	{"millrace record --step-range 'iteration *' -- true", "ranges of NVTX are the steps"},
	{0},
};

/* ---- what is printed at the end -------------------------------------------------------------------- */

static void print_losses(const struct mr_session_result *result)
{
	if (result->lost_events || result->lost_definitions || result->lost_packets)
		fprintf(stderr,
			", LOST %" PRIu64 " events, %" PRIu64 " definitions, %" PRIu64 " packets",
			result->lost_events, result->lost_definitions, result->lost_packets);
	else
		fputs(", nothing lost", stderr);
}

static void print_health(const struct mr_session_result *result)
{
	char size[MR_FORMAT_BYTES];
	mr_format_bytes(size, (int64_t)result->bytes);
	uint32_t processes = result->processes + (result->untraced_why != NULL);
	fprintf(stderr, "millrace: %u process%s, %s in %.3f s", processes,
		processes == 1 ? "" : "es", size, (double)result->duration_ns / 1e9);
	print_losses(result);
	fputc('\n', stderr);
	if (result->stop_reason)
		fprintf(stderr, "millrace: recording stopped before the program ended: %s\n",
			result->stop_reason);
	mr_format_bytes(size, (int64_t)result->overwritten_bytes);
	if (result->overwritten_bytes)
		fprintf(stderr,
			"millrace: only the newest events were kept: the last %.1f s; %s of older "
			"events were dropped\n",
			(double)result->kept_ns / 1e9, size);
	if (result->alive_processes)
		fprintf(stderr,
			"millrace: %u descendant%s still running and no longer traced (--wait=all "
			"waits for all)\n",
			result->alive_processes, result->alive_processes == 1 ? " is" : "s are");
	if (result->untraced_processes && !result->untraced_why)
		fprintf(stderr,
			"millrace: %u program%s not instrumented (no library inside): `millrace "
			"info` says which and why\n",
			result->untraced_processes,
			result->untraced_processes == 1 ? " was" : "s were");
}

/* Printed only if the user asked for the level; otherwise `info` shows it. */
static void print_kernel_level(const struct mr_session_result *result)
{
	bool is_asked_for = given.levels & 1u << 0; /* index in level_names */
	if (!is_asked_for || !result->kernel_why)
		return;
	fprintf(stderr, "millrace: %s: %s\n",
		result->kernel_mode == MR_KERNEL_OFF
			? "the kernel level was not recorded"
			: "the kernel level has only thread switches, not their causes",
		result->kernel_why);
}

/* ---- when nothing was traced ------------------------------------------------------------------------- */

/* Has any hook recorded anything? Stops at the first such event, so it is quick. Hooks write streams
 * with the user clock. */
static bool has_events(const char *path)
{
	mr_auto(trace) struct mr_trace *trace = NULL;
	if (mr_trace_open(path, &trace) < 0)
		return true; /* the next command that opens it will report what is wrong */
	for (uint32_t i = 0; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;
		if (trace->streams[i].stream_class != MR_STREAM_USER)
			continue;
		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		while (mr_cursor_next(&cursor, &event))
			if (event.desc->level != MR_LEVEL_core)
				return true;
	}
	return false;
}

static void explain_empty_trace(const struct mr_session_result *result)
{
	if (result->untraced_why) {
		fprintf(stderr,
			"millrace: the program was not instrumented (no library inside): %s%s\n",
			result->untraced_why,
			result->kernel_mode == MR_KERNEL_BPF
				? "; what the kernel level says of it is complete"
				: "");
		return;
	}
	mr_auto(model) struct mr_model *model = NULL;
	char sentence[MR_EMPTY_BYTES];
	if (!has_events(result->path) && mr_model_load_head(result->path, &model) == 0 &&
	    mr_explain_empty(model, sentence))
		fprintf(stderr, "millrace: %s\n", sentence);
}

/* Prints the name by which millrace was called, so that the line can be copied. */
static void print_next_command(const char *path)
{
	bool is_path = strchr(program_invocation_name, '/') != NULL;
	fputs("millrace: next: ", stderr);
	mr_quote_print(stderr, is_path ? program_invocation_name : "millrace");
	fputs(" report ", stderr);
	mr_quote_print(stderr, path);
	fputc('\n', stderr);
}

/* ---- the command -------------------------------------------------------------------------------------- */

static int parse_last(struct mr_session_options *session)
{
	if (!given.last)
		return 0;
	size_t length = strlen(given.last);
	char unit = length ? given.last[length - 1] : 0;
	bool is_time = unit == 's' || unit == 'm' || unit == 'h';
	int result = is_time ? mr_parse_duration(given.last, &session->last_ns)
			     : mr_parse_size(given.last, &session->last_bytes);
	if (result == 0 && session->last_ns == 0 && session->last_bytes < LEAST_BYTES)
		return mr_fail(ERANGE,
			       "'%s' is too small: at least %d bytes, or a time such as 30s",
			       given.last, LEAST_BYTES);
	return result;
}

static uint32_t chosen_levels(void)
{
	uint32_t levels = 0;
	for (size_t i = 0; i < mr_countof(level_bits); i++)
		if (given.levels == 0 || given.levels & 1u << i)
			levels |= level_bits[i];
	return levels;
}

/* Ends as the program did, by the same signal if a signal ended it. */
static int exit_like(int wait_status)
{
	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);
	int number = WTERMSIG(wait_status);
	setrlimit(RLIMIT_CORE,
		  &(struct rlimit){0, 0}); /* the program has left a core file itself */
	signal(number, SIG_DFL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	return 128 + number;
}

static int parse_python_samples(struct mr_session_options *session)
{
	const char *text = given.python_samples;
	char *end;
	session->python_samples = MR_PYTHON_SAMPLES;
	if (!text)
		return 0;
	unsigned long number = strtoul(text, &end, 10);
	if (strcmp(text, "off") == 0)
		number = 0;
	else if (*text < '0' || *text > '9' || *end || number == 0 ||
		 number > MR_PYTHON_SAMPLES_MAX)
		return mr_fail(EINVAL, "'%s' is neither off nor a number from 1 to %d", text,
			       MR_PYTHON_SAMPLES_MAX);
	session->python_samples = (uint32_t)number;
	return 0;
}

static int parse_step_range(struct mr_session_options *session)
{
	const char *name = given.step_range;
	if (name && (!*name || strlen(name) >= MR_STEP_RANGE_BYTES))
		return mr_fail(EINVAL, "the name of a range has 1 to %d bytes",
			       MR_STEP_RANGE_BYTES - 1);
	session->step_range = name;
	return 0;
}

static int parse_steps(struct mr_session_options *session)
{
	if (!given.steps)
		return 0;
	/* No signs, no spaces, and no more digits than fit a number. */
	int used = 0;
	if (strspn(given.steps, "0123456789.") == strlen(given.steps))
		sscanf(given.steps, "%18" SCNu64 "..%18" SCNu64 "%n", &session->first_step,
		       &session->last_step, &used);
	if (used == 0 || given.steps[used] || session->first_step > session->last_step)
		return mr_fail(EINVAL, "'%s' is not a range of steps such as 10..12", given.steps);
	if (given.delay_ns || given.duration_ns)
		return mr_fail(EINVAL, "cannot be combined with --delay or --duration");
	session->has_steps = true;
	return 0;
}

/* Puts the rank in place of %r, so that each rank of a job has a trace of its own. The caller frees. */
static int name_output(char **ret_name)
{
	const char *place = given.output ? strstr(given.output, "%r") : NULL;
	struct mr_rank rank;

	if (!place) {
		*ret_name = NULL;
		return 0;
	}
	if (!mr_rank_find(&rank))
		return mr_fail(EINVAL,
			       "%s: the environment does not say which rank this is: start record "
			       "with torchrun, mpirun or srun, or give a name without %%r",
			       given.output);
	return asprintf(ret_name, "%.*s%" PRIu32 "%s", (int)(place - given.output), given.output,
			rank.rank, place + strlen("%r")) < 0
		       ? mr_fail_errno(ENOMEM, "name the trace")
		       : 0;
}

static int run(int count, char **operands)
{
	mr_auto(free) char *name = NULL;

	operands[count] = NULL; /* there is room: options were taken out, or argv ends here */
	if (given.output && !*given.output)
		return mr_command_misused(&mr_command_record, "--output: the name is empty");
	struct mr_session_options session = {.arguments = operands,
					     .output = given.output,
					     .levels = chosen_levels(),
					     .delay_ns = given.delay_ns,
					     .duration_ns = given.duration_ns,
					     .max_bytes = given.max_bytes,
					     .buffer_bytes = given.buffer_bytes,
					     .no_arguments = given.no_arguments,
					     .kernel = {.syscalls = given.syscalls,
							.ring_bytes = given.kernel_buffer_bytes,
							.no_arguments = given.no_arguments},
					     .as_root = given.as_root,
					     .wait_all = given.wait == 1,
					     .show_progress =
						     !given.quiet && isatty(STDERR_FILENO)};
	int result = name_output(&name);
	if (result < 0)
		return mr_command_misused(&mr_command_record, "--output: %s", mr_error_text());
	if (name)
		session.output = name;
	result = parse_last(&session);
	if (result < 0)
		return mr_command_misused(&mr_command_record, "--last: %s", mr_error_text());
	result = parse_steps(&session);
	if (result < 0)
		return mr_command_misused(&mr_command_record, "--steps: %s", mr_error_text());
	result = parse_step_range(&session);
	if (result < 0)
		return mr_command_misused(&mr_command_record, "--step-range: %s", mr_error_text());
	result = parse_python_samples(&session);
	if (result < 0)
		return mr_command_misused(&mr_command_record, "--python-samples: %s",
					  mr_error_text());
	struct mr_session_result outcome;
	bool program_failed;
	result = mr_session_run(&session, &outcome, &program_failed);
	if (result < 0 && program_failed) {
		fprintf(stderr, "millrace: %s\n", mr_error_text());
		return result == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	if (result < 0)
		return result;
	if (!given.quiet) {
		print_health(&outcome);
		print_kernel_level(&outcome);
		explain_empty_trace(&outcome);
		print_next_command(outcome.path);
	}
	int status = outcome.wait_status;
	mr_session_result_free(&outcome);
	return exit_like(status);
}

const struct mr_command mr_command_record = {
	.name = "record",
	.summary = "run a program and trace it",
	.operands = "-- PROGRAM [ARGUMENT...]",
	.description = "Runs PROGRAM, unmodified, and records what it does in a new trace folder. "
		       "The program keeps its standard streams, its process group and its "
		       "signals. When it ends, record exits with its status, or with 125 if record "
		       "itself failed, 126 if the program cannot be executed, 127 if it was not "
		       "found.\n\n"
		       "Without -o the trace is millrace-DATE-TIME-HOST-PID.mill in the current "
		       "folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.options_order = MR_OPTIONS_FIRST,
	.operands_min = 1,
	.operands_max = MR_OPERANDS_ANY,
	.failure_status = EXIT_OWN_FAILURE,
	.is_privileged = true,
};
