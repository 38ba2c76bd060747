/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace dump: prints the events of all streams in chronological order.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/trace_argument.h"
#include "import/import.h"
#include "model/manifest.h"
#include "model/spans.h"
#include "model/survey.h"

enum {
	LEVEL_ALL = -1
};

static struct {
	bool json;
	int level;
	uint64_t limit;
} given = {.level = LEVEL_ALL, .limit = UINT64_MAX};

/* In the order of the bits of enum mr_level. */
static const char *const levels[] = {"core", "dataflow", "runtime", "kernel", NULL};

static const struct mr_option options[] = {
	MR_FLAG(0, "json", &given.json, "print JSON, one event per line"),
	MR_CHOICE(0, "level", &given.level, levels, "LEVEL", "print only events of this level"),
	MR_INTEGER(0, "limit", &given.limit, "N", "stop after N events"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace dump --limit 20", "the first events of the newest trace"},
	{"millrace dump --json --level dataflow", "events of one level as JSON lines"},
	{0},
};

/* ---- fields --------------------------------------------------------------------------------------- */

struct field {
	const struct mr_field_desc *desc;
	uint64_t bits; /* the value in the packet, zero-extended */
};

static struct field read_field(const struct mr_field_desc *desc, const uint8_t *at)
{
	struct field field = {.desc = desc};

	memcpy(&field.bits, at, mr_type_bytes(desc->type));
	return field;
}

static const char *enum_name(const struct field *field)
{
	const struct mr_enum_desc *desc = field->desc->enumeration;

	for (uint32_t i = 0; desc && i < desc->value_count; i++)
		if (desc->values[i].number == field->bits)
			return desc->values[i].name;
	return NULL;
}

/* `what` of an unfinished interval means the same as in the event that its end would have written. */
static enum mr_id_kind id_kind(const struct mr_event *event, const struct field *field)
{
	if (event->desc->id != MR_EVENT_interval_unfinished ||
	    strcmp(field->desc->name, "what") != 0)
		return field->desc->id_of;
	const struct mr_event_interval_unfinished *open = event->payload;
	return open->event == MR_EVENT_node_interval ? MR_ID_node
	       : open->event == MR_EVENT_runtime_call || open->event == MR_EVENT_torch_operation
		       ? MR_ID_string
		       : MR_ID_none;
}

/* For numbers of the kernel level: the name of a system call, or of the thread at that time. */
static uint32_t kernel_name(const struct mr_survey *survey, const struct mr_event *event,
			    const struct field *field)
{
	const struct mr_definitions *definitions = &survey->definitions;
	size_t length = strlen(field->desc->name);

	if (strcmp(field->desc->name, "number") == 0 &&
	    event->desc->id != MR_EVENT_kernel_interrupt)
		return field->bits < definitions->system_calls.count
			       ? definitions->system_calls.items[field->bits]
			       : 0;
	/* Not the tid in the thread's own pid namespace. */
	if (length < 3 || strcmp(field->desc->name + length - 3, "tid") != 0 ||
	    strcmp(field->desc->name, "inner_tid") == 0)
		return 0;
	return mr_task_name_at(&survey->tasks, MR_OWN_HOST, (uint32_t)field->bits,
			       (int64_t)event->ticks);
}

/* The text that an id stands for; NULL if the field is not an id, or the id is not defined. */
static const char *id_text(const struct mr_survey *survey, const struct mr_event *event,
			   const struct field *field)
{
	const struct mr_definitions *definitions = &survey->definitions;
	enum mr_id_kind kind = id_kind(event, field);
	uint32_t process, track, string = 0, id = (uint32_t)field->bits;

	if (kind == MR_ID_none && event->desc->level == MR_LEVEL_kernel)
		string = kernel_name(survey, event, field);
	if (string)
		return mr_survey_text(survey, string);
	if (kind == MR_ID_none || id == 0)
		return NULL;
	mr_survey_find(survey, event->context, &process, &track);
	uint32_t index = kind == MR_ID_clock ? mr_definition_find_clock(definitions, process, id)
					     : mr_definition_find(definitions, process, kind, id);
	switch (kind) {
	case MR_ID_string:
		string = index;
		break;
	case MR_ID_graph:
		string = definitions->graphs.items[index].name;
		break;
	case MR_ID_node:
		string = definitions->nodes.items[index].name;
		break;
	case MR_ID_device:
		string = definitions->devices.items[index].name;
		break;
	case MR_ID_queue:
		string = definitions->queues.items[index].name;
		break;
	case MR_ID_file:
		string = definitions->files.items[index].path;
		break;
	case MR_ID_code:
		string = definitions->sites.codes.items[index].name;
		break;
	case MR_ID_site:
		string = definitions->sites.codes.items[definitions->sites.items[index].code].name;
		break;
	case MR_ID_clock:
		string = definitions->clocks.items[index].name;
		break;
	default:
		break;
	}
	return string ? mr_survey_text(survey, string) : NULL;
}

static double as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static int64_t as_signed(const struct field *field)
{
	return field->desc->type == MR_i32 ? (int32_t)field->bits : (int64_t)field->bits;
}

/* ---- as text -------------------------------------------------------------------------------------- */

static void print_quoted(const char *text)
{
	putchar('"');
	while (*text) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		if (*text == '"' || *text == '\\')
			putchar('\\');
		for (size_t i = 0; i < length; i++)
			printf(shown ? "%c" : "\\x%02x", (unsigned char)text[i]);
		text += length;
	}
	putchar('"');
}

static void print_value(const struct mr_survey *survey, const struct mr_event *event,
			const struct field *field)
{
	const char *name = enum_name(field), *text = id_text(survey, event, field);

	switch (field->desc->type) {
	case MR_i32:
	case MR_i64:
		printf("%" PRId64, as_signed(field));
		break;
	case MR_f64:
		printf("%.17g", as_double(field->bits));
		break;
	default:
		if (name)
			fputs(name, stdout);
		else
			printf("%" PRIu64, field->bits);
	}
	if (text) {
		putchar(' ');
		print_quoted(text);
	}
}

static void print_fields(const struct mr_survey *survey, const struct mr_event *event)
{
	const uint8_t *at = event->payload;

	for (uint32_t i = 0; i < event->desc->field_count; i++) {
		const struct mr_field_desc *desc = &event->desc->fields[i];

		printf("%s%s = ", i ? ", " : "", desc->name);
		if (desc->type == MR_str) {
			print_quoted(event->text);
			continue;
		}
		const struct field field = read_field(desc, at);
		print_value(survey, event, &field);
		at += mr_type_bytes(desc->type);
	}
}

static void print_text(const struct mr_survey *survey, const struct mr_event *event, int64_t ns,
		       int64_t delta_ns)
{
	const int64_t second = 1000000000;
	int64_t since_ns = ns - survey->first_ns;
	int64_t away_ns = since_ns < 0 ? -since_ns : since_ns;

	printf("[%s%" PRId64 ".%09" PRId64 "] (+%" PRId64 ".%09" PRId64 ") ",
	       since_ns < 0 ? "-" : "", away_ns / second, away_ns % second, delta_ns / second,
	       delta_ns % second);
	if (event->desc->level == MR_LEVEL_kernel)
		printf("CPU %u ", event->context->tid);
	else
		printf("%u/%u ", event->context->pid, event->context->tid);
	printf("%s: { ", event->desc->name);
	print_fields(survey, event);
	puts(event->desc->field_count ? " }" : "}");
}

/* ---- as JSON -------------------------------------------------------------------------------------- */

static void print_json_value(const struct mr_event *event, const struct field *field,
			     struct mr_json *json)
{
	const char *key = field->desc->name, *name = enum_name(field);
	char number[32];

	switch (field->desc->type) {
	case MR_str:
		mr_json_string(json, key, event->text);
		break;
	case MR_i32:
	case MR_i64:
		mr_json_int(json, key, as_signed(field));
		break;
	case MR_f64:
		snprintf(number, sizeof number, "%.17g", as_double(field->bits));
		mr_json_string(json, key, number);
		break;
	default:
		if (name)
			mr_json_string(json, key, name);
		else
			mr_json_uint(json, key, field->bits);
	}
}

static void print_json_fields(const struct mr_survey *survey, const struct mr_event *event,
			      struct mr_json *json, bool only_names)
{
	const uint8_t *at = event->payload;

	for (uint32_t i = 0; i < event->desc->field_count; i++) {
		const struct mr_field_desc *desc = &event->desc->fields[i];
		const struct field field = read_field(desc, at);
		const char *text = only_names ? id_text(survey, event, &field) : NULL;

		if (!only_names)
			print_json_value(event, &field, json);
		else if (text)
			mr_json_string(json, desc->name, text);
		at += mr_type_bytes(desc->type);
	}
}

static void print_json(const struct mr_survey *survey, const struct mr_event *event, int64_t ns,
		       struct mr_json *json)
{
	mr_json_begin_object(json, NULL);
	mr_json_int(json, "ns", ns);
	mr_json_int(json, "realtime_ns", ns + mr_clocks_epoch_ns(survey->clocks));
	mr_json_uint(json, "ticks", event->ticks);
	mr_json_uint(json, "process", event->context->process);
	mr_json_uint(json, "pid", event->context->pid);
	mr_json_uint(json, "tid", event->context->tid);
	mr_json_string(json, "event", event->desc->name);
	mr_json_begin_object(json, "fields");
	print_json_fields(survey, event, json, false);
	mr_json_end_object(json);
	mr_json_begin_object(json, "names");
	print_json_fields(survey, event, json, true);
	mr_json_end_object(json);
	mr_json_end_object(json);
}

/* ---- the command ---------------------------------------------------------------------------------- */

static int print_events(const struct mr_survey *survey, struct mr_merge *merge)
{
	struct mr_json json;
	struct mr_event event;
	int64_t ns, last_ns = survey->first_ns;
	uint64_t printed = 0;

	mr_json_start(&json, stdout, MR_JSON_ONE_LINE);
	while (printed < given.limit && !ferror(stdout) && mr_merge_next(merge, &event, &ns)) {
		if (given.level != LEVEL_ALL && event.desc->level != 1u << given.level)
			continue;
		if (given.json)
			print_json(survey, &event, ns, &json);
		else
			print_text(survey, &event, ns, mr_max(ns - last_ns, INT64_C(0)));
		last_ns = ns;
		printed++;
	}
	return given.json ? mr_json_finish(&json) : 0;
}

/* On stderr, because a program may read standard output. */
static void report_damage(const struct mr_survey *survey, struct mr_merge *merge)
{
	uint64_t malformed = mr_merge_malformed_packets(merge);

	if (survey->trace->damage_count)
		fprintf(stderr,
			"millrace: %" PRIu64 " bytes in %u place%s could not be read: see "
			"'millrace info'\n",
			survey->lost_bytes, survey->trace->damage_count,
			survey->trace->damage_count == 1 ? "" : "s");
	if (malformed)
		fprintf(stderr,
			"millrace: %" PRIu64 " packet%s not read to the end because of an invalid "
			"event: see 'millrace info'\n",
			malformed, malformed == 1 ? " was" : "s were");
	uint64_t unknown = mr_merge_unknown_events(merge);

	if (unknown)
		fprintf(stderr,
			"millrace: %" PRIu64 " event%s of types this version does not know\n",
			unknown, unknown == 1 ? " is" : "s are");
}

/* The trace begins, as in all reports, with the program's start. */
static int span_program(struct mr_survey *survey)
{
	struct mr_manifest *manifest;
	int result = mr_manifest_of(survey->trace, &manifest);

	if (result == 0) {
		mr_survey_span_program(survey, manifest->window_from_ticks,
				       manifest->window_to_ticks);
		mr_manifest_free(manifest);
	}
	return result;
}

static int dump(const struct mr_trace *trace)
{
	struct mr_survey *survey;
	struct mr_merge *merge;
	int result = mr_survey_make(trace, &survey);

	if (result < 0)
		return result;
	result = span_program(survey);
	if (result < 0) {
		mr_survey_free(survey);
		return result;
	}
	result = mr_merge_start(trace, NULL, mr_clocks_stream_to_ns, survey->clocks, &merge);
	if (result == 0) {
		result = print_events(survey, merge);
		report_damage(survey, merge);
		mr_merge_free(merge);
	}
	mr_survey_free(survey);
	return result;
}

static int run(int count, char **operands)
{
	mr_auto(free) char *path = NULL;
	struct mr_trace *trace;
	int result = mr_trace_argument(count, operands, &path);

	signal(SIGPIPE, SIG_DFL); /* if the reader closes the pipe, end quietly */
	if (result == 0)
		result = mr_import_open(path, &trace);
	if (result < 0)
		return result;
	result = dump(trace);
	if (result == 0)
		result = mr_mappings_check();
	mr_trace_close(trace);
	return result;
}

const struct mr_command mr_command_dump = {
	.name = "dump",
	.summary = "print the events in chronological order",
	.operands = "[TRACE]",
	.description =
		"Prints the events of all threads in chronological order, one per line: seconds "
		"since the trace began, time since the previous line, process and thread (or CPU), "
		"the event and its fields. The name that an id stands for follows it.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file in the "
		"Chrome trace format. The default is the newest *.mill in the current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
