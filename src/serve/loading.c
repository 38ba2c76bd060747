/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/loading.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/progress.h"
#include "load/load.h"

enum state {
	LOADING,
	READY,
	FAILED,
};

struct mr_loading {
	char *path;
	pthread_t thread;
	struct mr_model *model;
	struct mr_view *view;
	int result;       /* of the loading */
	char error[2048]; /* its causes */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	enum state state; /* guarded; what else there is stays as it is from READY or FAILED on */
};

static int load(struct mr_loading *loading)
{
	int result = mr_model_load(loading->path, &loading->model);

	mr_progress_begin("preparing the view", 0);
	if (result == 0)
		result = mr_view_make(loading->model, &loading->view);
	return result;
}

static void *run(void *argument)
{
	struct mr_loading *loading = argument;

	loading->result = load(loading);
	if (loading->result < 0)
		snprintf(loading->error, sizeof loading->error, "%s", mr_error_text());
	pthread_mutex_lock(&loading->lock);
	loading->state = loading->result < 0 ? FAILED : READY;
	pthread_cond_broadcast(&loading->ended);
	pthread_mutex_unlock(&loading->lock);
	return NULL;
}

static void free_parts(struct mr_loading *loading)
{
	mr_view_free(loading->view);
	mr_model_free(loading->model);
	pthread_cond_destroy(&loading->ended);
	pthread_mutex_destroy(&loading->lock);
	free(loading->path);
	free(loading);
}

int mr_loading_start(const char *path, struct mr_loading **ret_loading)
{
	struct mr_loading *loading = calloc(1, sizeof *loading);
	pthread_condattr_t monotonic;

	if (!loading)
		return mr_fail_errno(ENOMEM, "load %s", path);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&loading->ended, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&loading->lock, NULL);
	loading->path = strdup(path);
	int error = loading->path ? pthread_create(&loading->thread, NULL, run, loading) : ENOMEM;
	if (error) {
		free_parts(loading);
		return mr_fail_errno(error, "load %s", path);
	}
	*ret_loading = loading;
	return 0;
}

void mr_loading_free(struct mr_loading *loading)
{
	if (!loading)
		return;
	pthread_join(loading->thread, NULL);
	free_parts(loading);
}

static enum state state_of(struct mr_loading *loading)
{
	pthread_mutex_lock(&loading->lock);
	enum state state = loading->state;
	pthread_mutex_unlock(&loading->lock);
	return state;
}

static struct timespec time_in(int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	int64_t ns = time.tv_nsec + ms * (int64_t)1000000;
	time.tv_sec += ns / 1000000000;
	time.tv_nsec = ns % 1000000000;
	return time;
}

int mr_loading_wait(struct mr_loading *loading, int patience_ms)
{
	struct timespec until = time_in(patience_ms);
	int error = 0;

	pthread_mutex_lock(&loading->lock);
	while (loading->state == LOADING && error == 0)
		error = pthread_cond_timedwait(&loading->ended, &loading->lock, &until);
	pthread_mutex_unlock(&loading->lock);
	if (error)
		return -error;
	return loading->result < 0 ? mr_fail(-loading->result, "%s", loading->error) : 0;
}

int mr_loading_view(struct mr_loading *loading, struct mr_view **ret_view)
{
	switch (state_of(loading)) {
	case LOADING:
		return mr_fail(EAGAIN, "the trace is being loaded");
	case FAILED:
		return mr_fail(EAGAIN, "the trace cannot be loaded: %s", loading->error);
	case READY:
		break;
	}
	*ret_view = loading->view;
	return 0;
}

int mr_loading_print(struct mr_loading *loading, FILE *file)
{
	static const char *const names[] = {
		[LOADING] = "loading", [READY] = "ready", [FAILED] = "failed"};
	enum state state = state_of(loading);
	struct mr_progress now = mr_progress_now();
	struct mr_json json;

	mr_json_start(&json, file, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	mr_json_string(&json, "state", names[state]);
	mr_json_string(&json, "what", now.what);
	mr_json_uint(&json, "done", now.done);
	mr_json_uint(&json, "total", now.total);
	mr_json_string(&json, "error", state == FAILED ? loading->error : NULL);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}
