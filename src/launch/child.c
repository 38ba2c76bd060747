/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

static void run_child(char *const *arguments, char *const *environment, const sigset_t *mask,
		      int release, int failure)
{
	char go;
	if (read(release, &go, 1) != 1)
		_exit(125); /* record gave up */
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(arguments[0], arguments, environment);
	int error = errno;
	(void)!write(failure, &error, sizeof error);
	_exit(126);
}

int mr_child_start(char *const *arguments, char *const *environment, const sigset_t *mask,
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
		run_child(arguments, environment, mask, release[0], failure[1]);
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

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int mr_child_find_program(const char *program, char **ret_path)
{
	struct stat status;
	if (strchr(program, '/')) {
		if (stat(program, &status) < 0)
			return mr_fail_errno(errno, "cannot run %s", program);
		if (!is_program(program))
			return mr_fail(EACCES, "cannot run %s: it is not an executable file",
				       program);
		*ret_path = strdup(program);
		return *ret_path ? 0 : mr_fail(ENOMEM, "no memory");
	}
	const char *search = getenv("PATH");
	bool is_there = false;
	mr_auto(free) char *folders = strdup(search ? search : "/bin:/usr/bin");
	for (char *rest = folders, *folder; folders && (folder = strsep(&rest, ":"));) {
		char *path = NULL;
		if (asprintf(&path, "%s/%s", *folder ? folder : ".", program) < 0)
			return mr_fail(ENOMEM, "no memory");
		if (is_program(path)) {
			*ret_path = path;
			return 0;
		}
		is_there |= stat(path, &status) == 0 && S_ISREG(status.st_mode);
		free(path);
	}
	if (is_there)
		return mr_fail(EACCES, "cannot run %s: what is in PATH is not an executable file",
			       program);
	return mr_fail(ENOENT, "cannot run %s: no such program in PATH", program);
}
