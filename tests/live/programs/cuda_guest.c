/* SPDX-License-Identifier: Apache-2.0
 *
 * A profiler in the program, which uses CUPTI as PyTorch's does: callbacks, buffers and a clock of its own, for a while.
 *
 *     cuda_guest before|after     it begins before or after CUDA is initialised
 */
#include <cuda.h>
#include <cupti.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	BUFFER_BYTES = 64 << 10,
	EPOCH_US = 20000, /* a clock that is used for less than some milliseconds has no bound */
};

static CUpti_SubscriberHandle subscriber;
static CUfunction function;
static int kernels, wrong, entered, buffers;

/* Runs at half the speed of others, so that mistaking it for them is noticed. */
static uint64_t own_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / 2;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*bytes = BUFFER_BYTES;
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	memset(*buffer, 0, sizeof(size_t));
	*most = 0;
	buffers++;
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used)
{
	CUpti_Activity *record = NULL;
	(void)context, (void)stream;
	if (bytes != BUFFER_BYTES)
		wrong++;
	while (cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS)
		kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
	buffers--;
}

static void on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId number,
		    const void *what)
{
	const CUpti_CallbackData *call = what;
	(void)data;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API ||
	    number != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
		wrong++;
	entered += call->callbackSite == CUPTI_API_ENTER;
}

static void begin(void)
{
	if (cuptiSubscribe(&subscriber, on_call, NULL) != CUPTI_SUCCESS)
		printf("cannot subscribe\n");
	cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
			    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	cuptiActivityRegisterTimestampCallback(own_clock);
	cuptiActivityRegisterCallbacks(request, complete);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
}

static void end(void)
{
	cuptiActivityFlushAll(0);
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
	cuptiActivityFlushAll(1);
	cuptiUnsubscribe(subscriber);
}

static void launch(int count)
{
	void *arguments[] = {NULL};
	for (int i = 0; i < count; i++)
		cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
	cuCtxSynchronize();
}

int main(int count, char **arguments)
{
	CUcontext context;
	CUmodule module;
	bool is_before = count > 1 && strcmp(arguments[1], "before") == 0;
	if (is_before)
		begin();
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, "") || cuModuleGetFunction(&function, module, "step"))
		return 1;
	if (!is_before) {
		launch(3);
		begin();
	}
	launch(5);
	usleep(EPOCH_US);
	end();
	launch(7);
	printf("the profiler saw %d launches and %d kernels; %d wrong, %d buffers lost\n", entered,
	       kernels, wrong, buffers);
	return 0;
}
