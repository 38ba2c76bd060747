/* SPDX-License-Identifier: Apache-2.0
 *
 * The types and constants of OpenCL that the layer uses, as the specification defines them. They are declared
 * here so that millrace builds without OpenCL's headers; only types that the layer inspects are complete.
 */
#ifndef MR_HOOK_OPENCL_TYPES_H
#define MR_HOOK_OPENCL_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;

typedef struct mr_cl_platform_id *cl_platform_id;
typedef struct mr_cl_device_id *cl_device_id;
typedef struct mr_cl_context *cl_context;
typedef struct mr_cl_command_queue *cl_command_queue;
typedef struct mr_cl_mem *cl_mem;
typedef struct mr_cl_program *cl_program;
typedef struct mr_cl_kernel *cl_kernel;
typedef struct mr_cl_event *cl_event;
typedef struct mr_cl_sampler *cl_sampler;

/* Only handed through. */
typedef struct mr_cl_image_format cl_image_format;
typedef struct mr_cl_image_desc cl_image_desc;

/* Lists of (name, value) pairs, ended by a 0. */
typedef intptr_t cl_properties;
typedef cl_ulong cl_queue_properties;

typedef void cl_context_notify(const char *text, const void *private, size_t bytes, void *data);
typedef void cl_context_destructor(cl_context context, void *data);
typedef void cl_program_notify(cl_program program, void *data);
typedef void cl_memory_destructor(cl_mem memory, void *data);
typedef void cl_event_notify(cl_event event, cl_int status, void *data);
typedef void cl_svm_free(cl_command_queue queue, cl_uint count, void *pointers[], void *data);
typedef void cl_native_kernel(void *arguments);

enum {
	CL_SUCCESS = 0,
	CL_PROFILING_INFO_NOT_AVAILABLE = -7,
	CL_INVALID_VALUE = -30,
	CL_INVALID_OPERATION = -59,
};

enum {
	CL_COMPLETE = 0, /* greater: not yet; less: failed */
};

enum {
	CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0,
	CL_QUEUE_PROFILING_ENABLE = 1 << 1,
	CL_QUEUE_ON_DEVICE = 1 << 2,
};

enum {
	CL_DEVICE_TYPE_CPU = 1 << 1,
	CL_DEVICE_TYPE_GPU = 1 << 2,
	CL_DEVICE_TYPE_ACCELERATOR = 1 << 3,
};

/* What can be asked of objects. */
enum {
	CL_DEVICE_TYPE = 0x1000,
	CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	CL_DEVICE_NAME = 0x102b,
	CL_DEVICE_VERSION = 0x102f,
	CL_DEVICE_EXTENSIONS = 0x1030,
	CL_DEVICE_UUID_KHR = 0x106a, /* cl_khr_device_uuid */
	CL_CONTEXT_REFERENCE_COUNT = 0x1080,
	CL_CONTEXT_DEVICES = 0x1081,
	CL_QUEUE_DEVICE = 0x1091,
	CL_QUEUE_REFERENCE_COUNT = 0x1092,
	CL_QUEUE_PROPERTIES = 0x1093,
	CL_QUEUE_PROPERTIES_ARRAY = 0x1098,
	CL_MEM_SIZE = 0x1102,
	CL_MEM_ASSOCIATED_MEMOBJECT = 0x1107,
	CL_IMAGE_ELEMENT_SIZE = 0x1111,
	CL_KERNEL_FUNCTION_NAME = 0x1190,
	CL_EVENT_COMMAND_QUEUE = 0x11d0,
	CL_EVENT_REFERENCE_COUNT = 0x11d2,
	CL_EVENT_COMMAND_EXECUTION_STATUS = 0x11d3,
	CL_PROFILING_COMMAND_QUEUED = 0x1280, /* submitted, start and end follow */
	CL_DEVICE_PCI_BUS_ID_NV = 0x4008,     /* cl_nv_device_attribute_query */
	CL_DEVICE_PCI_SLOT_ID_NV = 0x4009,
	CL_DEVICE_PCI_DOMAIN_ID_NV = 0x400a,
	CL_DEVICE_TOPOLOGY_AMD = 0x4037,     /* cl_amd_device_attribute_query */
	CL_DEVICE_PCI_BUS_INFO_KHR = 0x410f, /* cl_khr_pci_bus_info */
	CL_LAYER_API_VERSION = 0x4240,
	CL_LAYER_NAME = 0x4241,
};

enum {
	CL_LAYER_API_VERSION_100 = 100,
	CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD = 1,
};

/* What CL_DEVICE_UUID_KHR, CL_DEVICE_PCI_BUS_INFO_KHR and CL_DEVICE_TOPOLOGY_AMD answer. */
typedef struct {
	uint8_t bytes[16];
} cl_device_uuid;

typedef struct {
	cl_uint domain;
	cl_uint bus;
	cl_uint device;
	cl_uint function;
} cl_device_pci_bus_info;

typedef struct {
	cl_uint type;
	uint8_t unused[17];
	uint8_t bus;
	uint8_t device;
	uint8_t function;
} cl_device_topology_amd;

#endif
