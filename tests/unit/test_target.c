/* SPDX-License-Identifier: Apache-2.0
 *
 * What may the library be loaded into? Asked of programs that real compilers build.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "hook/target.h"

static char folder[] = "/tmp/millrace-test-target-XXXXXX";
static char path[256];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(in_folder(name), "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

/* Compiles main.c into NAME; false, with a word about it, where this machine cannot. */
static bool compile(const char *name, const char *command)
{
	char line[1024];
	snprintf(line, sizeof line, "cd %s && %s -o %s main.c >/dev/null 2>&1", folder, command,
		 name);
	if (system(line) == 0)
		return true;
	printf("not tested, cannot build: %s\n", command);
	return false;
}

static enum mr_untraced_reason inspect_at(int directory, const char *file)
{
	static struct mr_target_scratch scratch;
	return mr_target_inspect(directory, file, &scratch);
}

static enum mr_untraced_reason inspect(const char *name)
{
	return inspect_at(AT_FDCWD, in_folder(name));
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	write_file("main.c", "int main(void) { return 0; }\n", 0644);
	return !compile("plain", "gcc");
}

static int tear_down(void **state)
{
	(void)state;
	char line[512];
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line);
}

static void test_ordinary_programs(void **state)
{
	(void)state;
	assert_int_equal(inspect("plain"), MR_UNTRACED_NONE);
	assert_int_equal(inspect_at(AT_FDCWD, "/bin/sh"), MR_UNTRACED_NONE);
	if (compile("no-pie", "gcc -no-pie"))
		assert_int_equal(inspect("no-pie"), MR_UNTRACED_NONE);
	if (compile("exporting", "gcc -rdynamic -lm"))
		assert_int_equal(inspect("exporting"), MR_UNTRACED_NONE);
	if (compile("undefined", "gcc -fsanitize=undefined"))
		assert_int_equal(inspect("undefined"), MR_UNTRACED_NONE);
	int directory = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(inspect_at(directory, "plain"), MR_UNTRACED_NONE);
	close(directory);
}

static void test_static_programs(void **state)
{
	(void)state;
	if (compile("static", "gcc -static"))
		assert_int_equal(inspect("static"), MR_UNTRACED_STATIC);
	if (compile("static-pie", "gcc -static-pie"))
		assert_int_equal(inspect("static-pie"), MR_UNTRACED_STATIC);
}

static void test_other_libraries_and_machines(void **state)
{
	(void)state;
	if (compile("musl", "musl-gcc"))
		assert_int_equal(inspect("musl"), MR_UNTRACED_OTHER_LIBC);
	if (compile("linker", "gcc -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"))
		assert_int_equal(inspect("linker"), MR_UNTRACED_OTHER_LIBC);
	/* Freestanding, so that no 32-bit library is needed. */
	if (compile("narrow", "gcc -m32 -ffreestanding -nostdlib -Wl,-e,main"))
		assert_int_equal(inspect("narrow"), MR_UNTRACED_OTHER_CLASS);
}

static void test_sanitized_programs(void **state)
{
	(void)state;
	/* Not with -static-libasan: such a program cannot be told, and minds no company. */
	static const char *const commands[] = {
		"gcc -fsanitize=address",
		"gcc -fsanitize=thread",
		"gcc -fsanitize=leak",
		"clang -fsanitize=address",
		"clang -fsanitize=address -shared-libasan",
		"clang -fsanitize=thread",
		"clang -fsanitize=memory",
	};
	for (size_t i = 0; i < mr_countof(commands); i++) {
		if (!compile("sanitized", commands[i]))
			continue;
		enum mr_untraced_reason reason = inspect("sanitized");
		if (reason != MR_UNTRACED_SANITIZER)
			fail_msg("%s: %s", commands[i], mr_untraced_reason_text(reason));
	}
}

static void test_privileged_programs(void **state)
{
	(void)state;
	if (getuid() != 0) {
		printf("not tested, needs root: setuid, setgid, unreadable\n");
		return;
	}
	enum {
		NOBODY = 65534
	};
	assert_true(compile("setuid", "gcc"));
	assert_int_equal(chmod(in_folder("setuid"), 04755), 0);
	assert_int_equal(inspect("setuid"), MR_UNTRACED_NONE); /* root's own gains nothing */
	assert_int_equal(chown(in_folder("setuid"), NOBODY, 0), 0);
	assert_int_equal(chmod(path, 04755), 0);
	assert_int_equal(inspect("setuid"), MR_UNTRACED_PRIVILEGED);
	assert_int_equal(chown(in_folder("setuid"), 0, NOBODY), 0);
	assert_int_equal(chmod(path, 02755), 0);
	assert_int_equal(inspect("setuid"), MR_UNTRACED_PRIVILEGED);
	assert_int_equal(chmod(in_folder("setuid"), 0755), 0);
	assert_int_equal(inspect("setuid"), MR_UNTRACED_NONE);
}

/* The same, seen by somebody who is not root. Returns the reason as exit status. */
static int inspect_as_nobody(const char *name)
{
	in_folder(name);
	pid_t child = fork();
	if (child == 0)
		_exit(setgid(65534) || setuid(65534) ? 255 : (int)inspect_at(AT_FDCWD, path));
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

static void test_programs_of_others(void **state)
{
	(void)state;
	if (getuid() != 0) {
		printf("not tested, needs root: programs of others\n");
		return;
	}
	chmod(folder, 0755);
	assert_true(compile("others", "gcc"));
	assert_int_equal(inspect_as_nobody("others"), MR_UNTRACED_NONE);
	assert_int_equal(chmod(in_folder("others"), 04755), 0);
	assert_int_equal(inspect_as_nobody("others"), MR_UNTRACED_PRIVILEGED);
	assert_int_equal(chmod(in_folder("others"), 0711), 0);
	assert_int_equal(inspect_as_nobody("others"), MR_UNTRACED_UNREADABLE);
	assert_int_equal(chmod(in_folder("others"), 04711), 0);
	assert_int_equal(inspect_as_nobody("others"), MR_UNTRACED_PRIVILEGED);
	assert_int_equal(chmod(in_folder("others"), 0755), 0);
	char line[512];
	snprintf(line, sizeof line,
		 "PATH=$PATH:/sbin:/usr/sbin setcap cap_net_raw+ep %s 2>/dev/null", path);
	if (system(line) == 0)
		assert_int_equal(inspect_as_nobody("others"), MR_UNTRACED_PRIVILEGED);
	else
		printf("not tested, cannot set: file capabilities\n");
}

static void test_scripts(void **state)
{
	(void)state;
	char text[512];
	write_file("script", "#!/bin/sh\nexit 0\n", 0755);
	assert_int_equal(inspect("script"), MR_UNTRACED_NONE);
	write_file("env", "#! /usr/bin/env python3\n", 0755);
	assert_int_equal(inspect("env"), MR_UNTRACED_NONE);
	if (compile("static", "gcc -static")) {
		snprintf(text, sizeof text, "#! \t%s/static -x\n", folder);
		write_file("of-static", text, 0755);
		assert_int_equal(inspect("of-static"), MR_UNTRACED_STATIC);
		snprintf(text, sizeof text, "#!%s/of-static", folder);
		write_file("of-script", text, 0755);
		assert_int_equal(inspect("of-script"), MR_UNTRACED_STATIC);
	}
	snprintf(text, sizeof text, "#!%s/endless\n", folder);
	write_file("endless", text, 0755);
	assert_int_equal(inspect("endless"), MR_UNTRACED_NONE);
	write_file("empty-line", "#!\n", 0755);
	assert_int_equal(inspect("empty-line"), MR_UNTRACED_NONE);
}

static void test_what_cannot_be_executed(void **state)
{
	(void)state;
	write_file("text", "echo no magic\n", 0755);
	assert_int_equal(inspect("text"), MR_UNTRACED_NONE);
	write_file("empty", "", 0755);
	assert_int_equal(inspect("empty"), MR_UNTRACED_NONE);
	write_file("cut", "\177ELF", 0755);
	assert_int_equal(inspect("cut"), MR_UNTRACED_NONE);
	assert_int_equal(inspect("missing"), MR_UNTRACED_NONE);
	assert_int_equal(inspect_at(AT_FDCWD, folder), MR_UNTRACED_NONE);
	assert_int_equal(inspect_at(AT_FDCWD, ""), MR_UNTRACED_NONE);
	assert_int_equal(mkfifo(in_folder("fifo"), 0755), 0);
	assert_int_equal(inspect("fifo"), MR_UNTRACED_NONE); /* and does not wait for a writer */
	if (compile("static", "gcc -static")) {
		assert_int_equal(chmod(in_folder("static"), 0644), 0);
		assert_int_equal(inspect("static"), MR_UNTRACED_NONE);
	}
}

/* Cut or flipped anywhere, a program gives some answer. */
static void test_damaged_programs(void **state)
{
	(void)state;
	static char bytes[32768];
	FILE *file = fopen(in_folder("plain"), "r");
	size_t count = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	int damaged = open(in_folder("damaged"), O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	assert_true(damaged >= 0);
	for (size_t i = 0; i < count; i += i < 1024 ? 1 : 97) {
		assert_int_equal(ftruncate(damaged, 0), 0);
		assert_int_equal(pwrite(damaged, bytes, i, 0), i);
		inspect_at(AT_FDCWD, path);
		bytes[i] ^= (char)0xff;
		assert_int_equal(pwrite(damaged, bytes, count, 0), count);
		inspect_at(AT_FDCWD, path);
		bytes[i] ^= (char)0xff;
	}
	close(damaged);
}

static void test_search(void **state)
{
	(void)state;
	char found[256];
	char expected[256];
	char variable[512];
	write_file("tool", "#!/bin/sh\n", 0755);
	write_file("data", "not executable\n", 0644);
	snprintf(variable, sizeof variable, "/nowhere::%s:/bin", folder);
	setenv("PATH", variable, 1);
	assert_true(mr_target_search("tool", found, sizeof found));
	snprintf(expected, sizeof expected, "%s/tool", folder);
	assert_string_equal(found, expected);
	assert_true(mr_target_search("sh", found, sizeof found));
	assert_string_equal(found, "/bin/sh");
	assert_false(mr_target_search("data", found, sizeof found));
	assert_false(mr_target_search("no such tool", found, sizeof found));
	assert_true(mr_target_search("./a/b", found, sizeof found));
	assert_string_equal(found, "./a/b");
	assert_false(mr_target_search("tool", found, 4));
	assert_int_equal(chdir(folder), 0);
	setenv("PATH", "/nowhere:", 1);
	assert_true(mr_target_search("tool", found, sizeof found));
	assert_string_equal(found, "tool");
	unsetenv("PATH");
	assert_true(mr_target_search("sh", found, sizeof found));
	assert_string_equal(found, "/bin/sh");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary_programs),
		cmocka_unit_test(test_static_programs),
		cmocka_unit_test(test_other_libraries_and_machines),
		cmocka_unit_test(test_sanitized_programs),
		cmocka_unit_test(test_privileged_programs),
		cmocka_unit_test(test_programs_of_others),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_what_cannot_be_executed),
		cmocka_unit_test(test_damaged_programs),
		cmocka_unit_test(test_search),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
