/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcuda.so.1: the part of the driver API that tests need. Each function is entered and left as CUPTI
 * sees it, with the parameters of NVIDIA's own headers. At the first cuInit() it loads the library that
 * CUDA_INJECTION64_PATH names and calls its InitializeInjection(), as NVIDIA's driver does.
 */
#define _GNU_SOURCE
#include "cuda/driver.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_context *primary[16];
static _Thread_local struct soft_context *current;
static int device_count = 1;
static bool is_ready;

/* ---- start ------------------------------------------------------------------------------------------ */

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
	if (initialize)
		initialize();
}

DRIVER(cuInit, (unsigned int flags), flags)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	(void)flags;
	pthread_mutex_lock(&once);
	if (!is_ready) {
		const char *devices = getenv("SOFT_CUDA_DEVICES");
		soft_start();
		device_count = devices ? atoi(devices) : 1;
		inject();
		is_ready = true;
	}
	pthread_mutex_unlock(&once);
	return CUDA_SUCCESS;
}

/* ---- devices and contexts ----------------------------------------------------------------------------- */

struct soft_context *soft_current(void)
{
	return current;
}

static struct soft_context *primary_of(int device)
{
	pthread_mutex_lock(&lock);
	struct soft_context *context = primary[device];
	pthread_mutex_unlock(&lock);
	if (!context) {
		context = soft_context_make(device);
		pthread_mutex_lock(&lock);
		primary[device] = context;
		pthread_mutex_unlock(&lock);
	}
	return context;
}

DRIVER(cuDriverGetVersion, (int *version), version)
{
	*version = CUDA_VERSION;
	return CUDA_SUCCESS;
}

DRIVER(cuDeviceGet, (CUdevice * device, int ordinal), device, ordinal)
{
	*device = ordinal;
	return ordinal < device_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

DRIVER(cuDeviceGetCount, (int *count), count)
{
	*count = device_count;
	return CUDA_SUCCESS;
}

DRIVER(cuDeviceGetName, (char *name, int length, CUdevice device), name, length, device)
{
	snprintf(name, (size_t)length, "Soft CUDA %d", device);
	return CUDA_SUCCESS;
}

DRIVER(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), uuid, device)
{
	const char *part = getenv("SOFT_CUDA_PART");
	memset(uuid, 0x5c, sizeof *uuid);
	uuid->bytes[14] = (char)(part ? atoi(part) : 0);
	uuid->bytes[15] = (char)device;
	return CUDA_SUCCESS;
}

DRIVER(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device), value,
       attribute, device)
{
	*value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? 1 + device : 1;
	return CUDA_SUCCESS;
}

DRIVER(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device), bytes, device)
{
	(void)device;
	*bytes = (size_t)1 << 30;
	return CUDA_SUCCESS;
}

DRIVER(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), context, device)
{
	if (device < 0 || device >= device_count)
		return CUDA_ERROR_INVALID_DEVICE;
	*context = (CUcontext)primary_of(device);
	return CUDA_SUCCESS;
}

DRIVER(cuDevicePrimaryCtxRelease_v2, (CUdevice device), device)
{
	(void)device;
	return CUDA_SUCCESS;
}

DRIVER(cuDevicePrimaryCtxReset_v2, (CUdevice device), device)
{
	soft_context_free(primary_of(device));
	return CUDA_SUCCESS;
}

DRIVER(cuCtxCreate_v4,
       (CUcontext * context, CUctxCreateParams *settings, unsigned int flags, CUdevice device),
       context, settings, flags, device)
{
	(void)settings, (void)flags;
	current = soft_context_make(device);
	*context = (CUcontext)current;
	return CUDA_SUCCESS;
}

DRIVER(cuCtxDestroy_v2, (CUcontext context), context)
{
	soft_context_free((struct soft_context *)context);
	if (current == (struct soft_context *)context)
		current = NULL;
	return CUDA_SUCCESS;
}

DRIVER(cuCtxSetCurrent, (CUcontext context), context)
{
	current = (struct soft_context *)context;
	return CUDA_SUCCESS;
}

DRIVER(cuCtxGetCurrent, (CUcontext * context), context)
{
	*context = (CUcontext)current;
	return CUDA_SUCCESS;
}

DRIVER(cuCtxGetDevice, (CUdevice * device), device)
{
	*device = current ? current->device : 0;
	return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SOFT_EXPORT CUresult CUDAAPI cuCtxSynchronize(void)
{
	struct soft_frame frame;
	soft_enter(&frame, DRIVER_DOMAIN, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
		   "cuCtxSynchronize", NULL);
	uint64_t start_ns = soft_now_ns();
	for (struct soft_stream *each = current ? current->streams : NULL; each; each = each->next)
		soft_wait((struct soft_place){each, each->given});
	if (soft_tool && current)
		soft_tool->waited(SOFT_WAITED_CONTEXT, current->id, UINT32_MAX, UINT32_MAX,
				  start_ns);
	soft_leave(&frame, CUDA_SUCCESS);
	return CUDA_SUCCESS;
}

/* ---- streams -------------------------------------------------------------------------------------- */

struct soft_stream *soft_stream_of(CUstream stream)
{
	if (stream == CU_STREAM_PER_THREAD)
		return soft_stream_of_thread(soft_current());
	return !stream || stream == CU_STREAM_LEGACY ? soft_current()->default_stream
						     : (struct soft_stream *)stream;
}

/* ---- the rest --------------------------------------------------------------------------------------- */

SOFT_EXPORT CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
	*text = error ? "an error of the stand-in" : "no error";
	return CUDA_SUCCESS;
}

/* Finds a function under its plain name or that of its newest version. */
SOFT_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version,
						 cuuint64_t flags,
						 CUdriverProcAddressQueryResult *status)
{
	char name[256];
	(void)version, (void)flags;
	*function = NULL;
	for (int i = 4; i >= 1 && !*function; i--) {
		snprintf(name, sizeof name, i > 1 ? "%s_v%d" : "%s", symbol, i);
		*function = dlsym(RTLD_DEFAULT, name);
	}
	if (status)
		*status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
