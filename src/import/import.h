/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads traces of other tools as if millrace had recorded them; files may be compressed with gzip.
 *
 *     source ──► formats ──────────► a format's folder ──► builder, image ──► struct mr_trace
 *     bytes      whose they are      what they mean        packets in memory
 *
 * The trace lists what cannot be imported as damage, by kind, with its offset in the (uncompressed) file.
 */
#ifndef MR_IMPORT_IMPORT_H
#define MR_IMPORT_IMPORT_H

#include "trace/trace.h"

/* Opens PATH, whatever it is: a trace directory, as mr_trace_open() does, or another tool's trace. */
int mr_import_open(const char *path, struct mr_trace **ret_trace);

#endif
