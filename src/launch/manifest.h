/* SPDX-License-Identifier: Apache-2.0
 *
 * manifest.json: what was recorded and how it ended, for people and programs. The recorder writes it when the
 * recording starts (state "recording") and again, as a whole, when it ends. doc/json.md documents the fields.
 */
#ifndef MR_LAUNCH_MANIFEST_H
#define MR_LAUNCH_MANIFEST_H

#include <jansson.h>

#include "kernel/collector.h"
#include "launch/directory.h"
#include "launch/drain.h"

struct mr_session_options;

/* What is known before the program starts: of the levels asked for, `levels` are recorded. NULL without
 * memory. */
json_t *mr_manifest_new(const struct mr_session_options *options, const char *program,
			uint32_t levels);

/* How the kernel level goes. `status` NULL: it is off; then or when it is degraded, `why` says why. */
void mr_manifest_set_kernel(json_t *manifest, const struct mr_kernel_status *status,
			    const char *why);

/* Reads the manifest of an interrupted recording; NULL if it cannot be read. */
json_t *mr_manifest_load(const struct mr_directory *directory);

/* Adds what is known at the end: "complete", "stopped", "snapshot" or "recovered". */
void mr_manifest_finish(json_t *manifest, const char *state, const struct mr_drain *drain);

/* From the program's start to the end of the last traced process, in ticks of the user clock. An end of 0: not yet. */
void mr_manifest_set_window(json_t *manifest, uint64_t from_ticks, uint64_t to_ticks);

/* Who records, and how much CPU time that took since the program's start. */
void mr_manifest_set_recorder(json_t *manifest, uint64_t cpu_ns);

/* How the program ended, from a wait status, and how long it ran. */
void mr_manifest_set_exit(json_t *manifest, int wait_status, uint64_t duration_ns);

/* Marks a recording whose end is lost, unless it is already marked as ended. */
void mr_manifest_set_lost(json_t *manifest, const char *reason);

int mr_manifest_write(json_t *manifest, const struct mr_directory *directory);

#endif
