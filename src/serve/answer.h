/* SPDX-License-Identifier: Apache-2.0
 *
 * An answer to a request, and the type of function that writes one.
 *
 * Such a function writes the body as it goes (JSON unless it sets another type) and returns
 *
 *     0         200: what was written is sent
 *     -EINVAL   400: the request is invalid
 *     -ENOENT   404: there is no such thing
 *     other     500
 *
 * For any result other than 0 the server discards what was written and sends {"error": the chain of causes} instead.
 * Any number of threads call these functions on one view at the same time.
 */
#ifndef MR_SERVE_ANSWER_H
#define MR_SERVE_ANSWER_H

#include <stdio.h>

#include "base/json_writer.h"
#include "serve/request.h"
#include "timeline/view.h"

#define MR_TYPE_JSON   "application/json"
#define MR_TYPE_BINARY "application/octet-stream"

struct mr_answer {
	FILE *body;       /* in memory; whoever made it checks it for errors */
	const char *type; /* static */
};

typedef int mr_answer_function(struct mr_view *view, const struct mr_request *request,
			       struct mr_answer *answer);

#endif
