/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/respond.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "serve/endpoints.h"

static const char *const headers_of_all[][2] = {
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	 "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
};

/* ---- any response ------------------------------------------------------------------------------- */

/* `type` and `caching` as HTTP has them; `value` of a header of its own, if `name` is not NULL. */
struct heading {
	unsigned int status;
	const char *type;
	const char *caching;
	const char *name;
	const char *value;
};

static enum MHD_Result add_headers(struct MHD_Response *response, const struct heading *heading)
{
	enum MHD_Result result =
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, heading->type);

	if (result == MHD_YES)
		result = MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
						 heading->caching);
	if (result == MHD_YES && heading->name)
		result = MHD_add_response_header(response, heading->name, heading->value);
	for (size_t i = 0; result == MHD_YES && i < mr_countof(headers_of_all); i++)
		result = MHD_add_response_header(response, headers_of_all[i][0],
						 headers_of_all[i][1]);
	return result;
}

static enum MHD_Result respond(struct MHD_Connection *connection, const struct heading *heading,
			       const void *body, size_t size, enum MHD_ResponseMemoryMode owner)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)body, owner);

	if (!response) {
		if (owner == MHD_RESPMEM_MUST_FREE)
			free((void *)body);
		return MHD_NO;
	}
	enum MHD_Result result = add_headers(response, heading);
	if (result == MHD_YES)
		result = MHD_queue_response(connection, heading->status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result mr_respond_text(struct MHD_Connection *connection, unsigned int status,
				const char *text)
{
	struct heading heading = {
		.status = status,
		.type = "text/plain; charset=utf-8",
		.caching = "no-store",
	};

	if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
		heading.name = MHD_HTTP_HEADER_ALLOW;
		heading.value = "GET, HEAD";
	}
	return respond(connection, &heading, text, strlen(text), MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result mr_respond_redirect(struct MHD_Connection *connection, const char *location)
{
	const struct heading heading = {
		.status = MHD_HTTP_FOUND,
		.type = "text/plain; charset=utf-8",
		.caching = "no-store",
		.name = MHD_HTTP_HEADER_LOCATION,
		.value = location,
	};

	return respond(connection, &heading, "", 0, MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result mr_respond_asset(struct MHD_Connection *connection, const struct mr_asset *asset)
{
	const char *known = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							MHD_HTTP_HEADER_IF_NONE_MATCH);
	bool is_known = known && strcmp(known, asset->tag) == 0;
	const struct heading heading = {
		.status = is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
		.type = asset->type,
		.caching = "no-cache", /* another trace, or millrace, may be served here later */
		.name = MHD_HTTP_HEADER_ETAG,
		.value = asset->tag,
	};

	return respond(connection, &heading, asset->bytes, is_known ? 0 : asset->size,
		       MHD_RESPMEM_PERSISTENT);
}

/* ---- answers ------------------------------------------------------------------------------------ */

static int ask(struct mr_loading *loading, const char *name, const struct mr_request *request,
	       struct mr_answer *answer)
{
	struct mr_view *view;

	if (strcmp(name, "progress") == 0)
		return mr_loading_print(loading, answer->body);
	mr_answer_function *function = mr_endpoint_find(name);
	if (!function)
		return mr_fail(ENOENT, "there is no question of this name");
	int result = mr_loading_view(loading, &view);
	return result < 0 ? result : function(view, request, answer);
}

static int make_answer(struct mr_loading *loading, const char *name,
		       const struct mr_request *request, struct mr_answer *answer, char **ret_body,
		       size_t *ret_size)
{
	mr_auto(free) char *body = NULL;
	size_t size;

	answer->body = open_memstream(&body, &size);
	if (!answer->body)
		return mr_fail_errno(ENOMEM, "answer");
	int result = ask(loading, name, request, answer);
	if (result == 0)
		result = mr_mappings_check(); /* columns may lie in the saved index */
	if (ferror(answer->body) && result == 0)
		result = mr_fail_errno(ENOMEM, "answer");
	if (fclose(answer->body) != 0 && result == 0)
		result = mr_fail_errno(ENOMEM, "answer");
	if (result < 0)
		return result;
	*ret_body = mr_take(body);
	*ret_size = size;
	return 0;
}

/* NULL without memory. */
static char *make_error(size_t *ret_size)
{
	char *body = NULL;
	FILE *file = open_memstream(&body, ret_size);
	struct mr_json json;

	if (!file)
		return NULL;
	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "error", mr_error_text());
	mr_json_end_object(&json);
	int result = mr_json_finish(&json);
	if (fclose(file) != 0 || result < 0)
		free(mr_take(body));
	return body;
}

static unsigned int status_of(int result)
{
	switch (result) {
	case 0:
		return MHD_HTTP_OK;
	case -EINVAL:
		return MHD_HTTP_BAD_REQUEST;
	case -ENOENT:
		return MHD_HTTP_NOT_FOUND;
	case -EAGAIN:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

enum MHD_Result mr_respond_answer(struct MHD_Connection *connection, struct mr_loading *loading,
				  const char *name, const struct mr_request *request)
{
	struct mr_answer answer = {.type = MR_TYPE_JSON};
	double begin = milliseconds();
	char *body = NULL, timing[48];
	size_t size = 0;
	int result = make_answer(loading, name, request, &answer, &body, &size);

	if (result < 0) {
		answer.type = MR_TYPE_JSON;
		body = make_error(&size);
	}
	if (!body)
		return MHD_NO;
	snprintf(timing, sizeof timing, "answer;dur=%.3f", milliseconds() - begin);
	const struct heading heading = {
		.status = status_of(result),
		.type = answer.type,
		.caching = "no-store",
		.name = "Server-Timing",
		.value = timing,
	};

	return respond(connection, &heading, body, size, MHD_RESPMEM_MUST_FREE);
}
