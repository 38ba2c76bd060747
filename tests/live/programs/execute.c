/* SPDX-License-Identifier: Apache-2.0
 *
 * Executes itself in every way there is: execute WAY. The executed program emits ten events and says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

extern char **environ;

static const char *own_path;
static char *arguments[] = {"execute", "emit", NULL};

static int emit_ten(void)
{
	emit(10);
	emit_report();
	return 6;
}

/* Runs `execute` in a child made by `make` and passes its exit status on. */
static int in_child(pid_t (*make)(void), void (*execute)(void))
{
	pid_t child = make();
	if (child == 0) {
		execute();
		_exit(99);
	}
	int status;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void by_execve(void)
{
	execve(own_path, arguments, environ);
}

static void by_execv(void)
{
	execv(own_path, arguments);
}

static void by_execvp(void)
{
	execvp("execute", arguments);
}

static void by_execvpe(void)
{
	execvpe("execute", arguments, environ);
}

static void by_execl(void)
{
	execl(own_path, "execute", "emit", (char *)NULL);
}

static void by_execle(void)
{
	execle(own_path, "execute", "emit", (char *)NULL, environ);
}

static void by_execlp(void)
{
	execlp("execute", "execute", "emit", (char *)NULL);
}

static void by_execveat(void)
{
	execveat(AT_FDCWD, own_path, arguments, environ, 0);
}

static void by_execveat_descriptor(void)
{
	execveat(open(own_path, O_RDONLY | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
}

static void by_fexecve(void)
{
	fexecve(open(own_path, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void (*const families[])(void) = {
	by_execve,  by_execv,    by_execvp,
	by_execvpe, by_execl,    by_execle,
	by_execlp,  by_execveat, by_execveat_descriptor,
	by_fexecve,
};

static int families_after(pid_t (*make)(void))
{
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (in_child(make, families[i]) != 6)
			return (int)i + 10;
	return 0;
}

static int execve_after_fork(void)
{
	return in_child(fork, by_execve) == 6 ? 0 : 1;
}

static int after_fork(void)
{
	return families_after(fork);
}

static int after_bare_fork(void)
{
	return families_after(_Fork);
}

static int in_vfork_child(void (*execute)(void))
{
	pid_t child = vfork();
	if (child == 0) {
		execute();
		_exit(99);
	}
	int status;
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static int after_vfork(void)
{
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (in_vfork_child(families[i]) != 6)
			return (int)i + 10;
	return 0;
}

static int spawn(void)
{
	pid_t children[2];
	if (posix_spawn(&children[0], own_path, NULL, NULL, arguments, environ) != 0 ||
	    waitpid(children[0], NULL, 0) != children[0] ||
	    posix_spawnp(&children[1], "execute", NULL, NULL, arguments, environ) != 0 ||
	    waitpid(children[1], NULL, 0) != children[1] ||
	    posix_spawn(NULL, own_path, NULL, NULL, arguments, environ) != 0 || wait(NULL) <= 0)
		return 1;
	int error = posix_spawn(&children[0], "/no/such/program", NULL, NULL, arguments, environ);
	return error == ENOENT ? 0 : 2;
}

static int by_shell(void)
{
	char command[PATH_MAX + 32];
	snprintf(command, sizeof command, "%s emit", own_path);
	if (WEXITSTATUS(system(command)) != 6)
		return 1;
	FILE *pipe = popen(command, "r");
	char line[64] = "";
	if (!fgets(line, sizeof line, pipe) || WEXITSTATUS(pclose(pipe)) != 6)
		return 2;
	fputs(line, stdout);
	fflush(stdout);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	by_execv();
}

static void exec_in_handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

static int in_handler(void)
{
	return in_child(fork, exec_in_handler) == 6 ? 0 : 1;
}

/* ---- environments -------------------------------------------------------------------------------- */

static void with_nothing(void)
{
	execve(own_path, arguments, (char *[]){NULL});
}

static void with_null(void)
{
	char *const *volatile none = NULL;
	execve(own_path, arguments, none);
}

static void without_preload(void)
{
	unsetenv("LD_PRELOAD");
	unsetenv("MILLRACE_ARENA");
	execv(own_path, arguments);
}

static void with_thousands(void)
{
	static char *many[20001];
	for (int i = 0; i < 20000; i++)
		many[i] = (char *)"VARIABLE=value";
	execve(own_path, arguments, many);
}

static void with_two_preloads(void)
{
	char *two[] = {"LD_PRELOAD=", "A=b", "LD_PRELOAD=", NULL};
	execve(own_path, arguments, two);
}

static int environments(void)
{
	static void (*const all[])(void) = {with_nothing, with_null, without_preload,
					    with_thousands, with_two_preloads};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (in_child(fork, all[i]) != 6)
			return (int)i + 10;
	return 0;
}

/* ---- what fails without us fails with us, and tracing goes on ---------------------------------------- */

static void check(const char *what, int result)
{
	printf("%s: %d, %s\n", what, result, strerror(errno));
	errno = 0;
}

static int failures(void)
{
	static char *huge[40000];
	static char long_text[1000];
	char *const *volatile none = NULL;
	const char *volatile no_path = NULL;
	memset(long_text, 'x', sizeof long_text - 1);
	for (size_t i = 0; i < sizeof huge / sizeof huge[0] - 1; i++)
		huge[i] = long_text;
	check("missing", execv("/no/such/program", arguments));
	check("missing, no arguments", execve("/no/such/program", none, none));
	check("no path", execve(no_path, arguments, environ));
	check("empty", execv("", arguments));
	check("empty along PATH", execvp("", arguments));
	check("folder", execv("/", arguments));
	check("folder along PATH", execvp("/", arguments));
	check("not executable", execv("/etc/passwd", arguments));
	check("not found", execlp("no-such-program", "x", (char *)NULL));
	check("under a file", execv("/etc/passwd/x", arguments));
	check("bad descriptor", fexecve(-1, arguments, environ));
	check("bad folder", execveat(-1, "x", arguments, environ, 0));
	check("too much", execve(own_path, huge, environ));
	check("too many variables", execve(own_path, arguments, huge));
	emit(10);
	emit_report();
	return 0;
}

/* A script without "#!" is given to the shell by execvp, and by it alone. */
static int plain_script(void)
{
	const char *script = getenv("PLAIN_SCRIPT");
	check("execv", execv(script, (char *[]){"script", "1", NULL}));
	emit(3);
	emit_report();
	execvp(script, (char *[]){"script", "2", NULL});
	return 1;
}

int main(int argc, char **argv)
{
	static char path[PATH_MAX];
	static const struct situation situations[] = {
		{"emit", emit_ten},
		{"execve_after_fork", execve_after_fork},
		{"after_fork", after_fork},
		{"after_bare_fork", after_bare_fork},
		{"after_vfork", after_vfork},
		{"spawn", spawn},
		{"by_shell", by_shell},
		{"in_handler", in_handler},
		{"environments", environments},
		{"failures", failures},
		{"plain_script", plain_script},
		{NULL, NULL},
	};
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	own_path = length > 0 ? path : argv[0];
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
