/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of a command, declared as a table. The same declaration drives parsing, the help text and
 * shell completion, and a test compares it with the manual page.
 *
 *     static struct { bool json; const char *output; } given;
 *     static const struct mr_option options[] = {
 *             MR_FLAG('j', "json", &given.json, "print JSON"),
 *             MR_STRING('o', "output", &given.output, "DIR", "where the trace goes"),
 *             {0},
 *     };
 *
 * Options follow the GNU conventions: --output=DIR, --output DIR, -o DIR, -oDIR, -jo DIR; "--" ends
 * them. Names cannot be abbreviated, so that new options never break old scripts. Strings point into
 * argv. A failed parse leaves a cause for mr_error_text(); some targets may then be set.
 */
#ifndef MR_CMD_OPTIONS_H
#define MR_CMD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum mr_option_type {
	MR_OPTION_FLAG = 1, /* takes no value */
	MR_OPTION_STRING,
	MR_OPTION_INTEGER,  /* decimal, not negative */
	MR_OPTION_SIZE,     /* bytes: 4096, 64K, 1.5M, 2G, 1T (powers of 1024) */
	MR_OPTION_DURATION, /* 250ms, 1.5s, 10 (seconds), 2m, 1h; also us and ns */
	MR_OPTION_CHOICE,   /* one word of a list */
	MR_OPTION_SET,      /* comma-separated words of a list */
};

struct mr_option {
	enum mr_option_type type; /* 0 ends a table */
	char short_name;          /* 0: none */
	const char *long_name;
	union {
		bool *flag;
		const char **string;
		uint64_t *number; /* integer; bytes; nanoseconds */
		int *choice;      /* index of the word */
		uint32_t *set;    /* bit i: word i was given */
	} target;
	const char *argument;       /* name of the value in the help; NULL for flags */
	const char *const *choices; /* words, terminated by NULL */
	const char *help;
	uint64_t least; /* minimum of a number; 0: any */
};

/* clang-format off */
#define MR_FLAG(letter, name, to, text) \
	{MR_OPTION_FLAG, letter, name, {.flag = to}, NULL, NULL, text, 0}
#define MR_STRING(letter, name, to, value, text) \
	{MR_OPTION_STRING, letter, name, {.string = to}, value, NULL, text, 0}
#define MR_INTEGER(letter, name, to, value, text) \
	{MR_OPTION_INTEGER, letter, name, {.number = to}, value, NULL, text, 0}
#define MR_SIZE(letter, name, to, value, text) \
	{MR_OPTION_SIZE, letter, name, {.number = to}, value, NULL, text, 0}
#define MR_DURATION(letter, name, to, value, text) \
	{MR_OPTION_DURATION, letter, name, {.number = to}, value, NULL, text, 0}
#define MR_SIZE_FROM(letter, name, to, least, value, text) \
	{MR_OPTION_SIZE, letter, name, {.number = to}, value, NULL, text, least}
#define MR_DURATION_FROM(letter, name, to, least, value, text) \
	{MR_OPTION_DURATION, letter, name, {.number = to}, value, NULL, text, least}
#define MR_CHOICE(letter, name, to, words, value, text) \
	{MR_OPTION_CHOICE, letter, name, {.choice = to}, value, words, text, 0}
#define MR_SET(letter, name, to, words, value, text) \
	{MR_OPTION_SET, letter, name, {.set = to}, value, words, text, 0}
/* clang-format on */

enum mr_options_order {
	MR_OPTIONS_ANYWHERE, /* options may follow operands */
	MR_OPTIONS_FIRST,    /* the first operand ends them: the rest belongs to another program */
};

/* Parses argv[0 .. *count), which is followed by a NULL, and leaves only the operands there, again
 * followed by a NULL. Returns 0, -EINVAL or -ERANGE with a cause, or -ECANCELED if --help or -h
 * was given. */
int mr_options_parse(const struct mr_option *options, enum mr_options_order order, int *count,
		     char **argv);

/* Prints two aligned columns of at most 80 characters together. */
void mr_options_print_help(const struct mr_option *options, FILE *file);

/* For completion, one line each: --long <tab> -s or - <tab> VALUE, a|b|c or - <tab> help. */
void mr_options_print_list(const struct mr_option *options, FILE *file);

/* "64M" → bytes, "1.5s" → nanoseconds: for options that take either. -EINVAL with a cause. */
int mr_parse_size(const char *text, uint64_t *ret_bytes);
int mr_parse_duration(const char *text, uint64_t *ret_ns);

#endif
