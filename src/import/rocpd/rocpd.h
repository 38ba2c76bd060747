/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of rocprofv3 in SQLite (rocpd, its default since ROCm 7). A file may hold several recordings; the tables of one
 * have its name as suffix (`_UUID` below):
 *
 *     rocpd_region_UUID           calls of HIP and HSA, and ranges and marks of roctx; as what is its event's category
 *     rocpd_kernel_dispatch_UUID  device kernels with grid and group, on (agent, stream)
 *     rocpd_memory_copy_UUID      copies
 *     rocpd_event_UUID            stack_id ties an operation to the call that launched it
 *     rocpd_info_..._UUID         processes, threads, agents, symbols of device kernels
 *     rocpd_string_UUID           texts
 *
 * Newer versions keep times in a table of their own (rocpd_timestamp_UUID), and where something happened in another
 * (rocpd_track_UUID). One statement a table joins what belongs together, and gives both versions the same columns.
 */
#ifndef MR_IMPORT_ROCPD_ROCPD_H
#define MR_IMPORT_ROCPD_ROCPD_H

#include "import/database.h"
#include "import/step_marks.h"

struct mr_rocpd {
	struct mr_import *import;
	struct mr_builder *builder; /* the import's */
	sqlite3 *database;
	const char *suffix;             /* of the recording that is read */
	bool has_tracks;                /* it is of the newer version */
	mr_vec(uint32_t) first_threads; /* by process: that made a call; UINT32_MAX: none */
	struct mr_step_marks marks;
};

/* Reads one recording. 0 or a negative errno. */
int mr_rocpd_read(struct mr_rocpd *rocpd);

#endif
