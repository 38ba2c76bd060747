/* SPDX-License-Identifier: Apache-2.0
 *
 * simulate SEED DIRECTORY [OPTION...]: writes the trace of a random program into the directory, which it makes,
 * and the truth about it to the standard output, as JSON:
 *
 *     {"first_ns": ..., "last_ns": ..., "devices": [{"name", "first_ns", "last_ns", "idle_ns", "pieces": [{"begin_ns",
 *      "end_ns", "chain"}]}], "path": [{"begin_ns", "end_ns", "segment"}]}
 *
 * Options: no-kernel, no-dataflow, coarse, calm, jitter=NS, size=ACTIONS (simulator.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json_writer.h"
#include "simulator.h"

static bool read_option(struct simulation_options *options, const char *text)
{
	if (strcmp(text, "no-kernel") == 0)
		options->no_kernel_level = true;
	else if (strcmp(text, "no-dataflow") == 0)
		options->no_dataflow_level = true;
	else if (strcmp(text, "coarse") == 0)
		options->is_coarse = true;
	else if (strcmp(text, "calm") == 0)
		options->is_calm = true;
	else if (strncmp(text, "jitter=", 7) == 0)
		options->jitter_ns = (uint32_t)strtoul(text + 7, NULL, 10);
	else if (strncmp(text, "size=", 5) == 0)
		options->size = (uint32_t)strtoul(text + 5, NULL, 10);
	else
		return false;
	return true;
}

static bool make_directory(const char *path)
{
	char inner[4096];

	snprintf(inner, sizeof inner, "%s/ctf", path);
	return mkdir(path, 0777) == 0 && mkdir(inner, 0777) == 0;
}

static void print_pieces(struct mr_json *json, const char *key, const struct truth_pieces *pieces,
			 const char *what)
{
	mr_json_begin_array(json, key);
	for (size_t i = 0; i < pieces->count; i++) {
		mr_json_begin_object(json, NULL);
		mr_json_int(json, "begin_ns", pieces->items[i].begin_ns);
		mr_json_int(json, "end_ns", pieces->items[i].end_ns);
		mr_json_string(json, what, pieces->items[i].text);
		mr_json_end_object(json);
	}
	mr_json_end_array(json);
}

static int print_truth(const struct truth *truth)
{
	struct mr_json json;

	mr_json_start(&json, stdout, MR_JSON_INDENTED);
	mr_json_begin_object(&json, NULL);
	mr_json_int(&json, "first_ns", truth->first_ns);
	mr_json_int(&json, "last_ns", truth->last_ns);
	mr_json_begin_array(&json, "devices");
	for (size_t i = 0; i < truth->device_count; i++) {
		const struct truth_device *device = &truth->devices[i];

		mr_json_begin_object(&json, NULL);
		mr_json_string(&json, "name", device->name);
		mr_json_int(&json, "first_ns", device->first_ns);
		mr_json_int(&json, "last_ns", device->last_ns);
		mr_json_int(&json, "idle_ns", device->idle_ns);
		print_pieces(&json, "pieces", &device->pieces, "chain");
		mr_json_end_object(&json);
	}
	mr_json_end_array(&json);
	print_pieces(&json, "path", &truth->path, "segment");
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

int main(int argument_count, char **arguments)
{
	struct simulation_options options = {0};
	bool is_understood = argument_count >= 3;

	for (int i = 3; i < argument_count; i++)
		is_understood &= read_option(&options, arguments[i]);
	if (!is_understood) {
		fprintf(stderr, "usage: simulate SEED DIRECTORY [no-kernel] [no-dataflow] [coarse] "
				"[calm] [jitter=NS] [size=ACTIONS]\n");
		return 2;
	}
	if (!make_directory(arguments[2])) {
		perror(arguments[2]);
		return 1;
	}
	struct simulation *simulation =
		simulate(strtoull(arguments[1], NULL, 10), &options, arguments[2]);
	int result = print_truth(simulation_truth(simulation));
	simulation_free(simulation);
	return result < 0;
}
