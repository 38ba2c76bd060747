/* SPDX-License-Identifier: Apache-2.0
 *
 * Which format reads a file is decided by what it holds, and a file that none reads is refused by the name of
 * what it is, with what to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/macros.h"
#include "import/formats.h"
#include "import/import.h"

#define ADVICE_JSON "the Chrome trace JSON of PyTorch's profiler (export_chrome_trace)"
#define UNKNOWN                                                                \
	"not a trace: it is neither a recording of millrace nor Chrome trace " \
	"JSON (Kineto, chrome://tracing), SQLite of Nsight Systems, Perfetto " \
	"protobuf, SQLite of rocprofv3 (rocpd) or XPlane protobuf (TensorFlow, JAX)"

/* A sized text, zero bytes and all. */
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static char path[] = "/tmp/mr-test-formats-XXXXXX";

static void write_file(const uint8_t *bytes, size_t count)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

/* Why the file is refused, without its path; NULL if it is not. */
static const char *refusal(void)
{
	struct mr_trace *trace;

	if (mr_import_open(path, &trace) == 0) {
		mr_trace_close(trace);
		return NULL;
	}
	const char *text = mr_error_text();
	assert_memory_equal(text, path, strlen(path));
	assert_memory_equal(text + strlen(path), ": ", 2);
	return text + strlen(path) + 2;
}

static const char *refusal_of(const uint8_t *bytes, size_t count)
{
	write_file(bytes, count);
	return refusal();
}

/* ---- gzip, without its library --------------------------------------------------------------------- */

static uint32_t crc32_of(const uint8_t *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
	}
	return ~crc;
}

/* One block that is stored and not compressed. */
static size_t wrap(const uint8_t *bytes, uint16_t count, uint8_t *to)
{
	static const uint8_t header[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1};
	const uint16_t sizes[] = {count, (uint16_t)~count};
	const uint32_t trailer[] = {crc32_of(bytes, count), count};
	uint8_t *at = to;

	at = (uint8_t *)mempcpy(at, header, sizeof header);
	at = (uint8_t *)mempcpy(at, sizes, sizeof sizes);
	at = (uint8_t *)mempcpy(at, bytes, count);
	at = (uint8_t *)mempcpy(at, trailer, sizeof trailer);
	return (size_t)(at - to);
}

/* ---- files that are refused -------------------------------------------------------------------------- */

static void test_known_files(void **unused)
{
	static const struct {
		const uint8_t *bytes;
		size_t count;
		const char *what;
		const char *advice;
	} files[] = {
		{BYTES("SQLite format 3\0\x10\0\1\1"),
		 "an SQLite database that is no trace of Nsight Systems or rocprofv3",
		 "record the program with 'millrace record', or give " ADVICE_JSON},
		{BYTES("PERFILE2h\0\0\0"), "a perf.data file",
		 "record the program with 'millrace record', which also records scheduling"},
		{BYTES("\x17\x08\x44tracing6\0"), "a trace-cmd trace.dat file",
		 "record the program with 'millrace record', which also records scheduling"},
		{BYTES("NVR\0\x10\0\0\0"), "an Nsight Compute report",
		 "record the program with 'millrace record', or give " ADVICE_JSON},
		{BYTES("\xC1\x1F\xFC\xC1more"), "a stream of a CTF trace",
		 "if millrace recorded it, give the folder of the whole trace"},
		{BYTES("/* CTF 1.8 */\ntypealias"), "the metadata of a CTF trace",
		 "if millrace recorded it, give the folder of the whole trace"},
		{BYTES("\x57\x1D\xD1\x75more"), "the metadata of a CTF trace",
		 "if millrace recorded it, give the folder of the whole trace"},
		{BYTES("PK\x03\x04\x14\0"), "a zip archive", "unpack it and give the trace inside"},
		{BYTES("\x28\xB5\x2F\xFD\x04"), "Zstandard-compressed data",
		 "decompress it with unzstd"},
		{BYTES("\xFD"
		       "7zXZ\0\0"),
		 "xz-compressed data", "decompress it with unxz"},
		{BYTES("BZh91AY"), "bzip2-compressed data", "decompress it with bunzip2"},
		{BYTES("\x04\x22\x4D\x18\x64"), "LZ4-compressed data", "decompress it with unlz4"},
		{BYTES("\x7F"
		       "ELF\2\1\1"),
		 "a program or library", "record it with 'millrace record -- PROGRAM'"},
		{BYTES("\x89PNG\r\n\x1A\n\0"), "a PNG image",
		 "give the trace that it was made from"},
		{BYTES("<!DOCTYPE html>\n<title>"), "a web page",
		 "give the trace that it was made from"},
		{BYTES("<html><body>"), "a web page", "give the trace that it was made from"},
		{BYTES("\x80\x04\x95\x10\0\0\0\0\0\0\0}."),
		 "a Python pickle (perhaps a PyTorch memory snapshot)", "give " ADVICE_JSON},
		{BYTES("\x80\x02}q\0."), "a Python pickle (perhaps a PyTorch memory snapshot)",
		 "give " ADVICE_JSON},
	};

	(void)unused;
	for (size_t i = 0; i < mr_countof(files); i++) {
		char wanted[512];

		snprintf(wanted, sizeof wanted, "this is %s, which millrace does not read: %s",
			 files[i].what, files[i].advice);
		assert_string_equal(refusal_of(files[i].bytes, files[i].count), wanted);
	}
}

static void test_tar_is_known_by_what_stands_inside(void **unused)
{
	uint8_t archive[512] = "trace.json";

	(void)unused;
	memcpy(archive + 257, "ustar\00000", 8);
	assert_string_equal(
		refusal_of(archive, sizeof archive),
		"this is a tar archive, which millrace does not read: unpack it and give "
		"the trace inside");
	assert_string_equal(refusal_of(archive, 261), UNKNOWN);
}

static void test_unknown_files(void **unused)
{
	(void)unused;
	assert_string_equal(refusal_of(BYTES("")), "not a trace: the file is empty");
	assert_string_equal(refusal_of(BYTES("hello")), UNKNOWN);
	assert_string_equal(refusal_of(BYTES(" \n\t ")), UNKNOWN);
	assert_string_equal(refusal_of(BYTES("17")), UNKNOWN);
	/* Not quite what they seem: too short, a wrong version, a message that has no field. */
	assert_string_equal(refusal_of(BYTES("SQLite format 3")), UNKNOWN);
	assert_string_equal(refusal_of(BYTES("\x80\x07\x95")), UNKNOWN);
	assert_string_equal(refusal_of(BYTES("\x0A\x04\x57\x01")), UNKNOWN);
	assert_string_equal(refusal_of(BYTES("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")),
			    UNKNOWN);
}

/* Whatever the byte, it is refused with an answer. */
static void test_single_bytes(void **unused)
{
	(void)unused;
	for (int byte = 0; byte < 256; byte++) {
		const uint8_t bytes[] = {(uint8_t)byte};
		const char *answer = refusal_of(bytes, 1);

		if (byte == '{')
			assert_string_equal(answer, "not a trace: it ends too early");
		else if (byte == '[')
			assert_null(answer); /* of events that were not written any more */
		else
			assert_string_equal(answer, UNKNOWN);
	}
}

/* ---- compressed files ------------------------------------------------------------------------------- */

static void test_gzip(void **unused)
{
	static const char trace[] = "{\"traceEvents\": []}", image[] = "\x89PNG\r\n\x1A\n";
	uint8_t once[256], twice[512];

	(void)unused;
	size_t count = wrap((const uint8_t *)trace, sizeof trace - 1, once);
	assert_null(refusal_of(once, count));
	count = wrap(once, (uint16_t)count, twice);
	assert_string_equal(refusal_of(twice, count),
			    "this is gzip data inside gzip data, which millrace does not read: "
			    "decompress it once with gunzip");
	count = wrap((const uint8_t *)image, sizeof image - 1, once);
	assert_string_equal(
		refusal_of(once, count),
		"this is a PNG image, which millrace does not read: give the trace that "
		"it was made from");
	count = wrap((const uint8_t *)"", 0, once);
	assert_string_equal(refusal_of(once, count), "not a trace: the file is empty");
	assert_string_equal(refusal_of(BYTES("\x1F\x8B\x08")),
			    "not a trace: the compressed file ends too early");
	assert_string_equal(refusal_of(BYTES("\x1F\x8B\x08\0\0\0\0\0\0\x03\x07 no such block")),
			    "not a trace: the compressed file is damaged");
}

/* ---- choosing ---------------------------------------------------------------------------------------- */

static enum mr_sniff answers[3];

static enum mr_sniff sniff_first(const struct mr_head *head)
{
	assert_int_equal(head->count, 4);
	return answers[0];
}

static enum mr_sniff sniff_second(const struct mr_head *head)
{
	assert_int_equal(head->count, 4);
	return answers[1];
}

static enum mr_sniff sniff_third(const struct mr_head *head)
{
	assert_int_equal(head->count, 4);
	return answers[2];
}

/* The surest one; of equally sure ones the first. */
static void test_choice(void **unused)
{
	static const struct mr_format first = {"First", sniff_first, NULL},
				      second = {"Second", sniff_second, NULL},
				      third = {"Third", sniff_third, NULL};
	static const struct mr_format *const formats[] = {&first, &second, &third, NULL};
	static const struct {
		enum mr_sniff answers[3];
		const struct mr_format *chosen;
	} cases[] = {
		{{MR_SNIFF_NO, MR_SNIFF_NO, MR_SNIFF_NO}, NULL},
		{{MR_SNIFF_MAYBE, MR_SNIFF_NO, MR_SNIFF_MAYBE}, &first},
		{{MR_SNIFF_MAYBE, MR_SNIFF_SURE, MR_SNIFF_MAYBE}, &second},
		{{MR_SNIFF_MAYBE, MR_SNIFF_SURE, MR_SNIFF_SURE}, &second},
		{{MR_SNIFF_NO, MR_SNIFF_NO, MR_SNIFF_MAYBE}, &third},
	};
	const struct mr_head head = {.path = "x", .bytes = (const uint8_t *)"four", .count = 4};

	(void)unused;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		memcpy(answers, cases[i].answers, sizeof answers);
		assert_ptr_equal(mr_format_choose(formats, &head), cases[i].chosen);
	}
	assert_true(mr_format_refuse(formats, &head) < 0);
	assert_string_equal(mr_error_text(),
			    "not a trace: it is neither a recording of millrace nor "
			    "First, Second or Third");
}

/* Every format refuses what it does not know, and a folder that is none of its own. */
static void test_table(void **unused)
{
	static const struct mr_head nothing = {.path = "x",
					       .bytes = (const uint8_t *)"",
					       .is_whole = true},
				    folder = {.path = "/",
					      .bytes = (const uint8_t *)"",
					      .is_whole = true,
					      .is_folder = true};

	(void)unused;
	assert_non_null(mr_formats[0]);
	for (size_t i = 0; mr_formats[i]; i++) {
		assert_non_null(mr_formats[i]->name);
		assert_non_null(mr_formats[i]->read);
		assert_int_equal(mr_formats[i]->sniff(&nothing), MR_SNIFF_NO);
		assert_int_equal(mr_formats[i]->sniff(&folder), MR_SNIFF_NO);
	}
}

static enum mr_sniff sniff_chrome(const char *text)
{
	const struct mr_head head = {
		.path = "x", .bytes = (const uint8_t *)text, .count = strlen(text)};

	return mr_chrome_format.sniff(&head);
}

static void test_chrome(void **unused)
{
	(void)unused;
	assert_int_equal(sniff_chrome("{\"traceEvents\": ["), MR_SNIFF_SURE);
	assert_int_equal(sniff_chrome("{\"schemaVersion\": 1, \"traceEvents\": ["), MR_SNIFF_SURE);
	assert_int_equal(sniff_chrome("\xEF\xBB\xBF \n[{}"), MR_SNIFF_MAYBE);
	assert_int_equal(sniff_chrome("{\"rocprofiler-sdk-tool\": ["), MR_SNIFF_MAYBE);
	assert_int_equal(sniff_chrome("   "), MR_SNIFF_MAYBE); /* and the file goes on */
	assert_int_equal(sniff_chrome("traceEvents"), MR_SNIFF_NO);
}

static int remove_file(void **unused)
{
	(void)unused;
	return unlink(path);
}

static int make_file(void **unused)
{
	(void)unused;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_files),
		cmocka_unit_test(test_tar_is_known_by_what_stands_inside),
		cmocka_unit_test(test_unknown_files),
		cmocka_unit_test(test_single_bytes),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_chrome),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
