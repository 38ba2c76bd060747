/* SPDX-License-Identifier: Apache-2.0
 *
 * Several traces of one server: each has its number, and its addresses lead to it alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macros.h"
#include "serve/traces.h"
#include "small_trace.h"
#include "trace_writer.h"

enum {
	LOADING_MS = 60000
};

static void addresses_lead_to_their_trace(void **state)
{
	char *directory = small_trace_make();
	struct mr_traces traces = {0};
	const char *name = NULL;

	(void)state;
	assert_null(mr_traces_find(&traces, "traces/0/slices", &name));
	assert_int_equal(mr_traces_open(&traces, directory), 0);
	assert_int_equal(mr_traces_open(&traces, directory), 0);
	assert_ptr_equal(mr_traces_find(&traces, "traces/0/slices", &name), traces.items[0]);
	assert_string_equal(name, "slices");
	assert_ptr_equal(mr_traces_find(&traces, "traces/1/", &name), traces.items[1]);
	assert_string_equal(name, "");
	static const char *const others[] = {
		"",           "traces",      "traces/",      "traces/0",  "traces/2/slices",
		"traces//",   "traces/00/x", "traces/-1/x",  "traces/a/", "traces/10/x",
		"/traces/0/", "trace/0/x",   "traces/0x0/x",
	};
	for (size_t i = 0; i < mr_countof(others); i++)
		assert_null(mr_traces_find(&traces, others[i], &name));
	assert_int_equal(mr_traces_wait(&traces, LOADING_MS), 0);
	mr_traces_free(&traces);
	assert_int_equal(traces.count, 0);
	directory_remove(directory);
}

static void failure_has_its_cause(void **state)
{
	struct mr_traces traces = {0};

	(void)state;
	assert_int_equal(mr_traces_open(&traces, "/nonexistent/trace"), 0);
	assert_true(mr_traces_wait(&traces, LOADING_MS) < 0);
	assert_non_null(strstr(mr_error_text(), "/nonexistent/trace"));
	mr_traces_free(&traces);
}

static void there_is_an_end_to_them(void **state)
{
	struct mr_traces traces = {0};

	(void)state;
	for (int i = 0; i < MR_TRACES_MAX; i++)
		assert_int_equal(mr_traces_open(&traces, "/nonexistent/trace"), 0);
	assert_int_equal(mr_traces_open(&traces, "/nonexistent/trace"), -ENOSPC);
	mr_traces_free(&traces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_lead_to_their_trace),
		cmocka_unit_test(failure_has_its_cause),
		cmocka_unit_test(there_is_an_end_to_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
