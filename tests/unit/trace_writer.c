/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_writer.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/trace.h"

const struct mr_metadata writer_metadata = {
	.trace_uuid = {0xd0, 0x11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff},
	.host = "mill",
	.user = {"counter of the CPU", 2300000000, 1700000000, 123, 50},
	.user_clock = MR_trace_clock_tsc,
	.monotonic = {"CLOCK_MONOTONIC", 1000000000, 1700000001, 456, 1},
};

static void require(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	abort();
}

void put_number(uint8_t *to, uint64_t value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

uint64_t get_number(const void *from, size_t count)
{
	uint64_t value = 0;
	for (size_t i = count; i-- > 0;)
		value = value << 8 | ((const uint8_t *)from)[i];
	return value;
}

static void append(struct packet *packet, const void *bytes, size_t size)
{
	require(packet->size + size + 8 <= sizeof packet->bytes, "packet is full");
	for (size_t i = 0; i < size; i++)
		packet->bytes[packet->size++] = ((const uint8_t *)bytes)[i];
}

static void append_number(struct packet *packet, uint64_t value, size_t count)
{
	uint8_t bytes[8];
	put_number(bytes, value, count);
	append(packet, bytes, count);
}

void packet_start(struct packet *packet)
{
	packet->size = 0;
	append_number(packet, 0xC1FC1FC1, 4);
	append(packet, writer_metadata.trace_uuid, 16);
	append_number(packet, packet->stream_class, 4);
	append_number(packet, packet->stream, 8);
	append_number(packet, packet->begin, 8);
	append_number(packet, packet->end, 8);
	append_number(packet, 0, 8); /* sizes are known at the end */
	append_number(packet, 0, 8);
	append_number(packet, packet->sequence, 8);
	append_number(packet, packet->discarded, 8);
	append_number(packet, packet->process, 4);
	append_number(packet, packet->pid, 4);
	append_number(packet, packet->tid, 4);
	append_number(packet, packet->kind, 1);
	append_number(packet, packet->depth, 1);
	append_number(packet, 0, 2);
}

void packet_event(struct packet *packet, uint8_t id, uint64_t ticks, const void *payload,
		  size_t size)
{
	append_number(packet, id, 1);
	append_number(packet, ticks, 4);
	append(packet, payload, size);
}

void packet_event_text(struct packet *packet, uint8_t id, uint64_t ticks, const void *fields,
		       size_t size, const char *text)
{
	packet_event(packet, id, ticks, fields, size);
	append(packet, text ? text : "", text ? strlen(text) + 1 : 0);
}

void packet_extended_event(struct packet *packet, uint8_t id, uint64_t ticks, const void *payload,
			   size_t size)
{
	append_number(packet, 255, 1);
	append_number(packet, id, 1);
	append_number(packet, ticks, 8);
	append(packet, payload, size);
}

void packet_finish(struct packet *packet)
{
	put_number(packet->bytes + 48, packet->size * 8, 8);
	while (packet->size % 8)
		append_number(packet, 0, 1);
	put_number(packet->bytes + 56, packet->size * 8, 8);
}

uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15;
	uint64_t mixed = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

static void fill_field(struct sample *sample, uint32_t index, uint64_t *random)
{
	const struct mr_field_desc *field = &sample->desc->fields[index];
	uint64_t number = next_random(random);
	if (field->enumeration)
		number =
			field->enumeration->values[number % field->enumeration->value_count].number;
	if (field->type == MR_str) {
		/* Never empty: babeltrace2 2.0.4 prints an empty string as the one before it. */
		size_t length = 1 + number % (sizeof sample->text - 2);
		for (size_t i = 0; i < length; i++)
			sample->text[i] = (char)('a' + next_random(random) % 26);
		sample->text[length] = 0;
		memcpy(sample->payload + sample->size, sample->text, length + 1);
		sample->size += length + 1;
		return;
	}
	static const size_t bytes[] = {[MR_u8] = 1,  [MR_u16] = 2, [MR_u32] = 4, [MR_u48] = 6,
				       [MR_u64] = 8, [MR_i32] = 4, [MR_i64] = 8, [MR_f64] = 8};
	put_number(sample->payload + sample->size, number, bytes[field->type]);
	sample->numbers[index] = get_number(sample->payload + sample->size, bytes[field->type]);
	sample->size += bytes[field->type];
}

void sample_fill(struct sample *sample, uint8_t id, uint64_t ticks, uint64_t *random)
{
	*sample = (struct sample){.desc = &mr_event_table[id], .ticks = ticks};
	for (uint32_t i = 0; i < sample->desc->field_count; i++)
		fill_field(sample, i, random);
}

char *directory_make(void)
{
	const char *temporary = getenv("TMPDIR");
	char *directory = NULL, *inner = NULL;
	require(asprintf(&directory, "%s/mr-test-XXXXXX", temporary ? temporary : "/tmp") > 0,
		"asprintf");
	require(mkdtemp(directory) != NULL, directory);
	require(asprintf(&inner, "%s/ctf", directory) > 0, "asprintf");
	require(mkdir(inner, 0700) == 0, inner);
	free(inner);
	return directory;
}

void directory_write(const char *directory, const char *name, const void *bytes, size_t size)
{
	char *path = NULL;
	require(asprintf(&path, "%s/%s", directory, name) > 0, "asprintf");
	unlink(path); /* a file made anew need not reach the disk; one cut to nothing is flushed */
	FILE *file = fopen(path, "w");
	require(file != NULL, path);
	require(fwrite(bytes, 1, size, file) == size, path);
	require(fclose(file) == 0, path);
	free(path);
}

char *metadata_text(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	require(file && mr_metadata_print(&writer_metadata, file) == 0 && fclose(file) == 0,
		"metadata");
	return text;
}

void directory_write_metadata(const char *directory)
{
	char *text = metadata_text();
	directory_write(directory, "ctf/metadata", text, strlen(text));
	free(text);
}

struct mr_trace *directory_open(const char *directory)
{
	struct mr_trace *trace = NULL;
	require(mr_trace_open(directory, &trace) == 0, mr_error_text());
	return trace;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

void directory_remove(char *directory)
{
	require(nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0, directory);
	free(directory);
}

char *text_replace(char *text, const char *from, const char *to)
{
	char *result = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&result, &size);
	require(file && strstr(text, from), from);
	for (char *rest = text, *found; *rest; rest = found + strlen(from)) {
		found = strstr(rest, from);
		if (!found) {
			fputs(rest, file);
			break;
		}
		fwrite(rest, 1, (size_t)(found - rest), file);
		fputs(to, file);
	}
	require(fclose(file) == 0, "text_replace");
	free(text);
	return result;
}
