/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the CTF 1.8 metadata (TSDL text) of a trace: packet layout, clocks and every event of the
 * schema.
 */
#ifndef MR_SCHEMA_METADATA_H
#define MR_SCHEMA_METADATA_H

#include <stdint.h>
#include <stdio.h>

/* How a CTF reader turns a clock's ticks into nanoseconds since the Unix epoch:
 *     offset_s * 1e9 + offset_ticks * 1e9 / frequency + ticks * 1e9 / frequency                   */
struct mr_metadata_clock {
	const char *description;
	uint64_t frequency;
	int64_t offset_s;
	uint64_t offset_ticks;
	uint64_t precision_ns; /* error bound of the result */
};

struct mr_metadata {
	uint8_t trace_uuid[16];
	const char *host;
	struct mr_metadata_clock user;      /* of MR_STREAM_USER */
	uint8_t user_clock;                 /* enum mr_trace_clock: tsc or monotonic */
	struct mr_metadata_clock monotonic; /* of MR_STREAM_KERNEL */
};

/* Returns 0, or -EIO if writing to the file fails. */
int mr_metadata_print(const struct mr_metadata *metadata, FILE *file);

#endif
