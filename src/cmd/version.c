/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace version: prints the program's version.
 */
#include "base/json_writer.h"
#include "cmd/command.h"

static struct {
	bool json;
} given;

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON"),
	{0},
};

static const struct mr_example examples[] = {
	{"millrace version", "name and version"},
	{0},
};

static int run(int count, char **operands)
{
	(void)count;
	(void)operands;
	if (!given.json) {
		puts("millrace " MR_VERSION);
		return 0;
	}
	struct mr_json json;
	mr_json_start(&json, stdout, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "program", "millrace");
	mr_json_string(&json, "version", MR_VERSION);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

const struct mr_command mr_command_version = {
	.name = "version",
	.summary = "print the version",
	.description = "Prints the version of the program.",
	.options = options,
	.examples = examples,
	.run = run,
};
