/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of Nsight Systems in SQLite (`nsys export --type sqlite`, or the .sqlite beside a report):
 *
 *     CUPTI_ACTIVITY_KIND_RUNTIME, _DRIVER       calls of CUDA; their names end in a version, which is dropped
 *     CUPTI_ACTIVITY_KIND_KERNEL                 device kernels with grid and block, on (deviceId, streamId)
 *     CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET        copies and fills
 *     NVTX_EVENTS                                ranges as executions, marks as instants; steps by their names
 *     OSRT_API                                   functions of the C library that take long, as executions
 *     PROCESSES, ThreadNames, TARGET_INFO_GPU    names
 *     StringIds                                  texts, which the others refer to by number
 *
 * Times are nanoseconds since the session began. A global thread id has the process and the thread in its low 48 bits.
 */
#ifndef MR_IMPORT_NSYS_NSYS_H
#define MR_IMPORT_NSYS_NSYS_H

#include "import/database.h"
#include "import/step_marks.h"

struct mr_nsys_text {
	int64_t id;
	uint32_t string;
};

/* A thread, found by its global id. */
struct mr_nsys_thread {
	uint64_t global;
	uint32_t thread;
};

struct mr_nsys {
	struct mr_import *import;
	struct mr_builder *builder; /* the import's */
	sqlite3 *database;
	mr_vec(struct mr_nsys_text) texts; /* by id */
	mr_vec(uint32_t) first_threads;    /* by process: that made a call; UINT32_MAX: none */
	struct mr_nsys_thread last;        /* of the last row, as they come in runs */
	struct mr_step_marks marks;
	bool has_calls;
};

/* The number of a text in StringIds; 0 if there is none. */
uint32_t mr_nsys_string(const struct mr_nsys *nsys, sqlite3_stmt *rows, int column);

/* The thread of a global id. 0 or -ENOMEM. */
int mr_nsys_thread(struct mr_nsys *nsys, uint64_t global, uint32_t *ret_thread);

/* Each of these returns 0 or a negative errno. */
int mr_nsys_read_calls(struct mr_nsys *nsys);
int mr_nsys_read_operations(struct mr_nsys *nsys);
int mr_nsys_read_ranges(struct mr_nsys *nsys);

/* Calls `add` for each row of a table (mr_database_each). */
int mr_nsys_each(struct mr_nsys *nsys, const struct mr_database_table *table, mr_database_add *add);

#endif
