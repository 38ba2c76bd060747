/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of the events of a Chrome trace, including the extensions of PyTorch's profiler (Kineto):
 *
 *     X  cat kernel, gpu_memcpy, gpu_memset    device operation on (args.device, args.stream)
 *     X  cat cuda_runtime, hip_runtime ...     runtime call, with args.correlation
 *     X  cat user_annotation, ProfilerStep#N   step N; also in the spellings of other tools
 *     X  cat cuda_sync                         what waits for what
 *     X  any other; B E; b e, S F              execution of the node of that name; its graph is the category
 *     i I R n T                                instant of a node; [memory] becomes memory
 *     C                                        counters
 *     s t f                                    message from s to t and f
 *     M                                        names of processes and threads
 *
 * Some events repeat information, and are not imported: flows from launches to operations (ac2g), annotations as
 * they appear on the device (gpu_user_annotation), and Kineto's own span (pids "Spans" and "Traces").
 *
 * Asynchronous intervals (b e) of one category and id nest, so each id has a thread of its own.
 *
 * The process that launched a device operation records it, because correlations are valid in one process only. In a
 * file with several processes that is the one that has a call with this correlation; if several have one, the
 * operation stays uncorrelated.
 *
 *     kineto.c           what an event means by its phase, and intervals, instants, counters, messages
 *     kineto_names.c     threads, nodes and names
 *     kineto_device.c    runtime calls and device operations
 *     kineto_launches.c  which process owns each operation, once everything is read
 *     kineto_memory.c    memory, and what was there before
 *     kineto_shapes.c    inputs of operators
 *     kineto_waits.c     which operations and calls wait for which
 */
#ifndef MR_IMPORT_CHROME_KINETO_H
#define MR_IMPORT_CHROME_KINETO_H

#include "import/chrome/chrome.h"
#include "import/formats.h"
#include "import/step_marks.h"

struct mr_kineto_device_name {
	uint64_t number;
	uint32_t name;         /* string */
	uint64_t memory_bytes; /* 0: not said */
};

/* The thread that a pid and tid, as they are written, mean. */
struct mr_kineto_place {
	char text[64]; /* pid, tid */
	size_t pid_length;
	size_t tid_length; /* 0: none yet */
	uint32_t thread;
};

/* When and where something lasted. */
struct mr_kineto_interval {
	uint32_t thread;
	int64_t start_ns;
	int64_t end_ns; /* not before its start */
};

/* What an allocator gave or got back (kineto_memory.h). */
struct mr_kineto_memory {
	int64_t ns;
	int64_t bytes;     /* negative: got back */
	int64_t allocated; /* totals; -1: not known */
	int64_t reserved;
	uint64_t address; /* 0: not known */
	uint64_t device;  /* PyTorch's number */
	uint64_t order;   /* in the file */
	uint32_t thread;
	bool is_host;
};

struct mr_kineto_stream {
	uint64_t device;
	uint64_t number;
};

/* Who waits for what was launched on a stream up to a correlation (kineto_waits.h). */
struct mr_kineto_wait {
	int64_t ns;
	uint64_t correlation; /* of the call */
	uint64_t until;
	struct mr_kineto_stream awaited;
	struct mr_kineto_stream waiting;
	bool is_of_stream; /* a stream waits, and not the call */
};

struct mr_kineto {
	struct mr_chrome_reader reader; /* first: its callbacks get this */
	struct mr_import *import;
	struct mr_builder *builder; /* the import's */
	mr_vec(struct mr_kineto_device_name) device_names;
	mr_vec(struct mr_kineto_device_name) device_labels; /* "GPU 0" */
	struct mr_step_marks marks;
	mr_vec(struct mr_kineto_memory) memory;
	mr_vec(struct mr_kineto_wait) waits;
	mr_vec(uint64_t) queries;    /* correlations of calls that only ask, and do not wait */
	mr_vec(char) scratch;        /* for a text while it is made */
	struct mr_kineto_place last; /* of the last event, as they come in runs */
	uint32_t last_category;      /* string, likewise */
	bool has_fractions;          /* of microseconds */
	bool has_calls;
	bool has_several_callers; /* processes */
	uint32_t first_caller;    /* thread of the first call */
};

/* Counts an event that cannot be imported. 0 or -ENOMEM. */
static inline int mr_kineto_refuse(struct mr_kineto *kineto, const struct mr_chrome_event *event,
				   const char *reason)
{
	return mr_import_faults_add(&kineto->import->faults, reason, event->offset, event->bytes);
}

void mr_kineto_start(struct mr_kineto *kineto, struct mr_import *import);
void mr_kineto_free(struct mr_kineto *kineto);

/* When everything is read: gives the operations to the processes that launched them, and devices
 * their names. */
int mr_kineto_complete(struct mr_kineto *kineto);

#endif
