/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of tensors by the text of their shapes, against sizes worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/shapes.h"
#include "base/macros.h"

/* What a text of shapes says, which the traced program has written: anything. */
static void bytes_of_tensors(void **state)
{
	static const struct {
		const char *text;
		uint32_t number;
		uint64_t bytes;
	} known[] = {
		{"(float[32,10])", 0, 1280},
		{"(float[];;int64[2])", 0, 4},
		{"(float[];;int64[2])", 1, MR_BYTES_UNKNOWN},
		{"(float[];;int64[2])", 2, 16},
		{"(float[];;int64[2])", 3, MR_BYTES_UNKNOWN},
		{"(complex128[3,0])", 0, 0},
		{"(string[3])", 0, MR_BYTES_UNKNOWN},
		{"(float[-1])", 0, MR_BYTES_UNKNOWN},
		{"(float[?,2])", 0, MR_BYTES_UNKNOWN},
		{"(float[4294967296,4294967296])", 0, MR_BYTES_UNKNOWN},
		{"(float[2", 0, MR_BYTES_UNKNOWN},
		{"(float", 0, MR_BYTES_UNKNOWN},
		{"(", 0, MR_BYTES_UNKNOWN},
		{"", 0, MR_BYTES_UNKNOWN},
		{"float[2]", 0, MR_BYTES_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(known); i++)
		assert_true(mr_shapes_bytes(known[i].text, known[i].number) == known[i].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
