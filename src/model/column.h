/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of the model's columns. COLUMN(type, name, "description") in table.h gives each column one of
 * the types below. The model's own code sees plain integers; from the description of a column, generic code
 * (SQL, documentation) knows their meaning.
 *
 *     type                                          holds                                  none is
 *     uint8_t uint32_t uint64_t int64_t             a number
 *     time_ns                                       a time of the trace clock              MR_NO_TIME
 *     string graph node device queue file clock
 *     code site                                     an index of the definitions            0
 *     host process                                  an index of the survey's hosts, processes
 *     track                                         an index of the survey's tracks        MR_NO_TRACK
 *     system_call                                   the number of a system call
 *     cpu tid                                       a number that the kernel gave          UINT32_MAX
 *     bound_ns                                      how exact a time is                    UINT64_MAX
 *     ordinal truth                                 a number, 0 or 1                       all bits set
 *     size                                          bytes, where it is known how many      MR_NO_SIZE
 *     step_number                                   a step of the program                  MR_NO_STEP
 *     row_of(table)                                 a row of that table                    MR_NO_ROW
 *     one_of(enumeration)                           a value of enum mr_..., in a byte
 *     row_flags                                     bits of enum mr_row_flags              0
 */
#ifndef MR_MODEL_COLUMN_H
#define MR_MODEL_COLUMN_H

#include <stdint.h>

#include "schema/schema.h"

#define MR_NO_ROW  UINT32_MAX
#define MR_NO_TIME INT64_MIN /* a time that was not recorded */
#define MR_NO_SIZE UINT64_MAX
#define MR_NO_STEP UINT32_MAX

/* The run of all operations that a framework executes in advance, when it prepares a graph; of whatever function. */
#define MR_FOLDING_RUN UINT64_MAX

#define MR_NO_ORDINAL UINT32_MAX
#define MR_NO_TRUTH   UINT8_MAX

enum mr_meaning {
	MR_MEANS_number,
	MR_MEANS_time_ns,
	MR_MEANS_string,
	MR_MEANS_graph,
	MR_MEANS_node,
	MR_MEANS_device,
	MR_MEANS_queue,
	MR_MEANS_file,
	MR_MEANS_clock,
	MR_MEANS_code,
	MR_MEANS_site,
	MR_MEANS_host,
	MR_MEANS_process,
	MR_MEANS_track,
	MR_MEANS_system_call,
	MR_MEANS_known_number, /* or, with all bits set, one that is not known */
	MR_MEANS_row,
	MR_MEANS_enumeration,
	MR_MEANS_row_flags,
};

struct mr_column_desc {
	const char *name;
	uint32_t bytes; /* of one value */
	enum mr_meaning meaning;
	const char *of; /* the table that rows are of, or the enumeration; NULL of others */
	const char *doc;
	uint32_t offset; /* of the value in its row, where rows are structs */
};

/* The enumeration of that name, of the schema or of the model; NULL if there is none. */
const struct mr_enum_desc *mr_enum_find(const char *name);

/* The C type of each. */
#define MR_TYPE_uint8_t     uint8_t
#define MR_TYPE_uint32_t    uint32_t
#define MR_TYPE_uint64_t    uint64_t
#define MR_TYPE_int64_t     int64_t
#define MR_TYPE_time_ns     int64_t
#define MR_TYPE_string      uint32_t
#define MR_TYPE_graph       uint32_t
#define MR_TYPE_node        uint32_t
#define MR_TYPE_device      uint32_t
#define MR_TYPE_queue       uint32_t
#define MR_TYPE_file        uint32_t
#define MR_TYPE_clock       uint32_t
#define MR_TYPE_code        uint32_t
#define MR_TYPE_site        uint32_t
#define MR_TYPE_host        uint32_t
#define MR_TYPE_process     uint32_t
#define MR_TYPE_track       uint32_t
#define MR_TYPE_system_call uint32_t
#define MR_TYPE_cpu         uint32_t
#define MR_TYPE_tid         uint32_t
#define MR_TYPE_bound_ns    uint64_t
#define MR_TYPE_ordinal     uint32_t
#define MR_TYPE_truth       uint8_t
#define MR_TYPE_size        uint64_t
#define MR_TYPE_step_number uint32_t
#define MR_TYPE_row_of(of)  uint32_t
#define MR_TYPE_one_of(of)  uint8_t
#define MR_TYPE_row_flags   uint8_t

/* Meaning and `of` of each. */
#define MR_MEANING_uint8_t     MR_MEANS_number, NULL
#define MR_MEANING_uint32_t    MR_MEANS_number, NULL
#define MR_MEANING_uint64_t    MR_MEANS_number, NULL
#define MR_MEANING_int64_t     MR_MEANS_number, NULL
#define MR_MEANING_time_ns     MR_MEANS_time_ns, NULL
#define MR_MEANING_string      MR_MEANS_string, NULL
#define MR_MEANING_graph       MR_MEANS_graph, NULL
#define MR_MEANING_node        MR_MEANS_node, NULL
#define MR_MEANING_device      MR_MEANS_device, NULL
#define MR_MEANING_queue       MR_MEANS_queue, NULL
#define MR_MEANING_file        MR_MEANS_file, NULL
#define MR_MEANING_clock       MR_MEANS_clock, NULL
#define MR_MEANING_code        MR_MEANS_code, NULL
#define MR_MEANING_site        MR_MEANS_site, NULL
#define MR_MEANING_host        MR_MEANS_host, NULL
#define MR_MEANING_process     MR_MEANS_process, NULL
#define MR_MEANING_track       MR_MEANS_track, NULL
#define MR_MEANING_system_call MR_MEANS_system_call, NULL
#define MR_MEANING_cpu         MR_MEANS_known_number, NULL
#define MR_MEANING_tid         MR_MEANS_known_number, NULL
#define MR_MEANING_bound_ns    MR_MEANS_known_number, NULL
#define MR_MEANING_ordinal     MR_MEANS_known_number, NULL
#define MR_MEANING_truth       MR_MEANS_known_number, NULL
#define MR_MEANING_size        MR_MEANS_known_number, NULL
#define MR_MEANING_step_number MR_MEANS_known_number, NULL
#define MR_MEANING_row_of(of)  MR_MEANS_row, #of
#define MR_MEANING_one_of(of)  MR_MEANS_enumeration, #of
#define MR_MEANING_row_flags   MR_MEANS_row_flags, "row_flags"

#endif
