/* SPDX-License-Identifier: Apache-2.0
 *
 * What TensorFlow first asks a device plug-in for: the platform, its devices, their functions. The
 * members omitted here (unified memory, timers) are optional; TensorFlow aborts if any other is
 * missing.
 *
 * There is no TF_InitGraph on purpose: TensorFlow accepts one per device type, and a tracer may
 * need it.
 */
#include "device.h"

/* Used by TensorFlow's placement; the order of magnitude of two CPU cores. */
#define MEMORY_BANDWIDTH_BYTES (10LL << 30)
#define GIGAFLOPS              100.0

/* TensorFlow declares it without a visibility. */
__attribute__((visibility("default"))) void SE_InitPlugin(SE_PlatformRegistrationParams *parameters,
							  TF_Status *status);

static void count_devices(const SP_Platform *platform, int *ret_count, TF_Status *status)
{
	(void)platform;
	(void)status;
	*ret_count = mr_devices_count();
}

static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *parameters,
			  TF_Status *status)
{
	struct mr_device *device = mr_device_at(parameters->ordinal);

	(void)platform;
	(void)status;
	*parameters->device = (SP_Device){
		.struct_size = SP_DEVICE_STRUCT_SIZE,
		.ordinal = parameters->ordinal,
		.device_handle = device,
		.hardware_name = device->name,
		.device_vendor = "PoCL",
		.pci_bus_id = "0000:00:00.0",
	};
}

static void destroy_device(const SP_Platform *platform, SP_Device *device)
{
	(void)platform;
	device->device_handle = NULL;
}

static int32_t get_numa_node(const SP_Device *device)
{
	(void)device;
	return 0;
}

static int64_t get_memory_bandwidth(const SP_Device *device)
{
	(void)device;
	return MEMORY_BANDWIDTH_BYTES;
}

static double get_gigaflops(const SP_Device *device)
{
	(void)device;
	return GIGAFLOPS;
}

static void create_device_functions(const SP_Platform *platform,
				    SE_CreateDeviceFnsParams *parameters, TF_Status *status)
{
	(void)platform;
	(void)status;
	*parameters->device_fns = (SP_DeviceFns){
		.struct_size = SP_DEVICE_FNS_STRUCT_SIZE,
		.get_numa_node = get_numa_node,
		.get_memory_bandwidth = get_memory_bandwidth,
		.get_gflops = get_gigaflops,
	};
}

static void destroy_device_functions(const SP_Platform *platform, SP_DeviceFns *functions)
{
	(void)platform;
	(void)functions;
}

static void create_stream_executor(const SP_Platform *platform,
				   SE_CreateStreamExecutorParams *parameters, TF_Status *status)
{
	SP_StreamExecutor *executor = parameters->stream_executor;

	(void)platform;
	(void)status;
	*executor = (SP_StreamExecutor){.struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE};
	mr_memory_describe(executor);
	mr_copies_describe(executor);
	mr_streams_describe(executor);
}

static void destroy_stream_executor(const SP_Platform *platform, SP_StreamExecutor *executor)
{
	(void)platform;
	(void)executor;
}

/* Never called, because there are no timers; but TensorFlow requires it. */
static uint64_t get_timer_ns(SP_Timer timer)
{
	(void)timer;
	return 0;
}

static void create_timer_functions(const SP_Platform *platform, SP_TimerFns *functions,
				   TF_Status *status)
{
	(void)platform;
	(void)status;
	*functions =
		(SP_TimerFns){.struct_size = SP_TIMER_FNS_STRUCT_SIZE, .nanoseconds = get_timer_ns};
}

static void destroy_timer_functions(const SP_Platform *platform, SP_TimerFns *functions)
{
	(void)platform;
	(void)functions;
}

static void destroy_platform(SP_Platform *platform)
{
	(void)platform;
}

static void destroy_platform_functions(SP_PlatformFns *functions)
{
	(void)functions;
}

void SE_InitPlugin(SE_PlatformRegistrationParams *parameters, TF_Status *status)
{
	(void)status;
	*parameters->platform = (SP_Platform){
		.struct_size = SP_PLATFORM_STRUCT_SIZE,
		.name = "MILLRACE_SOFT",
		.type = MR_DEVICE_TYPE,
		.use_bfc_allocator = 1,
		.force_memory_growth = 1,
	};
	*parameters->platform_fns = (SP_PlatformFns){
		.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
		.get_device_count = count_devices,
		.create_device = create_device,
		.destroy_device = destroy_device,
		.create_device_fns = create_device_functions,
		.destroy_device_fns = destroy_device_functions,
		.create_stream_executor = create_stream_executor,
		.destroy_stream_executor = destroy_stream_executor,
		.create_timer_fns = create_timer_functions,
		.destroy_timer_fns = destroy_timer_functions,
	};
	parameters->destroy_platform = destroy_platform;
	parameters->destroy_platform_fns = destroy_platform_functions;
}
