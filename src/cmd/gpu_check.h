/* SPDX-License-Identifier: Apache-2.0
 *
 * `millrace doctor --gpu-check`: records a program whose launches are known, and compares the trace with them. It shows on a
 * machine with a GPU what tests on stand-ins cannot (doc/cuda.md).
 *
 *     millrace doctor --gpu-check ── records ──► millrace doctor --gpu-program
 *              └── loads the trace, runs a statement of SQL for each check
 */
#ifndef MR_CMD_GPU_CHECK_H
#define MR_CMD_GPU_CHECK_H

/* Copies to the device, launches on two streams of which the second waits for the first, copies back. Uses only libcuda,
 * which it loads. An exit status. (gpu_program.c) */
int mr_gpu_program(void);

enum {
	MR_GPU_NO_CUDA = 77,    /* exit status: there is no libcuda, or no GPU */
	MR_GPU_LAUNCHES = 32,   /* on each stream */
	MR_GPU_BYTES = 1 << 20, /* of each copy */
};

/* Prints what is as it should be and what is not; an exit status, or a negative errno. (gpu_check.c) */
int mr_gpu_check(void);

#endif
