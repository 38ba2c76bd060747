/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP responses of the viewer's server: a file of the page, the answer of an endpoint, a message for a person.
 *
 * All responses forbid the page to load anything from elsewhere, and forbid other pages to show or read it. Without
 * memory the functions return MHD_NO, which ends the connection.
 */
#ifndef MR_SERVE_RESPOND_H
#define MR_SERVE_RESPOND_H

#include <microhttpd.h>

#include "report/assets.h"
#include "serve/loading.h"
#include "serve/request.h"

/* A short text. */
enum MHD_Result mr_respond_text(struct MHD_Connection *connection, unsigned int status,
				const char *text);

enum MHD_Result mr_respond_redirect(struct MHD_Connection *connection, const char *location);

/* 304 where the browser has it. */
enum MHD_Result mr_respond_asset(struct MHD_Connection *connection, const struct mr_asset *asset);

/* What a trace answers to the request of that name. */
enum MHD_Result mr_respond_answer(struct MHD_Connection *connection, struct mr_loading *loading,
				  const char *name, const struct mr_request *request);

#endif
