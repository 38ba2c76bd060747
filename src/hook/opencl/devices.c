/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices and their clocks.
 *
 * A device clock is tied to ours by brackets: read between two reads of our clock. Where it works,
 * clGetDeviceAndHostTimer() reads it. Elsewhere the program's own launches do: the runtime notes the
 * device's time when a command is queued, which is while the launching call runs.
 *
 *     our clock       call begins ─────────────── call ends
 *     device clock                    queued
 *
 * So nothing needs to be sent to the device, and nothing of it shows. Some calls take long (the first launch
 * of a kernel may compile it), so the narrowest bracket of a window becomes a sample. Windows grow from
 * nearly a millisecond to a second; the first sample is written at once, since the program may end soon.
 */
#include "hook/opencl/layer.h"

enum {
	TIMER_TRIES = 4,
	FIRST_TICKS = 1 << 17, /* width of the first bracket worth writing: tens of microseconds */
	DRIFT_SHIFT = 16,      /* how little clocks may drift: 15 parts in a million */
	FIRST_WINDOW_NS = 900000, /* the reader takes the best of the samples of a millisecond */
	LAST_WINDOW_NS = 1000000000,
};

/* ---- clocks ---------------------------------------------------------------------------------------- */

/* What follows, up to the devices, is called with the device's lock held. */
static void write_best(struct mr_opencl_device *device)
{
	const struct mr_opencl_bracket *best = &device->best;
	mr_emit(clock_sample, .reference = mr_arena->user_clock, .clock = device->clock,
		.before = best->before, .value = best->value, .after = best->after);
	device->last = best->value;
	device->window_ns = mr_min(device->window_ns * 2, (uint64_t)LAST_WINDOW_NS);
	device->best.after = 0;
}

/* A bracket much wider than others is no help before the clock may have drifted as far. */
static bool is_worth_writing(const struct mr_opencl_device *device)
{
	const struct mr_opencl_bracket *best = &device->best;
	uint64_t width = best->after - best->before;
	if (!device->last)
		return width < FIRST_TICKS;
	return width / 2 <= device->narrowest_ticks ||
	       (best->value > device->last && width < (best->value - device->last) >> DRIFT_SHIFT);
}

static bool is_due(const struct mr_opencl_device *device, uint64_t now)
{
	return !device->last || now >= device->last + device->window_ns;
}

static bool is_narrower(const struct mr_opencl_bracket *bracket,
			const struct mr_opencl_bracket *than)
{
	return than->after == 0 || bracket->after - bracket->before < than->after - than->before;
}

/* False if the device cannot be asked for its time. */
static bool read_timer(cl_device_id device, struct mr_opencl_bracket *ret_bracket)
{
	struct mr_opencl_bracket best = {0};
	for (int i = 0; i < TIMER_TRIES; i++) {
		struct mr_opencl_bracket bracket = {.before = mr_ticks_now()};
		cl_ulong host;
		if (mr_opencl_next.clGetDeviceAndHostTimer(device, &bracket.value, &host) !=
			    CL_SUCCESS ||
		    bracket.value == 0)
			return false;
		bracket.after = mr_ticks_now();
		if (is_narrower(&bracket, &best))
			best = bracket;
	}
	*ret_bracket = best;
	return best.after != 0;
}

/* False if the timer does not agree with the times of operations: some drivers' does not. */
static bool sample_by_timer(struct mr_opencl_device *device, uint64_t queued)
{
	struct mr_opencl_bracket timer;
	device->has_timer = read_timer(device->handle, &timer) && timer.value >= queued &&
			    timer.value - queued < UINT64_C(60) * LAST_WINDOW_NS;
	if (device->has_timer)
		device->best = timer;
	return device->has_timer;
}

void mr_opencl_clock_note(struct mr_opencl_device *device,
			  const struct mr_opencl_operation *operation, uint64_t queued)
{
	uint32_t width = operation->launch_duration_ticks;
	const struct mr_opencl_bracket bracket = {.before = operation->launch_ticks,
						  .value = queued,
						  .after = operation->launch_ticks + width};
	if (!mr_lock(&device->lock))
		return;
	device->narrowest_ticks = mr_min(device->narrowest_ticks, width);
	if (is_narrower(&bracket, &device->best))
		device->best = bracket;
	if (is_due(device, queued) &&
	    ((device->has_timer && sample_by_timer(device, queued)) || is_worth_writing(device)))
		write_best(device);
	mr_unlock(&device->lock);
}

void mr_opencl_clocks_close(void)
{
	struct mr_opencl_device *device =
		atomic_load_explicit(&mr_opencl->devices, memory_order_acquire);
	for (; device; device = device->next) {
		if (!mr_lock(&device->lock))
			continue;
		if (device->has_timer && device->last)
			sample_by_timer(device, device->last);
		if (device->best.after && (!device->last || is_worth_writing(device)))
			write_best(device);
		mr_unlock(&device->lock);
	}
}

/* ---- devices --------------------------------------------------------------------------------------- */

static enum mr_device_kind kind_of(cl_device_id device)
{
	cl_ulong type = 0;
	mr_opencl_next.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	if (type & CL_DEVICE_TYPE_GPU)
		return MR_device_kind_gpu;
	if (type & CL_DEVICE_TYPE_CPU)
		return MR_device_kind_cpu;
	return type & CL_DEVICE_TYPE_ACCELERATOR ? MR_device_kind_accelerator
						 : MR_device_kind_other;
}

/* Functions newer than the device must not be called: a table may hold anything in their place. */
static bool has_timer_function(cl_device_id device)
{
	char version[64] = "";
	unsigned int major = 0, minor = 0;
	mr_opencl_next.clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version - 1, version,
				       NULL);
	sscanf(version, "OpenCL %u.%u", &major, &minor);
	return mr_opencl_next.clGetDeviceAndHostTimer && (major > 2 || (major == 2 && minor >= 1));
}

/* The lock of making devices is held. */
static struct mr_opencl_device *new_device(cl_device_id handle)
{
	struct mr_opencl_device *device = mr_opencl_memory(sizeof *device);
	if (!device)
		return NULL;
	char name[256] = "device";
	if (mr_opencl_next.clGetDeviceInfo(handle, CL_DEVICE_NAME, sizeof name, name, NULL) !=
	    CL_SUCCESS)
		strcpy(name, "device");
	uint32_t name_id = mr_define_string(name);
	struct mr_opencl_bracket bracket;
	device->handle = handle;
	device->window_ns = FIRST_WINDOW_NS;
	device->narrowest_ticks = UINT32_MAX;
	device->clock = mr_define_clock(name_id, LAST_WINDOW_NS);
	device->id = mr_define_device(name_id, device->clock, kind_of(handle));
	device->has_timer = has_timer_function(handle) && read_timer(handle, &bracket);
	const struct mr_handle entry = {.handle = handle, .owner = device, .references = 1};
	mr_handle_put(&mr_opencl->device_map, &entry);
	device->next = atomic_load_explicit(&mr_opencl->devices, memory_order_relaxed);
	atomic_store_explicit(&mr_opencl->devices, device, memory_order_release);
	return device;
}

struct mr_opencl_device *mr_opencl_device_find(cl_device_id handle)
{
	struct mr_handle entry = {0};
	if (!handle || mr_handle_get(&mr_opencl->device_map, handle, &entry))
		return entry.owner;
	if (!mr_lock(&mr_opencl->lock))
		return NULL;
	struct mr_opencl_device *device = mr_handle_get(&mr_opencl->device_map, handle, &entry)
						  ? entry.owner
						  : new_device(handle);
	mr_unlock(&mr_opencl->lock);
	return device;
}
