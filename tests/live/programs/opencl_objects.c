/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_objects: all calls of OpenCL that make, query and release objects: platforms, devices,
 * contexts, memory, samplers, programs, kernels; with right and with wrong arguments. See
 * opencl_say.h.
 */
#include "opencl_say.h"

static const char source[] = "kernel void add(global int *data, int value)\n"
			     "{\n"
			     "	data[get_global_id(0)] += value;\n"
			     "}\n"
			     "kernel void nothing(void)\n"
			     "{\n"
			     "}\n";
static const char *const sources[] = {source};
static struct notes notes;

static void CL_CALLBACK context_gone(cl_context context, void *data)
{
	(void)context;
	notes_take(&notes, "context gone", *(int *)data);
}

static void CL_CALLBACK memory_gone(cl_mem memory, void *data)
{
	(void)memory;
	notes_take(&notes, "memory gone", *(int *)data);
}

static void CL_CALLBACK program_done(cl_program program, void *data)
{
	(void)program;
	notes_take(&notes, "program done", *(int *)data);
}

static void platforms(const struct setting *setting)
{
	cl_uint number = UNTOUCHED;
	CALL(clGetPlatformIDs, 0, NULL, &number);
	printf("  platforms: %u\n", number);
	CALL(clGetPlatformIDs, 0, NULL, NULL);
	SHOW_TEXT(clGetPlatformInfo, CL_PLATFORM_NAME, setting->platform);
	SHOW_TEXT(clGetPlatformInfo, CL_PLATFORM_VERSION, setting->platform);
	SHOW(clGetPlatformInfo, 0x1, setting->platform);
	CALL(clGetDeviceIDs, setting->platform, CL_DEVICE_TYPE_ALL, 0, NULL, &number);
	printf("  devices: %u\n", number);
	CALL(clGetDeviceIDs, setting->platform, 0, 0, NULL, &number);
	CALL(clGetDeviceIDs, setting->platform, CL_DEVICE_TYPE_ALL, 0, NULL, NULL);
	CALL(clUnloadPlatformCompiler, setting->platform);
	CALL(clUnloadCompiler);
	__auto_type address =
		clGetExtensionFunctionAddressForPlatform(setting->platform, "clNoSuch");
	printf("clGetExtensionFunctionAddressForPlatform : pointer %s\n",
	       address ? "made" : "null");
	address = clGetExtensionFunctionAddress("clNoSuch");
	printf("clGetExtensionFunctionAddress : pointer %s\n", address ? "made" : "null");
}

static void devices(const struct setting *setting)
{
	cl_device_id device = setting->device;
	SHOW_TEXT(clGetDeviceInfo, CL_DEVICE_NAME, device);
	SHOW(clGetDeviceInfo, CL_DEVICE_TYPE, device);
	SHOW(clGetDeviceInfo, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, device);
	SHOW(clGetDeviceInfo, CL_DEVICE_SVM_CAPABILITIES, device);
	SHOW(clGetDeviceInfo, CL_DEVICE_REFERENCE_COUNT, device);
	SHOW(clGetDeviceInfo, 0x1, device);
	CALL(clRetainDevice, device);
	CALL(clReleaseDevice, device);
	cl_ulong times[2] = {UNTOUCHED, UNTOUCHED};
	CALL(clGetHostTimer, device, &times[0]);
	CALL(clGetDeviceAndHostTimer, device, &times[0], &times[1]);

	const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	const cl_device_partition_property wrong[] = {CL_DEVICE_PARTITION_EQUALLY, 100000, 0};
	cl_device_id sub_devices[16];
	cl_uint number = 0;
	CALL(clCreateSubDevices, device, wrong, 16, sub_devices, &number);
	if (CALL(clCreateSubDevices, device, parts, 16, sub_devices, &number) != CL_SUCCESS)
		return;
	printf("  parts: %u\n", number);
	SHOW(clGetDeviceInfo, CL_DEVICE_REFERENCE_COUNT, sub_devices[0]);
	SHOW_SAME(device, clGetDeviceInfo, CL_DEVICE_PARENT_DEVICE, sub_devices[0]);
	CALL(clRetainDevice, sub_devices[0]);
	SHOW(clGetDeviceInfo, CL_DEVICE_REFERENCE_COUNT, sub_devices[0]);
	CALL(clReleaseDevice, sub_devices[0]);
	for (cl_uint i = 0; i < number; i++)
		CALL(clReleaseDevice, sub_devices[i]);
}

static void contexts(const struct setting *setting)
{
	int first = 1, second = 2;
	const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
						    (cl_context_properties)setting->platform, 0};
	MAKE(clCreateContext, NULL, 0, NULL, NULL, NULL);
	MAKE(clCreateContextFromType, properties, 0, NULL, NULL);
	cl_context context =
		MAKE(clCreateContextFromType, properties, CL_DEVICE_TYPE_ALL, NULL, NULL);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, context);
	SHOW(clGetContextInfo, CL_CONTEXT_NUM_DEVICES, context);
	SHOW_SAME(setting->device, clGetContextInfo, CL_CONTEXT_DEVICES, context);
	SHOW(clGetContextInfo, 0x1, context);
	CALL(clSetContextDestructorCallback, context, context_gone, &first);
	CALL(clSetContextDestructorCallback, context, context_gone, &second);
	CALL(clSetContextDestructorCallback, context, NULL, NULL);
	CALL(clRetainContext, context);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, context);
	cl_command_queue queue = MAKE(clCreateCommandQueue, context, setting->device, 0);
	cl_mem buffer = MAKE(clCreateBuffer, context, 0, 64, NULL);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, context);
	CALL(clReleaseMemObject, buffer);
	CALL(clReleaseCommandQueue, queue);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, context);
	CALL(clReleaseContext, context);
	CALL(clReleaseContext, context);
	notes_print(&notes, 2);
}

static void buffers(const struct setting *setting)
{
	static int host_data[64];
	int first = 1, second = 2, part = 3;
	cl_context context = setting->context;
	MAKE(clCreateBuffer, context, 0, 0, NULL);
	MAKE(clCreateBuffer, context, CL_MEM_USE_HOST_PTR, 64, NULL);
	cl_mem host =
		MAKE(clCreateBuffer, context, CL_MEM_USE_HOST_PTR, sizeof host_data, host_data);
	SHOW(clGetMemObjectInfo, CL_MEM_FLAGS, host);
	SHOW_SAME(host_data, clGetMemObjectInfo, CL_MEM_HOST_PTR, host);
	CALL(clReleaseMemObject, host);

	cl_mem buffer =
		MAKE(clCreateBufferWithProperties, context, NULL, CL_MEM_READ_ONLY, 4096, NULL);
	const cl_buffer_region region = {1024, 512}, outside = {4096, 512};
	MAKE(clCreateSubBuffer, buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside);
	cl_mem sub_buffer = MAKE(clCreateSubBuffer, buffer, CL_MEM_READ_ONLY,
				 CL_BUFFER_CREATE_TYPE_REGION, &region);
	SHOW(clGetMemObjectInfo, CL_MEM_SIZE, sub_buffer);
	SHOW(clGetMemObjectInfo, CL_MEM_OFFSET, sub_buffer);
	SHOW(clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, sub_buffer);
	SHOW_SAME(buffer, clGetMemObjectInfo, CL_MEM_ASSOCIATED_MEMOBJECT, sub_buffer);
	SHOW(clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, buffer);
	SHOW(clGetMemObjectInfo, 0x1, buffer);
	CALL(clSetMemObjectDestructorCallback, buffer, memory_gone, &first);
	CALL(clSetMemObjectDestructorCallback, buffer, memory_gone, &second);
	CALL(clSetMemObjectDestructorCallback, buffer, NULL, NULL);
	CALL(clSetMemObjectDestructorCallback, sub_buffer, memory_gone, &part);
	CALL(clRetainMemObject, buffer);
	CALL(clReleaseMemObject, buffer);
	CALL(clReleaseMemObject, buffer); /* its part keeps it alive */
	notes_print(&notes, 0);
	CALL(clReleaseMemObject, sub_buffer);
	notes_print(&notes, 3);
	MAKE(clCreatePipe, context, 0, 4, 16, NULL);
}

static void images(const struct setting *setting)
{
	cl_context context = setting->context;
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8}, wrong = {CL_RGBA, 0};
	const cl_image_desc shape = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 8};
	cl_uint number = 0;
	CALL(clGetSupportedImageFormats, context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
	     &number);
	printf("  formats: %u\n", number);
	MAKE(clCreateImage, context, 0, &wrong, &shape, NULL);
	cl_mem image = MAKE(clCreateImage, context, 0, &format, &shape, NULL);
	SHOW(clGetImageInfo, CL_IMAGE_WIDTH, image);
	SHOW(clGetImageInfo, CL_IMAGE_ELEMENT_SIZE, image);
	SHOW(clGetImageInfo, 0x1, image);
	SHOW(clGetMemObjectInfo, CL_MEM_TYPE, image);
	SHOW(clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT, image);
	CALL(clReleaseMemObject, image);
	image = MAKE(clCreateImageWithProperties, context, NULL, 0, &format, &shape, NULL);
	if (image)
		CALL(clReleaseMemObject, image);
	image = MAKE(clCreateImage2D, context, 0, &format, 16, 8, 0, NULL);
	CALL(clReleaseMemObject, image);
	image = MAKE(clCreateImage3D, context, 0, &format, 16, 8, 4, 0, 0, NULL);
	CALL(clReleaseMemObject, image);
	SHOW(clGetPipeInfo, CL_PIPE_PACKET_SIZE, (cl_mem)NULL);
}

static void samplers(const struct setting *setting)
{
	const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, 0};
	cl_sampler sampler = MAKE(clCreateSampler, setting->context, CL_FALSE, CL_ADDRESS_CLAMP,
				  CL_FILTER_NEAREST);
	CALL(clRetainSampler, sampler);
	SHOW(clGetSamplerInfo, CL_SAMPLER_REFERENCE_COUNT, sampler);
	CALL(clReleaseSampler, sampler);
	CALL(clReleaseSampler, sampler);
	sampler = MAKE(clCreateSamplerWithProperties, setting->context, properties);
	if (sampler)
		CALL(clReleaseSampler, sampler);
	CALL(clReleaseSampler, NULL);
}

/* Some runtimes do not have these functions at all, so only what is in the table is called. */
static void shared_memory(const struct setting *setting)
{
	void *memory = clSVMAlloc(setting->context, CL_MEM_READ_WRITE, 4096, 0);
	printf("clSVMAlloc : pointer %s\n", memory ? "made" : "null");
	clSVMFree(setting->context, memory);
	printf("clSVMFree : nothing\n");
	memory = clSVMAlloc(setting->context, CL_MEM_READ_WRITE, 0, 0);
	printf("clSVMAlloc : pointer %s\n", memory ? "made" : "null");
	clSVMFree(setting->context, NULL);
	printf("clSVMFree : nothing\n");
}

static void programs(const struct setting *setting)
{
	int done = 1, gone = 2;
	cl_context context = setting->context;
	cl_device_id device = setting->device;
	static const char *const broken[] = {"kernel void broken( {"};
	MAKE(clCreateProgramWithSource, context, 0, NULL, NULL);
	cl_program program =
		MAKE(clCreateProgramWithSource, context, 1, (const char **)broken, NULL);
	CALL(clBuildProgram, program, 1, &device, "", NULL, NULL);
	SHOW(clGetProgramBuildInfo, CL_PROGRAM_BUILD_STATUS, program, device);
	CALL(clReleaseProgram, program);

	program = MAKE(clCreateProgramWithSource, context, 1, (const char **)sources, NULL);
	SHOW(clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT, program);
	CALL(clBuildProgram, program, 1, &device, "", program_done, &done);
	notes_print(&notes, 1);
	SHOW(clGetProgramBuildInfo, CL_PROGRAM_BUILD_STATUS, program, device);
	SHOW_TEXT(clGetProgramInfo, CL_PROGRAM_KERNEL_NAMES, program);
	SHOW(clGetProgramInfo, CL_PROGRAM_NUM_KERNELS, program);
	CALL(clSetProgramReleaseCallback, program, program_done, &gone);
	CALL(clSetProgramSpecializationConstant, program, 1, sizeof done, &done);
	CALL(clRetainProgram, program);
	CALL(clReleaseProgram, program);

	cl_kernel kernels[2];
	cl_uint number = 0;
	CALL(clCreateKernelsInProgram, program, 0, NULL, &number);
	printf("  kernels: %u\n", number);
	CALL(clCreateKernelsInProgram, program, 2, kernels, NULL);
	SHOW(clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT, program);
	for (cl_uint i = 0; i < number; i++)
		CALL(clReleaseKernel, kernels[i]);
	CALL(clReleaseProgram, program);
}

static void compiled_programs(const struct setting *setting)
{
	cl_context context = setting->context;
	cl_device_id device = setting->device;
	cl_program program =
		MAKE(clCreateProgramWithSource, context, 1, (const char **)sources, NULL);
	CALL(clCompileProgram, program, 1, &device, "", 0, NULL, NULL, NULL, NULL);
	cl_program linked = MAKE(clLinkProgram, context, 1, &device, "", 1, &program, NULL, NULL);
	CALL(clReleaseProgram, program);
	size_t bytes = 0;
	cl_int status = UNTOUCHED;
	CALL(clGetProgramInfo, linked, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
	unsigned char *binary = calloc(1, bytes + 1);
	CALL(clGetProgramInfo, linked, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
	CALL(clReleaseProgram, linked);
	program = MAKE(clCreateProgramWithBinary, context, 1, &device, &bytes,
		       (const unsigned char **)&binary, &status);
	printf("  status: %d\n", status);
	free(binary);
	CALL(clBuildProgram, program, 1, &device, "", NULL, NULL);
	CALL(clReleaseProgram, program);
	MAKE(clCreateProgramWithBuiltInKernels, context, 1, &device, "no_such_kernel");
	MAKE(clCreateProgramWithIL, context, "not a program", 13);
}

static void kernels(const struct setting *setting)
{
	cl_kernel add = kernel_make(setting, source, "add");
	cl_mem buffer = MAKE(clCreateBuffer, setting->context, 0, 64, NULL);
	cl_int value = 1;
	SHOW_TEXT(clGetKernelInfo, CL_KERNEL_FUNCTION_NAME, add);
	SHOW(clGetKernelInfo, CL_KERNEL_NUM_ARGS, add);
	SHOW(clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT, add);
	CALL(clSetKernelArg, add, 0, sizeof buffer, &buffer);
	CALL(clSetKernelArg, add, 1, sizeof value, &value);
	CALL(clSetKernelArg, add, 2, sizeof value, &value);
	CALL(clSetKernelArg, add, 1, sizeof value + 1, &value);
	CALL(clSetKernelArgSVMPointer, add, 7, &value);
	CALL(clSetKernelExecInfo, add, 0x1, sizeof value, &value);
	SHOW(clGetKernelWorkGroupInfo, CL_KERNEL_LOCAL_MEM_SIZE, add, setting->device);
	SHOW_TEXT(clGetKernelArgInfo, CL_KERNEL_ARG_NAME, add, 1);
	size_t result = 0;
	CALL(clGetKernelSubGroupInfo, add, setting->device, 0x1, 0, NULL, sizeof result, &result,
	     NULL);
	CALL(clRetainKernel, add);
	SHOW(clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT, add);
	CALL(clReleaseKernel, add);
	cl_kernel copy = MAKE(clCloneKernel, add);
	if (copy)
		CALL(clReleaseKernel, copy);
	cl_program program = NULL;
	CALL(clGetKernelInfo, add, CL_KERNEL_PROGRAM, sizeof program, &program, NULL);
	MAKE(clCreateKernel, program, "no_such_kernel");
	CALL(clReleaseKernel, add);
	CALL(clReleaseMemObject, buffer);
}

/* Handles that are none, and outputs that are not wanted. */
static void nothing(const struct setting *setting)
{
	CALL(clRetainContext, NULL);
	CALL(clReleaseContext, NULL);
	CALL(clRetainMemObject, NULL);
	CALL(clReleaseMemObject, NULL);
	CALL(clRetainKernel, NULL);
	CALL(clReleaseKernel, NULL);
	CALL(clRetainProgram, NULL);
	CALL(clReleaseProgram, NULL);
	CALL(clRetainDevice, NULL);
	CALL(clReleaseDevice, NULL);
	CALL(clSetKernelArg, NULL, 0, 0, NULL);
	MAKE(clCreateBuffer, NULL, 0, 64, NULL);
	MAKE(clCreateSubBuffer, NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL);
	MAKE(clCreateKernel, NULL, "add");
	MAKE(clCloneKernel, NULL);
	cl_mem buffer = clCreateBuffer(setting->context, 0, 64, NULL, NULL);
	printf("clCreateBuffer : pointer %s\n", buffer ? "made" : "null");
	CALL(clReleaseMemObject, buffer);
}

int main(void)
{
	notes_begin(&notes);
	struct setting setting = setting_make();
	platforms(&setting);
	devices(&setting);
	contexts(&setting);
	buffers(&setting);
	images(&setting);
	samplers(&setting);
	shared_memory(&setting);
	programs(&setting);
	compiled_programs(&setting);
	kernels(&setting);
	nothing(&setting);
	SHOW(clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT, setting.context);
	CALL(clReleaseContext, setting.context);
	return 0;
}
