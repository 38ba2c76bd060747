/* SPDX-License-Identifier: Apache-2.0
 *
 * hip_work WHAT BLOCKS COUNT: for each block of COUNT device kernels, prints the seconds of CPU time per kernel, in all
 * threads of the process (the software GPU's, too), from before the first launch until the last one has ended.
 *
 *     empty     device kernels that do nothing, 1,000 at a time
 *     nbody     steps of an n-body simulation: about a millisecond each, ten at a time, after which the program reads the
 *               position of a body
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <hip/hip_runtime.h>

enum {
	EMPTY_BATCH = 1000,
	STEP_BATCH = 10,
	BODIES = 768
};

#define MUST(call)                                                                     \
	do {                                                                           \
		hipError_t error_ = (call);                                            \
		if (error_ != hipSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                                       \
		}                                                                      \
	} while (0)

__global__ void empty()
{
}

__global__ void move(const float4 *now, float4 *next, float4 *speed)
{
	int self = blockIdx.x * blockDim.x + threadIdx.x;
	float4 place = now[self];
	float x = 0, y = 0, z = 0;
	for (int i = 0; i < BODIES; i++) {
		float4 other = now[i];
		float dx = other.x - place.x, dy = other.y - place.y, dz = other.z - place.z;
		float pull = other.w / (dx * dx + dy * dy + dz * dz + 0.01f);
		x += dx * pull;
		y += dy * pull;
		z += dz * pull;
	}
	speed[self].x += 0.001f * x;
	speed[self].y += 0.001f * y;
	speed[self].z += 0.001f * z;
	next[self].x = place.x + 0.001f * speed[self].x;
	next[self].y = place.y + 0.001f * speed[self].y;
	next[self].z = place.z + 0.001f * speed[self].z;
}

static float4 *places[2], *speeds;

static void run_empty(int count)
{
	for (int i = 1; i <= count; i++) {
		empty<<<1, 1>>>();
		if (i % EMPTY_BATCH == 0 || i == count)
			MUST(hipDeviceSynchronize());
	}
}

static float4 *make_bodies(float mass)
{
	static float4 bodies[BODIES];
	float4 *made;
	for (int i = 0; i < BODIES; i++)
		bodies[i] = make_float4(i % 16, i / 16 % 16, i / 256, mass);
	MUST(hipMalloc((void **)&made, sizeof bodies));
	MUST(hipMemcpy(made, bodies, sizeof bodies, hipMemcpyHostToDevice));
	return made;
}

static void run_nbody(int count)
{
	float4 place;
	for (int i = 1; i <= count; i++) {
		move<<<BODIES / 256, 256>>>(places[i % 2], places[1 - i % 2], speeds);
		if (i % STEP_BATCH == 0)
			MUST(hipMemcpy(&place, places[1 - i % 2], sizeof place, hipMemcpyDeviceToHost));
	}
	MUST(hipDeviceSynchronize());
}

static double cpu_seconds()
{
	timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	bool is_empty = argc == 4 && strcmp(argv[1], "empty") == 0;
	if (argc != 4 || (!is_empty && strcmp(argv[1], "nbody") != 0)) {
		fputs("usage: hip_work empty|nbody BLOCKS COUNT\n", stderr);
		return 2;
	}
	int blocks = atoi(argv[2]), count = atoi(argv[3]);
	auto run = is_empty ? run_empty : run_nbody;
	places[0] = make_bodies(1);
	places[1] = make_bodies(1);
	speeds = make_bodies(0);
	run(1); /* the first launch loads the code */
	for (int i = 0; i < blocks; i++) {
		double start = cpu_seconds();
		run(count);
		printf("%.9f\n", (cpu_seconds() - start) / count);
	}
	return 0;
}
