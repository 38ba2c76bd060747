/* SPDX-License-Identifier: Apache-2.0
 *
 * As users write it: compiled by nvcc, with nothing of millrace in it.
 */
#include <cstdio>

__global__ void saxpy(int count, float factor, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		y[i] += factor * x[i];
}

int main()
{
	const int count = 4096;
	float *x = nullptr, *y = nullptr;
	if (cudaMalloc(&x, count * sizeof(float)) != cudaSuccess || cudaMalloc(&y, count * sizeof(float)) != cudaSuccess) {
		printf("no memory\n");
		return 1;
	}
	for (int i = 0; i < 3; i++)
		saxpy<<<count / 256, 256>>>(count, 2, x, y);
	printf("%d\n", (int)cudaDeviceSynchronize());
	cudaFree(x);
	cudaFree(y);
	return 0;
}
