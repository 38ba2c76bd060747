/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace doctor: says what can be traced on this machine and, for the rest, why not and which command fixes it.
 */
#include <string.h>

#include "base/json_writer.h"
#include "cmd/capability.h"
#include "cmd/command.h"
#include "cmd/gpu_check.h"
#include "cmd/terminal.h"

static struct {
	bool json;
	bool gpu_check;
	bool gpu_program;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	MR_FLAG(0, "gpu-check", &given.gpu_check,
		"record a small CUDA program and compare the trace with what it does"),
	MR_FLAG(0, "gpu-program", &given.gpu_program,
		"only run that program, for instance under another profiler"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace doctor", "show what can be traced here"},
	{"millrace doctor --json", "the same as JSON"},
	{0},
};

static void print_json(const struct mr_capability *capability, struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_string(json, "name", capability->name);
	mr_json_string(json, "level", capability->level);
	mr_json_string(json, "state", mr_capability_state_name(capability->state));
	mr_json_string(json, "reason", capability->reason);
	mr_json_string(json, "remedy", capability->remedy[0] ? capability->remedy : NULL);
	mr_json_end_object(json);
}

static void print_text(const struct mr_capability *capability)
{
	static const char *const marks[] = {"✓", "–", "✗"};
	static const enum mr_colour colours[] = {MR_COLOUR_GREEN, MR_COLOUR_YELLOW, MR_COLOUR_RED};
	const char *mark = mr_terminal_has_utf8(stdout) ? marks[capability->state] : "";
	printf("  %s%s%s%-8s%s  %-16s  %s\n", mr_colour_code(stdout, colours[capability->state]),
	       mark, *mark ? " " : "", mr_capability_state_name(capability->state),
	       mr_colour_code(stdout, MR_COLOUR_NONE), capability->name, capability->reason);
	if (capability->remedy[0])
		printf("  %*s%-8s  %-16s  fix: %s\n", *mark ? 2 : 0, "", "", "",
		       capability->remedy);
}

struct printing {
	struct mr_json json;
	const char *level; /* of the last one */
	bool recording_works;
};

static void print(const struct mr_capability *capability, void *data)
{
	struct printing *printing = data;
	if (strcmp(capability->level, "core") == 0)
		printing->recording_works &= capability->state != MR_CAPABILITY_MISSING;
	if (given.json) {
		print_json(capability, &printing->json);
		return;
	}
	if (strcmp(printing->level, capability->level) != 0)
		printf("%s%s\n", *printing->level ? "\n" : "", capability->level);
	printing->level = capability->level;
	print_text(capability);
}

static int run(int count, char **operands)
{
	(void)count;
	(void)operands;
	if (given.gpu_program)
		return mr_gpu_program();
	if (given.gpu_check)
		return mr_gpu_check();
	struct printing printing = {.level = "", .recording_works = true};
	mr_json_start(&printing.json, stdout, MR_JSON_INDENTED);
	if (given.json) {
		mr_json_begin_object(&printing.json, NULL);
		mr_json_begin_array(&printing.json, "capabilities");
	}
	mr_capability_visit(print, &printing);
	if (given.json) {
		mr_json_end_array(&printing.json);
		mr_json_bool(&printing.json, "recording_works", printing.recording_works);
		mr_json_end_object(&printing.json);
	} else {
		printf("\n%s\n", printing.recording_works
					 ? "Recording works."
					 : "Recording does not work: see the list 'core'.");
	}
	return printing.recording_works ? 0 : MR_EXIT_FAILURE;
}

const struct mr_command mr_command_doctor = {
	.name = "doctor",
	.summary = "show what can be traced on this machine, and how to fix what cannot",
	.description =
		"Checks what recording needs, which frameworks and runtimes are installed, and "
		"what the kernel allows. Each line says ok, degraded or missing, what was "
		"found, and the command that fixes it if there is one.\n\n"
		"The exit status is 0 if recording works and 1 if it does not.\n\n"
		"--gpu-check needs a GPU of NVIDIA. It records a program whose copies and launches "
		"are known, and says what of the trace differs: counts, names, streams, order and "
		"times. The exit status is 0 if nothing does. The trace stays in the current "
		"folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.is_privileged = true,
};
