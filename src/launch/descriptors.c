/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "base/error.h"

enum {
	SPARE_DESCRIPTORS = 32,
};

void mr_descriptors_hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC);
}

struct rlimit mr_descriptors_raise_limit(void)
{
	struct rlimit before = {0};
	getrlimit(RLIMIT_NOFILE, &before);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){before.rlim_max, before.rlim_max});
	return before;
}

int mr_descriptors_check(void)
{
	struct rlimit limit = {0};
	getrlimit(RLIMIT_NOFILE, &limit);
	int next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (next >= 0)
		close(next);
	if (next >= 0 && (rlim_t)next + SPARE_DESCRIPTORS <= limit.rlim_cur)
		return 0;
	return mr_fail(
		EMFILE,
		"it needs more file descriptors than are allowed here (`ulimit -Hn` says %ju)",
		(uintmax_t)limit.rlim_max);
}
