/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream files, written packet by packet and read back byte by byte.
 */
#include "launch/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

enum {
	CONTENT_BYTES = 1001,
	PACKET_BYTES = 1008
}; /* padded to a multiple of 8 */

struct folder {
	char path[64];
	int fd;
	struct mr_streams streams;
};

static int set_up(void **state)
{
	struct folder *folder = calloc(1, sizeof *folder);
	strcpy(folder->path, "/tmp/mr-streams-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY);
	assert_true(folder->fd >= 0);
	mr_streams_init(&folder->streams, folder->fd, (struct mr_stream_limits){0},
			(struct mr_stream_clocks){0});
	*state = folder;
	return 0;
}

static int tear_down(void **state)
{
	struct folder *folder = *state;
	char command[96];
	mr_streams_fini(&folder->streams);
	close(folder->fd);
	snprintf(command, sizeof command, "rm -r %s", folder->path);
	assert_int_equal(system(command), 0);
	free(folder);
	return 0;
}

/* Appends a packet of `tid` that lasts from `begin` to `end`, full of the byte `begin`. */
static int append(struct folder *folder, enum mr_packet_kind kind, uint32_t tid, uint64_t begin,
		  uint64_t end, bool owner_ended)
{
	_Alignas(8) char memory[PACKET_BYTES];
	struct mr_packet *packet = (struct mr_packet *)memory;
	memset(memory, (int)begin, sizeof memory);
	*packet = (struct mr_packet){
		.header = {.magic = MR_CTF_MAGIC},
		.context = {
			.begin_ticks = begin, .process = 2, .pid = 2, .tid = tid, .kind = kind}};
	return mr_streams_append(&folder->streams, packet, CONTENT_BYTES, end, 0, owner_ended);
}

static void append_events(struct folder *folder, uint32_t tid, uint64_t begin, bool owner_ended)
{
	assert_int_equal(append(folder, MR_PACKET_EVENTS, tid, begin, begin + 1, owner_ended), 0);
}

static int64_t size_of(const struct folder *folder, const char *name)
{
	struct stat status;
	return fstatat(folder->fd, name, &status, 0) == 0 ? status.st_size : -1;
}

static struct mr_packet packet_at(const struct folder *folder, const char *name, uint32_t number)
{
	struct mr_packet packet;
	int fd = openat(folder->fd, name, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &packet, sizeof packet, (off_t)number * PACKET_BYTES),
			 sizeof packet);
	close(fd);
	return packet;
}

static void test_owners(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 10, 100, false);
	append_events(folder, 11, 101, false);
	append_events(folder, 10, 110, true);
	append_events(folder, 12, 105, false); /* began before the ended owner's last event */
	append_events(folder, 13, 111, false); /* may continue its stream */
	assert_int_equal(folder->streams.streams.count, 3);
	assert_int_equal(size_of(folder, "stream-000000"), 3 * PACKET_BYTES);
	assert_int_equal(size_of(folder, "stream-000001"), PACKET_BYTES);
	assert_int_equal(size_of(folder, "stream-000002"), PACKET_BYTES);
	static const uint32_t tids[] = {10, 10, 13};
	for (uint32_t i = 0; i < 3; i++) {
		struct mr_packet packet = packet_at(folder, "stream-000000", i);
		assert_int_equal(packet.context.tid, tids[i]);
		assert_int_equal(packet.context.sequence, i);
		assert_int_equal(packet.header.stream, 0);
		assert_int_equal(packet.context.content_bits, CONTENT_BYTES * 8);
		assert_int_equal(packet.context.packet_bits, PACKET_BYTES * 8);
	}
}

/* Definitions never continue a stream of events, nor the other way round. */
static void test_kinds(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 10, 100, true);
	assert_int_equal(append(folder, MR_PACKET_DEFINITIONS, 10, 200, 201, true), 0);
	append_events(folder, 10, 300, true);
	assert_int_equal(folder->streams.streams.count, 2);
	assert_int_equal(size_of(folder, "stream-000000"), 2 * PACKET_BYTES);
}

/* Times never decrease within a stream: a packet from the past goes elsewhere. */
static void test_packet_from_the_past(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 10, 500, false);
	append_events(folder, 10, 100, false);
	assert_int_equal(folder->streams.streams.count, 2);
	assert_int_equal(size_of(folder, "stream-000000"), PACKET_BYTES);
	assert_int_equal(packet_at(folder, "stream-000001", 0).context.begin_ticks, 100);
}

static void test_finished_pieces(void **state)
{
	struct folder *folder = *state;
	folder->streams.limits.age_ticks = 6400;
	append_events(folder, 10, 100, false);
	append_events(folder, 10, 1000, false); /* in the next piece */
	assert_true(mr_streams_is_finished(&folder->streams, "stream-000000.000000"));
	assert_false(mr_streams_is_finished(&folder->streams, "stream-000000.000001"));
	assert_false(mr_streams_is_finished(&folder->streams, "stream-000000"));
	assert_false(mr_streams_is_finished(&folder->streams, "stream-000007.000000"));
}

static void test_release_process(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 10, 100, false);
	append_events(folder, 11, 101, false);
	mr_streams_release_process(&folder->streams, 3);
	append_events(folder, 12, 200, false);
	assert_int_equal(folder->streams.streams.count, 3);
	mr_streams_release_process(&folder->streams, 2);
	append_events(folder, 13, 300, false);
	append_events(folder, 14, 301, false);
	assert_int_equal(folder->streams.streams.count, 3);
}

/* More streams than files that may be open at once. */
static void test_many_owners(void **state)
{
	struct folder *folder = *state;
	enum {
		OWNERS = MR_STREAMS_OPEN_MAX + 50
	};
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t tid = 1; tid <= OWNERS; tid++)
			append_events(folder, tid, 10 * round, false);
	assert_int_equal(folder->streams.streams.count, OWNERS);
	assert_int_equal(folder->streams.open_files, MR_STREAMS_OPEN_MAX);
	for (uint32_t i = 0; i < OWNERS; i++) {
		char name[32];
		snprintf(name, sizeof name, "stream-%06u", i);
		assert_int_equal(size_of(folder, name), 3 * PACKET_BYTES);
		assert_int_equal(packet_at(folder, name, 2).context.sequence, 2);
	}
}

/* What the files hold in all, and the time of the oldest and newest packet of events. */
static uint64_t bytes_in_folder(const struct folder *folder, uint64_t last, uint64_t *ret_oldest)
{
	uint64_t bytes = 0;
	*ret_oldest = UINT64_MAX;
	for (uint32_t stream = 0; stream < 3; stream++)
		for (uint32_t piece = 0; piece <= last; piece++) {
			char name[48];
			snprintf(name, sizeof name, "stream-%06u.%06u", stream, piece);
			int64_t size = size_of(folder, name);
			if (size <= 0)
				continue;
			bytes += (uint64_t)size;
			uint64_t begin = packet_at(folder, name, 0).context.begin_ticks;
			*ret_oldest = mr_min(*ret_oldest, begin);
		}
	return bytes;
}

static void test_limit_of_bytes(void **state)
{
	struct folder *folder = *state;
	folder->streams.limits.bytes = 100 * PACKET_BYTES;
	assert_int_equal(append(folder, MR_PACKET_DEFINITIONS, 10, 1, 2, false), 0);
	for (uint64_t i = 0; i < 1000; i++)
		append_events(folder, 10 + (uint32_t)i % 2, 10 + 2 * i, false);
	uint64_t oldest, bytes = bytes_in_folder(folder, 1000, &oldest);
	assert_true(bytes <= folder->streams.limits.bytes);
	assert_true(bytes > folder->streams.limits.bytes / 4); /* pieces are 64 KiB at least */
	assert_int_equal(bytes, folder->streams.event_bytes);
	assert_int_equal(bytes + folder->streams.overwritten_bytes, 1000 * PACKET_BYTES);
	assert_int_equal(folder->streams.overwritten_packets,
			 folder->streams.overwritten_bytes / PACKET_BYTES);
	/* Nothing after kept_from_ticks is gone. */
	assert_true(oldest <= folder->streams.kept_from_ticks + 2);
	assert_int_equal(size_of(folder, "stream-000000"), PACKET_BYTES); /* the definitions */
}

static void test_limit_of_age(void **state)
{
	struct folder *folder = *state;
	folder->streams.limits.age_ticks = 6400;
	for (uint64_t i = 0; i < 1000; i++)
		append_events(folder, 10, 100 * i, false);
	uint64_t oldest, now = 100000;
	mr_streams_expire(&folder->streams, now);
	uint64_t bytes = bytes_in_folder(folder, 1000, &oldest);
	assert_in_range(oldest, now - 6400 - 300, now - 6400 + 100);
	assert_in_range(bytes / PACKET_BYTES, 63, 68);
	mr_streams_expire(&folder->streams, now * 2);
	assert_int_equal(bytes_in_folder(folder, 1000, &oldest), 0);
	append_events(folder, 10, now * 2, false); /* goes on in a new piece */
	assert_int_equal(bytes_in_folder(folder, 1001, &oldest), PACKET_BYTES);
}

static void append_kernel_events(struct folder *folder, uint32_t cpu, uint64_t begin_ns)
{
	_Alignas(8) char memory[PACKET_BYTES] = {0};
	struct mr_packet *packet = (struct mr_packet *)memory;
	*packet = (struct mr_packet){
		.header = {.magic = MR_CTF_MAGIC, .stream_class = MR_STREAM_KERNEL},
		.context = {.begin_ticks = begin_ns, .process = 2, .pid = 2, .tid = cpu}};
	assert_int_equal(
		mr_streams_append(&folder->streams, packet, CONTENT_BYTES, begin_ns + 1, 0, true),
		0);
}

/* A CPU and a thread of the same number are different owners, and neither continues the other's stream. */
static void test_classes(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 1, 100, true);
	append_kernel_events(folder, 1, 200);
	append_events(folder, 1, 300, true);
	append_kernel_events(folder, 1, 400);
	assert_int_equal(size_of(folder, "stream-000000"), 2 * PACKET_BYTES);
	assert_int_equal(size_of(folder, "stream-000001"), 2 * PACKET_BYTES);
	assert_int_equal(packet_at(folder, "stream-000001", 1).context.begin_ticks, 400);
}

/* The user clock has two ticks a nanosecond, and was 1000 when the other was 1,000,000. */
static void test_limit_of_age_with_two_clocks(void **state)
{
	struct folder *folder = *state;
	folder->streams.limits.age_ticks = 6400;
	folder->streams.clocks = (struct mr_stream_clocks){
		.user_ticks = 1000, .monotonic_ns = 1000000, .ticks_per_second = 2000000000};
	append_events(folder, 10, 1000, false);
	append_kernel_events(folder, 0, 1001000); /* 3000 ticks */
	append_kernel_events(folder, 1, 999600);  /* 200 ticks: the oldest */
	append_events(folder, 10, 9000, false);
	mr_streams_expire(&folder->streams, 7000);
	assert_int_equal(size_of(folder, "stream-000002.000000"), -1);
	assert_int_equal(size_of(folder, "stream-000000.000000"), PACKET_BYTES);
	assert_int_equal(size_of(folder, "stream-000001.000000"), PACKET_BYTES);
	assert_int_equal(folder->streams.kept_from_ticks, 202);
	mr_streams_expire(&folder->streams, 9000);
	assert_int_equal(size_of(folder, "stream-000000.000000"), -1);
	assert_int_equal(size_of(folder, "stream-000001.000000"), PACKET_BYTES);
	mr_streams_expire(&folder->streams, 9500);
	assert_int_equal(size_of(folder, "stream-000001.000000"), -1);
	assert_int_equal(size_of(folder, "stream-000000.000001"), PACKET_BYTES);
}

/* The recorder was killed while it wrote: half a packet is cut off, and the stream goes on. */
static void test_resume(void **state)
{
	struct folder *folder = *state;
	append_events(folder, 10, 100, false);
	append_events(folder, 10, 200, false);
	append_events(folder, 11, 150, false);
	mr_streams_fini(&folder->streams);
	int fd = openat(folder->fd, "stream-000000", O_WRONLY | O_APPEND);
	struct mr_packet half = {.header.magic = MR_CTF_MAGIC,
				 .context = {.begin_ticks = 300, .packet_bits = PACKET_BYTES * 8}};
	assert_int_equal(write(fd, &half, sizeof half), sizeof half);
	close(fd);

	mr_streams_init(&folder->streams, folder->fd, (struct mr_stream_limits){0},
			(struct mr_stream_clocks){0});
	assert_int_equal(mr_streams_resume(&folder->streams), 0);
	assert_int_equal(size_of(folder, "stream-000000"), 2 * PACKET_BYTES);
	assert_int_equal(folder->streams.bytes, 3 * PACKET_BYTES);
	struct mr_packet packet = {.context = {.begin_ticks = 200, .process = 2, .tid = 10}};
	assert_true(mr_streams_has(&folder->streams, &packet));
	packet.context.begin_ticks = 300;
	assert_false(mr_streams_has(&folder->streams, &packet));
	append_events(folder, 10, 300, false);
	append_events(folder, 11, 300, false);
	assert_int_equal(folder->streams.streams.count, 2);
	assert_int_equal(packet_at(folder, "stream-000000", 2).context.sequence, 2);
	assert_int_equal(packet_at(folder, "stream-000001", 1).context.sequence, 1);
}

static void test_resume_garbage(void **state)
{
	struct folder *folder = *state;
	static const char *const names[] = {"stream-000000",    "stream-000003.000007",
					    "stream-999999999", "stream-",
					    "metadata",         "stream-x"};
	for (size_t i = 0; i < mr_countof(names); i++) {
		int fd = openat(folder->fd, names[i], O_WRONLY | O_CREAT, 0600);
		assert_int_equal(write(fd, "garbage", 7), 7);
		close(fd);
	}
	assert_int_equal(mr_streams_resume(&folder->streams), 0);
	assert_int_equal(size_of(folder, "metadata"), 7); /* none of ours */
	append_events(folder, 10, 100, false);
	assert_int_equal(folder->streams.bytes, PACKET_BYTES);
}

/* A write that stops half-way leaves whole packets, and can be tried again later. */
static void test_no_room(void **state)
{
	struct folder *folder = *state;
	struct rlimit old, small;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = 2 * PACKET_BYTES + 500, .rlim_max = old.rlim_max};
	append_events(folder, 10, 100, false);
	append_events(folder, 10, 200, false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(append(folder, MR_PACKET_EVENTS, 10, 300, 301, false), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(size_of(folder, "stream-000000"), 2 * PACKET_BYTES);
	append_events(folder, 10, 400, false);
	struct mr_packet last = packet_at(folder, "stream-000000", 2);
	assert_int_equal(last.context.begin_ticks, 400);
	assert_int_equal(last.context.sequence, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_owners, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_packet_from_the_past, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_finished_pieces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_release_process, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_owners, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit_of_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit_of_age, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit_of_age_with_two_clocks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_resume, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_resume_garbage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_room, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
