/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcuda: streams, events, device kernels and graphs.
 */
#define _GNU_SOURCE
#include "cuda/driver.h"

struct CUevent_st {
	uint32_t id;
	struct soft_place place;
	uint64_t end_ns;
	struct soft_stream *stream;
};

struct CUfunc_st {
	char name[512];
	bool is_loaded;
	const struct soft_kernel *kernel;
};

struct CUgraph_st {
	uint32_t id;
	struct soft_operation *first;
};

/* ---- streams and events ------------------------------------------------------------------------------ */

DRIVER(cuStreamCreate, (CUstream * stream, unsigned int flags), stream, flags)
{
	*stream = (CUstream)soft_stream_make(soft_current(), flags);
	return CUDA_SUCCESS;
}

DRIVER(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority), stream,
       flags, priority)
{
	(void)priority;
	*stream = (CUstream)soft_stream_make(soft_current(), flags);
	return CUDA_SUCCESS;
}

DRIVER(cuStreamDestroy_v2, (CUstream stream), stream)
{
	soft_stream_free((struct soft_stream *)stream);
	return CUDA_SUCCESS;
}

static void tell_wait(int type, const struct soft_stream *stream, uint32_t event, uint64_t start_ns)
{
	if (soft_tool)
		soft_tool->waited(type, soft_current()->id, stream ? stream->id : UINT32_MAX, event,
				  start_ns);
}

/* The default stream has ended when all have that it waits for. */
DRIVER(cuStreamSynchronize, (CUstream stream), stream)
{
	struct soft_stream *on = soft_stream_of(stream);
	uint64_t start_ns = soft_now_ns();
	soft_wait(soft_give(on, &(struct soft_operation){.work = SOFT_MARK}));
	tell_wait(SOFT_WAITED_STREAM, on, UINT32_MAX, start_ns);
	return CUDA_SUCCESS;
}

DRIVER(cuStreamQuery, (CUstream stream), stream)
{
	struct soft_stream *on = soft_stream_of(stream);
	return soft_is_done((struct soft_place){on, on->given}) ? CUDA_SUCCESS
								: CUDA_ERROR_NOT_READY;
}

DRIVER(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), stream, event,
       flags)
{
	(void)flags;
	struct soft_operation mark = {.work = SOFT_MARK, .wait_count = event->place.stream ? 1 : 0};
	mark.waits[0] = event->place;
	soft_give(soft_stream_of(stream), &mark);
	tell_wait(SOFT_STREAM_WAITS, soft_stream_of(stream), event->id, soft_now_ns());
	return CUDA_SUCCESS;
}

DRIVER(cuEventCreate, (CUevent * event, unsigned int flags), event, flags)
{
	static _Atomic uint32_t last_id;
	(void)flags;
	*event = calloc(1, sizeof **event);
	(*event)->id = ++last_id;
	return CUDA_SUCCESS;
}

DRIVER(cuEventDestroy_v2, (CUevent event), event)
{
	free(event);
	return CUDA_SUCCESS;
}

DRIVER(cuEventRecord, (CUevent event, CUstream stream), event, stream)
{
	event->stream = soft_stream_of(stream);
	event->place = soft_give(event->stream, &(struct soft_operation){.work = SOFT_MARK});
	return CUDA_SUCCESS;
}

DRIVER(cuEventSynchronize, (CUevent event), event)
{
	uint64_t start_ns = soft_now_ns();
	soft_wait(event->place);
	tell_wait(SOFT_WAITED_EVENT, NULL, event->id, start_ns);
	return CUDA_SUCCESS;
}

DRIVER(cuEventQuery, (CUevent event), event)
{
	return soft_is_done(event->place) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

DRIVER(cuEventElapsedTime_v2, (float *milliseconds, CUevent start, CUevent end), milliseconds,
       start, end)
{
	(void)start, (void)end;
	*milliseconds = 0.02F;
	return CUDA_SUCCESS;
}

/* ---- device kernels ----------------------------------------------------------------------------------- */

/* Functions are known by their names alone, whatever the module. */
DRIVER(cuModuleLoadData, (CUmodule * module, const void *image), module, image)
{
	*module = (CUmodule)image;
	return CUDA_SUCCESS;
}

DRIVER(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name), function,
       module, name)
{
	char symbol[600];
	(void)module;
	*function = calloc(1, sizeof **function);
	snprintf((*function)->name, sizeof(*function)->name, "%s", name);
	snprintf(symbol, sizeof symbol, "soft_kernel_%s", name);
	(*function)->kernel = dlsym(RTLD_DEFAULT, symbol);
	return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, const uint32_t *grid, const uint32_t *block,
		       uint32_t shared_bytes, CUstream stream, void **arguments)
{
	if (!soft_current() || !function)
		return CUDA_ERROR_INVALID_VALUE;
	/* What a device kernel needs follows from its name, so that it differs and can be checked. */
	uint32_t length = (uint32_t)strlen(function->name);
	struct soft_operation operation = {.work = SOFT_KERNEL,
					   .name = function->name,
					   .kernel = function->kernel,
					   .registers = 16 + length,
					   .static_bytes = 128 * length,
					   .target_device = -1,
					   .shared_bytes = shared_bytes};
	uint64_t start_ns = soft_now_ns();
	if (!function->is_loaded && soft_tool)
		soft_tool->overhead(SOFT_FUNCTION_LOADING, start_ns);
	function->is_loaded = true;
	memcpy(operation.grid, grid, sizeof operation.grid);
	memcpy(operation.block, block, sizeof operation.block);
	for (int i = 0; function->kernel && i < function->kernel->arguments && i < SOFT_ARGUMENTS;
	     i++)
		memcpy(&operation.arguments[i], arguments[i], sizeof(uint64_t));
	soft_give(soft_stream_of(stream), &operation);
	return CUDA_SUCCESS;
}

DRIVER(cuLaunchKernel,
       (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
	unsigned int by, unsigned int bz, unsigned int shared_bytes, CUstream stream,
	void **arguments, void **extra),
       f, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments, extra)
{
	(void)extra;
	return launch(f, (uint32_t[]){gx, gy, gz}, (uint32_t[]){bx, by, bz}, shared_bytes, stream,
		      arguments);
}

DRIVER(cuLaunchKernelEx,
       (const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra), config, f,
       arguments, extra)
{
	(void)extra;
	return launch(f, (uint32_t[]){config->gridDimX, config->gridDimY, config->gridDimZ},
		      (uint32_t[]){config->blockDimX, config->blockDimY, config->blockDimZ},
		      config->sharedMemBytes, config->hStream, arguments);
}

DRIVER(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data), stream, function, data)
{
	soft_give(soft_stream_of(stream),
		  &(struct soft_operation){.work = SOFT_HOST, .function = function, .data = data});
	return CUDA_SUCCESS;
}

/* ---- graphs ----------------------------------------------------------------------------------------- */

DRIVER(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), stream, mode)
{
	(void)mode;
	soft_capture_begin((struct soft_stream *)stream);
	return CUDA_SUCCESS;
}

DRIVER(cuStreamEndCapture, (CUstream stream, CUgraph *graph), stream, graph)
{
	static _Atomic uint32_t last_graph;
	*graph = calloc(1, sizeof **graph);
	(*graph)->id = ++last_graph;
	(*graph)->first = soft_capture_end((struct soft_stream *)stream);
	return CUDA_SUCCESS;
}

DRIVER(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus *status), stream, status)
{
	*status = soft_stream_of(stream)->is_capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE
						       : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

DRIVER(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
       exec, graph, flags)
{
	(void)flags;
	*exec = (CUgraphExec)graph;
	return CUDA_SUCCESS;
}

DRIVER(cuGraphLaunch, (CUgraphExec exec, CUstream stream), exec, stream)
{
	const struct CUgraph_st *graph = (const struct CUgraph_st *)exec;
	uint64_t node = 0;
	for (const struct soft_operation *each = graph->first; each; each = each->next) {
		struct soft_operation operation = *each;
		operation.graph = graph->id;
		operation.node = ((uint64_t)graph->id << 32) + ++node;
		soft_give(soft_stream_of(stream), &operation);
	}
	return CUDA_SUCCESS;
}

DRIVER(cuGraphExecDestroy, (CUgraphExec exec), exec)
{
	(void)exec;
	return CUDA_SUCCESS;
}

DRIVER(cuGraphDestroy, (CUgraph graph), graph)
{
	(void)graph;
	return CUDA_SUCCESS;
}
