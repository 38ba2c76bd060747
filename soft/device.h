/* SPDX-License-Identifier: Apache-2.0
 *
 * The software GPU: a TensorFlow device of the type XPU whose memory, copies, events and kernels
 * are OpenCL's, run by PoCL on the CPU. TensorFlow loads it by TF_PLUGGABLE_DEVICE_LIBRARY_PATH
 * and believes in it; a tracer sees a real accelerator at work.
 *
 *     TensorFlow ── platform.c ──► memory.c, copies.c, streams.c ──┐
 *         │                                                        ├──► opencl.c ──► OpenCL loader ──► PoCL
 *         └──────── ops.c ───────► one file per family of ops,     │
 *                                  call.c, layout.c, launch.c ─────┘
 *
 * Environment, read once:
 *
 *     MILLRACE_SOFT_DEVICES=N      N devices, each an equal part of the CPU's threads; else 1
 *     MILLRACE_SOFT_MEMORY_MB=N    what TensorFlow is told that each device has; else 1024
 *
 * Whatever fails is told through TF_Status, which is TensorFlow's own way. Everything here may be
 * called by any thread; devices live as long as the process.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* TensorFlow's headers use these without including them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tensorflow/c/experimental/stream_executor/stream_executor.h>
#include <tensorflow/c/tf_status.h>

#define MR_DEVICE_TYPE "XPU"

struct mr_device {
	cl_device_id id;
	cl_command_queue queue; /* for the copies that block */
	char name[128];
	int64_t memory_bytes; /* what TensorFlow may use */
	_Atomic int64_t used_bytes;
};

/* A stream is a queue that keeps its order. */
struct SP_Stream_st {
	struct mr_device *device;
	cl_command_queue queue;
	SP_Stream next; /* all streams, see streams.c */
};

/* Number of devices; 0 where there is no PoCL. The first call finds them. */
int mr_devices_count(void);
struct mr_device *mr_device_at(int ordinal);

/* One context for all devices, so that one can copy to another. */
cl_context mr_opencl_context(void);

/* All of kernels/, built. NULL when it could not be, with the compiler's words in the status. */
cl_program mr_opencl_program(TF_Status *status);

/* True if the result is an error, which then stands in the status. */
bool mr_opencl_failed(TF_Status *status, cl_int result, const char *call);

/* Where an address that TensorFlow holds for device memory lies. */
struct mr_place {
	cl_mem buffer;
	size_t offset_bytes;
};

/* False, and told in the status, if it is not an address of ours. NULL is no buffer, and is
 * found. */
bool mr_memory_find(const void *address, struct mr_place *ret_place, TF_Status *status);

/* Each fills in its part of the table of functions. */
void mr_memory_describe(SP_StreamExecutor *executor);
void mr_copies_describe(SP_StreamExecutor *executor);
void mr_streams_describe(SP_StreamExecutor *executor);

/* Copies within and between devices, behind what the stream already has to do. */
void mr_copy_on_device(SP_Stream stream, void *destination, const void *source, uint64_t size_bytes,
		       TF_Status *status);
