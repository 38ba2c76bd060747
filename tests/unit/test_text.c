/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences on the page of a text report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/format.h"
#include "report/text.h"

static void test_width_of_part(void **state)
{
	(void)state;
	assert_int_equal(mr_text_width_of("\u00b5s and more", strlen("\u00b5s")), 2);
	assert_int_equal(mr_text_width_of("all", 100), 3);
	assert_int_equal(mr_text_width_of("all", 0), 0);
}

/* As long as a program's texts may be: work that grows with the square of the length would take an hour. */
static void test_long_sentence(void **state)
{
	static const char word[] = "\u00b5s ";
	enum {
		WORDS = 280000,
		PER_LINE = 7,
		WIDTH = 20,
		LINE_BYTES = PER_LINE * (sizeof word - 1)
	};
	const struct mr_text_style style = {.width = WIDTH, .utf8 = true};
	char *text = calloc(WORDS, sizeof word), *printed = NULL;
	size_t size = 0;
	struct mr_page page = {.style = &style, .file = open_memstream(&printed, &size)};

	(void)state;
	assert_non_null(text);
	assert_non_null(page.file);
	for (size_t i = 0; i < WORDS; i++)
		memcpy(text + i * (sizeof word - 1), word, sizeof word);
	mr_page_wrap(&page, text, 0, 0);
	fclose(page.file);
	assert_int_equal(size, strlen(text));
	for (size_t i = 0; i < WORDS / PER_LINE; i++) {
		assert_memory_equal(printed + i * LINE_BYTES, text, LINE_BYTES - 1);
		assert_int_equal(printed[(i + 1) * LINE_BYTES - 1], '\n');
	}
	free(printed);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width_of_part),
		cmocka_unit_test(test_long_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
