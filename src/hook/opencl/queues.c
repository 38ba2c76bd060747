/* SPDX-License-Identifier: Apache-2.0
 *
 * Command queues: enables profiling on all of them, and hides this from a program that did not request it.
 */
#include "hook/opencl/layer.h"

#include "record/own_call.h"

static _Thread_local struct mr_opencl_memo memo __attribute__((tls_model("initial-exec")));

/* The properties of a queue: as the program gives them, and with profiling. */
struct property_lists {
	cl_queue_properties given[MR_OPENCL_PROPERTIES];
	cl_queue_properties profiled[MR_OPENCL_PROPERTIES + 2];
	uint32_t given_count; /* with the 0 at the end; 0: there is no list */
	cl_ulong asked;       /* CL_QUEUE_PROPERTIES; 0: the program gives none ... */
	bool is_added;        /* ... and we do */
};

/* ---- keeping queues in mind ------------------------------------------------------------------------ */

struct mr_opencl_queue *mr_opencl_queue_find(cl_command_queue handle)
{
	if (mr_likely(mr_opencl_recalls(&memo, handle)))
		return memo.queue;
	struct mr_handle entry = {0};
	uint32_t changes = atomic_load_explicit(&mr_opencl->changes, memory_order_acquire);
	if (mr_handle_get(&mr_opencl->queue_map, handle, &entry))
		memo = (struct mr_opencl_memo){.handle = handle,
					       .generation = mr_this_process.generation,
					       .changes = changes,
					       .queue = entry.owner};
	return entry.owner;
}

/* A queue that is no longer used, or a new one; the lock of making queues is held. */
static struct mr_opencl_queue *spare_queue(void)
{
	struct mr_opencl_queue *first =
		atomic_load_explicit(&mr_opencl->queues, memory_order_relaxed);
	for (struct mr_opencl_queue *queue = first; queue; queue = queue->next) {
		if (atomic_load_explicit(&queue->is_released, memory_order_relaxed) &&
		    mr_opencl_count_pending(queue) == 0)
			return queue;
	}
	struct mr_opencl_queue *queue = mr_own_map(sizeof *queue);
	if (!queue)
		return NULL;
	queue->next = first;
	atomic_store_explicit(&mr_opencl->queues, queue, memory_order_release);
	return queue;
}

static void define_queue(struct mr_opencl_queue *queue, cl_device_id device, cl_ulong properties)
{
	char name[32];
	uint32_t number =
		atomic_fetch_add_explicit(&mr_opencl->queue_number, 1, memory_order_relaxed) + 1;
	queue->device = mr_opencl_device_find(device);
	queue->is_in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	queue->is_profiled = properties & CL_QUEUE_PROFILING_ENABLE;
	snprintf(name, sizeof name, "queue %u", number);
	queue->id = mr_define_queue(queue->device ? queue->device->id : 0, mr_define_string(name),
				    queue->is_in_order ? MR_queue_order_in_order
						       : MR_queue_order_out_of_order,
				    !queue->is_profiled);
}

/* Keeps a new queue in mind. `properties` are what the driver was asked for; `lists` is NULL if it was
 * given no list. */
static void add_queue(cl_command_queue handle, cl_device_id device, cl_ulong properties,
		      const struct property_lists *lists, bool is_hidden)
{
	mr_opencl_prepare_exit();
	mr_opencl_device_find(device); /* now: it takes the same lock */
	if (!mr_lock(&mr_opencl->lock))
		return;
	struct mr_opencl_queue *queue = spare_queue();
	if (queue && mr_lock(&queue->lock)) {
		define_queue(queue, device, properties);
		queue->is_hidden = is_hidden;
		queue->is_added = lists && lists->is_added;
		if (queue->is_added) {
			queue->property_count = lists->given_count;
			memcpy(queue->properties, lists->given, sizeof queue->properties);
		}
		mr_unlock(&queue->lock);
		atomic_store_explicit(&queue->last_correlation, 0, memory_order_relaxed);
		atomic_store_explicit(&queue->is_released, false, memory_order_relaxed);
		const struct mr_handle entry = {.handle = handle, .owner = queue, .references = 1};
		mr_handle_put(&mr_opencl->queue_map, &entry);
		mr_opencl_note_change();
	}
	mr_unlock(&mr_opencl->lock);
}

void mr_opencl_queue_adopt(cl_command_queue handle)
{
	cl_device_id device = NULL;
	cl_ulong properties = 0;
	mr_opencl_next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
	mr_opencl_next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties,
					     &properties, NULL);
	if (device)
		add_queue(handle, device, properties, NULL, false);
}

/* ---- making queues ----------------------------------------------------------------------------------- */

/* With profiling, unless the queue is for kernels that launch others. */
static cl_ulong profiled_properties(cl_ulong properties)
{
	return properties & CL_QUEUE_ON_DEVICE ? properties
					       : properties | CL_QUEUE_PROFILING_ENABLE;
}

cl_command_queue mr_opencl_clCreateCommandQueue(cl_context context, cl_device_id device,
						cl_ulong properties, cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	cl_ulong profiled = profiled_properties(properties);
	mr_opencl_begin(&call, MR_OPENCL_clCreateCommandQueue, 0);
	cl_command_queue queue =
		mr_opencl_next.clCreateCommandQueue(context, device, profiled, ret_error);
	if (!queue && profiled != properties) {
		profiled = properties;
		queue = mr_opencl_next.clCreateCommandQueue(context, device, properties, ret_error);
	}
	mr_opencl_end_made(&call, queue, *ret_error);
	if (queue)
		add_queue(queue, device, profiled, NULL, profiled != properties);
	return queue;
}

/* False if the list is too long, or of a queue that we must leave as it is. */
static bool make_lists(const cl_queue_properties *given, struct property_lists *ret_lists)
{
	struct property_lists lists = {.is_added = true};
	uint32_t end = 0, place = 0; /* of CL_QUEUE_PROPERTIES */
	for (; given && given[end]; end += 2) {
		if (end + 2 >= MR_OPENCL_PROPERTIES)
			return false;
		memcpy(&lists.given[end], &given[end], 2 * sizeof *given);
		memcpy(&lists.profiled[end], &given[end], 2 * sizeof *given);
		if (given[end] != CL_QUEUE_PROPERTIES)
			continue;
		lists.is_added = false;
		lists.asked = given[end + 1];
		place = end;
	}
	if (lists.is_added)
		place = end;
	lists.given_count = given ? end + 1 : 0;
	lists.profiled[place] = CL_QUEUE_PROPERTIES;
	lists.profiled[place + 1] = profiled_properties(lists.asked);
	*ret_lists = lists;
	return lists.profiled[place + 1] != lists.asked;
}

cl_command_queue mr_opencl_clCreateCommandQueueWithProperties(cl_context context,
							      cl_device_id device,
							      const cl_queue_properties *properties,
							      cl_int *ret_error)
{
	struct mr_opencl_call call;
	cl_int error = CL_SUCCESS;
	ret_error = ret_error ? ret_error : &error;
	struct property_lists lists;
	cl_command_queue profiled = NULL, queue;
	bool is_to_profile = make_lists(properties, &lists);
	mr_opencl_begin(&call, MR_OPENCL_clCreateCommandQueueWithProperties, 0);
	if (is_to_profile)
		profiled = mr_opencl_next.clCreateCommandQueueWithProperties(
			context, device, lists.profiled, ret_error);
	queue = profiled ? profiled
			 : mr_opencl_next.clCreateCommandQueueWithProperties(context, device,
									     properties, ret_error);
	mr_opencl_end_made(&call, queue, *ret_error);
	if (profiled)
		add_queue(queue, device, profiled_properties(lists.asked), &lists, true);
	else if (queue)
		mr_opencl_queue_adopt(queue);
	return queue;
}

/* ---- their life ------------------------------------------------------------------------------------------ */

cl_int mr_opencl_clRetainCommandQueue(cl_command_queue command_queue)
{
	struct mr_opencl_call call;
	struct mr_handle entry;
	mr_opencl_begin(&call, MR_OPENCL_clRetainCommandQueue, 0);
	cl_int result = mr_opencl_next.clRetainCommandQueue(command_queue);
	if (result == CL_SUCCESS)
		mr_handle_change(&mr_opencl->queue_map, command_queue, 1, 0, &entry);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.queue = command_queue});
	return result;
}

/* The events we hold hold their queue, and that its context: so they go first, and those of operations that
 * the release has waited for go after it. */
cl_int mr_opencl_clReleaseCommandQueue(cl_command_queue command_queue)
{
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue = mr_opencl_queue_find(command_queue);
	struct mr_handle entry;
	if (queue)
		mr_opencl_harvest(queue, true);
	/* Before the release: the handle may at once be another queue's. */
	bool is_last = queue &&
		       mr_handle_change(&mr_opencl->queue_map, command_queue, -1, 0, &entry) &&
		       entry.references == 0;
	if (is_last)
		mr_opencl_note_change();
	mr_opencl_begin(&call, MR_OPENCL_clReleaseCommandQueue, 0);
	cl_int result = mr_opencl_next.clReleaseCommandQueue(command_queue);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.object = command_queue});
	if (is_last) {
		/* First: threads that are looking at its operations take care of those. */
		atomic_store_explicit(&queue->is_released, true, memory_order_relaxed);
		mr_opencl_harvest(queue, true);
		mr_opencl_harvest_later(queue);
	}
	return result;
}

/* ---- what the program may know of them ------------------------------------------------------------------- */

/* Takes profiling out of an answer. */
static void hide_profiling(cl_uint what, void *value, size_t bytes)
{
	cl_queue_properties *items = value;
	size_t count = value ? bytes / sizeof *items : 0;
	if (what == CL_QUEUE_PROPERTIES && count == 1)
		items[0] &= ~(cl_ulong)CL_QUEUE_PROFILING_ENABLE;
	for (size_t i = 0; what == CL_QUEUE_PROPERTIES_ARRAY && i + 1 < count && items[i]; i += 2)
		if (items[i] == CL_QUEUE_PROPERTIES)
			items[i + 1] &= ~(cl_ulong)CL_QUEUE_PROFILING_ENABLE;
}

/* Answers with the program's own list, to which we had added, if the driver knows the question. */
static cl_int answer_properties(const struct mr_opencl_queue *queue, cl_command_queue handle,
				size_t bytes, void *ret_value, size_t *ret_bytes)
{
	size_t need = queue->property_count * sizeof queue->properties[0];
	cl_int result = mr_opencl_next.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES_ARRAY, 0,
							     NULL, NULL);
	if (result != CL_SUCCESS)
		return result;
	if (ret_value && bytes < need)
		return CL_INVALID_VALUE;
	if (ret_value)
		memcpy(ret_value, queue->properties, need);
	if (ret_bytes)
		*ret_bytes = need;
	return CL_SUCCESS;
}

static cl_int queue_info(const struct mr_opencl_queue *queue, cl_command_queue handle, cl_uint what,
			 size_t bytes, void *ret_value, size_t *ret_bytes)
{
	if (what == CL_QUEUE_PROPERTIES_ARRAY && queue && queue->is_added)
		return answer_properties(queue, handle, bytes, ret_value, ret_bytes);
	size_t answer_bytes = 0;
	ret_bytes = ret_bytes ? ret_bytes : &answer_bytes;
	cl_int result =
		mr_opencl_next.clGetCommandQueueInfo(handle, what, bytes, ret_value, ret_bytes);
	if (result == CL_SUCCESS && queue && queue->is_hidden)
		hide_profiling(what, ret_value, *ret_bytes);
	return result;
}

cl_int mr_opencl_clGetCommandQueueInfo(cl_command_queue command_queue, cl_uint what, size_t bytes,
				       void *ret_value, size_t *ret_bytes)
{
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue = mr_opencl_queue_find(command_queue);
	if (queue && what == CL_QUEUE_REFERENCE_COUNT)
		mr_opencl_harvest(queue, true); /* the events we hold count */
	mr_opencl_begin(&call, MR_OPENCL_clGetCommandQueueInfo, 0);
	cl_int result = queue_info(queue, command_queue, what, bytes, ret_value, ret_bytes);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.queue = command_queue});
	return result;
}

/* A program that switches profiling off or on itself gets what it asks for. */
cl_int mr_opencl_clSetCommandQueueProperty(cl_command_queue command_queue, cl_ulong properties,
					   cl_bool enable, cl_ulong *ret_old)
{
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue = mr_opencl_queue_find(command_queue);
	mr_opencl_begin(&call, MR_OPENCL_clSetCommandQueueProperty, 0);
	cl_int result = mr_opencl_next.clSetCommandQueueProperty(command_queue, properties, enable,
								 ret_old);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.queue = command_queue});
	if (result != CL_SUCCESS || !queue || !mr_lock(&queue->lock))
		return result;
	if (ret_old && queue->is_hidden)
		*ret_old &= ~(cl_ulong)CL_QUEUE_PROFILING_ENABLE;
	if (properties & CL_QUEUE_PROFILING_ENABLE) {
		queue->is_hidden = false;
		queue->is_profiled = enable;
	}
	if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		queue->is_in_order = !enable;
	mr_unlock(&queue->lock);
	return result;
}

cl_int mr_opencl_clFlush(cl_command_queue command_queue)
{
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue = mr_opencl_queue_find(command_queue);
	mr_opencl_begin(&call, MR_OPENCL_clFlush, 0);
	cl_int result = mr_opencl_next.clFlush(command_queue);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.queue = command_queue});
	if (queue)
		mr_opencl_watch_quiet(queue, 1);
	return result;
}

cl_int mr_opencl_clFinish(cl_command_queue command_queue)
{
	struct mr_opencl_call call;
	struct mr_opencl_queue *queue = mr_opencl_queue_find(command_queue);
	uint64_t awaited =
		queue ? atomic_load_explicit(&queue->last_correlation, memory_order_relaxed) : 0;
	uint64_t correlation = awaited ? mr_correlation_new() : 0;
	if (mr_opencl_begin(&call, MR_OPENCL_clFinish, correlation) && awaited)
		mr_emit(runtime_wait, .correlation = correlation, .awaited = awaited);
	if (queue)
		mr_opencl_watch_quiet(queue, 2); /* if one, it is harvested at once */
	cl_int result = mr_opencl_next.clFinish(command_queue);
	mr_opencl_end_about(&call, result, &(struct mr_opencl_about){.queue = command_queue});
	if (queue)
		mr_opencl_harvest(queue, true);
	return result;
}
