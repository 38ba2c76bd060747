/* SPDX-License-Identifier: Apache-2.0
 *
 * An answer to a request, and the kind of function that writes one.
 *
 * Such a function writes the body as it goes, JSON unless it sets another type, and returns
 *
 *     0         200: what was written is sent
 *     -EINVAL   400: the request makes no sense
 *     -ENOENT   404: there is nothing of the kind
 *     other     500
 *
 * With anything but 0, what was written is thrown away and {"error": the chain of causes} sent instead.
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
	FILE *body;       /* in memory; its errors are seen by who made it */
	const char *type; /* static */
};

typedef int mr_answer_function(struct mr_view *view, const struct mr_request *request,
			       struct mr_answer *answer);

#endif
