/* SPDX-License-Identifier: Apache-2.0 */
#include "drained_arena.h"

#undef NDEBUG /* tests check in every build */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/manifest.h"
#include "memory_arena.h"
#include "record/recorder.h"

void drained_arena_init(struct drained_arena *drained, uint32_t slots, bool in_memory)
{
	*drained =
		(struct drained_arena){.file.fd = -1, .folder_path = "/dev/shm/mr-drained-XXXXXX"};
	assert(mkdtemp(drained->folder_path));
	drained->folder = open(drained->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(drained->folder >= 0);
	if (in_memory) {
		drained->file.arena = test_arena_create(slots);
		drained->file.memory = drained->file.arena->control;
		drained->file.slot_count = drained->file.slot_capacity = slots;
		drained->file.slots_allowed = slots;
		return;
	}
	assert(mr_arena_file_create(drained->folder_path, (uint64_t)slots * MR_ARENA_SLOT_BYTES,
				    &drained->file) == 0);
	assert(mr_arena_file_publish(&drained->file) == 0);
}

void drained_arena_begin(struct drained_arena *drained)
{
	mr_process_attach_mapped(drained->file.arena);
	mr_streams_init(&drained->streams, drained->folder, (struct mr_stream_limits){0},
			(struct mr_stream_clocks){0});
	mr_processes_init(&drained->processes, &drained->file);
	assert(mr_drain_init(&drained->drain, &drained->file, &drained->streams,
			     &drained->processes) == 0);
}

/* Packet after packet, up to the end. */
static void check_packets(int file)
{
	struct mr_packet head;
	struct stat status;
	uint64_t at = 0;
	assert(fstat(file, &status) == 0);
	for (; at < (uint64_t)status.st_size; at += head.context.packet_bits / 8) {
		assert(pread(file, &head, sizeof head, (off_t)at) == (ssize_t)sizeof head);
		assert(head.header.magic == MR_CTF_MAGIC);
		assert(head.header.stream_class == MR_STREAM_USER);
		assert(head.context.content_bits >= sizeof head * 8);
		assert(head.context.content_bits <= head.context.packet_bits);
		assert(head.context.packet_bits <= MR_ARENA_PACKET_BYTES * 8);
		assert(head.context.packet_bits % 64 == 0);
		assert(head.context.begin_ticks <= head.context.end_ticks);
	}
	assert(at == (uint64_t)status.st_size);
}

static void check_and_delete_streams(const struct drained_arena *drained)
{
	DIR *folder = opendir(drained->folder_path);
	assert(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (strncmp(entry->d_name, "stream-", 7) != 0)
			continue;
		int file = openat(drained->folder, entry->d_name, O_RDONLY | O_CLOEXEC);
		assert(file >= 0);
		check_packets(file);
		close(file);
		unlinkat(drained->folder, entry->d_name, 0);
	}
	closedir(folder);
}

void drained_arena_end(struct drained_arena *drained)
{
	mr_arena_file_switch(&drained->file, 0);
	mr_drain_finish(&drained->drain);
	mr_processes_sort(&drained->processes);
	json_t *manifest = json_object();
	mr_manifest_finish(manifest, "complete", &drained->drain);
	json_decref(manifest);
	check_and_delete_streams(drained);
	mr_drain_fini(&drained->drain);
	mr_processes_fini(&drained->processes);
	mr_streams_fini(&drained->streams);
	mr_arena = NULL;
}

void drained_arena_fini(struct drained_arena *drained)
{
	if (drained->file.fd >= 0)
		mr_arena_file_close(&drained->file, true);
	else
		test_arena_destroy(drained->file.arena);
	close(drained->folder);
	rmdir(drained->folder_path);
}
