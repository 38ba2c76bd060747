/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots of a recording in progress. `millrace snapshot` leaves a request in the trace directory. The recorder
 * then writes NAME.mill/snapshot-N.mill beside its own files, a complete trace of everything recorded up to that
 * moment, and removes the request.
 */
#ifndef MR_LAUNCH_SNAPSHOT_H
#define MR_LAUNCH_SNAPSHOT_H

#include <stdbool.h>

#include "launch/directory.h"
#include "launch/drain.h"

/* Recorder's side: true if a snapshot is asked for. */
bool mr_snapshot_is_requested(const struct mr_directory *directory);

/* Recorder's side: makes snapshot number `number`. `manifest` is the recording's own. */
int mr_snapshot_make(const struct mr_directory *directory, struct mr_drain *drain,
		     const struct mr_metadata *metadata, const void *manifest, uint32_t number);

/* Asker's side: asks and waits. The new trace's path is the caller's to free. -EINVAL if nothing is being
 * recorded there, or no longer, -ETIMEDOUT if the recorder does not answer. */
int mr_snapshot_request(const char *trace, char **ret_path);

/* Moves a snapshot to another place, which must not exist. On failure it stays where it is. */
int mr_snapshot_move(const char *path, const char *to);

#endif
