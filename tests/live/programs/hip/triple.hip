/* SPDX-License-Identifier: Apache-2.0
 *
 * The device kernel of hsa.c.
 */
#include <hip/hip_runtime.h>

extern "C" __global__ void triple(float *items, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		items[i] *= 3;
}
