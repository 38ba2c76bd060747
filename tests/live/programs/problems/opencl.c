/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl CASE...: OpenCL programs with one problem each. Prints for each "CASE FROM_NS TO_NS COST_NS", by
 * CLOCK_MONOTONIC; COST_NS is what the program itself measures around the place that is wrong.
 *
 *     device     long kernels, which it waits for at the end        the device is the limit
 *     finish     waits after each kernel, and then computes         synchronisation
 *     tiny       very many kernels that do nothing                  launch bound
 *     upload     writes much, and computes little                   copies
 *     download   reads much, and computes little                    copies
 *     bounce     reads the buffer, computes, writes it back         ping-pong
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../opencl_world.h"

enum {
	ROUNDS = 25,
	TINY_ROUNDS = 10000,
	TURNS = 10000000,
	HOST_NS = 10000000,
	COPY_BYTES = 64 << 20,
};

static uint8_t data[WORLD_BUFFER_BYTES];

static int64_t now_ns(void)
{
	return (int64_t)world_clock_ns(CLOCK_MONOTONIC);
}

/* Uses a CPU for so long. */
static void compute(uint64_t ns)
{
	uint64_t end_ns = world_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (world_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void launch(const struct world *world, uint32_t turns)
{
	world_spin(world, world->queue, turns, 0, NULL, NULL);
	MUST(clFlush, world->queue);
}

static int64_t run_device(const struct world *world)
{
	int64_t begin_ns = now_ns();

	for (int i = 0; i < ROUNDS; i++)
		launch(world, TURNS);
	MUST(clFinish, world->queue);
	return now_ns() - begin_ns;
}

/* While the host computes the device could work. */
static int64_t run_finish(const struct world *world)
{
	int64_t waited_ns = 0, computed_ns = 0;

	for (int i = 0; i < ROUNDS; i++) {
		launch(world, TURNS);
		int64_t begin_ns = now_ns();
		MUST(clFinish, world->queue);
		int64_t end_ns = now_ns();
		compute(HOST_NS);
		waited_ns += end_ns - begin_ns;
		computed_ns += now_ns() - end_ns;
	}
	return waited_ns < computed_ns ? waited_ns : computed_ns;
}

static int64_t run_tiny(const struct world *world)
{
	int64_t begin_ns = now_ns();

	for (int i = 0; i < TINY_ROUNDS; i++)
		launch(world, 1);
	MUST(clFinish, world->queue);
	return now_ns() - begin_ns;
}

/* A large buffer goes to or from the device in each round. */
static int64_t run_copies(const struct world *world, bool is_write)
{
	uint8_t *memory = calloc(COPY_BYTES, 1);
	cl_int error;
	cl_mem buffer = clCreateBuffer(world->context, CL_MEM_READ_WRITE, COPY_BYTES, NULL, &error);
	int64_t cost_ns = 0;

	if (!memory || error != CL_SUCCESS)
		exit(1);
	memset(memory, 1, COPY_BYTES);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t begin_ns = now_ns();

		if (is_write)
			MUST(clEnqueueWriteBuffer, world->queue, buffer, CL_TRUE, 0, COPY_BYTES,
			     memory, 0, NULL, NULL);
		else
			MUST(clEnqueueReadBuffer, world->queue, buffer, CL_TRUE, 0, COPY_BYTES,
			     memory, 0, NULL, NULL);
		cost_ns += now_ns() - begin_ns;
		launch(world, TURNS / 100);
		MUST(clFinish, world->queue);
	}
	MUST(clReleaseMemObject, buffer);
	free(memory);
	return cost_ns;
}

static int64_t run_upload(const struct world *world)
{
	return run_copies(world, true);
}

static int64_t run_download(const struct world *world)
{
	return run_copies(world, false);
}

static int64_t run_bounce(const struct world *world)
{
	int64_t cost_ns = 0;

	for (int i = 0; i < ROUNDS; i++) {
		launch(world, TURNS / 4);
		MUST(clFinish, world->queue);
		int64_t begin_ns = now_ns();
		MUST(clEnqueueReadBuffer, world->queue, world->buffer, CL_TRUE, 0, sizeof data,
		     data, 0, NULL, NULL);
		compute(HOST_NS);
		MUST(clEnqueueWriteBuffer, world->queue, world->buffer, CL_TRUE, 0, sizeof data,
		     data, 0, NULL, NULL);
		cost_ns += now_ns() - begin_ns;
	}
	return cost_ns;
}

/* Asks for more memory than there is, and goes on without. */
static int64_t run_full(const struct world *world)
{
	cl_int error = CL_SUCCESS;

	for (int i = 0; i < 5; i++) {
		clCreateBuffer(world->context, CL_MEM_READ_WRITE, SIZE_MAX / 4, NULL, &error);
		launch(world, TURNS);
	}
	/* This one works: it returns what it has allocated. */
	clSVMFree(world->context, clSVMAlloc(world->context, CL_MEM_READ_WRITE, 1 << 16, 0));
	MUST(clFinish, world->queue);
	return error != CL_SUCCESS;
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		int64_t (*run)(const struct world *);
	} cases[] = {{"device", run_device}, {"finish", run_finish},     {"tiny", run_tiny},
		     {"upload", run_upload}, {"download", run_download}, {"bounce", run_bounce},
		     {"full", run_full}};
	struct world world = world_make();

	run_device(&world);
	for (int i = 1; i < count; i++)
		for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
			if (strcmp(cases[j].name, arguments[i]) != 0)
				continue;
			int64_t begin_ns = now_ns(), cost_ns = cases[j].run(&world);
			printf("%s %lld %lld %lld\n", cases[j].name, (long long)begin_ns,
			       (long long)now_ns(), (long long)cost_ns);
		}
	return 0;
}
