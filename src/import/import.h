/* SPDX-License-Identifier: Apache-2.0
 *
 * Other tools' traces, as if millrace had recorded them: PyTorch's profiler (Kineto) and whatever else
 * writes the Chrome trace event format, plain or gzip.
 *
 *     source ──► chrome, json ──► kineto ──────────► builder, image ──► struct mr_trace
 *     bytes      events           what they mean     packets in memory
 *
 * Times are the file's own, exact to the nanosecond, and its clock is the trace clock. What cannot be
 * imported is listed as damage of the trace, kind by kind, with its place in the (uncompressed) text.
 */
#ifndef MR_IMPORT_IMPORT_H
#define MR_IMPORT_IMPORT_H

#include "trace/trace.h"

/* Opens PATH, whatever it is: a trace directory, as mr_trace_open() does, or another tool's file. */
int mr_import_open(const char *path, struct mr_trace **ret_trace);

#endif
