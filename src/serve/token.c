/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/token.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"

static int make(struct mr_access_token *ret_token)
{
	unsigned char random[MR_ACCESS_TOKEN_LETTERS / 2];

	if (getrandom(random, sizeof random, 0) != sizeof random)
		return mr_fail_errno(errno, "cannot get random bytes");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(ret_token->text + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* -EEXIST: somebody else has made it since. */
static int make_file(const char *path, struct mr_access_token *ret_token)
{
	char line[MR_ACCESS_TOKEN_LETTERS + 2];
	int result = make(ret_token);

	if (result < 0)
		return result;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return mr_fail_errno(errno, "--token-file: cannot create %s", path);
	int length = snprintf(line, sizeof line, "%s\n", ret_token->text);
	bool is_written = write(fd, line, (size_t)length) == length;
	if (close(fd) < 0 || !is_written) {
		unlink(path);
		return mr_fail(EIO, "--token-file: cannot write %s", path);
	}
	return 0;
}

/* A token and nothing else, but for a newline. */
static int take(const char *path, const char *line, struct mr_access_token *ret_token)
{
	size_t digits = 0;

	while (isxdigit((unsigned char)line[digits]))
		digits++;
	if (digits != MR_ACCESS_TOKEN_LETTERS || (line[digits] && strcmp(line + digits, "\n") != 0))
		return mr_fail(
			EINVAL,
			"--token-file: %s does not contain a token of %d hexadecimal digits: "
			"delete it, and millrace makes a new one",
			path, MR_ACCESS_TOKEN_LETTERS);
	memcpy(ret_token->text, line, MR_ACCESS_TOKEN_LETTERS);
	ret_token->text[MR_ACCESS_TOKEN_LETTERS] = '\0';
	return 0;
}

static int check_access(const char *path, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "--token-file: cannot read %s", path);
	if (!S_ISREG(status.st_mode))
		return mr_fail(EINVAL, "--token-file: %s is not a regular file", path);
	if (status.st_uid != geteuid() || (status.st_mode & (S_IRWXG | S_IRWXO)))
		return mr_fail(
			EACCES,
			"--token-file: others could read or change %s, and so see the trace: "
			"it must be yours, with chmod 600",
			path);
	return 0;
}

static int read_file(const char *path, struct mr_access_token *ret_token)
{
	char line[MR_ACCESS_TOKEN_LETTERS + 4] = "";
	/* A pipe that nobody writes to must not block us. */
	mr_auto(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd < 0)
		return mr_fail_errno(errno, "--token-file: cannot read %s", path);
	int result = check_access(path, fd);
	if (result < 0)
		return result;
	ssize_t length = read(fd, line, sizeof line - 1);
	return length < 0 ? mr_fail_errno(errno, "--token-file: cannot read %s", path)
			  : take(path, line, ret_token);
}

int mr_access_token_get(const char *path, struct mr_access_token *ret_token)
{
	if (!path)
		return make(ret_token);
	int result = read_file(path, ret_token);
	if (result != -ENOENT)
		return result;
	result = make_file(path, ret_token);
	return result == -EEXIST ? read_file(path, ret_token) : result;
}

bool mr_access_token_is(const struct mr_access_token *token, const char *text)
{
	unsigned char difference = 0;

	if (strlen(text) != MR_ACCESS_TOKEN_LETTERS)
		return false;
	for (size_t i = 0; i < MR_ACCESS_TOKEN_LETTERS; i++)
		difference |= (unsigned char)(text[i] ^ token->text[i]);
	return difference == 0;
}
