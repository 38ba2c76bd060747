/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the timeline as tables.def describes them.
 */
#ifndef MR_TIMELINE_TABLES_H
#define MR_TIMELINE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mr_column_desc;
struct mr_model;
struct mr_table;

enum mr_sliced {
#define TABLE(name, ...)   MR_SLICED_##name,
#define DERIVED(name, ...) MR_SLICED_##name,
#include "timeline/tables.def"
#undef TABLE
#undef DERIVED
	MR_SLICED_COUNT,
};

/* Groups of bands (bands.h). */
enum mr_group_kind {
	MR_GROUP_STEPS,
	MR_GROUP_PATH,
	MR_GROUP_DEVICE,
	MR_GROUP_PROCESS,
	MR_GROUP_COUNTERS,
	MR_GROUP_THREAD,
	MR_GROUP_MEMORY,
	MR_GROUP_CPUS,
};

/* What the colour of a slice follows from. */
enum mr_colours {
	MR_COLOURS_LABEL,    /* a hue for each label */
	MR_COLOURS_BUT_ZERO, /* likewise, but 0 has none */
	MR_COLOURS_CAUSE,    /* labels are causes */
	MR_COLOURS_STATE,    /* labels are states of threads and reasons */
	MR_COLOURS_TWO,      /* by turns, so that neighbours differ */
};

struct mr_sliced_desc {
	const char *name;
	bool is_derived;
	size_t offset; /* of the table in struct mr_model, unless it is derived */

	enum mr_group_kind group; /* in which its bands stand */
	bool is_late;             /* made when it is first looked at: it takes a while */
	bool is_of_program;       /* the program's own threads stamped it, with their clock */
	bool is_rare;             /* left out where a stretch of time is summed up */
	bool is_shaded_by_track;  /* the shade of a slice is its track, not how much it covers */

	const char *title;   /* of its bands; NULL: that of the track */
	const char *noun;    /* what one is called, or where there is no label, every one */
	const char *nouns;   /* what several are called */
	const char *label;   /* column; NULL: labels.c knows, or all are called alike */
	uint8_t lane_height; /* in pixels; 0: as high as text needs */
	enum mr_colours colours;
	const char *
		names; /* columns of reports whose texts name these slices; NULL: they are not searched */
	const char *report; /* FINDING.TABLE that says most of them, or NULL */
	const char *
		same; /* what is the same in a row of it and in a slice: "COLUMN=FIELD …"; NULL: nothing */
};

extern const struct mr_sliced_desc mr_sliced[MR_SLICED_COUNT];

static inline const char *mr_sliced_name(enum mr_sliced table)
{
	return mr_sliced[table].name;
}

/* False if there is none of that name. */
bool mr_sliced_find(const char *name, enum mr_sliced *ret_table);

/* Not of a derived one. */
static inline const struct mr_table *mr_sliced_table(const struct mr_model *model,
						     enum mr_sliced table)
{
	return (const void *)((const char *)model + mr_sliced[table].offset);
}

/* A column and its description; NULL if the table has none of that name. */
const void *mr_sliced_column(const struct mr_table *table, const char *name,
			     const struct mr_column_desc **ret_desc);

#endif
