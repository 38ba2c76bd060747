/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings: what analyses return and what text, JSON and other outputs render. Nothing is computed
 * twice for two outputs; renderers only format, shorten and take percentages.
 *
 *     findings ─┬─ finding ─┬─ sentences    what a person should know, each with its severity
 *               │           ├─ tables       typed columns: nanoseconds, bytes, counts, text
 *               │           └─ evidence     events that prove it: (track, start)
 *               ├─ finding ...
 *               └─ diagnosis ── problems    what is wrong, the most costly first, each with its remedy
 *
 * A column marked MR_COLUMN_BREAKDOWN divides a whole: its rows sum to the whole exactly (asserted in
 * debug builds). Times are trace-clock nanoseconds.
 *
 * Everything lives in the findings' region and is freed with it. Analyses are pure functions from
 * model to findings. Without memory the builders return NULL or -ENOMEM.
 */
#ifndef MR_ANALYSIS_FINDING_H
#define MR_ANALYSIS_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/vector.h"

enum mr_severity {
	MR_SEVERITY_FINE,
	MR_SEVERITY_NOTE,    /* good to know when reading the numbers */
	MR_SEVERITY_WARNING, /* something is missing or uncertain */
};

enum mr_unit {
	MR_UNIT_TEXT,
	MR_UNIT_COUNT,
	MR_UNIT_NS,
	MR_UNIT_BYTES,
	MR_UNIT_BYTES_PER_SECOND,
	MR_UNIT_PERMILLE,
	MR_UNIT_THOUSANDTHS, /* a mean of counts, times 1000 */
	MR_UNIT_NUMBER,      /* a name that is a number: pid, id; never grouped or summed */
};

enum mr_column_flags {
	MR_COLUMN_BREAKDOWN = 1 << 0, /* rows sum to table->wholes of the column */
	MR_COLUMN_SUM = 1 << 1,       /* rows may be added up, to no particular whole */
	MR_COLUMN_SPARE = 1 << 2,     /* left out of a text that is too wide */
	MR_COLUMN_RARE = 1 << 3,      /* left out of a text where all are 0 */
	MR_COLUMN_DATA = 1 << 4,      /* left out of all texts */
	MR_COLUMN_BAR = 1 << 5,       /* of permille: texts draw it, too */
	MR_COLUMN_TELLING = 1 << 6,   /* in texts even if it is the same in all rows */
	MR_COLUMN_PATH = 1 << 7,      /* of text: long and alike; spare ones make room for it */
	MR_COLUMN_REPEATS = 1 << 8,   /* left out of a text that shows the column before twice */
};

struct mr_finding_column {
	const char *key;   /* in JSON */
	const char *title; /* for people */
	enum mr_unit unit;
	uint32_t flags;
};

/* A value of a column; MR_NO_VALUE where a number is not known. */
union mr_value {
	const char *text;
	int64_t number;
};

#define MR_NO_VALUE INT64_MIN

struct mr_finding_table {
	const char *id;
	const char *title;
	const struct mr_finding_column *columns; /* static */
	uint32_t column_count;
	uint32_t row_count;
	union mr_value *values; /* row by row */
	int64_t *wholes;        /* by column; 0 where it is no breakdown */
	bool is_repetition;     /* says what the table before it says: texts leave it out */
	uint32_t brief_rows;    /* a brief text shows no more; 0: as many as of any table */
};

struct mr_sentence {
	enum mr_severity severity;
	const char *text;
};

struct mr_evidence {
	const char *what;
	uint32_t track; /* of the model; MR_NO_TRACK: nobody knows where, pid and tid are 0 */
	uint32_t pid;
	uint32_t tid; /* 0: a queue of a device */
	int64_t start_ns;
	int64_t duration_ns;
};

struct mr_finding {
	const char *id;
	const char *title;
	enum mr_severity severity; /* of its gravest sentence */
	mr_vec(struct mr_sentence) sentences;
	mr_vec(struct mr_finding_table *) tables;
	mr_vec(struct mr_evidence) evidence;
	bool is_proved_before; /* its evidence is that of a finding before it: texts leave it out */
};

enum mr_confidence {
	MR_CONFIDENCE_POSSIBLE, /* it looks like this; another reason would look the same */
	MR_CONFIDENCE_LIKELY,
	MR_CONFIDENCE_SURE, /* the trace has each moment of it */
};

/* What is wrong with the program, in the words of its field (doc/problems.md). */
struct mr_problem {
	const char *key;
	const char *title;
	int64_t outside_ns; /* if not 0: what it costs, of the time before; time_ns is the same then */
	int64_t time_ns; /* that it costs, of the diagnosis' whole_ns; no other problem has it, too */
	int64_t rank_ns;  /* the larger, the earlier it is shown */
	const char *cost; /* in words, if it is not time that matters: "16.0 MiB a step"; or NULL */
	const char *where;  /* operation, line, file, role of a thread, process; "" if nowhere */
	const char *why;    /* a sentence or two */
	const char *remedy; /* what to do, in the syntax of the framework */
	enum mr_confidence confidence;
	bool is_urgent;  /* it endangers the run itself: shown first, whatever it costs */
	bool is_verdict; /* no fault, but what the time is: the device is the limit, nothing found */
	mr_vec(struct mr_evidence) evidence;
};

/* What was looked at for problems: the steps, or all of the time if there are none. */
struct mr_diagnosis {
	const char *of;                     /* "steps", "run" or "part" */
	int64_t whole_ns;                   /* NULL and 0: nothing was looked at */
	const char *process;                /* whose threads: "process 812 'python3.11'"; or NULL */
	mr_vec(struct mr_problem) problems; /* the most costly first */
};

struct mr_findings {
	mr_vec(struct mr_finding *) list;
	struct mr_diagnosis diagnosis;
	struct mr_region region;
};

void mr_findings_free(struct mr_findings *findings);

struct mr_finding *mr_findings_add(struct mr_findings *findings, const char *id, const char *title);

int mr_finding_say(struct mr_findings *findings, struct mr_finding *finding,
		   enum mr_severity severity, const char *format, ...) mr_printf_format(4, 5);

/* A table of zeroed rows, to be filled in through mr_finding_value(). */
struct mr_finding_table *mr_finding_add_table(struct mr_findings *findings,
					      struct mr_finding *finding, const char *id,
					      const char *title,
					      const struct mr_finding_column *columns,
					      uint32_t column_count, uint32_t row_count);

static inline union mr_value *mr_finding_value(const struct mr_finding_table *table, uint32_t row,
					       uint32_t column)
{
	return &table->values[(size_t)row * table->column_count + column];
}

int mr_finding_prove(struct mr_finding *finding, struct mr_evidence evidence);

/* By id; NULL if there is none. */
struct mr_finding *mr_findings_find(const struct mr_findings *findings, const char *id);
const struct mr_finding_table *mr_findings_find_table(const struct mr_findings *findings,
						      const char *finding, const char *table);

/* The column of that key, which the table has. */
uint32_t mr_finding_column(const struct mr_finding_table *table, const char *key);

/* Asserts that breakdowns sum to their wholes. */
void mr_finding_check(const struct mr_finding_table *table);

/* Rounded; MR_NO_VALUE where there is no whole. */
static inline int64_t mr_permille(int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)(((__int128)part * 1000 + whole / 2) / whole) : MR_NO_VALUE;
}

/* "fine", "note", "warning" */
const char *mr_severity_name(enum mr_severity severity);

/* "possible", "likely", "sure" */
const char *mr_confidence_name(enum mr_confidence confidence);

#endif
