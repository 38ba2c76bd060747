/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for libcudart: streams, events and graphs.
 */
#define _GNU_SOURCE
#include "cuda/runtime.h"

RUNTIME(cudaStreamCreate, v3020, (cudaStream_t * stream), stream)
{
	return cuStreamCreate(stream, 0);
}

RUNTIME(cudaStreamCreateWithFlags, v5000, (cudaStream_t * stream, unsigned int flags), stream,
	flags)
{
	return cuStreamCreate(stream, flags);
}

RUNTIME(cudaStreamDestroy, v5050, (cudaStream_t stream), stream)
{
	return cuStreamDestroy(stream);
}

RUNTIME(cudaStreamSynchronize, v3020, (cudaStream_t stream), stream)
{
	return cuStreamSynchronize(stream);
}

RUNTIME(cudaStreamQuery, v3020, (cudaStream_t stream), stream)
{
	return cuStreamQuery(stream);
}

RUNTIME(cudaStreamWaitEvent, v3020, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	stream, event, flags)
{
	return cuStreamWaitEvent(stream, event, flags);
}

RUNTIME(cudaEventCreate, v3020, (cudaEvent_t * event), event)
{
	return cuEventCreate(event, 0);
}

RUNTIME(cudaEventCreateWithFlags, v3020, (cudaEvent_t * event, unsigned int flags), event, flags)
{
	return cuEventCreate(event, flags);
}

RUNTIME(cudaEventDestroy, v3020, (cudaEvent_t event), event)
{
	return cuEventDestroy(event);
}

RUNTIME(cudaEventRecord, v3020, (cudaEvent_t event, cudaStream_t stream), event, stream)
{
	return cuEventRecord(event, stream);
}

RUNTIME(cudaEventSynchronize, v3020, (cudaEvent_t event), event)
{
	return cuEventSynchronize(event);
}

RUNTIME(cudaEventQuery, v3020, (cudaEvent_t event), event)
{
	return cuEventQuery(event);
}

RUNTIME(cudaEventElapsedTime, v12080, (float *milliseconds, cudaEvent_t start, cudaEvent_t end),
	milliseconds, start, end)
{
	return cuEventElapsedTime(milliseconds, start, end);
}

RUNTIME(cudaStreamBeginCapture, v10000, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	stream, mode)
{
	return cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode);
}

RUNTIME(cudaStreamEndCapture, v10000, (cudaStream_t stream, cudaGraph_t *graph), stream, graph)
{
	return cuStreamEndCapture(stream, graph);
}

RUNTIME(cudaGraphInstantiate, v12000,
	(cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph, flags)
{
	return cuGraphInstantiateWithFlags(exec, graph, flags);
}

RUNTIME(cudaGraphLaunch, v10000, (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
{
	return cuGraphLaunch(exec, stream);
}

RUNTIME(cudaGraphExecDestroy, v10000, (cudaGraphExec_t exec), exec)
{
	return cuGraphExecDestroy(exec);
}

RUNTIME(cudaGraphDestroy, v10000, (cudaGraph_t graph), graph)
{
	return cuGraphDestroy(graph);
}
