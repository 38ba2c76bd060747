/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_work WHAT BLOCKS COUNT: for each block of COUNT device kernels, prints the seconds of CPU
 * time per kernel, in all threads of the process, from before the first launch until the last one
 * has ended.
 *
 *     empty     device kernels that do nothing, 1,000 at a time
 *     nbody     steps of an n-body simulation: about a millisecond each, ten at a time, after which
 *               the program reads the position of a body
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <stdbool.h>
#include <string.h>

#include "opencl_device.h"
#include "rounds.h"

enum {
	EMPTY_BATCH = 1000,
	STEP_BATCH = 10,
	BODIES = 768
};

static const char source[] =
	"kernel void empty(void)\n"
	"{\n"
	"}\n"
	"kernel void move(global const float4 *now, global float4 *next, global float4 *speed)\n"
	"{\n"
	"	size_t self = get_global_id(0);\n"
	"	float4 place = now[self], pull = 0;\n"
	"	for (size_t i = 0; i < get_global_size(0); i++) {\n"
	"		float4 way = now[i] - place;\n"
	"		float near = rsqrt(way.x * way.x + way.y * way.y + way.z * way.z + "
	"0.01f);\n"
	"		pull += way * (now[i].w * near * near * near);\n"
	"	}\n"
	"	pull.w = 0;\n"
	"	speed[self] += 0.001f * pull;\n"
	"	next[self] = place + 0.001f * speed[self];\n"
	"}\n";

static struct bench_device device;
static cl_kernel kernel;
static cl_mem places[2];

static void run_empty(uint32_t count)
{
	const size_t one = 1;
	for (uint32_t i = 1; i <= count; i++) {
		BENCH_CALL(clEnqueueNDRangeKernel, device.queue, kernel, 1, NULL, &one, NULL, 0,
			   NULL, NULL);
		if (i % EMPTY_BATCH == 0 || i == count)
			BENCH_CALL(clFinish, device.queue);
	}
}

static cl_mem make_bodies(float mass)
{
	static cl_float4 bodies[BODIES];
	for (int i = 0; i < BODIES; i++)
		bodies[i] = (cl_float4){
			{(float)(i % 16), (float)(i / 16 % 16), (float)(i / 256), mass}};
	cl_mem buffer = bench_buffer(&device, sizeof bodies);
	BENCH_CALL(clEnqueueWriteBuffer, device.queue, buffer, CL_TRUE, 0, sizeof bodies, bodies, 0,
		   NULL, NULL);
	return buffer;
}

static void prepare_nbody(void)
{
	cl_mem speeds = make_bodies(0);
	places[0] = make_bodies(1);
	places[1] = make_bodies(1);
	BENCH_CALL(clSetKernelArg, kernel, 2, sizeof speeds, &speeds);
}

static void run_nbody(uint32_t count)
{
	const size_t bodies = BODIES;
	for (uint32_t i = 1; i <= count; i++) {
		BENCH_CALL(clSetKernelArg, kernel, 0, sizeof(cl_mem), &places[i % 2]);
		BENCH_CALL(clSetKernelArg, kernel, 1, sizeof(cl_mem), &places[1 - i % 2]);
		BENCH_CALL(clEnqueueNDRangeKernel, device.queue, kernel, 1, NULL, &bodies, NULL, 0,
			   NULL, NULL);
		cl_float4 place;
		if (i % STEP_BATCH == 0)
			BENCH_CALL(clEnqueueReadBuffer, device.queue, places[1 - i % 2], CL_TRUE, 0,
				   sizeof place, &place, 0, NULL, NULL);
	}
	BENCH_CALL(clFinish, device.queue);
}

int main(int argc, char **argv)
{
	bool is_empty = argc == 4 && strcmp(argv[1], "empty") == 0;
	if (argc != 4 || (!is_empty && strcmp(argv[1], "nbody") != 0)) {
		fputs("usage: opencl_work empty|nbody BLOCKS COUNT\n", stderr);
		return 2;
	}
	uint32_t blocks = bench_number(argv[2]), count = bench_number(argv[3]);
	void (*run)(uint32_t) = is_empty ? run_empty : run_nbody;
	device = bench_device();
	kernel = bench_kernel(&device, source, is_empty ? "empty" : "move");
	if (!is_empty)
		prepare_nbody();
	run(1); /* the first launch compiles the kernel */
	for (uint32_t i = 0; i < blocks; i++) {
		uint64_t start_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		run(count);
		uint64_t taken_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
		printf("%.9f\n", (double)taken_ns / 1e9 / count);
	}
	return 0;
}
