/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>

#include "base/error.h"

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* Gives the browser a normal start: no signal blocked or ignored, and its own session. */
static void prepare(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawn_file_actions_init(files);
	posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

int mr_browser_open(const char *url)
{
	const char *program = is_set("BROWSER") ? getenv("BROWSER") : "xdg-open";
	char *const arguments[] = {(char *)program, (char *)url, NULL};
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_t files;
	pid_t pid;

	if (!is_set("BROWSER") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
		return mr_fail(ENODEV, "there is no display");
	signal(SIGCHLD, SIG_IGN); /* nobody waits for it */
	prepare(&attributes, &files);
	int error = posix_spawnp(&pid, program, &files, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return error ? mr_fail_errno(error, "cannot run %s", program) : 0;
}
