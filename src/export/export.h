/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace for other tools. Each format is a function; nothing is computed for it: it holds what `millrace query` shows.
 */
#ifndef MR_EXPORT_EXPORT_H
#define MR_EXPORT_EXPORT_H

#include <stdio.h>

#include "model/model.h"

/* Writes one file that Perfetto opens: tracks, slices, flows and counters. Rows at times before 0, which it has no place
 * for, are left out and counted. 0, or a negative errno with a cause. */
int mr_export_perfetto(const struct mr_model *model, FILE *file, uint64_t *ret_left_out);

/* Writes TABLE.parquet for each table of `millrace query` into a folder, which exists and is empty. Likewise. */
int mr_export_parquet(const struct mr_model *model, const char *folder);

#endif
