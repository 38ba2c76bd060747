/* SPDX-License-Identifier: Apache-2.0 */
#include "import/unread.h"

#include <string.h>

#define PROFILER_JSON "the Chrome trace JSON of PyTorch's profiler (export_chrome_trace)"

/* ---- by magic bytes ------------------------------------------------------------------------------- */

struct magic {
	struct mr_unread unread;
	const char *bytes;
	size_t count;
	size_t offset; /* in the file */
};

#define MAGIC(text)        .bytes = (text), .count = sizeof(text) - 1
#define MAGIC_AT(at, text) MAGIC(text), .offset = (at)

static const struct magic magics[] = {
	/* Traces and profiles of other tools. */
	{{"an SQLite database that is no trace of Nsight Systems or rocprofv3",
	  "record the program with 'millrace record', or give " PROFILER_JSON},
	 MAGIC("SQLite format 3\0")},
	{{"a perf.data file",
	  "record the program with 'millrace record', which also records scheduling"},
	 MAGIC("PERFILE2")},
	{{"a trace-cmd trace.dat file",
	  "record the program with 'millrace record', which also records scheduling"},
	 MAGIC("\x17\x08\x44tracing")},
	{{"an Nsight Compute report",
	  "record the program with 'millrace record', or give " PROFILER_JSON},
	 MAGIC("NVR\0")},
	{{"a stream of a CTF trace", "if millrace recorded it, give the folder of the whole trace"},
	 MAGIC("\xC1\x1F\xFC\xC1")},
	{{"the metadata of a CTF trace",
	  "if millrace recorded it, give the folder of the whole trace"},
	 MAGIC("/* CTF 1.8 */")},
	{{"the metadata of a CTF trace",
	  "if millrace recorded it, give the folder of the whole trace"},
	 MAGIC("\x57\x1D\xD1\x75")},

	/* Containers that may hold a trace. */
	{{"gzip data inside gzip data", "decompress it once with gunzip"}, MAGIC("\x1F\x8B")},
	{{"a zip archive", "unpack it and give the trace inside"}, MAGIC("PK\x03\x04")},
	{{"a tar archive", "unpack it and give the trace inside"}, MAGIC_AT(257, "ustar")},
	{{"Zstandard-compressed data", "decompress it with unzstd"}, MAGIC("\x28\xB5\x2F\xFD")},
	{{"xz-compressed data", "decompress it with unxz"},
	 MAGIC("\xFD"
	       "7zXZ\0")},
	{{"bzip2-compressed data", "decompress it with bunzip2"}, MAGIC("BZh")},
	{{"LZ4-compressed data", "decompress it with unlz4"}, MAGIC("\x04\x22\x4D\x18")},

	/* Not traces at all. */
	{{"a program or library", "record it with 'millrace record -- PROGRAM'"},
	 MAGIC("\x7F"
	       "ELF")},
	{{"a PNG image", "give the trace that it was made from"}, MAGIC("\x89PNG\r\n\x1A\n")},
	{{"a web page", "give the trace that it was made from"}, MAGIC("<!DOCTYPE html")},
	{{"a web page", "give the trace that it was made from"}, MAGIC("<!doctype html")},
	{{"a web page", "give the trace that it was made from"}, MAGIC("<html")},
};

static bool has_magic(const struct mr_head *head, const struct magic *magic)
{
	return head->count >= magic->offset + magic->count &&
	       memcmp(head->bytes + magic->offset, magic->bytes, magic->count) == 0;
}

/* ---- by structure --------------------------------------------------------------------------------- */

/* Since protocol 2 a pickle begins with its protocol; since protocol 4 a frame follows. */
static bool is_pickle(const struct mr_head *head)
{
	return head->count >= 3 && head->bytes[0] == 0x80 && head->bytes[1] >= 2 &&
	       head->bytes[1] <= 5 && (head->bytes[1] < 4 || head->bytes[2] == 0x95);
}

static const struct {
	struct mr_unread unread;
	bool (*is)(const struct mr_head *head);
} structures[] = {
	{{"a Python pickle (perhaps a PyTorch memory snapshot)", "give " PROFILER_JSON}, is_pickle},
};

const struct mr_unread *mr_unread_find(const struct mr_head *head)
{
	for (size_t i = 0; i < mr_countof(magics); i++)
		if (has_magic(head, &magics[i]))
			return &magics[i].unread;
	for (size_t i = 0; i < mr_countof(structures); i++)
		if (structures[i].is(head))
			return &structures[i].unread;
	return NULL;
}
