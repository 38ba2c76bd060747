/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that call OpenCL and say so. Every call is made by a macro that prints one line when
 * it has returned; what is printed is the same with and without a tracer, and is what a trace must
 * hold:
 *
 *     clFinish = 0
 *     clCreateBuffer = 0 made                                    or: null
 *     clEnqueueReadBuffer = 0 : copy_from_device 64 1            kind, bytes, is it blocking?
 *     clEnqueueNDRangeKernel = 0 : kernel add 16 1 1 4 0 0       name, global size, local size
 *       and, indented, what the program sees: reference counts, properties, results
 *
 * No address is printed. Calls are made by one thread; callbacks take notes, which it prints.
 */
#ifndef OPENCL_SAY_H
#define OPENCL_SAY_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS

#include <CL/cl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	UNTOUCHED = 1234, /* an output that the callee did not write */
	NOTE_LIMIT = 16,
	CALLBACK_SECONDS = 10,
};

/* ---- calls ------------------------------------------------------------------------------------ */

/* A call that returns a status. */
#define CALL(function, ...)                              \
	({                                               \
		cl_int result_ = function(__VA_ARGS__);  \
		printf("%s = %d\n", #function, result_); \
		result_;                                 \
	})

/* A call that returns something made, and its status through its last argument. */
#define MAKE_SAYING(more, function, ...)                                                    \
	({                                                                                  \
		cl_int error_ = UNTOUCHED;                                                  \
		__auto_type made_ = function(__VA_ARGS__, &error_);                         \
		printf("%s = %d %s%s\n", #function, error_, made_ ? "made" : "null", more); \
		made_;                                                                      \
	})
#define MAKE(function, ...) MAKE_SAYING("", function, __VA_ARGS__)

/* Calls that launch an operation. */
#define LAUNCH(operation, function, ...)                                 \
	({                                                               \
		cl_int result_ = function(__VA_ARGS__);                  \
		printf("%s = %d : %s\n", #function, result_, operation); \
		result_;                                                 \
	})
#define MAP(operation, function, ...) MAKE_SAYING(" : " operation, function, __VA_ARGS__)

/* A query of one value, of any type up to 8 bytes; prints it and its size. */
#define SHOW(function, parameter, ...)                                                        \
	({                                                                                    \
		cl_ulong value_ = 0;                                                          \
		size_t bytes_ = 0;                                                            \
		CALL(function, __VA_ARGS__, parameter, sizeof value_, &value_, &bytes_);      \
		printf("  %s: %llu (%zu)\n", #parameter, (unsigned long long)value_, bytes_); \
		value_;                                                                       \
	})

/* A query of a handle; only whether it is the expected one is printed. */
#define SHOW_SAME(expected, function, parameter, ...)                                              \
	({                                                                                         \
		void *value_ = NULL;                                                               \
		CALL(function, __VA_ARGS__, parameter, sizeof value_, &value_, NULL);              \
		printf("  %s: %s\n", #parameter, value_ == (void *)(expected) ? "same" : "other"); \
	})

/* A query of a text. */
#define SHOW_TEXT(function, parameter, ...)                                           \
	({                                                                            \
		char text_[4096] = "";                                                \
		size_t bytes_ = 0;                                                    \
		CALL(function, __VA_ARGS__, parameter, sizeof text_, text_, &bytes_); \
		printf("  %s: %s (%zu)\n", #parameter, text_, bytes_);                \
	})

/* ---- notes of callbacks ----------------------------------------------------------------------- */

struct notes {
	pthread_mutex_t lock;
	sem_t taken;
	char text[NOTE_LIMIT][64];
	int count;
};

static inline void notes_begin(struct notes *notes)
{
	memset(notes, 0, sizeof *notes);
	pthread_mutex_init(&notes->lock, NULL);
	sem_init(&notes->taken, 0, 0);
}

static inline void notes_take(struct notes *notes, const char *what, int number)
{
	pthread_mutex_lock(&notes->lock);
	if (notes->count < NOTE_LIMIT)
		snprintf(notes->text[notes->count++], sizeof notes->text[0], "%s %d", what, number);
	pthread_mutex_unlock(&notes->lock);
	sem_post(&notes->taken);
}

/* Waits for `expected` notes, then prints them in the order in which they were taken. */
static inline void notes_print(struct notes *notes, int expected)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += CALLBACK_SECONDS;
	for (int i = 0; i < expected; i++)
		if (sem_timedwait(&notes->taken, &end) != 0)
			printf("  a callback did not come\n");
	pthread_mutex_lock(&notes->lock);
	for (int i = 0; i < notes->count; i++)
		printf("  callback: %s\n", notes->text[i]);
	notes->count = 0;
	pthread_mutex_unlock(&notes->lock);
}

/* ---- what every program begins with ----------------------------------------------------------- */

struct setting {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
};

static inline struct setting setting_make(void)
{
	struct setting made = {0};
	setlinebuf(stdout); /* what was said before a crash is seen */
	CALL(clGetPlatformIDs, 1, &made.platform, NULL);
	CALL(clGetDeviceIDs, made.platform, CL_DEVICE_TYPE_ALL, 1, &made.device, NULL);
	made.context = MAKE(clCreateContext, NULL, 1, &made.device, NULL, NULL);
	if (!made.context)
		exit(1);
	return made;
}

static inline cl_kernel kernel_make(const struct setting *setting, const char *source,
				    const char *name)
{
	cl_program program = MAKE(clCreateProgramWithSource, setting->context, 1, &source, NULL);
	CALL(clBuildProgram, program, 1, &setting->device, "", NULL, NULL);
	cl_kernel kernel = MAKE(clCreateKernel, program, name);
	CALL(clReleaseProgram, program);
	return kernel;
}

#endif
