/* SPDX-License-Identifier: Apache-2.0
 *
 * Another preloaded library, not millrace's: it also wraps execve and posix_spawn, and says so.
 */
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

static void say(const char *text, size_t length)
{
	(void)!write(STDERR_FILENO, text, length);
}

int execve(const char *file, char *const argv[], char *const envp[])
{
	say("foreign execve\n", 15);
	return ((__typeof__(&execve))dlsym(RTLD_NEXT, "execve"))(file, argv, envp);
}

int posix_spawn(pid_t *ret_pid, const char *file, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	say("foreign spawn\n", 14);
	return ((__typeof__(&posix_spawn))dlsym(RTLD_NEXT, "posix_spawn"))(ret_pid, file, actions,
									   attributes, argv, envp);
}
