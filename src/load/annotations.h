/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows from events that programs and frameworks record through millrace's own API (include/millrace.h): executions,
 * steps, memory, messages, counters; and intervals that were still open when a thread or the recording ended.
 */
#ifndef MR_LOAD_ANNOTATIONS_H
#define MR_LOAD_ANNOTATIONS_H

#include "load/loader.h"

/* Adds what such an event says; others say nothing. */
int mr_annotations_add(struct mr_loader *loader, const struct mr_event *event);

#endif
