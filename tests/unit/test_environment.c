/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a program to be executed, with the library put in or taken out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "environment_text.h"

static void test_putting_in(void **state)
{
	(void)state;
	assert_string_equal(build(NULL, &in), "LD_PRELOAD=/m.so|CUDA_INJECTION64_PATH=/"
					      "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/"
					      "m.so|OPENCL_LAYERS=/m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("A=1", "B="), &in),
			    "A=1|B=|LD_PRELOAD=/m.so|CUDA_INJECTION64_PATH=/"
			    "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/"
			    "m.so|OPENCL_LAYERS=/"
			    "m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("LD_PRELOAD=", "MILLRACE_ARENA="), &in),
			    "LD_PRELOAD=/m.so|CUDA_INJECTION64_PATH=/m.so|NVTX_INJECTION64_PATH=/"
			    "m.so|HSA_TOOLS_LIB=/"
			    "m.so|OPENCL_LAYERS=/m.so|MILLRACE_ARENA=/a");
	assert_string_equal(
		build(entries("LD_PRELOADED=1", "LD_PRELOA=2", "LD_PRELOAD"), &in),
		"LD_PRELOADED=1|LD_PRELOA=2|LD_PRELOAD|LD_PRELOAD=/"
		"m.so|CUDA_INJECTION64_PATH=/m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/"
		"m.so|OPENCL_LAYERS=/m.so|"
		"MILLRACE_ARENA=/a");
}

static void test_others_stay_in_order(void **state)
{
	(void)state;
	assert_string_equal(build(entries("LD_PRELOAD=/x.so:y.so z.so"), &in),
			    "LD_PRELOAD=/m.so:/x.so:y.so:z.so|CUDA_INJECTION64_PATH=/"
			    "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/m.so|OPENCL_LAYERS=/"
			    "m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("LD_PRELOAD=::/x.so: :/m.so:/m.so.1:/m.so"), &in),
			    "LD_PRELOAD=/m.so:/x.so:/m.so.1|CUDA_INJECTION64_PATH=/"
			    "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/m.so|OPENCL_LAYERS=/"
			    "m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("LD_PRELOAD=/x.so", "A=1", "LD_PRELOAD=/y.so"), &in),
			    "A=1|LD_PRELOAD=/m.so:/y.so|CUDA_INJECTION64_PATH=/"
			    "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/"
			    "m.so|OPENCL_LAYERS=/"
			    "m.so|MILLRACE_ARENA=/a");
}

static void test_taking_out(void **state)
{
	(void)state;
	assert_string_equal(build(NULL, &out), "");
	assert_string_equal(build(entries("LD_PRELOAD=/m.so", "MILLRACE_ARENA=/a", "A=1"), &out),
			    "A=1");
	assert_string_equal(build(entries("LD_PRELOAD=/m.so:/x.so /m.so"), &out),
			    "LD_PRELOAD=/x.so");
}

/* The last layer is the outermost; and a blank is part of a path here. */
static void test_layers(void **state)
{
	(void)state;
	assert_string_equal(build(entries("OPENCL_LAYERS=/x y.so::/m.so:/z.so"), &in),
			    "LD_PRELOAD=/m.so|CUDA_INJECTION64_PATH=/m.so|NVTX_INJECTION64_PATH=/"
			    "m.so|HSA_TOOLS_LIB=/m.so|OPENCL_LAYERS=/x "
			    "y.so:/z.so:/m.so|MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("OPENCL_LAYERS=/x y.so:/m.so"), &out),
			    "OPENCL_LAYERS=/x y.so");
	assert_string_equal(build(entries("OPENCL_LAYERS=/m.so", "A=1"), &out), "A=1");
}

/* The first tools library is the one nearest to the device. */
static void test_tools_libraries(void **state)
{
	(void)state;
	assert_string_equal(build(entries("HSA_TOOLS_LIB=/x:y.so /m.so /z.so"), &in),
			    "LD_PRELOAD=/m.so|CUDA_INJECTION64_PATH=/m.so|NVTX_INJECTION64_PATH=/"
			    "m.so|HSA_TOOLS_LIB=/m.so "
			    "/x:y.so /z.so|OPENCL_LAYERS=/m.so|"
			    "MILLRACE_ARENA=/a");
	assert_string_equal(build(entries("HSA_TOOLS_LIB=/m.so /x.so"), &out),
			    "HSA_TOOLS_LIB=/x.so");
}

static void test_built_twice_is_built_once(void **state)
{
	(void)state;
	char *first[6] = {0};
	char copy[4096];
	strcpy(copy, build(entries("LD_PRELOAD=/x.so"), &in));
	first[0] = strtok(copy, "|");
	first[1] = strtok(NULL, "|");
	first[2] = strtok(NULL, "|");
	first[3] = strtok(NULL, "|");
	first[4] = strtok(NULL, "|");
	assert_string_equal(build(first, &in), "LD_PRELOAD=/m.so:/x.so|CUDA_INJECTION64_PATH=/"
					       "m.so|NVTX_INJECTION64_PATH=/m.so|HSA_TOOLS_LIB=/"
					       "m.so|OPENCL_LAYERS=/m.so|MILLRACE_ARENA=/a");
}

static void test_get(void **state)
{
	(void)state;
	char *const *environment = entries("A=1", "AB=2", "A=3", "C");
	assert_string_equal(mr_environment_get(environment, "A"), "3");
	assert_null(mr_environment_get(environment, "B"));
	assert_null(mr_environment_get(environment, "C"));
	assert_null(mr_environment_get(NULL, "A"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_putting_in),
		cmocka_unit_test(test_others_stay_in_order),
		cmocka_unit_test(test_taking_out),
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_tools_libraries),
		cmocka_unit_test(test_built_twice_is_built_once),
		cmocka_unit_test(test_get),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
