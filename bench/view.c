/* SPDX-License-Identifier: Apache-2.0
 *
 * view TRACE: measures what the viewer's server does to show a screen of the trace: 30 bands, 1 500 pixels wide.
 * Prints the seconds from process start to the first answers, then for each zoom the median milliseconds (CPU
 * time) of an answer, and last the same over random zooms. It requests all lanes of the bands, which is more than
 * the page shows at first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "rounds.h"
#include "serve/endpoints.h"

enum {
	BANDS = 30,
	PIXELS = 1500,
	LOOKS = 15,
	RANDOM_LOOKS = 101,
	ZOOMS = 6,
};

/* From 0 to 1. */
static double random_part(void)
{
	return (double)(bench_random() >> 11) / (double)(UINT64_C(1) << 53);
}

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "view: %s\n", what);
	exit(1);
}

/* Nanoseconds of CPU time. */
static uint64_t ask(struct mr_view *view, const char *name, const char *parameters,
		    size_t *ret_bytes)
{
	struct mr_answer answer = {.type = MR_TYPE_JSON};
	struct mr_request request;
	char target[1024], *body = NULL;

	snprintf(target, sizeof target, "/token/traces/0/%s?%s", name, parameters);
	uint64_t before_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	require(mr_request_parse(target, &request) == 0, "no request");
	answer.body = open_memstream(&body, ret_bytes);
	require(answer.body && mr_endpoint_find(name)(view, &request, &answer) == 0, "no answer");
	fclose(answer.body);
	uint64_t after_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mr_request_free(&request);
	free(body);
	return after_ns - before_ns;
}

/* Bands whose slices are loaded from the beginning: "bands=1,2". */
static void list_bands(const struct mr_view *view, char *text)
{
	uint32_t count = 0;

	text += sprintf(text, "bands=");
	for (uint32_t i = 0; i < view->bands.list.count && count < BANDS; i++)
		if (!view->bands.list.items[i].is_series &&
		    view->bands.list.items[i].count != MR_NO_ROW)
			text += sprintf(text, "%s%u", count++ ? "," : "", i);
	require(count > 0, "nothing to look at");
}

static uint64_t look(struct mr_view *view, const char *bands, double part, size_t *ret_bytes)
{
	double whole_ns = (double)(view->model->survey->last_ns - view->model->survey->first_ns);
	double span_ns = fmax(part * whole_ns, 1), from_ns = random_part() * (whole_ns - span_ns);
	char parameters[512];

	snprintf(parameters, sizeof parameters, "%s&from=%.0f&to=%.0f&pixels=%d", bands,
		 floor(from_ns), ceil(from_ns + span_ns), PIXELS);
	return ask(view, "slices", parameters, ret_bytes);
}

static void measure(struct mr_view *view)
{
	uint64_t taken_ns[RANDOM_LOOKS];
	char bands[256];
	size_t bytes;

	list_bands(view, bands);
	for (int zoom = 0; zoom < ZOOMS; zoom++) {
		for (int i = 0; i < LOOKS; i++)
			taken_ns[i] = look(view, bands, pow(10, -zoom), &bytes);
		printf("1/10^%d: %.3f ms, %zu bytes\n", zoom,
		       (double)bench_median(taken_ns, LOOKS) / 1e6, bytes);
	}
	for (int i = 0; i < RANDOM_LOOKS; i++)
		taken_ns[i] = look(view, bands, pow(10, -6 * random_part()), &bytes);
	printf("random: %.3f ms\n", (double)bench_median(taken_ns, RANDOM_LOOKS) / 1e6);
}

int main(int argc, char **argv)
{
	mr_auto(model) struct mr_model *model = NULL;
	mr_auto(view) struct mr_view *view = NULL;
	uint64_t begin_ns = bench_clock_ns(CLOCK_MONOTONIC);
	size_t bytes;

	if (argc != 2) {
		fprintf(stderr, "usage: view TRACE\n");
		return 2;
	}
	require(mr_model_load(argv[1], &model) == 0, "the trace cannot be loaded");
	uint64_t loaded_ns = bench_clock_ns(CLOCK_MONOTONIC);
	require(mr_view_make(model, &view) == 0, "no view");
	uint64_t made_ns = bench_clock_ns(CLOCK_MONOTONIC);
	ask(view, "trace", "", &bytes);
	printf("opened in %.3f s: loading %.3f s, bands %.3f s; %zu bytes about the trace\n",
	       (double)(bench_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9,
	       (double)(loaded_ns - begin_ns) / 1e9, (double)(made_ns - loaded_ns) / 1e9, bytes);
	measure(view);
	return 0;
}
