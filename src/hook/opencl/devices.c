/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices and their clocks (shared/device_clock.h). If clGetDeviceAndHostTimer() works, it reads the clock.
 */
#include "hook/opencl/layer.h"

#include "record/own_call.h"

/* ---- clocks ---------------------------------------------------------------------------------------- */

static bool read_timer(void *device, uint64_t *ret_ns)
{
	cl_ulong host;
	return mr_opencl_next.clGetDeviceAndHostTimer(device, ret_ns, &host) == CL_SUCCESS;
}

void mr_opencl_clock_note(struct mr_opencl_device *device,
			  const struct mr_pending_operation *operation, uint64_t queued)
{
	const struct mr_bracket bracket = {.before = operation->launch_ticks,
					   .value = queued,
					   .after = operation->launch_ticks +
						    operation->launch_duration_ticks};
	mr_device_clock_note(&device->clock, &bracket);
}

void mr_opencl_clocks_close(void)
{
	struct mr_opencl_device *device =
		atomic_load_explicit(&mr_opencl->devices, memory_order_acquire);
	for (; device; device = device->next)
		mr_device_clock_close(&device->clock);
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
	struct mr_opencl_device *device = mr_own_map(sizeof *device);
	if (!device)
		return NULL;
	char name[256] = "device";
	if (mr_opencl_next.clGetDeviceInfo(handle, CL_DEVICE_NAME, sizeof name, name, NULL) !=
	    CL_SUCCESS)
		strcpy(name, "device");
	uint32_t name_id = mr_define_string(name);
	mr_device_clock_open(&device->clock, name_id,
			     has_timer_function(handle) ? read_timer : NULL, handle);
	device->id = mr_define_device(name_id, device->clock.id, kind_of(handle));
	char identity[MR_OPENCL_IDENTITY_BYTES];
	if (device->id && mr_opencl_identify(handle, identity))
		mr_define_device_identity(device->id, identity);
	cl_ulong bytes = 0;
	if (device->id && mr_opencl_next.clGetDeviceInfo(handle, CL_DEVICE_GLOBAL_MEM_SIZE,
							 sizeof bytes, &bytes, NULL) == CL_SUCCESS)
		mr_define_device_memory(device->id, bytes);
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
