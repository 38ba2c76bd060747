/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that give a queue something to do.
 */
#include "hook/opencl/layer.h"

/* One launch, while it is made. */
struct launch {
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue; /* NULL: not known */
	cl_event *event;    /* where the runtime puts the operation's event; NULL: nowhere */
	cl_event own_event; /* likewise, where the program wants none */
};

/* What is launched. */
struct mr_opencl_work {
	const void *object;
	uint64_t bytes;
	uint32_t name; /* of a kernel */
	uint8_t kind;  /* enum mr_operation_kind */
	bool is_blocking;
};

/* Begins a launch; false if it is not to be recorded. Makes *event point to our own where the program's
 * does to nothing. What it waits for is written first: the program may use the same variable for an event it
 * waits for and for the new one. */
static bool begin(struct launch *launch, enum mr_opencl_function function, cl_command_queue handle,
		  cl_uint wait_count, const cl_event *waits, cl_event **event)
{
	if (!mr_opencl_begin(&launch->call, function, mr_correlation_new()))
		return false;
	launch->queue = mr_opencl_queue_find(handle);
	launch->own_event = NULL;
	if (launch->queue && !*event)
		*event = &launch->own_event;
	launch->event = *event;
	if (launch->queue && wait_count > 0)
		mr_opencl_note_waits(launch->call.correlation, wait_count, waits);
	return true;
}

/* After a launch that succeeded: takes care of its operation. */
static void keep(const struct launch *launch, const struct mr_opencl_work *work, uint64_t end)
{
	struct mr_opencl_queue *queue = launch->queue;
	bool is_shared = launch->event != &launch->own_event;
	cl_event event = *launch->event;
	if (!event)
		return;
	if (is_shared) {
		mr_opencl_next.clRetainEvent(event);
		const struct mr_handle entry = {
			.handle = event,
			.value = launch->call.correlation,
			.owner = queue,
			.references = 1,
			.flags = MR_HANDLE_IS_HELD | (queue->is_hidden ? MR_HANDLE_IS_UNTIMED : 0)};
		mr_handle_put(&mr_opencl->event_map, &entry);
	}
	uint64_t start = launch->call.interval.start_ticks;
	const struct mr_pending_operation operation = {
		.event = event,
		.correlation = launch->call.correlation,
		.bytes = work->bytes,
		.launch_ticks = start,
		.launch_duration_ticks = (uint32_t)mr_min(end - start, (uint64_t)UINT32_MAX),
		.name = work->name,
		.kind = work->kind,
		.is_shared = is_shared};
	mr_opencl_keep(queue, &operation, end);
	if (work->is_blocking)
		mr_opencl_harvest(queue, false);
}

/* Ends a launch whose event has been written. */
static void end(const struct launch *launch, cl_command_queue handle,
		const struct mr_opencl_work *work, cl_int result, uint64_t now)
{
	if (result == CL_SUCCESS && launch->queue)
		keep(launch, work, now);
	else if (result == CL_SUCCESS)
		mr_opencl_queue_adopt(handle);
	mr_opencl_leave(now);
}

static void end_work(const struct launch *launch, cl_command_queue handle,
		     const struct mr_opencl_work *work, cl_int result)
{
	struct mr_event_runtime_launch event = {.function = mr_opencl_names[launch->call.function],
						.correlation = launch->call.correlation,
						.result = result,
						.queue = launch->queue ? launch->queue->id : 0,
						.object = (uintptr_t)work->object,
						.bytes = work->bytes,
						.kind = work->kind,
						.is_blocking = work->is_blocking};
	uint64_t now = mr_call_interval_end(&launch->call.interval, MR_EVENT_runtime_launch, &event,
					    sizeof event);
	end(launch, handle, work, result, now);
}

/* ---- sizes: of calls that have succeeded, which some do without what they need ------------------------ */

static uint64_t region_bytes(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element_bytes = 0;
	mr_opencl_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element_bytes,
				      &element_bytes, NULL);
	return region_bytes(region) * element_bytes;
}

static uint64_t memory_bytes(cl_uint count, const cl_mem *memories)
{
	uint64_t bytes = 0;
	for (cl_uint i = 0; memories && i < count; i++)
		bytes += mr_opencl_memory_bytes(memories[i]);
	return bytes;
}

/* Of parts of shared memory; no sizes: all of them, whose size is not known here. */
static uint64_t svm_bytes(cl_uint count, const size_t *sizes)
{
	uint64_t bytes = 0;
	for (cl_uint i = 0; sizes && i < count; i++)
		bytes += sizes[i];
	return bytes;
}

/* ---- what functions.def describes --------------------------------------------------------------------- */

#define LAUNCH(launched, name, parameters, arguments, ...)                                       \
	cl_int mr_opencl_##name parameters                                                       \
	{                                                                                        \
		struct launch launch;                                                            \
		if (!begin(&launch, MR_OPENCL_##name, command_queue, wait_count, waits, &event)) \
			return mr_opencl_next.name arguments;                                    \
		cl_int result = mr_opencl_next.name arguments;                                   \
		struct mr_opencl_work work = {0};                                                \
		if (result == CL_SUCCESS)                                                        \
			work = (struct mr_opencl_work){__VA_ARGS__};                             \
		work.kind = MR_operation_kind_##launched;                                        \
		end_work(&launch, command_queue, &work, result);                                 \
		return result;                                                                   \
	}

#define CALL(type, name, parameters, arguments)
#define ABOUT(type, name, parameters, arguments, ...)
#define MAKE(type, name, parameters, arguments)
#define MEMORY(name, parameters, arguments, ...)
#define OWN(type, name, parameters, arguments)
#define ABSENT(name)
#include "hook/opencl/functions.def"

/* ---- those that need more ------------------------------------------------------------------------------ */

/* Has always had an event; without one it fails, and so it shall. */
cl_int mr_opencl_clEnqueueMarker(cl_command_queue command_queue, cl_event *event)
{
	struct launch launch;
	cl_event *given = event;
	if (!begin(&launch, MR_OPENCL_clEnqueueMarker, command_queue, 0, NULL, &event))
		return mr_opencl_next.clEnqueueMarker(command_queue, event);
	cl_int result = mr_opencl_next.clEnqueueMarker(command_queue, given);
	end_work(&launch, command_queue, &(struct mr_opencl_work){.kind = MR_operation_kind_marker},
		 result);
	return result;
}

void *mr_opencl_clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer,
				   cl_bool is_blocking, cl_ulong flags, size_t offset, size_t bytes,
				   cl_uint wait_count, const cl_event *waits, cl_event *event,
				   cl_int *ret_error)
{
	struct launch launch;
	cl_int error = CL_SUCCESS;
	if (!begin(&launch, MR_OPENCL_clEnqueueMapBuffer, command_queue, wait_count, waits, &event))
		return mr_opencl_next.clEnqueueMapBuffer(command_queue, buffer, is_blocking, flags,
							 offset, bytes, wait_count, waits, event,
							 ret_error);
	ret_error = ret_error ? ret_error : &error;
	void *mapped =
		mr_opencl_next.clEnqueueMapBuffer(command_queue, buffer, is_blocking, flags, offset,
						  bytes, wait_count, waits, event, ret_error);
	const struct mr_opencl_work work = {.object = buffer,
					    .bytes = bytes,
					    .kind = MR_operation_kind_map,
					    .is_blocking = is_blocking};
	end_work(&launch, command_queue, &work, mapped ? CL_SUCCESS : *ret_error);
	return mapped;
}

void *mr_opencl_clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool is_blocking,
				  cl_ulong flags, const size_t *origin, const size_t *region,
				  size_t *ret_row_pitch, size_t *ret_slice_pitch,
				  cl_uint wait_count, const cl_event *waits, cl_event *event,
				  cl_int *ret_error)
{
	struct launch launch;
	cl_int error = CL_SUCCESS;
	if (!begin(&launch, MR_OPENCL_clEnqueueMapImage, command_queue, wait_count, waits, &event))
		return mr_opencl_next.clEnqueueMapImage(
			command_queue, image, is_blocking, flags, origin, region, ret_row_pitch,
			ret_slice_pitch, wait_count, waits, event, ret_error);
	ret_error = ret_error ? ret_error : &error;
	void *mapped = mr_opencl_next.clEnqueueMapImage(
		command_queue, image, is_blocking, flags, origin, region, ret_row_pitch,
		ret_slice_pitch, wait_count, waits, event, ret_error);
	const struct mr_opencl_work work = {.object = mapped ? image : NULL,
					    .bytes = mapped ? image_bytes(image, region) : 0,
					    .kind = MR_operation_kind_map,
					    .is_blocking = is_blocking};
	end_work(&launch, command_queue, &work, mapped ? CL_SUCCESS : *ret_error);
	return mapped;
}

/* Without a function to do it, the runtime frees the memory itself, some time from now on. */
cl_int mr_opencl_clEnqueueSVMFree(cl_command_queue command_queue, cl_uint count, void **pointers,
				  cl_svm_free *free_function, void *data, cl_uint wait_count,
				  const cl_event *waits, cl_event *event)
{
	struct launch launch;
	if (!begin(&launch, MR_OPENCL_clEnqueueSVMFree, command_queue, wait_count, waits, &event))
		return mr_opencl_next.clEnqueueSVMFree(command_queue, count, pointers,
						       free_function, data, wait_count, waits,
						       event);
	cl_int result = mr_opencl_next.clEnqueueSVMFree(
		command_queue, count, pointers, free_function, data, wait_count, waits, event);
	for (cl_uint i = 0; result == CL_SUCCESS && !free_function && pointers && i < count; i++)
		mr_emit(runtime_free, .object = (uintptr_t)pointers[i]);
	end_work(&launch, command_queue, &(struct mr_opencl_work){.kind = MR_operation_kind_other},
		 result);
	return result;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* Work items in each dimension. */
struct extent {
	cl_uint dimensions;
	const size_t *sizes; /* NULL: not given */
};

static uint64_t size_in(const struct extent *extent, cl_uint dimension)
{
	if (!extent->sizes)
		return 0;
	return dimension < extent->dimensions ? extent->sizes[dimension] : 1;
}

static uint32_t narrow_size_in(const struct extent *extent, cl_uint dimension)
{
	return (uint32_t)mr_min(size_in(extent, dimension), (uint64_t)UINT32_MAX);
}

static void write_wide_size(uint64_t correlation, const struct extent *global)
{
	mr_emit(runtime_launch_size, .correlation = correlation, .global_x = size_in(global, 0),
		.global_y = size_in(global, 1), .global_z = size_in(global, 2));
}

static void end_kernel(const struct launch *launch, cl_command_queue handle, cl_kernel kernel,
		       cl_int result, struct extent global, struct extent local)
{
	const struct mr_opencl_work work = {
		.kind = MR_operation_kind_kernel,
		.name = result == CL_SUCCESS ? mr_opencl_kernel_name(kernel) : 0};
	if (result != CL_SUCCESS) /* what is given may be anything */
		global.sizes = local.sizes = NULL;
	struct mr_event_runtime_launch_kernel event = {
		.function = mr_opencl_names[launch->call.function],
		.correlation = launch->call.correlation,
		.result = result,
		.queue = launch->queue ? launch->queue->id : 0,
		.name = work.name,
		.global_x = narrow_size_in(&global, 0),
		.global_y = narrow_size_in(&global, 1),
		.global_z = narrow_size_in(&global, 2),
		.local_x = narrow_size_in(&local, 0),
		.local_y = narrow_size_in(&local, 1),
		.local_z = narrow_size_in(&local, 2)};
	if (mr_unlikely(event.global_x == UINT32_MAX || event.global_y == UINT32_MAX ||
			event.global_z == UINT32_MAX))
		write_wide_size(launch->call.correlation, &global);
	uint64_t now = mr_call_interval_end(&launch->call.interval, MR_EVENT_runtime_launch_kernel,
					    &event, sizeof event);
	end(launch, handle, &work, result, now);
}

cl_int mr_opencl_clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel,
					cl_uint dimensions, const size_t *offset,
					const size_t *global, const size_t *local,
					cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	struct launch launch;
	if (!begin(&launch, MR_OPENCL_clEnqueueNDRangeKernel, command_queue, wait_count, waits,
		   &event))
		return mr_opencl_next.clEnqueueNDRangeKernel(command_queue, kernel, dimensions,
							     offset, global, local, wait_count,
							     waits, event);
	cl_int result = mr_opencl_next.clEnqueueNDRangeKernel(
		command_queue, kernel, dimensions, offset, global, local, wait_count, waits, event);
	end_kernel(&launch, command_queue, kernel, result, (struct extent){dimensions, global},
		   (struct extent){dimensions, local});
	return result;
}

cl_int mr_opencl_clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel, cl_uint wait_count,
			       const cl_event *waits, cl_event *event)
{
	static const size_t one = 1;
	struct launch launch;
	if (!begin(&launch, MR_OPENCL_clEnqueueTask, command_queue, wait_count, waits, &event))
		return mr_opencl_next.clEnqueueTask(command_queue, kernel, wait_count, waits,
						    event);
	cl_int result =
		mr_opencl_next.clEnqueueTask(command_queue, kernel, wait_count, waits, event);
	end_kernel(&launch, command_queue, kernel, result, (struct extent){1, &one},
		   (struct extent){1, &one});
	return result;
}
