/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs and frameworks tell in millrace's own words (include/millrace.h): executions, steps, memory, messages,
 * counters; and what was still open when a thread or the recording ended.
 */
#ifndef MR_LOAD_ANNOTATIONS_H
#define MR_LOAD_ANNOTATIONS_H

#include "load/loader.h"

/* Adds what such an event says; others say nothing. */
int mr_annotations_add(struct mr_loader *loader, const struct mr_event *event);

#endif
