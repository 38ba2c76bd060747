/* SPDX-License-Identifier: Apache-2.0
 *
 * The questions about a trace: the functions behind traces/0/NAME, each in the file that its comment names.
 * doc/viewer.md describes their parameters and answers.
 */
#ifndef MR_SERVE_ENDPOINTS_H
#define MR_SERVE_ENDPOINTS_H

#include "serve/answer.h"

/* NULL if there is none of that name. */
mr_answer_function *mr_endpoint_find(const char *name);

mr_answer_function mr_answer_trace;  /* trace_answer.c */
mr_answer_function mr_answer_slices; /* slices_answer.c */
mr_answer_function mr_answer_series; /* series_answer.c */

mr_answer_function mr_answer_row;         /* row_answer.c */
mr_answer_function mr_answer_at;          /* row_answer.c */
mr_answer_function mr_answer_label;       /* label_answer.c */
mr_answer_function mr_answer_histogram;   /* label_answer.c */
mr_answer_function mr_answer_next;        /* label_answer.c */
mr_answer_function mr_answer_find;        /* find_answer.c */
mr_answer_function mr_answer_steps;       /* steps_answer.c */
mr_answer_function mr_answer_step_causes; /* steps_answer.c */
mr_answer_function mr_answer_groups;      /* groups_answer.c */
mr_answer_function mr_answer_icicle;      /* icicle_answer.c */
mr_answer_function mr_answer_report;      /* report_answer.c */
mr_answer_function mr_answer_node;        /* node_answer.c */
mr_answer_function mr_answer_memory;      /* memory_answer.c */
mr_answer_function mr_answer_live;        /* memory_answer.c */

mr_answer_function mr_answer_graph;      /* graph_answer.c */
mr_answer_function mr_answer_graph_find; /* graph_find_answer.c */

#endif
