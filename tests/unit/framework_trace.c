/* SPDX-License-Identifier: Apache-2.0 */
#include "framework_trace.h"

#include <stdlib.h>
#include <string.h>

struct packet framework_packet;
char *framework_directory;

void framework_begin(uint64_t stream, uint32_t process, uint32_t tid, uint8_t kind)
{
	framework_packet = (struct packet){.stream = stream,
					   .process = process,
					   .pid = 100,
					   .tid = tid,
					   .kind = kind,
					   .begin = 2 * MS(1000),
					   .end = 2 * MS(3000)};
	packet_start(&framework_packet);
}

void framework_end(const char *name)
{
	packet_finish(&framework_packet);
	directory_write(framework_directory, name, framework_packet.bytes, framework_packet.size);
}

static void sample(uint64_t ns, uint32_t clock, uint64_t value)
{
	EMIT(clock_sample, ns + 1000, NULL, .reference = MR_trace_clock_tsc, .clock = clock,
	     .before = 2 * ns - 100, .value = value, .after = 2 * ns + 100);
}

static void write_metadata(void)
{
	static const char manifest[] = "{\"format\": 1}";
	char *text = text_replace(metadata_text(), "freq = 2300000000", "freq = 2000000000");

	text = text_replace(text, "offset_s = 1700000000", "offset_s = 1700000001");
	text = text_replace(text, "offset = 123", "offset = 912");
	directory_write(framework_directory, "ctf/metadata", text, strlen(text));
	free(text);
	directory_write(framework_directory, "manifest.json", manifest, strlen(manifest));
}

void framework_start(const char *const *texts, uint32_t text_count)
{
	framework_directory = directory_make();
	write_metadata();
	framework_begin(0, MR_RECORDER_PROCESS, 50, MR_PACKET_EVENTS);
	for (uint64_t second = 1; second <= 2; second++) {
		sample(MS(1000 * second), MR_trace_clock_monotonic, MS(1000 * second));
		sample(MS(1000 * second), MR_trace_clock_realtime,
		       (uint64_t)REALTIME(1000 * second));
	}
	framework_end("ctf/recorder");
	framework_begin(1, 2, 100, MR_PACKET_DEFINITIONS);
	for (uint32_t i = 0; i < text_count; i++)
		EMIT(def_string, MS(1000), texts[i], .id = i + 1);
	framework_end("ctf/definitions");
}

void framework_process_start(void)
{
	EMIT(process_start, MS(1000), "/bin/train", .process = 2, .pid = 100,
	     .parent_process = MR_RECORDER_PROCESS, .parent_pid = 50, .first_definition = 1,
	     .start = 2 * MS(1000), .origin = MR_process_origin_exec);
}
