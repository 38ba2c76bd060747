/* SPDX-License-Identifier: Apache-2.0
 *
 * Parsing of command lines, and of sizes and durations.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macros.h"
#include "cmd/options.h"

static struct {
	bool quiet;
	bool json;
	const char *output;
	uint64_t port;
	uint64_t max_bytes;
	uint64_t buffer_bytes;
	uint64_t delay_ns;
	int level;
	uint32_t levels;
} given;

static const char *const words[] = {"kernel", "runtime", "dataflow", NULL};

static const struct mr_option options[] = {
	MR_FLAG('q', "quiet", &given.quiet, "say nothing"),
	MR_FLAG('j', "json", &given.json, "print JSON"),
	MR_STRING('o', "output", &given.output, "DIR", "where to"),
	MR_INTEGER('p', "port", &given.port, "N", "which port"),
	MR_SIZE(0, "max-size", &given.max_bytes, "SIZE", "how much"),
	MR_SIZE_FROM(0, "buffer", &given.buffer_bytes, 4096, "SIZE", "how much, at least"),
	MR_DURATION(0, "delay", &given.delay_ns, "TIME", "how long"),
	MR_CHOICE(0, "level", &given.level, words, "LEVEL", "which level"),
	MR_SET(0, "levels", &given.levels, words, "LEVELS", "which levels"),
	{0},
};

/* Parses the NULL-ended words and compares the operands left, joined by blanks. */
static int parse(enum mr_options_order order, const char *expected_operands, char **argv)
{
	int count = 0;
	char joined[256] = "";
	memset(&given, 0, sizeof given);
	while (argv[count])
		count++;
	int result = mr_options_parse(options, order, &count, argv);
	if (result < 0)
		return result;
	for (int i = 0; i < count; i++) {
		strcat(joined, i ? " " : "");
		strcat(joined, argv[i]);
	}
	assert_null(argv[count]);
	assert_string_equal(joined, expected_operands);
	return 0;
}

#define PARSE(order, expected, ...) parse(order, expected, (char *[]){__VA_ARGS__, NULL})

static void test_forms(void **state)
{
	(void)state;
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "a b", "a", "--output=x", "-q", "b"), 0);
	assert_string_equal(given.output, "x");
	assert_true(given.quiet);
	assert_false(given.json);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--output", "x"), 0);
	assert_string_equal(given.output, "x");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "-ox"), 0);
	assert_string_equal(given.output, "x");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "-qjo", "x"), 0);
	assert_true(given.quiet && given.json);
	assert_string_equal(given.output, "x");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--output="), 0);
	assert_string_equal(given.output, "");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "-", "-", "-p", "8080"), 0);
	assert_int_equal(given.port, 8080);
}

static void test_end_of_options(void **state)
{
	(void)state;
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "a -q --bogus", "a", "--", "-q", "--bogus"), 0);
	assert_false(given.quiet);
	assert_int_equal(PARSE(MR_OPTIONS_FIRST, "ls -q --help", "-j", "ls", "-q", "--help"), 0);
	assert_true(given.json);
	assert_false(given.quiet);
	assert_int_equal(PARSE(MR_OPTIONS_FIRST, "ls -- -q", "--", "ls", "--", "-q"), 0);
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(
		PARSE(MR_OPTIONS_ANYWHERE, "", "--level=dataflow", "--levels=kernel,dataflow"), 0);
	assert_int_equal(given.level, 2);
	assert_int_equal(given.levels, 5);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--levels=kernel,"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--level=kern"), -EINVAL);
	assert_string_equal(mr_error_text(), "--level: 'kern' is not kernel, runtime or dataflow");
}

static void test_refusals(void **state)
{
	(void)state;
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--bogus=1"), -EINVAL);
	assert_string_equal(mr_error_text(), "unknown option --bogus");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--out", "x"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "-x"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--output"), -EINVAL);
	assert_string_equal(mr_error_text(), "--output needs a value: DIR");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "-qo"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--quiet=yes"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--port=-1"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--port=1.5"), -EINVAL);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--buffer=4K"), 0);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--buffer=4095"), -ERANGE);
	assert_string_equal(mr_error_text(),
			    "--buffer: '4095' is too small: the minimum is 4096 bytes");
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "--help"), -ECANCELED);
	assert_int_equal(PARSE(MR_OPTIONS_ANYWHERE, "", "-qh"), -ECANCELED);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0},           {"4096", 4096}, {"64K", 65536},       {"1.5M", 1572864},
		    {"2G", 2147483648}, {"0.001K", 1},  {"1T", 1099511627776}};
	static const char *const bad[] = {"",   "K",     "-1",  "1KB", "1 K", "1.",
					  ".5", "1.2.3", "0x1", "1e3", "inf", "99999999999T"};
	(void)state;
	for (size_t i = 0; i < mr_countof(good); i++) {
		uint64_t bytes = 1;
		assert_int_equal(mr_parse_size(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < mr_countof(bad); i++) {
		uint64_t bytes = 77;
		assert_true(mr_parse_size(bad[i], &bytes) < 0);
		assert_int_equal(bytes, 77);
	}
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {{"10", 10000000000}, {"250ms", 250000000}, {"1.5s", 1500000000}, {"7ns", 7},
		    {"3us", 3000},       {"2m", 120000000000}, {"1h", 3600000000000}};
	uint64_t ns;
	(void)state;
	for (size_t i = 0; i < mr_countof(good); i++) {
		assert_int_equal(mr_parse_duration(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	assert_int_equal(mr_parse_duration("10d", &ns), -EINVAL);
	assert_int_equal(mr_parse_duration("9999999999999h", &ns), -ERANGE);
}

static void test_help_fits(void **state)
{
	static const struct mr_option long_help[] = {
		MR_STRING(
			'o', "output-of-a-long-name", &given.output, "DIRECTORY",
			"a text that is so long that it has to be broken into several lines, each "
			"of which begins below the first one"),
		{0},
	};
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	(void)state;
	mr_options_print_help(long_help, file);
	fclose(file);
	int lines = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++)
		assert_true(strlen(line) <= 80);
	assert_int_equal(lines, 5); /* name, three of text, --help */
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),     cmocka_unit_test(test_end_of_options),
		cmocka_unit_test(test_words),     cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_sizes),     cmocka_unit_test(test_durations),
		cmocka_unit_test(test_help_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
