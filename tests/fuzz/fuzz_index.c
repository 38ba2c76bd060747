/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the saved index: an input is a flag and changes (an offset in three bytes, and what is added to the byte
 * there), made to the index of a small trace. Either the index is refused, and the model is left as it was, or it is
 * the same as that of the trace. If the flag is odd, the checksum of the head is put right afterwards, so that what
 * reads the head is reached too; then a model may be wrong, but can be freed.
 *
 * The trace is made once under $TMPDIR. Its index is mapped: a run changes bytes there and puts them back. Seeds:
 * tests/corpus/fuzz_index.
 */
#include <fcntl.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/index.h"
#include "packets_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CHANGE_BYTES = 4,
	CHANGES_MAX = 64,
	HEAD_OFFSET_AT =
		24, /* of the heading: magic, size of the file, offset of the head, its checksum */
	HEAD_CRC_AT = 32,
};

static char directory[256];
static struct mr_model *sound_model;
static uint8_t *index_file; /* mapped */
static uint8_t *sound;      /* the same as it was written */
static size_t sound_size;
static uint32_t expected;

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void remove_trace(void)
{
	static const char *const names[] = {"manifest.json", "ctf/metadata", "ctf/stream",
					    MR_INDEX_FILE};

	for (size_t i = 0; i < mr_countof(names); i++)
		unlink(path_of(names[i]));
	rmdir(path_of("ctf"));
	rmdir(directory);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(path_of(name), "w");

	require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* One packet with nodes, executions and calls. */
static size_t make_packet(uint8_t *to)
{
	struct mr_packet packet = {.header = {.magic = MR_CTF_MAGIC},
				   .context = {.begin_ticks = 1000,
					       .end_ticks = 1000000,
					       .process = 2,
					       .pid = 7,
					       .tid = 7}};
	size_t at = sizeof packet;

	for (uint32_t i = 0; i < 200; i++) {
		const struct mr_event_node_instant instant = {.node = i, .step = i / 10};
		uint32_t ticks = 1000 + i * 100;

		to[at] = MR_EVENT_node_instant;
		memcpy(to + at + 1, &ticks, sizeof ticks);
		memcpy(to + at + MR_COMPACT_HEADER_BYTES, &instant, sizeof instant);
		at += MR_COMPACT_HEADER_BYTES + sizeof instant;
	}
	packet.context.content_bits = 8 * at;
	packet.context.packet_bits = 8 * mr_align_up(at, (size_t)8);
	memcpy(to, &packet, sizeof packet);
	return mr_align_up(at, (size_t)8);
}

static void make_trace(void)
{
	static const char manifest[] = "{\"format\": 1, \"state\": \"complete\"}";
	static const struct mr_metadata metadata = {
		.host = "h",
		.user = {"u", 1000000000, 0, 0, 0},
		.user_clock = MR_trace_clock_tsc,
		.monotonic = {"m", 1000000000, 0, 0, 0},
	};
	static uint8_t packet[1 << 16];
	const char *temporary = getenv("TMPDIR");

	snprintf(directory, sizeof directory, "%s/mr-fuzz-XXXXXX", temporary ? temporary : "/tmp");
	require(mkdtemp(directory) && mkdir(path_of("ctf"), 0700) == 0);
	write_file("manifest.json", manifest, sizeof manifest - 1);
	write_file("ctf/stream", packet, make_packet(packet));
	FILE *file = fopen(path_of("ctf/metadata"), "w");
	require(file && mr_metadata_print(&metadata, file) == 0 && fclose(file) == 0);
}

/* A checksum of all that tables hold. */
static uint32_t digest(struct mr_model *model)
{
	uint32_t crc = (uint32_t)model->survey->event_count;

#define DIGEST(name)                                                                              \
	for (uint32_t i = 0; model->name.table.count && i < model->name.table.desc->column_count; \
	     i++)                                                                                 \
		crc = crc32_gzip_refl(crc, mr_table_columns(&model->name.table)[i],               \
				      (uint64_t)model->name.table.count *                         \
					      model->name.table.desc->columns[i].bytes);
	MR_TABLES(DIGEST)
#undef DIGEST
	return crc;
}

static void stop(void)
{
	mr_model_free(mr_take(sound_model));
	remove_trace();
}

static void start(void)
{
	make_trace();
	require(mr_model_load(directory, &sound_model) == 0 && mr_index_save(sound_model) == 0);
	atexit(stop);
	expected = digest(sound_model);
	int fd = open(path_of(MR_INDEX_FILE), O_RDWR | O_CLOEXEC);
	struct stat status;
	require(fd >= 0 && fstat(fd, &status) == 0);
	sound_size = (size_t)status.st_size;
	index_file = mmap(NULL, sound_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sound = malloc(sound_size);
	require(index_file != MAP_FAILED && sound);
	close(fd);
	memcpy(sound, index_file, sound_size);
}

static void correct_head(void)
{
	uint64_t offset, crc;

	memcpy(&offset, index_file + HEAD_OFFSET_AT, sizeof offset);
	if (offset > sound_size)
		return;
	crc = crc32_gzip_refl(0, index_file + offset, sound_size - offset);
	memcpy(index_file + HEAD_CRC_AT, &crc, sizeof crc);
}

static size_t offset_of(const uint8_t *change)
{
	return (size_t)(change[0] | change[1] << 8 | change[2] << 16) % sound_size;
}

/* With the trace and the manifest of the sound model: reading them takes most of the time, and is not what this is
 * about. */
static struct mr_model *start_model(void)
{
	struct mr_model *model = calloc(1, sizeof *model);

	require(model);
#define DESCRIBE_TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(DESCRIBE_TABLE)
#undef DESCRIBE_TABLE
	model->trace = sound_model->trace;
	model->manifest = sound_model->manifest;
	return model;
}

/* But for the key and the state, which say what became of the index. */
static void check_empty(struct mr_model *model)
{
	mr_auto(free) struct mr_model *empty = start_model();

	empty->index_key = model->index_key;
	empty->index_state = model->index_state;
	require(memcmp(model, empty, sizeof *model) == 0);
}

static void check_index(bool may_be_wrong)
{
	mr_auto(model) struct mr_model *model = start_model();

	if (mr_index_load(model) < 0)
		check_empty(model);
	else
		require(may_be_wrong || digest(model) == expected);
	model->trace = NULL;
	model->manifest = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!sound)
		start();
	if (size == 0)
		return 0;
	const uint8_t *changes = data + 1;
	size_t count = mr_min((size - 1) / CHANGE_BYTES, (size_t)CHANGES_MAX);
	for (size_t i = 0; i < count; i++)
		index_file[offset_of(changes + i * CHANGE_BYTES)] += changes[i * CHANGE_BYTES + 3];
	bool is_corrected = data[0] & 1;
	if (is_corrected)
		correct_head();
	check_index(is_corrected);
	for (size_t i = 0; i < count; i++) {
		size_t offset = offset_of(changes + i * CHANGE_BYTES);

		index_file[offset] = sound[offset];
	}
	memcpy(index_file + HEAD_CRC_AT, sound + HEAD_CRC_AT, sizeof(uint64_t));
	return 0;
}
