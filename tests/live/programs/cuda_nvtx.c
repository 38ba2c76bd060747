/* SPDX-License-Identifier: Apache-2.0
 *
 * Names a stream of CUDA with NVTX, and launches a device kernel on it in a range.
 */
#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>

int main(void)
{
	void *arguments[] = {NULL};
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUstream stream;

	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, "") || cuModuleGetFunction(&function, module, "step") ||
	    cuStreamCreate(&stream, 0))
		return 1;
	nvtxNameCuStreamA(stream, "uploads");
	nvtxRangePushA("launching");
	if (cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL))
		return 2;
	nvtxRangePop();
	return cuCtxSynchronize() ? 3 : 0;
}
