/* SPDX-License-Identifier: Apache-2.0
 *
 * The software GPU: a TensorFlow device of the type XPU. Its memory, copies, events and device kernels
 * are OpenCL objects, which PoCL runs on the CPU. TensorFlow loads it through
 * TF_PLUGGABLE_DEVICE_LIBRARY_PATH and treats it like any accelerator, and so does a tracer.
 *
 *     TensorFlow ── platform.c ──► memory.c, copies.c, streams.c ──┐
 *         │                                                        ├──► opencl.c ──► OpenCL loader ──► PoCL
 *         └──────── ops.c ───────► one file per family of ops,     │
 *                                  call.c, layout.c, launch.c ─────┘
 *
 * Environment, read once:
 *
 *     MILLRACE_SOFT_DEVICES=N      N devices, each with an equal share of the CPU's threads; default 1
 *     MILLRACE_SOFT_MEMORY_MB=N    memory that each device reports to TensorFlow; default 1024
 *
 * Failures are reported through TF_Status, as usual in TensorFlow. Any thread may call any function;
 * devices live as long as the process.
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

/* A stream is an in-order queue. */
struct SP_Stream_st {
	struct mr_device *device;
	cl_command_queue queue;
	SP_Stream next; /* all streams, see streams.c */
};

/* Number of devices; 0 if there is no PoCL. The first call finds them. */
int mr_devices_count(void);
struct mr_device *mr_device_at(int ordinal);

/* One context for all devices, so that one can copy to another. */
cl_context mr_opencl_context(void);

/* The program built from all of kernels/. NULL if the build failed; the status holds the compiler's log. */
cl_program mr_opencl_program(TF_Status *status);

/* True if the result is an error; then sets the status. */
bool mr_opencl_failed(TF_Status *status, cl_int result, const char *call);

/* Buffer and offset of an address that TensorFlow uses for device memory. */
struct mr_place {
	cl_mem buffer;
	size_t offset_bytes;
};

/* False, with the status set, if it is not an address of ours. For NULL it returns true and no
 * buffer. */
bool mr_memory_find(const void *address, struct mr_place *ret_place, TF_Status *status);

/* Each function fills in its part of the function table. */
void mr_memory_describe(SP_StreamExecutor *executor);
void mr_copies_describe(SP_StreamExecutor *executor);
void mr_streams_describe(SP_StreamExecutor *executor);

/* Copies within and between devices, after the work already in the stream. */
void mr_copy_on_device(SP_Stream stream, void *destination, const void *source, uint64_t size_bytes,
		       TF_Status *status);
