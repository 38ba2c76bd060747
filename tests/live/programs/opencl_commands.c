/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_commands [1.2]: queues, all calls of OpenCL that launch something on a device, and events;
 * with right and with wrong arguments. See opencl_say.h. The reference count of an event is read
 * when the work is done and the queue empty: before that the runtime counts itself in.
 *
 * With 1.2 it keeps to what oclgrind can do: functions of OpenCL 1.2, no times of queues without
 * profiling (oclgrind has them all the same), nothing that waits for the program (its queues would
 * wait in clFlush).
 */
#include "opencl_say.h"
#include "thread_state.h"

enum {
	BYTES = 4096,
};

static const char source[] = "kernel void add(global int *data, int value)\n"
			     "{\n"
			     "	data[get_global_id(0)] += value;\n"
			     "}\n";

static bool is_old; /* OpenCL 1.2 */
static bool asks_times = true;
static struct notes notes;
static struct setting setting;
static cl_kernel add;
static cl_mem buffer, other_buffer;
static char host_data[BYTES];

static void references(cl_event event)
{
	wait_for_other_threads();
	SHOW(clGetEventInfo, CL_EVENT_REFERENCE_COUNT, event);
}

/* What can be seen of the event of a command that is done; then it is released. */
static void examine(cl_command_queue queue, cl_event event)
{
	CALL(clWaitForEvents, 1, &event);
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_TYPE, event);
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_EXECUTION_STATUS, event);
	SHOW_SAME(queue, clGetEventInfo, CL_EVENT_COMMAND_QUEUE, event);
	SHOW_SAME(setting.context, clGetEventInfo, CL_EVENT_CONTEXT, event);
	cl_ulong time[4] = {0};
	bool ordered = true;
	for (cl_uint i = 0; i < 4 && asks_times; i++) {
		CALL(clGetEventProfilingInfo, event, CL_PROFILING_COMMAND_QUEUED + i,
		     sizeof time[i], &time[i], NULL);
		ordered &= i == 0 || time[i - 1] <= time[i];
	}
	printf("  times: %s, %s\n", time[0] ? "some" : "none",
	       ordered ? "in order" : "not in order");
	references(event);
	CALL(clReleaseEvent, event);
}

static void show_queue(cl_command_queue queue)
{
	SHOW(clGetCommandQueueInfo, CL_QUEUE_PROPERTIES, queue);
	SHOW(clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT, queue);
	cl_queue_properties properties[16] = {0};
	size_t bytes = 0;
	CALL(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof properties, properties,
	     &bytes);
	printf("  array (%zu):", bytes);
	for (size_t i = 0; i < bytes / sizeof properties[0]; i++)
		printf(" %llx", (unsigned long long)properties[i]);
	printf("\n");
}

static void queues_with_properties(void)
{
	const cl_queue_properties none[] = {CL_QUEUE_PROPERTIES, 0, 0};
	const cl_queue_properties profiled[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
	const cl_queue_properties on_device[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
		CL_QUEUE_SIZE, 1024, 0};
	const cl_queue_properties twice[] = {CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0, 0};
	const cl_queue_properties unknown[] = {0x7777, 1, 0},
				  no_bit[] = {CL_QUEUE_PROPERTIES, 64, 0};
	const cl_queue_properties nothing[] = {0};
	const cl_queue_properties *const lists[] = {NULL,      nothing, none,    profiled,
						    on_device, twice,   unknown, no_bit};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		cl_command_queue queue = MAKE(clCreateCommandQueueWithProperties, setting.context,
					      setting.device, lists[i]);
		if (!queue)
			continue;
		show_queue(queue);
		CALL(clReleaseCommandQueue, queue);
	}
}

static void queues(void)
{
	if (!is_old)
		queues_with_properties();
	for (cl_command_queue_properties bits = 0; bits <= 8; bits++) {
		cl_command_queue queue =
			MAKE(clCreateCommandQueue, setting.context, setting.device, bits);
		if (!queue)
			continue;
		show_queue(queue);
		CALL(clRetainCommandQueue, queue);
		SHOW(clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT, queue);
		SHOW_SAME(setting.device, clGetCommandQueueInfo, CL_QUEUE_DEVICE, queue);
		SHOW(clGetCommandQueueInfo, 0x1, queue);
		cl_command_queue_properties small = 0;
		CALL(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, 4, &small, NULL);
		CALL(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, 0, NULL, NULL);
		if (!is_old)
			CALL(clSetDefaultDeviceCommandQueue, setting.context, setting.device,
			     queue);
		CALL(clReleaseCommandQueue, queue);
		CALL(clReleaseCommandQueue, queue);
	}
	CALL(clReleaseCommandQueue, NULL);
	CALL(clFinish, NULL);
	CALL(clFlush, NULL);
}

static void kernels(cl_command_queue queue)
{
	const size_t offset[3] = {4, 0, 0}, global[3] = {16, 2, 3}, local[3] = {8, 1, 1};
	const size_t uneven[1] = {7};
	cl_event event = NULL;
	LAUNCH("kernel add 16 1 1 0 0 0", clEnqueueNDRangeKernel, queue, add, 1, NULL, global, NULL,
	       0, NULL, NULL);
	LAUNCH("kernel add 16 2 1 8 1 1", clEnqueueNDRangeKernel, queue, add, 2, NULL, global,
	       local, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("kernel add 16 2 3 8 1 1", clEnqueueNDRangeKernel, queue, add, 3, offset, global,
	       local, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("kernel add 1 1 1 1 1 1", clEnqueueTask, queue, add, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("-", clEnqueueNDRangeKernel, queue, add, 4, NULL, global, NULL, 0, NULL, NULL);
	LAUNCH("-", clEnqueueNDRangeKernel, NULL, add, 1, NULL, global, NULL, 0, NULL, NULL);
	LAUNCH("-", clEnqueueNDRangeKernel, queue, add, 0, NULL, NULL, NULL, 0, NULL, &event);
	LAUNCH("kernel add 16 1 1 7 0 0", clEnqueueNDRangeKernel, queue, add, 1, NULL, global,
	       uneven, 0, NULL, NULL);
	LAUNCH("kernel add 16 1 1 0 0 0", clEnqueueNDRangeKernel, queue, add, 1, NULL, global, NULL,
	       0, &event, NULL);
	CALL(clFinish, queue);
}

static void copies(cl_command_queue queue)
{
	const size_t origin[3] = {0, 0, 0}, region[3] = {16, 4, 2};
	cl_event event = NULL;
	LAUNCH("copy_to_device 4096 1", clEnqueueWriteBuffer, queue, buffer, CL_TRUE, 0, BYTES,
	       host_data, 0, NULL, NULL);
	LAUNCH("copy_to_device 100 0", clEnqueueWriteBuffer, queue, buffer, CL_FALSE, 8, 100,
	       host_data, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_from_device 4096 1", clEnqueueReadBuffer, queue, buffer, CL_TRUE, 0, BYTES,
	       host_data, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_from_device 12 0", clEnqueueReadBuffer, queue, buffer, CL_FALSE, 0, 12,
	       host_data, 0, NULL, NULL);
	LAUNCH("copy_on_device 2048 0", clEnqueueCopyBuffer, queue, buffer, other_buffer, 0, 0,
	       2048, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_to_device 128 0", clEnqueueWriteBufferRect, queue, buffer, CL_FALSE, origin,
	       origin, region, 0, 0, 0, 0, host_data, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_from_device 128 1", clEnqueueReadBufferRect, queue, buffer, CL_TRUE, origin,
	       origin, region, 0, 0, 0, 0, host_data, 0, NULL, NULL);
	LAUNCH("copy_on_device 128 0", clEnqueueCopyBufferRect, queue, buffer, other_buffer, origin,
	       origin, region, 0, 0, 0, 0, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("-", clEnqueueWriteBuffer, queue, buffer, CL_TRUE, BYTES, 1, host_data, 0, NULL,
	       NULL);
	LAUNCH("-", clEnqueueReadBuffer, queue, NULL, CL_TRUE, 0, 1, host_data, 0, NULL, NULL);
	LAUNCH("-", clEnqueueReadBuffer, queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL);
	LAUNCH("-", clEnqueueCopyBuffer, queue, buffer, buffer, 0, 1, 64, 0, NULL, NULL);
}

static void fills(cl_command_queue queue)
{
	const cl_int pattern = 7;
	cl_event event = NULL;
	LAUNCH("fill 1024 0", clEnqueueFillBuffer, queue, buffer, &pattern, sizeof pattern, 0, 1024,
	       0, NULL, &event);
	examine(queue, event);
	LAUNCH("-", clEnqueueFillBuffer, queue, buffer, &pattern, 3, 0, 1024, 0, NULL, NULL);
	LAUNCH("migrate 8192 0", clEnqueueMigrateMemObjects, queue, 2,
	       (cl_mem[]){buffer, other_buffer}, 0, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("-", clEnqueueMigrateMemObjects, queue, 0, NULL, 0, 0, NULL, NULL);
}

static void images(cl_command_queue queue)
{
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc shape = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 8};
	const size_t origin[3] = {0, 0, 0}, region[3] = {16, 8, 1};
	const cl_uint colour[4] = {1, 2, 3, 4};
	cl_event event = NULL;
	cl_mem image = MAKE(clCreateImage, setting.context, 0, &format, &shape, NULL);
	cl_mem copy = MAKE(clCreateImage, setting.context, 0, &format, &shape, NULL);
	LAUNCH("copy_to_device 512 1", clEnqueueWriteImage, queue, image, CL_TRUE, origin, region,
	       0, 0, host_data, 0, NULL, NULL);
	LAUNCH("fill 512 0", clEnqueueFillImage, queue, image, colour, origin, region, 0, NULL,
	       &event);
	examine(queue, event);
	LAUNCH("copy_on_device 512 0", clEnqueueCopyImage, queue, image, copy, origin, origin,
	       region, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_on_device 512 0", clEnqueueCopyImageToBuffer, queue, copy, buffer, origin,
	       region, 0, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_on_device 512 0", clEnqueueCopyBufferToImage, queue, buffer, image, 0, origin,
	       region, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("copy_from_device 512 1", clEnqueueReadImage, queue, copy, CL_TRUE, origin, region,
	       0, 0, host_data, 0, NULL, &event);
	examine(queue, event);
	printf("  first pixel: %d %d %d %d\n", host_data[0], host_data[1], host_data[2],
	       host_data[3]);
	size_t pitch = 0;
	void *address = MAP("map 512 1", clEnqueueMapImage, queue, image, CL_TRUE, CL_MAP_READ,
			    origin, region, &pitch, NULL, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("unmap 0 0", clEnqueueUnmapMemObject, queue, image, address, 0, NULL, &event);
	examine(queue, event);
	CALL(clReleaseMemObject, image);
	CALL(clReleaseMemObject, copy);
}

static void maps(cl_command_queue queue)
{
	cl_event event = NULL;
	void *address = MAP("map 256 1", clEnqueueMapBuffer, queue, buffer, CL_TRUE, CL_MAP_WRITE,
			    0, 256, 0, NULL, &event);
	SHOW(clGetMemObjectInfo, CL_MEM_MAP_COUNT, buffer);
	examine(queue, event);
	LAUNCH("unmap 0 0", clEnqueueUnmapMemObject, queue, buffer, address, 0, NULL, &event);
	examine(queue, event);
	address = MAP("map 64 0", clEnqueueMapBuffer, queue, buffer, CL_FALSE, CL_MAP_READ, 0, 64,
		      0, NULL, NULL);
	CALL(clFinish, queue);
	LAUNCH("unmap 0 0", clEnqueueUnmapMemObject, queue, buffer, address, 0, NULL, NULL);
	CALL(clFinish, queue);
	SHOW(clGetMemObjectInfo, CL_MEM_MAP_COUNT, buffer);
	SHOW(clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, buffer);
	MAP("-", clEnqueueMapBuffer, queue, buffer, CL_TRUE, CL_MAP_READ, 0, BYTES + 1, 0, NULL,
	    NULL);
	LAUNCH("-", clEnqueueUnmapMemObject, queue, buffer, NULL, 0, NULL, NULL);
}

static void CL_CALLBACK native(void *arguments)
{
	notes_take(&notes, "native kernel", *(int *)arguments);
}

static void CL_CALLBACK free_shared(cl_command_queue queue, cl_uint count, void *pointers[],
				    void *data)
{
	(void)queue;
	clSVMFree(setting.context, pointers[0]);
	notes_take(&notes, "freed", *(int *)data + (int)count);
}

static void native_kernels(cl_command_queue queue)
{
	int argument = 5;
	cl_event event = NULL;
	if (LAUNCH("native_kernel 0 0", clEnqueueNativeKernel, queue, native, &argument,
		   sizeof argument, 0, NULL, NULL, 0, NULL, &event) != CL_SUCCESS)
		return;
	examine(queue, event);
	notes_print(&notes, 1);
	LAUNCH("-", clEnqueueNativeKernel, queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL);
}

static void *shared_make(void)
{
	void *memory = clSVMAlloc(setting.context, CL_MEM_READ_WRITE, BYTES, 0);
	printf("clSVMAlloc : pointer %s\n", memory ? "made" : "null");
	return memory;
}

static void shared_memory(cl_command_queue queue)
{
	int data = 10;
	cl_event event = NULL;
	void *memory = shared_make();
	if (!memory)
		return;
	LAUNCH("fill 512 0", clEnqueueSVMMemFill, queue, memory, &data, sizeof data, 512, 0, NULL,
	       &event);
	examine(queue, event);
	LAUNCH("copy_on_device 256 1", clEnqueueSVMMemcpy, queue, CL_TRUE, (char *)memory + 1024,
	       memory, 256, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("map 512 1", clEnqueueSVMMap, queue, CL_TRUE, CL_MAP_READ, memory, 512, 0, NULL,
	       &event);
	printf("  data: %d\n", *(int *)memory);
	examine(queue, event);
	LAUNCH("unmap 0 0", clEnqueueSVMUnmap, queue, memory, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("migrate 512 0", clEnqueueSVMMigrateMem, queue, 1, (const void **)&memory,
	       &(size_t){512}, 0, 0, NULL, &event);
	examine(queue, event);
	LAUNCH("other 0 0", clEnqueueSVMFree, queue, 1, &memory, free_shared, &data, 0, NULL,
	       &event);
	examine(queue, event);
	notes_print(&notes, 1);
	memory = shared_make();
	LAUNCH("other 0 0", clEnqueueSVMFree, queue, 1, &memory, NULL, NULL, 0, NULL, NULL);
	CALL(clFinish, queue);
	LAUNCH("-", clEnqueueSVMMemcpy, queue, CL_TRUE, NULL, NULL, 256, 0, NULL, NULL);
	LAUNCH("-", clEnqueueSVMFree, queue, 0, NULL, NULL, NULL, 0, NULL, NULL);
}

static void order(cl_command_queue queue)
{
	cl_event first = NULL, second = NULL, third = NULL;
	LAUNCH("marker 0 0", clEnqueueMarker, queue, &first);
	LAUNCH("marker 0 0", clEnqueueMarkerWithWaitList, queue, 1, &first, &second);
	LAUNCH("barrier 0 0", clEnqueueBarrierWithWaitList, queue, 2, (cl_event[]){first, second},
	       &third);
	CALL(clEnqueueBarrier, queue);
	LAUNCH("marker 0 0", clEnqueueMarkerWithWaitList, queue, 0, NULL, NULL);
	LAUNCH("barrier 0 0", clEnqueueBarrierWithWaitList, queue, 0, NULL, NULL);
	CALL(clFlush, queue);
	CALL(clFinish, queue);
	examine(queue, first);
	examine(queue, second);
	examine(queue, third);
	CALL(clWaitForEvents, 0, NULL);
	CALL(clWaitForEvents, 1, (cl_event[]){NULL});
}

static void CL_CALLBACK event_reached(cl_event event, cl_int status, void *data)
{
	(void)event;
	notes_take(&notes, (const char *)data, status);
}

/* A command that waits for the program, with callbacks for its end, and one more afterwards. */
static void callbacks(cl_command_queue queue)
{
	cl_event gate = MAKE(clCreateUserEvent, setting.context), event = NULL;
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_TYPE, gate);
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_EXECUTION_STATUS, gate);
	SHOW(clGetEventInfo, CL_EVENT_REFERENCE_COUNT, gate);
	LAUNCH("marker 0 0", clEnqueueMarkerWithWaitList, queue, 1, &gate, &event);
	CALL(clSetEventCallback, event, CL_COMPLETE, event_reached, "first");
	CALL(clSetEventCallback, event, CL_COMPLETE, event_reached, "second");
	CALL(clSetEventCallback, event, CL_COMPLETE, event_reached, "third");
	CALL(clSetEventCallback, event, 77, event_reached, "never");
	CALL(clSetEventCallback, event, CL_COMPLETE, NULL, NULL);
	CALL(clFlush, queue);
	CALL(clSetUserEventStatus, gate, 1);
	CALL(clSetUserEventStatus, gate, CL_COMPLETE);
	CALL(clSetUserEventStatus, gate, CL_COMPLETE);
	CALL(clWaitForEvents, 1, &event);
	notes_print(&notes, 3);
	CALL(clSetEventCallback, event, CL_COMPLETE, event_reached, "late");
	notes_print(&notes, 1);
	CALL(clRetainEvent, event);
	references(event);
	CALL(clReleaseEvent, event);
	examine(queue, event);
	references(gate);
	cl_ulong time = UNTOUCHED;
	if (asks_times)
		CALL(clGetEventProfilingInfo, gate, CL_PROFILING_COMMAND_END, sizeof time, &time,
		     NULL);
	CALL(clReleaseEvent, gate);
	CALL(clReleaseEvent, NULL);
	CALL(clRetainEvent, NULL);
}

/* The program gives up: what waits ends with its error, and so does whoever waits for that. */
static void failure(cl_command_queue queue)
{
	cl_event gate = MAKE(clCreateUserEvent, setting.context), event = NULL;
	LAUNCH("failed", clEnqueueMarkerWithWaitList, queue, 1, &gate, &event);
	CALL(clSetEventCallback, event, CL_COMPLETE, event_reached, "failed");
	CALL(clSetUserEventStatus, gate, -5);
	CALL(clWaitForEvents, 1, &event);
	wait_for_other_threads();
	notes_print(&notes, 0); /* not every runtime calls back */
	SHOW(clGetEventInfo, CL_EVENT_COMMAND_EXECUTION_STATUS, event);
	CALL(clReleaseEvent, event);
	CALL(clReleaseEvent, gate);
}

static void commands(cl_command_queue queue)
{
	kernels(queue);
	copies(queue);
	fills(queue);
	images(queue);
	maps(queue);
	native_kernels(queue);
	order(queue);
	if (!is_old) {
		shared_memory(queue);
		callbacks(queue);
		failure(queue);
	}
	CALL(clFinish, queue);
	wait_for_other_threads();
	show_queue(queue);
	SHOW(clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, buffer);
	SHOW(clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT, add);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, setting.context);
}

int main(int argc, char **argv)
{
	is_old = argc > 1 && strcmp(argv[1], "1.2") == 0;
	notes_begin(&notes);
	setting = setting_make();
	add = kernel_make(&setting, source, "add");
	buffer = MAKE(clCreateBuffer, setting.context, 0, BYTES, NULL);
	other_buffer = MAKE(clCreateBuffer, setting.context, 0, BYTES, NULL);
	CALL(clSetKernelArg, add, 0, sizeof buffer, &buffer);
	CALL(clSetKernelArg, add, 1, sizeof(cl_int), &(cl_int){1});
	queues();
	const cl_command_queue_properties kinds[] = {0, CL_QUEUE_PROFILING_ENABLE,
						     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		cl_command_queue queue =
			MAKE(clCreateCommandQueue, setting.context, setting.device, kinds[i]);
		asks_times = !is_old || (kinds[i] & CL_QUEUE_PROFILING_ENABLE);
		commands(queue);
		CALL(clReleaseCommandQueue, queue);
	}
	CALL(clReleaseKernel, add);
	CALL(clReleaseMemObject, buffer);
	CALL(clReleaseMemObject, other_buffer);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, setting.context);
	CALL(clReleaseContext, setting.context);
	return 0;
}
