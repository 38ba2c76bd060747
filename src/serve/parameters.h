/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of requests, translated into terms of the view. All return 0, or -EINVAL with a cause.
 */
#ifndef MR_SERVE_PARAMETERS_H
#define MR_SERVE_PARAMETERS_H

#include "serve/request.h"
#include "timeline/view.h"

/* table=calls */
int mr_request_table(const struct mr_request *request, enum mr_sliced *ret_table);

/* label=17 */
int mr_request_label(const struct mr_request *request, uint32_t *ret_label);

/* Of the trace clock. */
int mr_request_time(const struct mr_view *view, const struct mr_request *request, const char *name,
		    int64_t *ret_ns);

/* from=100&to=200; if neither is given, the whole trace. */
int mr_request_window(const struct mr_view *view, const struct mr_request *request,
		      struct mr_window *ret_window);

/* scope=steps or scope=whole, which it is if it is not given. */
int mr_request_scope(const struct mr_request *request, enum mr_scope *ret_scope);

/* tracks=1,7 of so many: an array of as many, which is true for these; NULL if they are not given. The caller frees it.
 * -ENOMEM, too. */
int mr_request_tracks(const struct mr_request *request, uint32_t count, bool **ret_tracks);

#endif
