/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the viewer's answers: an input is questions, one per line ("slices?from=0&to=9"), a zero byte, and packets of
 * which the model is made. Questions are answered or refused with a reason. As long as the packets stay the same, so does
 * the model. Seeds: tests/corpus/fuzz_answers.
 */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "packets_model.h"
#include "serve/endpoints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	QUESTIONS_MAX = 8
};

static struct mr_model *model;
static struct mr_view *view;
static uint8_t *known;
static size_t known_size;

static void load(const uint8_t *packets, size_t size)
{
	if (known && size == known_size && memcmp(packets, known, size) == 0)
		return;
	mr_view_free(mr_take(view));
	mr_model_free(mr_take(model));
	free(known);
	known = malloc(size + 1);
	require(known);
	if (size)
		memcpy(known, packets, size);
	known_size = size;
	model = model_of_packets(packets, size);
	if (model)
		require(mr_view_make(model, &view) == 0);
}

/* NAME?PARAMETERS, as the server would take it from an address. */
static void ask(const char *question)
{
	struct mr_answer answer = {.type = MR_TYPE_JSON};
	struct mr_request request;
	char *target = NULL, *body = NULL;
	size_t size = 0;

	require(asprintf(&target, "/token/%s", question) >= 0);
	if (mr_request_parse(target, &request) == 0) {
		mr_answer_function *function = request.path ? mr_endpoint_find(request.path) : NULL;

		answer.body = open_memstream(&body, &size);
		require(answer.body);
		int result = function ? function(view, &request, &answer) : -ENOENT;
		require(result == 0 || result == -EINVAL || result == -ENOENT ||
			result == -ENOMEM || *mr_error_text());
		fclose(answer.body);
		free(body);
		mr_request_free(&request);
	}
	free(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;

	if (!end)
		return 0;
	load(end + 1, (size_t)(data + size - end) - 1);
	if (!view)
		return 0;
	char *questions = strdup((const char *)data), *rest = questions, *question;
	require(questions);
	for (int i = 0; i < QUESTIONS_MAX && (question = strsep(&rest, "\n")); i++)
		ask(question);
	free(questions);
	return 0;
}
