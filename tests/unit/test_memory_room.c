/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory control groups leave, by made-up files of both versions.
 */
#include "base/memory_room.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static char root[] = "/tmp/mr-room-XXXXXX";

static void command(const char *format, const char *path)
{
	char line[512];
	assert_true(snprintf(line, sizeof line, format, path) < (int)sizeof line);
	assert_int_equal(system(line), 0);
}

static int start(void **state)
{
	(void)state;
	strcpy(strrchr(root, '-'), "-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	command("rm -r '%s'", root);
	return 0;
}

/* Makes a file below the root. */
static void put(const char *path, const char *content)
{
	char whole[256];
	snprintf(whole, sizeof whole, "%s/%s", root, path);
	command("mkdir -p \"$(dirname '%s')\"", whole);
	FILE *file = fopen(whole, "we");
	assert_non_null(file);
	fputs(content, file);
	assert_int_equal(fclose(file), 0);
}

static uint64_t machine(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void check_no_group(void)
{
	struct mr_memory_room room = mr_memory_room(root);
	assert_false(room.is_in_group);
	assert_int_equal(room.limit, machine());
	assert_int_equal(room.left, machine());
	assert_int_equal(mr_memory_share(&room, 16), machine() / 16);
}

static void check_group(uint64_t limit, uint64_t left)
{
	struct mr_memory_room room = mr_memory_room(root);
	assert_true(room.is_in_group);
	assert_int_equal(room.limit, limit);
	assert_int_equal(room.left, left);
}

static void test_no_group(void **state)
{
	(void)state;
	check_no_group();
	put("proc/self/cgroup", "0::/\n");
	check_no_group();
	put("proc/self/cgroup", "nonsense\n\n0::\n:memory\n");
	check_no_group();
}

static void test_no_limit(void **state)
{
	(void)state;
	put("proc/self/cgroup", "4:memory:/a\n0::/b\n");
	put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n");
	put("sys/fs/cgroup/b/memory.max", "max\n");
	put("sys/fs/cgroup/b/memory.high", "max\n");
	put("sys/fs/cgroup/b/memory.current", "1000\n");
	check_no_group();
}

static void test_version_2(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/user.slice/x.scope\n");
	put("sys/fs/cgroup/user.slice/x.scope/memory.max", "268435456\n");
	put("sys/fs/cgroup/user.slice/x.scope/memory.current", "104857600\n");
	check_group(256 * MIB, 156 * MIB);
	/* Files that were read once make room when it is needed. */
	put("sys/fs/cgroup/user.slice/x.scope/memory.stat",
	    "anon 1\nfile 9\ninactive_file 41943040\nactive_file 9\n");
	check_group(256 * MIB, 196 * MIB);
	put("sys/fs/cgroup/user.slice/x.scope/memory.high", "134217728\n");
	check_group(128 * MIB, 68 * MIB);
}

/* Least limit and least room may be of different groups. */
static void test_groups_around(void **state)
{
	(void)state;
	put("proc/self/cgroup", "0::/outer/inner\n");
	put("sys/fs/cgroup/outer/inner/memory.max", "268435456\n");
	put("sys/fs/cgroup/outer/inner/memory.current", "1048576\n");
	put("sys/fs/cgroup/outer/memory.max", "536870912\n");
	put("sys/fs/cgroup/outer/memory.current", "526385152\n");
	check_group(256 * MIB, 10 * MIB);
	put("sys/fs/cgroup/memory.max", "134217728\n"); /* of a container, seen as the root */
	put("sys/fs/cgroup/memory.current", "134217729\n");
	check_group(128 * MIB, 0);
}

static void test_version_1(void **state)
{
	(void)state;
	put("proc/self/cgroup", "7:cpu:/\n4:hugetlb,memory:/a/b\n0::/\n");
	put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "268435456\n");
	put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "104857600\n");
	put("sys/fs/cgroup/memory/a/memory.stat",
	    "inactive_file 1\ntotal_inactive_file 41943040\n");
	put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	check_group(256 * MIB, 196 * MIB);
}

/* An eighth of the limit is nobody's but the program's. */
static void test_share(void **state)
{
	(void)state;
	const struct mr_memory_room much = {256 * MIB, 160 * MIB, true};
	assert_int_equal(mr_memory_share(&much, 64), 2 * MIB);
	const struct mr_memory_room little = {256 * MIB, 32 * MIB, true};
	assert_int_equal(mr_memory_share(&little, 64), 0);
	const struct mr_memory_room none = {256 * MIB, 0, true};
	assert_int_equal(mr_memory_share(&none, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_group, start, end),
		cmocka_unit_test_setup_teardown(test_no_limit, start, end),
		cmocka_unit_test_setup_teardown(test_version_2, start, end),
		cmocka_unit_test_setup_teardown(test_groups_around, start, end),
		cmocka_unit_test_setup_teardown(test_version_1, start, end),
		cmocka_unit_test_setup_teardown(test_share, start, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
