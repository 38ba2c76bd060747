/* SPDX-License-Identifier: Apache-2.0
 *
 * A request of the viewer's page: the target of a GET, parsed and decoded.
 *
 *     /6f1c…/traces/0/slices?bands=3,4&from=0
 *      └token └path           └ parameters
 *
 * Pure: text in, struct out. It rejects, with a cause, invalid requests: a bad escape, a NUL, a parameter given twice
 * or without a name, too many parameters. It normalises nothing: "..", "//" and the like are part of the path and
 * match nothing.
 *
 * The request owns a buffer with its texts. A parsed request is read-only; any thread may read it.
 */
#ifndef MR_SERVE_REQUEST_H
#define MR_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_REQUEST_PARAMETERS = 16, /* no endpoint takes more */
};

struct mr_request {
	char *buffer; /* holds all that the others point to */
	const char *token;
	const char *path; /* behind the token and its slash; NULL: there is no such slash */
	uint32_t parameter_count;
	struct mr_parameter {
		const char *name;
		const char *value;
	} parameters[MR_REQUEST_PARAMETERS];
};

/* -EINVAL with a cause if it is no request, -ENOMEM. */
int mr_request_parse(const char *target, struct mr_request *ret_request);
void mr_request_free(struct mr_request *request);

/* NULL if it is not given. */
const char *mr_request_text(const struct mr_request *request, const char *name);

static inline bool mr_request_has(const struct mr_request *request, const char *name)
{
	return mr_request_text(request, name) != NULL;
}

/* A whole number from `low` to `high`; -EINVAL with a cause, also if it is not given. */
int mr_request_integer(const struct mr_request *request, const char *name, int64_t low,
		       int64_t high, int64_t *ret_value);

/* Takes the next whole number off a list such as "3,4,7" and moves *list behind it and its comma, to NULL at
 * the end. *list may be empty only if it is all of the list: then there is no number, which is refused. */
int mr_request_next_integer(const char **list, const char *name, int64_t low, int64_t high,
			    int64_t *ret_value);

#endif
