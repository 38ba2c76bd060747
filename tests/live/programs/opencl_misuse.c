/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_misuse WHAT: does something wrong with OpenCL that the runtime refuses, or does not
 * survive. What happens is its own affair; a tracer must not change it.
 */
#include "opencl_say.h"

static struct setting setting;
static cl_command_queue queue;
static cl_mem buffer;

static void null_kernel(void)
{
	const size_t one = 1;
	CALL(clEnqueueNDRangeKernel, queue, NULL, 1, NULL, &one, NULL, 0, NULL, NULL);
}

static void null_wait_list(void)
{
	CALL(clEnqueueMarkerWithWaitList, queue, 1, NULL, NULL);
	CALL(clEnqueueFillBuffer, queue, buffer, "a", 1, 0, 64, 1, NULL, NULL);
	CALL(clEnqueueFillBuffer, queue, buffer, "a", 1, 0, 64, 1, (cl_event[]){NULL}, NULL);
}

static void unimplemented(void)
{
	cl_event event = NULL;
	CALL(clEnqueueMarker, queue, &event);
	CALL(clEnqueueWaitForEvents, queue, 1, &event);
}

/* Every handle begins in the same way, so that the loader accepts it. */
static void wrong_kind(void)
{
	void *context = setting.context, *wrong = buffer;
	CALL(clFinish, context);
	CALL(clEnqueueFillBuffer, queue, context, "a", 1, 0, 64, 0, NULL, NULL);
	CALL(clWaitForEvents, 1, (cl_event[]){wrong});
}

/* The runtime keeps the event, and so its memory, until the gate is opened. */
static void released_early(void)
{
	cl_event gate = MAKE(clCreateUserEvent, setting.context), event = NULL;
	CALL(clEnqueueMarkerWithWaitList, queue, 1, &gate, &event);
	CALL(clRetainEvent, event);
	CALL(clReleaseEvent, event);
	CALL(clReleaseEvent, event);
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_EXECUTION_STATUS, event);
	CALL(clSetUserEventStatus, gate, CL_COMPLETE);
	CALL(clFinish, queue);
	CALL(clReleaseEvent, gate);
}

static void released_twice(void)
{
	CALL(clReleaseMemObject, buffer);
	CALL(clReleaseMemObject, buffer);
	CALL(clReleaseCommandQueue, queue);
	CALL(clReleaseCommandQueue, queue);
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"null_kernel", null_kernel},       {"null_wait_list", null_wait_list},
		{"unimplemented", unimplemented},   {"wrong_kind", wrong_kind},
		{"released_early", released_early}, {"released_twice", released_twice},
	};
	setting = setting_make();
	queue = MAKE(clCreateCommandQueue, setting.context, setting.device, 0);
	buffer = MAKE(clCreateBuffer, setting.context, 0, 64, NULL);
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	return 0;
}
