/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of the stand-in for CUDA: streams, each with a thread that does one operation after the other.
 *
 *     given  ──► [ 4 ][ 5 ][ 6 ] ──► done: 3        an operation begins when the one before it and all that it waits
 *                                                   for have ended; its end is its begin and how long it takes
 *
 * One lock protects all of it. The default stream waits for all streams of its context, and they for it, unless they were
 * made with CU_STREAM_NON_BLOCKING.
 */
#define _GNU_SOURCE
#include "cuda/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	NON_BLOCKING = 1,
	DEFAULT_STREAM_ID = 7,
	FIRST_STREAM_ID = 13,
};

struct soft_tool *soft_tool;
_Thread_local struct soft_frame *soft_innermost;
_Thread_local const char *soft_symbol;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiters; /* for `changed` */
static struct soft_context *contexts[64];
static uint32_t context_count;
static uint32_t next_stream_id = FIRST_STREAM_ID;
static _Atomic uint32_t last_correlation;
static uint64_t kernel_ns = 20000;
static FILE *log_file;
static uint64_t (*foreign_clock)(void);

void soft_start(void)
{
	const char *path = getenv("SOFT_CUDA_LOG"), *ns = getenv("SOFT_CUDA_KERNEL_NS");
	if (path)
		log_file = fopen(path, "ae");
	if (ns)
		kernel_ns = strtoull(ns, NULL, 10);
}

void soft_log(const char *format, ...)
{
	va_list arguments;
	if (!log_file)
		return;
	va_start(arguments, format);
	vfprintf(log_file, format, arguments);
	va_end(arguments);
	fflush(log_file);
}

uint64_t soft_now_ns(void)
{
	struct timespec now;
	if (foreign_clock)
		return foreign_clock();
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void soft_set_clock(uint64_t (*clock)(void))
{
	pthread_mutex_lock(&lock);
	foreign_clock = clock;
	for (uint32_t i = 0; i < context_count && i < 64; i++)
		for (struct soft_stream *stream = contexts[i]->streams; stream;
		     stream = stream->next)
			stream->last_end_ns = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- calls ---------------------------------------------------------------------------------------- */

void soft_enter(struct soft_frame *frame, int domain, uint32_t cbid, const char *name,
		const void *parameters)
{
	struct soft_frame *outer = soft_innermost;
	*frame = (struct soft_frame){.domain = domain,
				     .cbid = cbid,
				     .name = name,
				     .parameters = parameters,
				     .correlation = outer ? outer->correlation : ++last_correlation,
				     .start_ns = soft_now_ns(),
				     .symbol = soft_symbol,
				     .outer = outer};
	soft_innermost = frame;
	if (soft_tool)
		soft_tool->enter(frame);
}

void soft_leave(struct soft_frame *frame, int result)
{
	soft_innermost = frame->outer;
	if (!frame->outer)
		soft_log("call %s %u %d\n", frame->name, frame->correlation, result);
	if (soft_tool)
		soft_tool->leave(frame, result);
}

/* ---- doing things ------------------------------------------------------------------------------------ */

static void log_operation(const struct soft_operation *operation)
{
	static const char *const works[] = {"kernel", "copy", "fill"};
	if (!log_file || operation->work > SOFT_FILL)
		return;
	soft_log(
		"done %s %s corr=%u device=%u stream=%u bytes=%llu direction=%d start=%llu end=%llu"
		" grid=%u,%u,%u block=%u,%u,%u graph=%u from=%d to=%d node=%llu registers=%u "
		"static=%u dynamic=%u target=%d\n",
		works[operation->work], operation->name ? operation->name : "-",
		operation->correlation, operation->device, operation->stream,
		(unsigned long long)operation->bytes, operation->direction,
		(unsigned long long)operation->start_ns, (unsigned long long)operation->end_ns,
		operation->grid[0], operation->grid[1], operation->grid[2], operation->block[0],
		operation->block[1], operation->block[2], operation->graph, operation->from_kind,
		operation->to_kind, (unsigned long long)operation->node, operation->registers,
		operation->static_bytes, operation->shared_bytes, operation->target_device);
}

static void perform(struct soft_operation *operation)
{
	if (operation->work == SOFT_COPY)
		memcpy(operation->to, operation->from, operation->bytes);
	else if (operation->work == SOFT_FILL)
		memset(operation->to, operation->value, operation->bytes);
	else if (operation->work == SOFT_HOST)
		operation->function(operation->data);
	else if (operation->work == SOFT_KERNEL && operation->kernel)
		operation->kernel->run(operation->grid, operation->block, operation->arguments);
	uint64_t now_ns = soft_now_ns(), end_ns = operation->start_ns;
	if (operation->work == SOFT_KERNEL)
		end_ns += kernel_ns;
	operation->end_ns = end_ns > now_ns ? end_ns : now_ns;
	if (operation->work == SOFT_KERNEL && !operation->kernel)
		operation->end_ns = end_ns;
	while (operation->end_ns > now_ns) {
		uint64_t left_ns = operation->end_ns - now_ns;
		nanosleep(&(struct timespec){(time_t)(left_ns / 1000000000),
					     (long)(left_ns % 1000000000)},
			  NULL);
		now_ns = soft_now_ns();
	}
}

/* Called with the lock held, as the next one. */
static void await_change(void)
{
	waiters++;
	pthread_cond_wait(&changed, &lock);
	waiters--;
}

static void await_others(struct soft_stream *stream, struct soft_operation *operation)
{
	uint64_t start_ns = stream->last_end_ns;
	for (int i = 0; i < operation->wait_count; i++) {
		struct soft_place *place = &operation->waits[i];
		while (place->stream->done < place->number)
			await_change();
		if (place->stream->last_end_ns > start_ns)
			start_ns = place->stream->last_end_ns;
	}
	uint64_t now_ns = soft_now_ns();
	/* A schedule that has fallen behind the clock starts again now. */
	operation->start_ns = start_ns > now_ns || now_ns - start_ns < kernel_ns / 2
				      ? (start_ns > operation->queued_ns ? start_ns : now_ns)
				      : now_ns;
}

static void *work(void *data)
{
	struct soft_stream *stream = data;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!stream->first && !stream->is_destroyed)
			pthread_cond_wait(&stream->has_work, &lock);
		struct soft_operation *operation = stream->first;
		if (!operation)
			break;
		await_others(stream, operation);
		pthread_mutex_unlock(&lock);
		perform(operation);
		log_operation(operation);
		pthread_mutex_lock(&lock);
		operation->is_told = true;
		pthread_mutex_unlock(&lock);
		if (soft_tool && operation->work <= SOFT_FILL)
			soft_tool->done(operation);
		pthread_mutex_lock(&lock);
		stream->first = operation->next;
		if (!stream->first)
			stream->last = &stream->first;
		if (operation->end_ns > stream->last_end_ns && operation->work <= SOFT_FILL)
			stream->last_end_ns = operation->end_ns;
		stream->done = operation->number;
		free(operation);
		if (waiters)
			pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---- streams and contexts --------------------------------------------------------------------------- */

static struct soft_stream *add_stream(struct soft_context *context, unsigned int flags, uint32_t id)
{
	pthread_t thread;
	struct soft_stream *stream = calloc(1, sizeof *stream);
	stream->context = context;
	stream->flags = flags;
	stream->id = id;
	stream->last = &stream->first;
	pthread_cond_init(&stream->has_work, NULL);
	stream->next = context->streams;
	context->streams = stream;
	pthread_create(&thread, NULL, work, stream);
	pthread_detach(thread);
	return stream;
}

struct soft_stream *soft_stream_make(struct soft_context *context, unsigned int flags)
{
	pthread_mutex_lock(&lock);
	struct soft_stream *stream = add_stream(context, flags, next_stream_id++);
	pthread_mutex_unlock(&lock);
	if (soft_tool)
		soft_tool->resource(SOFT_STREAM_CREATED, context, stream);
	return stream;
}

struct soft_stream *soft_stream_of_thread(struct soft_context *context)
{
	static _Thread_local struct {
		struct soft_context *context;
		struct soft_stream *stream;
	} own[16];
	int i = 0;
	while (i < 15 && own[i].stream && own[i].context != context)
		i++;
	if (own[i].context != context || !own[i].stream) {
		own[i].context = context;
		own[i].stream = soft_stream_make(context, 0);
	}
	return own[i].stream;
}

/* Its memory stays: others may wait for what it did. */
void soft_stream_free(struct soft_stream *stream)
{
	if (soft_tool)
		soft_tool->resource(SOFT_STREAM_DESTROYED, stream->context, stream);
	pthread_mutex_lock(&lock);
	stream->is_destroyed = true;
	pthread_cond_broadcast(&stream->has_work);
	pthread_mutex_unlock(&lock);
}

struct soft_context *soft_context_make(int device)
{
	struct soft_context *context = calloc(1, sizeof *context);
	pthread_mutex_lock(&lock);
	contexts[context_count++ % 64] = context;
	context->id = context_count;
	context->device = device;
	context->default_stream = add_stream(context, 0, DEFAULT_STREAM_ID);
	pthread_mutex_unlock(&lock);
	if (soft_tool)
		soft_tool->resource(SOFT_CONTEXT_CREATED, context, NULL);
	return context;
}

void soft_context_free(struct soft_context *context)
{
	if (soft_tool)
		soft_tool->resource(SOFT_CONTEXT_DESTROYED, context, NULL);
}

/* ---- giving and waiting ------------------------------------------------------------------------------ */

static void add_wait(struct soft_operation *operation, struct soft_stream *stream)
{
	if (stream->given > stream->done && operation->wait_count < SOFT_WAITS)
		operation->waits[operation->wait_count++] =
			(struct soft_place){stream, stream->given};
}

static void obey_default_stream(struct soft_stream *stream, struct soft_operation *operation)
{
	struct soft_stream *main_stream = stream->context->default_stream;
	if (stream->flags & NON_BLOCKING)
		return;
	if (stream != main_stream) {
		add_wait(operation, main_stream);
		return;
	}
	for (struct soft_stream *each = stream->context->streams; each; each = each->next)
		if (each != stream && !(each->flags & NON_BLOCKING) && !each->is_destroyed)
			add_wait(operation, each);
}

struct soft_place soft_give(struct soft_stream *stream, const struct soft_operation *given)
{
	struct soft_operation *operation = malloc(sizeof *operation);
	*operation = *given;
	operation->next = NULL;
	operation->correlation = soft_innermost ? soft_innermost->correlation : 0;
	operation->device = (uint32_t)stream->context->device;
	operation->context = stream->context->id;
	operation->stream = stream->id;
	operation->queued_ns = soft_now_ns();
	operation->is_correlated = soft_tool && soft_tool->launch();
	pthread_mutex_lock(&lock);
	if (stream->is_capturing) {
		*stream->captured_last = operation;
		stream->captured_last = &operation->next;
	} else {
		obey_default_stream(stream, operation);
		operation->number = ++stream->given;
		*stream->last = operation;
		stream->last = &operation->next;
		pthread_cond_signal(&stream->has_work);
	}
	struct soft_place place = {stream, stream->given};
	pthread_mutex_unlock(&lock);
	return place;
}

void soft_capture_begin(struct soft_stream *stream)
{
	stream->is_capturing = true;
	stream->captured = NULL;
	stream->captured_last = &stream->captured;
}

struct soft_operation *soft_capture_end(struct soft_stream *stream)
{
	stream->is_capturing = false;
	return stream->captured;
}

bool soft_is_done(struct soft_place place)
{
	pthread_mutex_lock(&lock);
	bool is_done = !place.stream || place.stream->done >= place.number;
	pthread_mutex_unlock(&lock);
	return is_done;
}

void soft_wait(struct soft_place place)
{
	pthread_mutex_lock(&lock);
	while (place.stream && place.stream->done < place.number)
		await_change();
	pthread_mutex_unlock(&lock);
}

uint64_t soft_end_of(struct soft_stream *stream)
{
	pthread_mutex_lock(&lock);
	uint64_t end_ns = stream->last_end_ns;
	pthread_mutex_unlock(&lock);
	return end_ns;
}

void soft_tell_unfinished(void (*tell)(const struct soft_operation *operation))
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < context_count && i < 64; i++)
		for (struct soft_stream *stream = contexts[i]->streams; stream;
		     stream = stream->next)
			for (struct soft_operation *each = stream->first; each; each = each->next) {
				struct soft_operation unfinished = *each;
				unfinished.start_ns = unfinished.end_ns = 0;
				if (each->work <= SOFT_FILL && !each->is_told)
					tell(&unfinished);
			}
	pthread_mutex_unlock(&lock);
}
