/* SPDX-License-Identifier: Apache-2.0
 *
 * pointers: calls every function that executes a program with pointers that are none, each in a child, and says how
 * that ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

enum {
	PAGE_BYTES = 4096,
};

extern char **environ;

/* What a function is called with. */
struct call {
	const char *file;
	char *const *argv;
	char *const *envp;
};

struct function {
	const char *name;
	int (*execute)(const struct call *);
};

static int by_execve(const struct call *call)
{
	return execve(call->file, call->argv, call->envp);
}

static int by_execv(const struct call *call)
{
	environ = (char **)call->envp;
	return execv(call->file, call->argv);
}

static int by_execvp(const struct call *call)
{
	environ = (char **)call->envp;
	return execvp(call->file, call->argv);
}

static int by_execvpe(const struct call *call)
{
	return execvpe(call->file, call->argv, call->envp);
}

static int by_execl(const struct call *call)
{
	environ = (char **)call->envp;
	return execl(call->file, (char *)call->argv, (char *)NULL);
}

static int by_execle(const struct call *call)
{
	return execle(call->file, (char *)call->argv, (char *)NULL, call->envp);
}

static int by_execlp(const struct call *call)
{
	environ = (char **)call->envp;
	return execlp(call->file, (char *)call->argv, (char *)NULL);
}

static int by_execveat(const struct call *call)
{
	return execveat(AT_FDCWD, call->file, call->argv, call->envp, 0);
}

static int by_fexecve(const struct call *call)
{
	return fexecve(open("/bin/echo", O_RDONLY | O_CLOEXEC), call->argv, call->envp);
}

static int spawned(int error, pid_t child)
{
	int status = 0;
	if (error == 0)
		waitpid(child, &status, 0);
	errno = error;
	return error ? -1 : status;
}

static int by_posix_spawn(const struct call *call)
{
	pid_t child = 0;
	return spawned(posix_spawn(&child, call->file, NULL, NULL, call->argv, call->envp), child);
}

static int by_posix_spawnp(const struct call *call)
{
	pid_t child = 0;
	return spawned(posix_spawnp(&child, call->file, NULL, NULL, call->argv, call->envp), child);
}

static const struct function functions[] = {
	{"execve", by_execve},
	{"execv", by_execv},
	{"execvp", by_execvp},
	{"execvpe", by_execvpe},
	{"execl", by_execl},
	{"execle", by_execle},
	{"execlp", by_execlp},
	{"execveat", by_execveat},
	{"fexecve", by_fexecve},
	{"posix_spawn", by_posix_spawn},
	{"posix_spawnp", by_posix_spawnp},
};

static void try(const struct function *function, const char *what, const struct call *call)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		emit(1);
		int result = function->execute(call);
		printf("%d %s\n", result, strerror(errno));
		fflush(stdout);
		_exit(1);
	}
	int status;
	waitpid(child, &status, 0);
	printf("%s, %s: %x\n", function->name, what, (unsigned)status);
}

/* The end of the last page that can be read: what stands before it does not end. The page behind it is kept, because a page
 * that is given back may be given to somebody else. */
static char *edge(void)
{
	char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE);
	return pages + PAGE_BYTES;
}

int main(void)
{
	char *nowhere = (char *)8;
	char *protected = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = edge(), *list_end = edge();
	memcpy(end - 4, "/bin", 4);
	((char **)list_end)[-1] = "A=b";
	char *good[] = {"echo", "well", NULL}, *bad[] = {"echo", nowhere, NULL};
	char *good_environment[] = {"PATH=/bin", "A=b", NULL};
	char *bad_environment[] = {"PATH=/bin", protected, "A=b", NULL};
	char *unended[] = {"PATH=/bin", end - 4, NULL};
	const struct {
		const char *what;
		struct call call;
	} cases[] = {
		{"nothing wrong", {"/bin/echo", good, good_environment}},
		{"no file", {NULL, good, good_environment}},
		{"file nowhere", {nowhere, good, good_environment}},
		{"file protected", {protected, good, good_environment}},
		{"file unended", {end - 4, good, good_environment}},
		{"no arguments", {"/bin/echo", NULL, good_environment}},
		{"arguments nowhere", {"/bin/echo", (char **)nowhere, good_environment}},
		{"argument nowhere", {"/bin/echo", bad, good_environment}},
		{"environment nowhere", {"/bin/echo", good, (char **)nowhere}},
		{"environment protected", {"/bin/echo", good, (char **)protected}},
		{"environment unended", {"/bin/echo", good, (char **)list_end - 1}},
		{"variable nowhere", {"/bin/echo", good, bad_environment}},
		{"variable unended", {"/bin/echo", good, unended}},
		{"all nowhere", {nowhere, (char **)nowhere, (char **)nowhere}},
	};
	emit_prepare();
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++)
			try(&functions[i], cases[j].what, &cases[j].call);
	emit_report();
	return 0;
}
