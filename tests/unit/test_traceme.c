/* SPDX-License-Identifier: Apache-2.0
 *
 * What the texts of TraceMe mean: those that TensorFlow writes, odd ones, and random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "load/tensorflow/traceme.h"
#include "trace_writer.h"

static struct mr_traceme meaning;
static struct mr_traceme_parts parts;

static void understand(const char *text)
{
	mr_traceme_read(text, &meaning, &parts);
}

static void assert_operation(const char *text, const char *name, const char *type,
			     const char *shapes)
{
	understand(text);
	assert_int_equal(meaning.kind, MR_TRACEME_OPERATION);
	assert_true(mr_slice_is(parts.name, name));
	assert_true(mr_slice_is(parts.type, type));
	assert_true(mr_slice_is(parts.detail, shapes));
}

static void assert_scope(const char *text, const char *name, const char *detail)
{
	understand(text);
	assert_int_equal(meaning.kind, MR_TRACEME_SCOPE);
	assert_true(mr_slice_is(parts.name, name));
	assert_int_equal(parts.type.length, 0);
	assert_true(mr_slice_is(parts.detail, detail));
}

static void test_operations(void **state)
{
	(void)state;
	assert_operation("Relu:_FusedMatMul#shape=(float[32,64];float[64,128])#", "Relu",
			 "_FusedMatMul", "(float[32,64];float[64,128])");
	assert_operation("a/b:MatMul", "a/b", "MatMul", "");
	assert_operation("a:MatMul#", "a", "MatMul", "");
	assert_operation("x:Addons>Gelu##", "x", "Addons>Gelu", "");
	assert_operation("a:b:MatMul#shape=#", "a:b", "MatMul", "");
	assert_operation("a:MatMul#x=1,shape=(int32[]),y=2#", "a", "MatMul", "(int32[])");
}

static void test_no_operations(void **state)
{
	static const char *const names[] = {
		"Iterator::Root::Prefetch",
		"EagerLocalExecute: MatMul",
		"a:b",
		"a:",
		":MatMul",
		"dot.3",
		"Process Scheduled:Relu",
		"a:9x",
		":",
		"::",
		"a:Mat Mul",
		"",
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(names); i++)
		assert_scope(names[i], names[i], "");
}

static void test_messages(void **state)
{
	(void)state;
	understand("m:_Send#from=a,to=b,key=/job:w/CPU:0;30;/job:w/CPU:0;edge_3_m;0:0#");
	assert_true(mr_slice_is(parts.channel, "/job:w/CPU:0;30;/job:w/CPU:0;edge_3_m;0:0"));
	assert_false(meaning.is_receive);
	understand("m:_HostRecv#key=k,from=a#");
	assert_true(mr_slice_is(parts.channel, "k"));
	assert_true(meaning.is_receive);
	understand("m:CollectiveBcastSend#instance_key=100#");
	assert_int_equal(parts.channel.length, 0);
	understand("m:MatMul#key=k#");
	assert_int_equal(parts.channel.length, 0);
}

static void test_places_of_numbers(void **state)
{
	(void)state;
	assert_scope("ExecutorState::Process#id=%,iter_num=%,_ct=%,_c=%#", "ExecutorState::Process",
		     "id=%,iter_num=%,_ct=%,_c=%");
	assert_int_equal(meaning.run, 0);
	assert_int_equal(meaning.key, 3);
	assert_int_equal(meaning.step, MR_TRACEME_NONE);
	understand(
		"Iterator::Root::Prefetch#name=P:7,shapes=[?,3],id=%,parent_id=%,autotune=false#");
	assert_int_equal(meaning.run, MR_TRACEME_NONE);
	assert_int_equal(meaning.key, 0);
	assert_int_equal(meaning.parent_key, 1);
	understand("train#epoch_num=%,step_num=%#");
	assert_int_equal(meaning.kind, MR_TRACEME_STEP);
	assert_int_equal(meaning.step, 1);
	understand("a#step_id=%,id=%#");
	assert_int_equal(meaning.run, 1);
	/* The event has no fifth number. */
	understand("a#v=%,w=%,x=%,y=%,id=%#");
	assert_int_equal(meaning.run, MR_TRACEME_NONE);
}

/* Texts with more numbers than an event has room for are written as they are. */
static void test_numbers_in_the_text(void **state)
{
	(void)state;
	understand("train#a=1,b=2,c=3,d=4,step_num=5,id=-6,_p=7#");
	assert_int_equal(meaning.kind, MR_TRACEME_STEP);
	assert_int_equal(mr_slice_number(parts.numbers[meaning.step]), 5);
	assert_int_equal(mr_slice_number(parts.numbers[meaning.run]), -6);
	assert_int_equal(mr_slice_number(parts.numbers[meaning.key]), 7);
	assert_int_equal(meaning.parent_key, MR_TRACEME_NONE);
	/* A '%' of its own is no number, and takes none from others. */
	understand("a#id=%,_c=7#");
	assert_int_equal(mr_slice_number(parts.numbers[meaning.run]), 0);
	assert_int_equal(mr_slice_number(parts.numbers[meaning.key]), 7);
	/* The hook takes these for no numbers: they keep no place from others. */
	understand("a#id=x,_p=%#");
	assert_int_equal(meaning.run, MR_TRACEME_NONE);
	assert_int_equal(meaning.key, 0);
	understand("a#id=99999999999999999999#");
	assert_int_equal(meaning.run, MR_TRACEME_NONE);
	understand("a#id=5");
	assert_int_equal(meaning.run, MR_TRACEME_NONE);
}

static void test_values(void **state)
{
	static const char text[] = "a#x=(1,2),y=b#z=3#w=";

	(void)state;
	assert_true(mr_slice_is(mr_traceme_value(text, "x"), "(1,2)"));
	assert_true(mr_slice_is(mr_traceme_value(text, "y"), "b"));
	assert_true(mr_slice_is(mr_traceme_value(text, "z"), "3"));
	assert_true(mr_slice_is(mr_traceme_value(text, "w"), ""));
	assert_true(mr_slice_is(mr_traceme_value(text, "a"), ""));
	assert_true(mr_slice_is(mr_traceme_value("x=1", "x"), ""));
}

static uint64_t number_of(const char *text)
{
	return mr_slice_number((struct mr_slice){text, strlen(text)});
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(number_of("18446744073709551615"), UINT64_MAX);
	assert_int_equal(number_of("18446744073709551616"), 0);
	assert_int_equal(number_of("-9223372036854775808"), INT64_MIN);
	assert_int_equal(number_of("-9223372036854775809"), 0);
	assert_int_equal(number_of("-"), 0);
	assert_int_equal(number_of(""), 0);
	assert_int_equal(number_of("1.5"), 0);
}

static void assert_inside(struct mr_slice slice, const char *text)
{
	assert_true(slice.length == 0 ||
		    (slice.at >= text && slice.at + slice.length <= text + strlen(text)));
}

/* Every part is a part of the text, and every place is one; a sanitizer sees the rest. */
static void test_random_texts(void **state)
{
	static const char *const pieces[] = {"#",        ",",     "=",     "%",          ":",
					     "::",       "id",    "-",     "7",          "step_num",
					     "_p",       "key",   "shape", "Iterator::", "Op",
					     "(a,",      "_Recv", " ",     "\n",         "\xff",
					     "parent_id"};
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		size_t count = next_random(&random) % 24;
		char buffer[24 * 10 + 1];
		size_t length = 0;

		for (size_t i = 0; i < count; i++) {
			const char *piece = pieces[next_random(&random) % mr_countof(pieces)];

			memcpy(buffer + length, piece, strlen(piece));
			length += strlen(piece);
		}
		buffer[length] = 0;
		char *text = strdup(buffer); /* no room behind it */
		understand(text);
		assert_inside(parts.name, text);
		assert_inside(parts.type, text);
		assert_inside(parts.detail, text);
		assert_inside(parts.channel, text);
		const uint8_t places[] = {meaning.run, meaning.key, meaning.parent_key,
					  meaning.step};
		for (size_t i = 0; i < mr_countof(places); i++)
			assert_true(places[i] < MR_TRACEME_NUMBERS || places[i] == MR_TRACEME_NONE);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_no_operations),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_places_of_numbers),
		cmocka_unit_test(test_numbers_in_the_text),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_random_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
