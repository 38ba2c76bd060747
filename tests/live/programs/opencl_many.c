/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_many SITUATION [NUMBER]: programs that give OpenCL much to do at once, or much to remember. Unless its
 * comment says otherwise a situation launches NUMBER kernels (100 if not given), all of which have
 * been done.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "opencl_world.h"

enum {
	KERNELS = 100,
	BATCH = 1000, /* kernels between two waits */
	THREADS = 64,
};

static struct world world;
static unsigned kernel_count = KERNELS;

static void launch(const struct world *where, cl_command_queue queue, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		world_spin(where, queue, 1, 0, NULL, NULL);
}

static void work(void)
{
	world = world_make();
	launch(&world, world.queue, kernel_count);
	MUST(clFinish, world.queue);
}

static unsigned called_back;

static void CL_CALLBACK call_back(cl_event event, cl_int status, void *data)
{
	cl_uint references = 0;
	(void)status;
	(void)data;
	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL);
	clRetainEvent(event);
	clReleaseEvent(event);
	clReleaseEvent(event);
	__atomic_fetch_add(&called_back, 1, __ATOMIC_RELAXED);
}

static void *storm(void *data)
{
	struct world own = world;
	(void)data;
	own.queue = world_queue(&world);
	own.spin = MUST_MAKE(clCloneKernel, world.spin);
	for (unsigned i = 0; i < kernel_count; i++) {
		cl_event event;
		world_spin(&own, own.queue, 1, 0, NULL, &event);
		MUST(clSetEventCallback, event, CL_COMPLETE, call_back, NULL);
		if (i % 16 == 0)
			MUST(clFinish, own.queue);
	}
	MUST(clFinish, own.queue);
	MUST(clReleaseKernel, own.spin);
	MUST(clReleaseCommandQueue, own.queue);
	return NULL;
}

/* 64 threads with a queue each; all events have callbacks that call OpenCL. 65 * NUMBER kernels. */
static int threads(void)
{
	pthread_t thread[THREADS];
	work();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, storm, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0;
	     i < 60000 && __atomic_load_n(&called_back, __ATOMIC_RELAXED) < THREADS * kernel_count;
	     i++)
		usleep(1000);
	printf("called back %u times\n", called_back);
	world_release(&world);
	return 0;
}

/* Memory of the process's own: the recorder's arena is shared. */
static unsigned long own_memory_kb(void)
{
	char line[256];
	unsigned long result = 0;
	FILE *file = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "RssAnon: %lu", &result) == 1)
			break;
	fclose(file);
	return result;
}

static unsigned long peak_kb;

static void note_memory(void)
{
	unsigned long now_kb = own_memory_kb();
	peak_kb = now_kb > peak_kb ? now_kb : peak_kb;
}

static int print_peak_memory(void)
{
	note_memory();
	printf("peak %lu kB\n", peak_kb);
	world_release(&world);
	return 0;
}

/* The queue is emptied every 1,000 kernels. */
static int many(void)
{
	world = world_make();
	for (unsigned done = 0; done < kernel_count; done += BATCH) {
		launch(&world, world.queue, BATCH);
		MUST(clFinish, world.queue);
		note_memory();
	}
	return print_peak_memory();
}

/* Nobody ever waits, or asks; events are not wanted. */
static int many_unwatched(void)
{
	world = world_make();
	for (unsigned done = 0; done < kernel_count; done += BATCH) {
		launch(&world, world.queue, BATCH);
		MUST(clFlush, world.queue);
		usleep(1000);
		note_memory();
	}
	MUST(clFinish, world.queue);
	return print_peak_memory();
}

/* Everything is behind a gate, which is opened when all has been launched. */
static int many_at_once(void)
{
	world = world_make();
	cl_event gate = MUST_MAKE(clCreateUserEvent, world.context);
	world_spin(&world, world.queue, 1, 1, &gate, NULL);
	launch(&world, world.queue, kernel_count - 1);
	note_memory();
	MUST(clSetUserEventStatus, gate, CL_COMPLETE);
	MUST(clFinish, world.queue);
	MUST(clReleaseEvent, gate);
	return print_peak_memory();
}

/* Each kernel has a queue of its own, and handles are used again. */
static int many_queues(void)
{
	world = world_make();
	for (unsigned i = 0; i < kernel_count; i++) {
		cl_command_queue queue = world_queue(&world);
		launch(&world, queue, 1);
		MUST(clFinish, queue);
		MUST(clReleaseCommandQueue, queue);
	}
	return print_peak_memory();
}

/* Callbacks that launch the next kernel, until all have been. */
static void CL_CALLBACK launch_next(cl_event event, cl_int status, void *data)
{
	(void)status;
	(void)data;
	clReleaseEvent(event);
	if (__atomic_add_fetch(&called_back, 1, __ATOMIC_RELAXED) == kernel_count)
		return;
	world_spin(&world, world.queue, 1, 0, NULL, &event);
	MUST(clSetEventCallback, event, CL_COMPLETE, launch_next, NULL);
	MUST(clFlush, world.queue);
}

static int chained(void)
{
	cl_event event;
	world = world_make();
	world_spin(&world, world.queue, 1, 0, NULL, &event);
	MUST(clSetEventCallback, event, CL_COMPLETE, launch_next, NULL);
	MUST(clFlush, world.queue);
	for (int i = 0; i < 60000 && __atomic_load_n(&called_back, __ATOMIC_RELAXED) < kernel_count;
	     i++)
		usleep(1000);
	MUST(clFinish, world.queue);
	world_release(&world);
	return 0;
}

/* One more launch, of more work items than 32 bits count, which never begins. */
static int huge(void)
{
	const size_t size[3] = {(size_t)1 << 33, 3, 2};
	work();
	cl_event gate = MUST_MAKE(clCreateUserEvent, world.context);
	MUST(clEnqueueNDRangeKernel, world.queue, world.spin, 3, NULL, size, NULL, 1, &gate, NULL);
	return 0;
}

/* Prints what lives, of its own and of the buffer it began with, after each change. */
static int memory(void)
{
	cl_mem buffers[8];
	size_t live = WORLD_BUFFER_BYTES;
	work();
	for (unsigned i = 0; i < 8; i++) {
		buffers[i] = MUST_MAKE(clCreateBuffer, world.context, 0, (i + 1) << 16, NULL);
		live += (i + 1) << 16;
		printf("live %zu\n", live);
	}
	for (unsigned i = 0; i < 8; i += 2) {
		MUST(clRetainMemObject, buffers[i]);
		MUST(clReleaseMemObject, buffers[i]);
		MUST(clReleaseMemObject, buffers[i]);
		live -= (i + 1) << 16;
		printf("live %zu\n", live);
	}
	cl_buffer_region half = {0, 1 << 16};
	cl_mem part =
		MUST_MAKE(clCreateSubBuffer, buffers[1], 0, CL_BUFFER_CREATE_TYPE_REGION, &half);
	MUST(clReleaseMemObject, buffers[1]);
	MUST(clReleaseMemObject, part);
	live -= 2 << 16;
	printf("live %zu\n", live);
	void *shared = clSVMAlloc(world.context, CL_MEM_READ_WRITE, 1 << 16, 0);
	live += 1 << 16;
	printf("live %zu\n", live);
	clSVMFree(world.context, shared);
	live -= 1 << 16;
	printf("live %zu\n", live);
	return 0; /* the rest is never released */
}

static const struct situation {
	const char *name;
	int (*run)(void);
} situations[] = {
	{"threads", threads},
	{"many", many},
	{"many_unwatched", many_unwatched},
	{"many_at_once", many_at_once},
	{"many_queues", many_queues},
	{"chained", chained},
	{"huge", huge},
	{"memory", memory},
};

int main(int argc, char **argv)
{
	if (argc > 2)
		kernel_count = (unsigned)strtoul(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof situations / sizeof situations[0]; i++)
		if (strcmp(argv[1], situations[i].name) == 0)
			return situations[i].run();
	fputs("usage: opencl_many SITUATION [NUMBER]\n", stderr);
	return 2;
}
