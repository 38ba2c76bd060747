/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "cmd/terminal.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{"", 1},
	{"K", UINT64_C(1) << 10},
	{"M", UINT64_C(1) << 20},
	{"G", UINT64_C(1) << 30},
	{"T", UINT64_C(1) << 40},
	{NULL, 0},
};

static const struct unit durations[] = {
	{"", 1000000000},  {"ns", 1},          {"us", 1000},         {"ms", 1000000},
	{"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {NULL, 0},
};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

/* Decimal digits, an optional fraction, then one of the suffixes. Exact: no floating point. */
static int parse_number(const char *text, const struct unit *units, uint64_t *ret_value)
{
	unsigned __int128 digits = 0;
	uint64_t divisor = 1;
	size_t count = 0;
	const char *at = text;
	for (bool in_fraction = false;; at++) {
		if (*at == '.' && !in_fraction && count > 0 && units != no_units) {
			in_fraction = true;
			continue;
		}
		if (*at < '0' || *at > '9')
			break;
		if (++count > 20)
			return -ERANGE;
		digits = digits * 10 + (unsigned)(*at - '0');
		divisor *= in_fraction ? 10 : 1;
	}
	if (count == 0 || at[-1] == '.')
		return -EINVAL;
	while (units->suffix && strcmp(at, units->suffix) != 0)
		units++;
	if (!units->suffix)
		return -EINVAL;
	unsigned __int128 value = digits * units->factor / divisor;
	if (value > INT64_MAX)
		return -ERANGE;
	*ret_value = (uint64_t)value;
	return 0;
}

static int parse_described(const char *text, const struct unit *units, const char *expected,
			   uint64_t *ret_value)
{
	int error = parse_number(text, units, ret_value);
	if (error == -ERANGE)
		return mr_fail(ERANGE, "'%s' is too large", text);
	return error < 0 ? mr_fail(EINVAL, "'%s' is not %s", text, expected) : 0;
}

int mr_parse_size(const char *text, uint64_t *ret_bytes)
{
	return parse_described(text, sizes, "a size such as 4096, 64K, 1.5M or 2G", ret_bytes);
}

int mr_parse_duration(const char *text, uint64_t *ret_ns)
{
	return parse_described(text, durations,
			       "a duration such as 250ms, 1.5s, 10 (seconds) or 2m", ret_ns);
}

/* "a, b or c" */
static void join_words(const char *const *words, const char *last_separator, char *text,
		       size_t capacity)
{
	size_t length = 0;
	text[0] = '\0';
	for (int i = 0; words[i] && length < capacity; i++) {
		const char *separator = i == 0 ? "" : words[i + 1] ? ", " : last_separator;
		length += (size_t)snprintf(text + length, capacity - length, "%s%s", separator,
					   words[i]);
	}
}

static int parse_word(const char *word, size_t length, const char *const *words, int *ret_index)
{
	for (int i = 0; words[i]; i++) {
		if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0) {
			*ret_index = i;
			return 0;
		}
	}
	char expected[256];
	join_words(words, " or ", expected, sizeof expected);
	return mr_fail(EINVAL, "'%.*s' is not %s", (int)length, word, expected);
}

static int parse_set(const char *text, const char *const *words, uint32_t *ret_set)
{
	uint32_t set = 0;
	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ",");
		int index;
		int error = parse_word(word, length, words, &index);
		if (error < 0)
			return error;
		set |= UINT32_C(1) << index;
		word += length;
		if (!*word)
			break;
	}
	*ret_set = set;
	return 0;
}

static int parse_value(const struct mr_option *option, const char *value)
{
	switch (option->type) {
	case MR_OPTION_FLAG:
		*option->target.flag = true;
		return 0;
	case MR_OPTION_STRING:
		*option->target.string = value;
		return 0;
	case MR_OPTION_INTEGER:
		return parse_described(value, no_units, "a whole number", option->target.number);
	case MR_OPTION_SIZE:
		return mr_parse_size(value, option->target.number);
	case MR_OPTION_DURATION:
		return mr_parse_duration(value, option->target.number);
	case MR_OPTION_CHOICE:
		return parse_word(value, strlen(value), option->choices, option->target.choice);
	case MR_OPTION_SET:
		return parse_set(value, option->choices, option->target.set);
	}
	return mr_fail(EINVAL, "option of unknown type %d", option->type);
}

static int store_value(const struct mr_option *option, const char *value)
{
	int error = parse_value(option, value);
	if (error == 0 && option->least && *option->target.number < option->least)
		return mr_fail(ERANGE, "'%s' is too small: the minimum is %" PRIu64 " %s", value,
			       option->least, option->type == MR_OPTION_DURATION ? "ns" : "bytes");
	return error;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int parse_long(const struct mr_option *options, int count, char **argv, int *index)
{
	const char *name = argv[*index] + 2;
	size_t length = strcspn(name, "=");
	const char *value = name[length] ? name + length + 1 : NULL;
	const struct mr_option *option = options;
	if (strcmp(name, "help") == 0)
		return -ECANCELED;
	while (option && option->type &&
	       (strlen(option->long_name) != length ||
		memcmp(option->long_name, name, length) != 0))
		option++;
	if (!option || !option->type)
		return mr_fail(EINVAL, "unknown option --%.*s", (int)length, name);
	if (option->type == MR_OPTION_FLAG && value)
		return mr_fail(EINVAL, "--%s takes no value", option->long_name);
	if (option->type != MR_OPTION_FLAG && !value) {
		if (*index + 1 >= count)
			return mr_fail(EINVAL, "--%s needs a value: %s", option->long_name,
				       option->argument);
		value = argv[++*index];
	}
	int error = store_value(option, value);
	return error < 0 ? mr_fail_more(error, "--%s", option->long_name) : 0;
}

/* One argument of short options: -q, -o DIR, -oDIR, -qo DIR. */
static int parse_short(const struct mr_option *options, int count, char **argv, int *index)
{
	for (const char *letter = argv[*index] + 1; *letter; letter++) {
		const struct mr_option *option = options;
		while (option && option->type && option->short_name != *letter)
			option++;
		if (*letter == 'h' && (!option || !option->type))
			return -ECANCELED;
		if (!option || !option->type)
			return mr_fail(EINVAL, "unknown option -%c", *letter);
		if (option->type == MR_OPTION_FLAG) {
			*option->target.flag = true;
			continue;
		}
		const char *value = letter + 1;
		if (!*value) {
			if (*index + 1 >= count)
				return mr_fail(EINVAL, "-%c needs a value: %s", *letter,
					       option->argument);
			value = argv[++*index];
		}
		int error = store_value(option, value);
		return error < 0 ? mr_fail_more(error, "-%c", *letter) : 0;
	}
	return 0;
}

int mr_options_parse(const struct mr_option *options, enum mr_options_order order, int *count,
		     char **argv)
{
	int operands = 0, index = 0;
	for (; index < *count; index++) {
		const char *argument = argv[index];
		int error = 0;
		if (strcmp(argument, "--") == 0) {
			index++;
			break;
		} else if (strncmp(argument, "--", 2) == 0) {
			error = parse_long(options, *count, argv, &index);
		} else if (argument[0] == '-' && argument[1]) {
			error = parse_short(options, *count, argv, &index);
		} else if (order == MR_OPTIONS_FIRST) {
			break;
		} else {
			argv[operands++] = argv[index];
		}
		if (error < 0)
			return error;
	}
	while (index < *count)
		argv[operands++] = argv[index++];
	argv[operands] = NULL;
	*count = operands;
	return 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_option(char short_name, const char *long_name, const char *argument,
			 const char *help, FILE *file)
{
	enum {
		HELP_COLUMN = 26
	};
	int column = short_name ? fprintf(file, "  -%c, ", short_name) : fprintf(file, "      ");
	column +=
		fprintf(file, "--%s%s%s", long_name, argument ? "=" : "", argument ? argument : "");
	if (column + 2 > HELP_COLUMN) {
		fputc('\n', file);
		column = 0;
	}
	fprintf(file, "%*s", HELP_COLUMN - column, "");
	mr_print_wrapped(file, help, HELP_COLUMN, HELP_COLUMN);
}

void mr_options_print_help(const struct mr_option *options, FILE *file)
{
	for (; options && options->type; options++)
		print_option(options->short_name, options->long_name, options->argument,
			     options->help, file);
	print_option('h', "help", NULL, "print this help", file);
}

void mr_options_print_list(const struct mr_option *options, FILE *file)
{
	for (; options && options->type; options++) {
		fprintf(file, "--%s\t", options->long_name);
		if (options->short_name)
			fprintf(file, "-%c\t", options->short_name);
		else
			fputs("-\t", file);
		for (int i = 0; options->choices && options->choices[i]; i++)
			fprintf(file, "%s%s", i ? "|" : "", options->choices[i]);
		if (!options->choices)
			fputs(options->argument ? options->argument : "-", file);
		fprintf(file, "\t%s\n", options->help);
	}
	fputs("--help\t-h\t-\tprint this help\n", file);
}
