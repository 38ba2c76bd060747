/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <stdlib.h>
#include <string.h>

#include "hand_model.h"

static void must(bool condition)
{
	if (!condition)
		abort();
}

char *ask(struct mr_view *view, const char *target, size_t *ret_bytes, int *ret_result)
{
	struct mr_answer answer = {.type = MR_TYPE_JSON};
	struct mr_request request;
	char whole[8192], name[32], *body = NULL;
	size_t bytes;

	must(snprintf(whole, sizeof whole, "/token/traces/0/%s", target) < (int)sizeof whole);
	must(mr_request_parse(whole, &request) == 0);
	must(snprintf(name, sizeof name, "%s", request.path + strlen("traces/0/")) <
	     (int)sizeof name);
	must((answer.body = open_memstream(&body, &bytes)) != NULL);
	*ret_result = mr_endpoint_find(name)(view, &request, &answer);
	must(fclose(answer.body) == 0);
	mr_request_free(&request);
	*ret_bytes = bytes;
	if (*ret_result == 0)
		return body;
	free(body);
	return NULL;
}

struct mr_view *view_start(struct mr_model *model, int64_t first_ns, int64_t last_ns)
{
	struct mr_view *view;

	hand_model_load();
	model->survey->first_ns = first_ns;
	model->survey->last_ns = last_ns;
	must(mr_view_make(model, &view) == 0);
	return view;
}

void view_end(struct mr_model *model, struct mr_view *view)
{
	mr_view_free(view);
	mr_model_free(model);
}
