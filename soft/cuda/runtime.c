/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcudart: the part of the runtime API that tests need, and what nvcc's code calls. Each function is
 * entered and left as CUPTI sees it, and calls the driver, whose calls are then nested in it.
 */
#define _GNU_SOURCE
#include "cuda/runtime.h"

enum {
	FUNCTIONS = 4096,
	CONFIGURATIONS = 16,
};

static _Thread_local cudaError_t last_error;
static _Thread_local int device_now;
static _Thread_local bool is_prepared;

cudaError_t soft_runtime_fail(cudaError_t error)
{
	if (error != cudaSuccess && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

/* Makes the primary context of the thread's device current. */
void soft_runtime_prepare(void)
{
	CUcontext context;
	if (is_prepared)
		return;
	is_prepared = true;
	if (cuInit(0) == CUDA_SUCCESS &&
	    cuDevicePrimaryCtxRetain(&context, device_now) == CUDA_SUCCESS)
		cuCtxSetCurrent(context);
}

/* ---- what nvcc's code calls -------------------------------------------------------------------------- */

static struct {
	const void *host;
	const char *name;
	CUfunction function;
} functions[FUNCTIONS];
static int function_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct configuration {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
} configurations[CONFIGURATIONS];
static _Thread_local int configuration_count;

SOFT_EXPORT void **__cudaRegisterFatBinary(void *binary);
SOFT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
SOFT_EXPORT void __cudaUnregisterFatBinary(void **handle);
SOFT_EXPORT char __cudaInitModule(void **handle);
SOFT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
					const char *name, int thread_limit, void *tid, void *bid,
					void *block, void *grid, int *warp);
SOFT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
				   int is_external, size_t bytes, int is_constant, int is_global);
SOFT_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
						     void *stream);
SOFT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
						   void *stream);
SOFT_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
SOFT_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
					   void **arguments, size_t shared_bytes,
					   cudaStream_t stream);

void **__cudaRegisterFatBinary(void *binary)
{
	return binary;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int thread_limit, void *tid, void *bid, void *block, void *grid,
			    int *warp)
{
	(void)handle, (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block,
		(void)grid, (void)warp;
	pthread_mutex_lock(&lock);
	if (function_count < FUNCTIONS) {
		functions[function_count].host = host;
		functions[function_count++].name = name;
	}
	pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_external,
		       size_t bytes, int is_constant, int is_global)
{
	(void)handle, (void)host, (void)device, (void)name, (void)is_external, (void)bytes,
		(void)is_constant, (void)is_global;
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream)
{
	configurations[configuration_count++ % CONFIGURATIONS] =
		(struct configuration){grid, block, shared_bytes, stream};
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	const struct configuration *last = &configurations[--configuration_count % CONFIGURATIONS];
	*grid = last->grid;
	*block = last->block;
	*shared_bytes = last->shared_bytes;
	memcpy(stream, &last->stream, sizeof last->stream);
	return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	*kernel = (cudaKernel_t)function;
	return cudaSuccess;
}

static CUfunction find_function(const void *host, const char **ret_name)
{
	CUfunction found = NULL;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < function_count && !found; i++)
		if (functions[i].host == host) {
			if (!functions[i].function)
				cuModuleGetFunction(&functions[i].function, NULL,
						    functions[i].name);
			found = functions[i].function;
			*ret_name = functions[i].name;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

/* ---- device kernels ----------------------------------------------------------------------------------- */

/* `parameters` are what CUPTI shows of them; NULL: nothing. */
static cudaError_t launch_kernel(const void *function, const void *parameters, uint32_t cbid,
				 const char *title, const struct configuration *how,
				 void **arguments)
{
	const char *name = NULL;
	soft_runtime_prepare();
	CUfunction kernel = find_function(function, &name);
	struct soft_frame frame;
	soft_symbol = name;
	soft_enter(&frame, RUNTIME_DOMAIN, cbid, title, parameters);
	cudaError_t result = cudaErrorInvalidDeviceFunction;
	if (kernel)
		result = (cudaError_t)cuLaunchKernel(kernel, how->grid.x, how->grid.y, how->grid.z,
						     how->block.x, how->block.y, how->block.z,
						     (unsigned int)how->shared_bytes, how->stream,
						     arguments, NULL);
	soft_symbol = NULL;
	soft_leave(&frame, (int)result);
	return soft_runtime_fail(result);
}

SOFT_EXPORT cudaError_t CUDARTAPI cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
						   void **arguments, size_t shared_bytes,
						   cudaStream_t stream)
{
	const cudaLaunchKernel_v7000_params all = {function,  grid,         block,
						   arguments, shared_bytes, stream};
	return launch_kernel(function, &all, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
			     "cudaLaunchKernel",
			     &(struct configuration){grid, block, shared_bytes, stream}, arguments);
}

/* What nvcc's code calls since CUDA 13. Its parameters are not published. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t shared_bytes, cudaStream_t stream)
{
	return launch_kernel(kernel, NULL, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
			     "__cudaLaunchKernel",
			     &(struct configuration){grid, block, shared_bytes, stream}, arguments);
}

RUNTIME(cudaLaunchHostFunc, v10000, (cudaStream_t stream, cudaHostFn_t function, void *data),
	stream, function, data)
{
	return cuLaunchHostFunc(stream, function, data);
}

/* ---- device --------------------------------------------------------------------------------------------- */

SOFT_EXPORT const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
	return error ? "an error of the stand-in" : "no error";
}

RUNTIME_PLAIN(cudaGetLastError, v3020)
{
	cudaError_t error = last_error;
	last_error = cudaSuccess;
	return (CUresult)error;
}

RUNTIME_PLAIN(cudaDeviceSynchronize, v3020)
{
	return cuCtxSynchronize();
}

RUNTIME_PLAIN(cudaDeviceReset, v3020)
{
	return cuDevicePrimaryCtxReset(device_now);
}

RUNTIME(cudaGetDeviceCount, v3020, (int *count), count)
{
	return cuDeviceGetCount(count);
}

RUNTIME(cudaGetDevice, v3020, (int *device), device)
{
	*device = device_now;
	return CUDA_SUCCESS;
}

RUNTIME(cudaSetDevice, v3020, (int device), device)
{
	CUcontext context;
	CUresult result = cuDevicePrimaryCtxRetain(&context, device);
	if (result != CUDA_SUCCESS)
		return result;
	device_now = device;
	return cuCtxSetCurrent(context);
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

#define AT(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

RUNTIME(cudaMalloc, v3020, (void **pointer, size_t bytes), pointer, bytes)
{
	return cuMemAlloc((CUdeviceptr *)pointer, bytes);
}

RUNTIME(cudaFree, v3020, (void *pointer), pointer)
{
	return cuMemFree(AT(pointer));
}

RUNTIME(cudaMallocManaged, v6000, (void **pointer, size_t bytes, unsigned int flags), pointer,
	bytes, flags)
{
	return cuMemAllocManaged((CUdeviceptr *)pointer, bytes, flags);
}

RUNTIME(cudaMallocHost, v3020, (void **pointer, size_t bytes), pointer, bytes)
{
	return cuMemAllocHost(pointer, bytes);
}

RUNTIME(cudaHostAlloc, v3020, (void **pointer, size_t bytes, unsigned int flags), pointer, bytes,
	flags)
{
	return cuMemHostAlloc(pointer, bytes, flags);
}

RUNTIME(cudaFreeHost, v3020, (void *pointer), pointer)
{
	return cuMemFreeHost(pointer);
}

RUNTIME(cudaMallocAsync, v11020, (void **pointer, size_t bytes, cudaStream_t stream), pointer,
	bytes, stream)
{
	return cuMemAllocAsync((CUdeviceptr *)pointer, bytes, stream);
}

RUNTIME(cudaFreeAsync, v11020, (void *pointer, cudaStream_t stream), pointer, stream)
{
	return cuMemFreeAsync(AT(pointer), stream);
}

RUNTIME(cudaMallocPitch, v3020, (void **pointer, size_t *pitch, size_t width, size_t height),
	pointer, pitch, width, height)
{
	return cuMemAllocPitch((CUdeviceptr *)pointer, pitch, width, height, 4);
}

RUNTIME(cudaMemGetInfo, v3020, (size_t * left, size_t *total), left, total)
{
	return cuMemGetInfo(left, total);
}

RUNTIME(cudaMemcpy, v3020, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), to,
	from, bytes, kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return cuMemcpyHtoD(AT(to), from, bytes);
	case cudaMemcpyDeviceToHost:
		return cuMemcpyDtoH(to, AT(from), bytes);
	case cudaMemcpyDeviceToDevice:
		return cuMemcpyDtoD(AT(to), AT(from), bytes);
	default:
		return cuMemcpy(AT(to), AT(from), bytes);
	}
}

RUNTIME(cudaMemcpyAsync, v3020,
	(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
	to, from, bytes, kind, stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return cuMemcpyHtoDAsync(AT(to), from, bytes, stream);
	case cudaMemcpyDeviceToHost:
		return cuMemcpyDtoHAsync(to, AT(from), bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return cuMemcpyDtoDAsync(AT(to), AT(from), bytes, stream);
	default:
		return cuMemcpyAsync(AT(to), AT(from), bytes, stream);
	}
}

static CUcontext context_of(int device)
{
	CUcontext context = NULL;
	cuDevicePrimaryCtxRetain(&context, device);
	return context;
}

RUNTIME(cudaMemcpyPeerAsync, v4000,
	(void *to, int to_device, const void *from, int from_device, size_t bytes,
	 cudaStream_t stream),
	to, to_device, from, from_device, bytes, stream)
{
	return cuMemcpyPeerAsync(AT(to), context_of(to_device), AT(from), context_of(from_device),
				 bytes, stream);
}

RUNTIME(cudaMemset, v3020, (void *to, int value, size_t bytes), to, value, bytes)
{
	return cuMemsetD8(AT(to), (unsigned char)value, bytes);
}

RUNTIME(cudaMemsetAsync, v3020, (void *to, int value, size_t bytes, cudaStream_t stream), to, value,
	bytes, stream)
{
	return cuMemsetD8Async(AT(to), (unsigned char)value, bytes, stream);
}

/* ---- the default stream of each thread ------------------------------------------------------------------ */

/* What programs call that are compiled with --default-stream per-thread. */
static cudaStream_t own(cudaStream_t stream)
{
	return stream ? stream : cudaStreamPerThread;
}

SOFT_EXPORT cudaError_t CUDARTAPI cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block,
							void **arguments, size_t shared_bytes,
							cudaStream_t stream);
SOFT_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
						void **arguments, size_t shared_bytes,
						cudaStream_t stream);
SOFT_EXPORT cudaError_t CUDARTAPI cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes,
						       enum cudaMemcpyKind kind,
						       cudaStream_t stream);
SOFT_EXPORT cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);

cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments,
				  size_t shared_bytes, cudaStream_t stream)
{
	const cudaLaunchKernel_ptsz_v7000_params all = {function,  grid,         block,
							arguments, shared_bytes, stream};
	return launch_kernel(function, &all, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
			     "cudaLaunchKernel_ptsz",
			     &(struct configuration){grid, block, shared_bytes, own(stream)},
			     arguments);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
				    size_t shared_bytes, cudaStream_t stream)
{
	return launch_kernel(kernel, NULL, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000,
			     "__cudaLaunchKernel_ptsz",
			     &(struct configuration){grid, block, shared_bytes, own(stream)},
			     arguments);
}

RUNTIME(cudaMemcpyAsync_ptsz, v7000,
	(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
	to, from, bytes, kind, stream)
{
	return do_cudaMemcpyAsync(to, from, bytes, kind, own(stream));
}

RUNTIME(cudaStreamSynchronize_ptsz, v7000, (cudaStream_t stream), stream)
{
	return cuStreamSynchronize(own(stream));
}
