/* SPDX-License-Identifier: Apache-2.0
 *
 * A software AMD GPU. It replaces the library through which AMD's runtimes talk to the Linux driver (the thunk,
 * libhsakmt.so.1), so the real ROCr and HIP, and programs for them, run unchanged on a machine without a GPU.
 *
 *     program ─► libamdhip64 ─► libhsa-runtime64 ─► libhsakmt.so.1
 *     (real)     (real)         (real)              topology.c    a CPU and one or two GPUs, gfx900
 *                                                   memory.c      host memory, and a table of it
 *                                                   events.c      interrupts of the device
 *                                                   queues.c      a thread per hardware queue
 *                                                     ├ aql.c     packets: dispatches and barriers
 *                                                     │  └ kernels.c ─► items.c   a dispatch, item by item
 *                                                     └ sdma.c    commands of the copy engines
 *                                                   clock.c       100 MHz, from a zero of its own, with drift
 *                                                   log.c         what the device has executed
 *
 * Device kernels compute true results: softcc translates the device code of the same source for the CPU, and the
 * device finds the function by the kernel's name. A kernel without such a function ends without doing anything; the
 * log says so.
 *
 * It is a stand-in for tests and demonstrations: it models order, results and times, not speed. Operations of one
 * queue never overlap. Waves do not exist, so operations across the lanes of one are not possible.
 *
 *     LD_LIBRARY_PATH=build/soft/amd          has the runtime load it
 *     SOFT_AMD_KERNELS=lib.so:lib.so          what softcc made
 *     SOFT_AMD_LOG=file                       appends a line for each operation
 *     SOFT_AMD_COUNT=1                        GPUs, 16 at most
 *     SOFT_AMD_PPM=0                          parts in a million by which the device's clock runs fast
 *     SOFT_AMD_KERNEL_US=0                    how long a dispatch takes at least
 *     SOFT_AMD_COPY_MBPS=0                    how fast copies are at most; 0: no limit
 */
#ifndef SOFT_AMD_DEVICE_H
#define SOFT_AMD_DEVICE_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsakmt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SOFT_EXPORT __attribute__((visibility("default")))

enum {
	SOFT_GPUS = 16,
	SOFT_NAME_BYTES = 512,
};

/* ---- clock.c ---- */

/* Of the environment; read once, when the device is opened. */
struct soft_settings {
	uint32_t gpu_count;
	uint64_t kernel_ns;
	uint64_t copy_mbps;
};
extern struct soft_settings soft_settings;

void soft_settings_read(void);
uint64_t soft_ticks(void); /* of the device's clock */
uint64_t soft_now_ns(void);

/* Returns when so much time has passed since the start. */
void soft_pace(uint64_t start_ns, uint64_t duration_ns);

/* ---- events.c ---- */

/* An interrupt of the device. */
void soft_event_raise(uint32_t id);

/* ---- queues.c ---- */

struct soft_queue {
	uint32_t id;
	uint32_t node;
	char *ring;
	uint64_t bytes;
	volatile uint64_t *read_index;
	volatile uint64_t doorbell;
	volatile bool is_stopped;
	volatile uint64_t own_indices[2]; /* where the runtime brings none */
	amd_queue_t *aql;                 /* NULL: of a copy engine */
	pthread_t thread;
};

/* Lets some time pass; each time in a row a little more. A doorbell is a plain store, so nothing wakes us. */
void soft_idle(uint32_t *times);

static inline amd_signal_t *soft_signal(uint64_t handle)
{
	return (amd_signal_t *)handle;
}

static inline int64_t soft_signal_value(uint64_t handle)
{
	return __atomic_load_n(&soft_signal(handle)->value, __ATOMIC_ACQUIRE);
}

/* ---- aql.c, sdma.c: do what is due; false if there was nothing ---- */

bool soft_aql_step(struct soft_queue *queue);
bool soft_sdma_step(struct soft_queue *queue);

/* ---- kernels.c ---- */

struct soft_kernel {
	struct soft_kernel *next;
	uint64_t object; /* address of its descriptor on the device */
	char name[SOFT_NAME_BYTES];
	void (*run)(const void *arguments);                         /* one work item; NULL: none */
	void (*run_all)(const hsa_kernel_dispatch_packet_t *whole); /* or the whole grid */
	bool has_barrier;
};

/* The runtime's list of the code it has loaded, as debuggers read it. */
struct soft_code {
	uint64_t address;
	char *uri;
	void *unused;
	struct soft_code *next;
	struct soft_code *previous;
};

struct soft_code_list {
	int version;
	struct soft_code *first;
};

void soft_kernels_listed_by(const struct soft_code_list *list);
struct soft_kernel *soft_kernel_find(uint64_t object);

/* Memory is freed: kernels in it are no more. */
void soft_kernels_forget(const void *start, uint64_t bytes);

/* ---- own_kernels.c: what the runtimes themselves launch ---- */

/* Says what a kernel is that stands in no code object. */
const char *soft_own_kernel_name(uint64_t object);

/* The function for the whole grid, or NULL. */
void (*soft_own_kernel_find(const char *name))(const hsa_kernel_dispatch_packet_t *);

/* ---- items.c ---- */

void soft_run_items(const struct soft_kernel *kernel, const hsa_kernel_dispatch_packet_t *packet);

/* ---- log.c: lines "what process node queue start end bytes-or-items name" ---- */

void soft_log_open(void);
void soft_log(const char *what, const struct soft_queue *queue, uint64_t start, uint64_t end,
	      uint64_t amount, const char *name);

#endif
