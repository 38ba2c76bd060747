/* SPDX-License-Identifier: Apache-2.0
 *
 * The token in the server's address: 128 random bits, as hexadecimal digits. Whoever knows it can read the trace.
 *
 * A token is new each time, or kept in a file, so that an address can be kept too. The file is made with the first
 * token. It must be the user's own and readable to nobody else: anybody who can read it can see the trace.
 */
#ifndef MR_SERVE_TOKEN_H
#define MR_SERVE_TOKEN_H

#include <stdbool.h>

enum {
	MR_ACCESS_TOKEN_LETTERS = 32,
};

struct mr_access_token {
	char text[MR_ACCESS_TOKEN_LETTERS + 1];
};

/* A new one; with a path, the one in the file, which is made if it is missing. 0, or a negative errno with a cause that
 * says what to do. */
int mr_access_token_get(const char *path, struct mr_access_token *ret_token);

/* In constant time, so that the duration does not reveal how much of it is right. */
bool mr_access_token_is(const struct mr_access_token *token, const char *text);

#endif
