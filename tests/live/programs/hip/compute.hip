/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes with HIP and checks each result: templates, structures by value, shared memory, atomic operations, events
 * across two streams, copies in every direction, fills, 2D copies, managed memory. Prints the number of wrong results.
 */
#include "hip.h"

#include <cmath>
#include <cstring>

enum {
	COUNT = 100000,
	SIDE = 64,
};

struct Matrix {
	int width;
	int height;
	float factor;
};

__global__ void add(const float *a, const float *b, float *sum, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		sum[i] = a[i] + b[i];
}

template <typename T> __global__ void scale(T *items, T factor, size_t count)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < count)
		items[i] *= factor;
}

__global__ void reduce(const int *items, int *total, int count)
{
	__shared__ int part[256];
	int local = threadIdx.x, i = blockIdx.x * 256 + local;
	part[local] = i < count ? items[i] : 0;
	__syncthreads();
	for (int half = 128; half > 0; half /= 2) {
		if (local < half)
			part[local] += part[local + half];
		__syncthreads();
	}
	if (local == 0)
		atomicAdd(total, part[0]);
}

__global__ void multiply(const float *a, const float *b, float *product, Matrix matrix)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0;
	for (int k = 0; k < matrix.width; k++)
		sum += a[y * matrix.width + k] * b[k * matrix.width + x];
	product[y * matrix.width + x] = matrix.factor * sum;
}

static unsigned blocks_for(int count)
{
	return (unsigned)(count + 255) / 256;
}

static void check_add(float *a, float *b, float *sum)
{
	std::vector<float> host_a(COUNT), host_b(COUNT), host_sum(COUNT);
	for (int i = 0; i < COUNT; i++) {
		host_a[i] = i % 100;
		host_b[i] = 2 * i;
	}
	MUST(hipMemcpy(a, host_a.data(), COUNT * sizeof(float), hipMemcpyHostToDevice));
	MUST(hipMemcpy(b, host_b.data(), COUNT * sizeof(float), hipMemcpyHostToDevice));
	add<<<blocks_for(COUNT), 256>>>(a, b, sum, COUNT);
	MUST(hipMemcpy(host_sum.data(), sum, COUNT * sizeof(float), hipMemcpyDeviceToHost));
	int wrong = 0;
	for (int i = 0; i < COUNT; i++)
		wrong += host_sum[i] != host_a[i] + host_b[i];
	printf("add: %d wrong\n", wrong);
}

static void check_streams(float *items)
{
	hipStream_t first, second;
	hipEvent_t begin, end;
	float *host, milliseconds = -1;
	MUST(hipStreamCreate(&first));
	MUST(hipStreamCreate(&second));
	MUST(hipEventCreate(&begin));
	MUST(hipEventCreate(&end));
	MUST(hipHostMalloc((void **)&host, COUNT * sizeof(float), 0));
	MUST(hipEventRecord(begin, first));
	scale<float><<<blocks_for(COUNT), 256, 0, first>>>(items, 2.0f, COUNT);
	MUST(hipEventRecord(end, first));
	MUST(hipStreamWaitEvent(second, end, 0));
	scale<float><<<blocks_for(COUNT), 256, 0, second>>>(items, 3.0f, COUNT);
	MUST(hipMemcpyAsync(host, items, COUNT * sizeof(float), hipMemcpyDeviceToHost, second));
	MUST(hipStreamSynchronize(second));
	MUST(hipEventSynchronize(end));
	MUST(hipEventElapsedTime(&milliseconds, begin, end));
	int wrong = 0;
	for (int i = 0; i < COUNT; i++)
		wrong += host[i] != 6.0f * (i % 100);
	printf("streams: %d wrong, %s\n", wrong,
	       milliseconds > 0 && milliseconds < 60000 ? "timed" : "not timed");
	MUST(hipHostFree(host));
	MUST(hipEventDestroy(begin));
	MUST(hipEventDestroy(end));
	MUST(hipStreamDestroy(first));
	MUST(hipStreamDestroy(second));
}

static void check_reduce(void)
{
	int *items, *total, sum = 0, wanted = 0;
	std::vector<int> host(COUNT);
	for (int i = 0; i < COUNT; i++)
		wanted += host[i] = i % 7;
	MUST(hipMalloc((void **)&items, COUNT * sizeof(int)));
	MUST(hipMalloc((void **)&total, sizeof(int)));
	MUST(hipMemset(total, 0, sizeof(int)));
	MUST(hipMemcpy(items, host.data(), COUNT * sizeof(int), hipMemcpyHostToDevice));
	reduce<<<blocks_for(COUNT), 256>>>(items, total, COUNT);
	MUST(hipMemcpy(&sum, total, sizeof sum, hipMemcpyDeviceToHost));
	printf("reduce: %s\n", sum == wanted ? "right" : "wrong");
	MUST(hipFree(items));
	MUST(hipFree(total));
}

static void check_fills(float *to, float *through)
{
	MUST(hipMemsetAsync(through, 0x3f, COUNT * sizeof(float), 0));
	MUST(hipMemcpyAsync(to, through, COUNT * sizeof(float), hipMemcpyDeviceToDevice, 0));
	MUST(hipDeviceSynchronize());
	printf("fill: %d wrong\n", count_wrong((unsigned *)to, COUNT, 0x3f3f3f3fu));
}

static void check_multiply(float *a, float *product)
{
	std::vector<float> host(SIDE * SIDE), result(SIDE * SIDE);
	for (int i = 0; i < SIDE * SIDE; i++)
		host[i] = i % 5;
	MUST(hipMemcpy(a, host.data(), host.size() * sizeof(float), hipMemcpyHostToDevice));
	const Matrix matrix = {SIDE, SIDE, 0.5f};
	multiply<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(a, a, product, matrix);
	MUST(hipMemcpy(result.data(), product, result.size() * sizeof(float),
		       hipMemcpyDeviceToHost));
	int wrong = 0;
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			float sum = 0;
			for (int k = 0; k < SIDE; k++)
				sum += host[y * SIDE + k] * host[k * SIDE + x];
			wrong += fabsf(result[y * SIDE + x] - 0.5f * sum) > 1e-3f * sum + 1e-3f;
		}
	printf("multiply: %d wrong\n", wrong);
}

static void check_managed(void)
{
	int *shared, wrong = 0;
	MUST(hipMallocManaged((void **)&shared, 1000 * sizeof(int), hipMemAttachGlobal));
	for (int i = 0; i < 1000; i++)
		shared[i] = i;
	scale<int><<<4, 256>>>(shared, 3, 1000);
	MUST(hipDeviceSynchronize());
	for (int i = 0; i < 1000; i++)
		wrong += shared[i] != 3 * i;
	printf("managed: %d wrong\n", wrong);
	MUST(hipFree(shared));
}

int main()
{
	float *a, *b, *c;
	MUST(hipMalloc((void **)&a, COUNT * sizeof(float)));
	MUST(hipMalloc((void **)&b, COUNT * sizeof(float)));
	MUST(hipMalloc((void **)&c, COUNT * sizeof(float)));
	check_add(a, b, c);
	check_streams(a);
	check_reduce();
	check_fills(b, c);
	check_multiply(a, c);
	check_managed();
	MUST(hipFree(a));
	MUST(hipFree(b));
	MUST(hipFree(c));
	return 0;
}
