/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work an operation is, by its name and the shapes of its inputs (formulas.def): floating-point operations, and
 * the bytes that it must at least read and write, each input and output once. Only what shapes say exactly is known.
 *
 * And what a device can do at most, by its name (device_limits.def).
 */
#ifndef MR_ANALYSIS_WORK_H
#define MR_ANALYSIS_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* By the type of the inputs. */
enum mr_precision {
	MR_PRECISION_OTHER,
	MR_PRECISION_8,
	MR_PRECISION_16,
	MR_PRECISION_32,
};

struct mr_work {
	uint64_t flops; /* 0: none, or not known */
	uint64_t bytes; /* likewise */
	enum mr_precision precision;
};

/* False if nothing is known. */
bool mr_work_of(const char *operation, const char *shapes, struct mr_work *ret_work);

/* 0: not known. */
struct mr_device_limit {
	const char *name;
	double vector_32; /* TFLOP/s without units for matrices */
	double matrix_32; /* with them */
	double matrix_16;
	double matrix_8;
	double gigabytes; /* per second */
};

/* NULL if the device is not known. */
const struct mr_device_limit *mr_device_limit_of(const char *device);

#endif
