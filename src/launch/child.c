/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "hook/target.h"

static void run_child(char *const *arguments, char *const *environment,
		      const struct mr_signals *signals, const struct rlimit *descriptors,
		      int release, int failure)
{
	char go;
	if (read(release, &go, 1) != 1)
		_exit(125); /* record gave up */
	mr_signals_restore(signals);
	setrlimit(RLIMIT_NOFILE, descriptors);
	execvpe(arguments[0], arguments, environment);
	int error = errno;
	(void)!write(failure, &error, sizeof error);
	_exit(126);
}

int mr_child_start(char *const *arguments, char *const *environment,
		   const struct mr_signals *signals, const struct rlimit *descriptors,
		   struct mr_child *ret_child)
{
	int release[2], failure[2];
	if (pipe2(release, O_CLOEXEC) < 0)
		return mr_fail_errno(errno, "cannot make a pipe");
	if (pipe2(failure, O_CLOEXEC) < 0) {
		int error = errno;
		close(release[0]);
		close(release[1]);
		return mr_fail_errno(error, "cannot make a pipe");
	}
	pid_t pid = fork();
	int error = errno;
	if (pid == 0) {
		close(release[1]);
		run_child(arguments, environment, signals, descriptors, release[0], failure[1]);
	}
	close(release[0]);
	close(failure[1]);
	if (pid < 0) {
		close(release[1]);
		close(failure[0]);
		return mr_fail_errno(error, "cannot start a process");
	}
	*ret_child = (struct mr_child){.pid = pid, .release = release[1], .failure = failure[0]};
	return 0;
}

static void close_pipes(struct mr_child *child)
{
	close(child->release);
	close(child->failure);
	child->release = child->failure = -1;
}

int mr_child_release(struct mr_child *child)
{
	int error = 0;
	if (write(child->release, "", 1) != 1) {
		error = errno;
		mr_child_abandon(child);
		return -error;
	}
	ssize_t count;
	do
		count = read(child->failure, &error, sizeof error);
	while (count < 0 && errno == EINTR);
	close_pipes(child);
	if (count != sizeof error)
		return 0;
	waitpid(child->pid, NULL, 0);
	return -error;
}

void mr_child_abandon(struct mr_child *child)
{
	if (child->release < 0)
		return;
	close_pipes(child);
	waitpid(child->pid, NULL, 0);
}

/* A path is what is executed, if it can be. */
static int check_program(const char *path)
{
	struct stat status;
	if (stat(path, &status) < 0)
		return mr_fail_errno(errno, "cannot run %s", path);
	if (!S_ISREG(status.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return mr_fail(EACCES, "cannot run %s: it is not an executable file", path);
	return 0;
}

int mr_child_find_program(const char *program, char **ret_path)
{
	char path[PATH_MAX];
	if (!mr_target_search(program, path, sizeof path))
		return errno == EACCES
			       ? mr_fail(EACCES,
					 "cannot run %s: the file in PATH is not executable",
					 program)
			       : mr_fail(ENOENT, "cannot run %s: no such program in PATH", program);
	int result = check_program(path);
	if (result < 0)
		return result;
	char *copy = strdup(path);
	if (!copy)
		return mr_fail(ENOMEM, "no memory");
	*ret_path = copy;
	return 0;
}
