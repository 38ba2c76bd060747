/* SPDX-License-Identifier: Apache-2.0
 *
 * The formats of other tools that can be read. Each is one folder here and one row of formats.def:
 *
 *     head ──► sniff of every format ──► the surest one's read ──► builder   what it says
 *     (uncompressed)      │                                   └──► faults    what of it cannot be imported
 *                         └ none takes it: unread.h knows what it is, and what to do with it
 *
 * A format is chosen by the content of a file, never by its name. Files compressed with gzip are decompressed first.
 */
#ifndef MR_IMPORT_FORMATS_H
#define MR_IMPORT_FORMATS_H

#include "import/builder.h"
#include "import/faults.h"
#include "import/source.h"

/* What there is to recognise a format by. */
struct mr_head {
	const char *path;
	const uint8_t *bytes; /* how the file begins; none of a folder */
	size_t count;
	bool is_whole; /* the file ends here */
	bool is_folder;
};

/* How sure a format is that a file is its own. Of equally sure ones the first of formats.def reads it. */
enum mr_sniff {
	MR_SNIFF_NO,
	MR_SNIFF_MAYBE, /* as far as it goes: any JSON may become a trace */
	MR_SNIFF_SURE,
};

/* One file that is being imported. */
struct mr_import {
	const char *path;
	struct mr_source *source;       /* its bytes; NULL if it is a folder */
	struct mr_builder builder;      /* started */
	struct mr_import_faults faults; /* what could not be imported: damage of the trace */
};

struct mr_format {
	const char *name; /* as its users say it */
	enum mr_sniff (*sniff)(const struct mr_head *head);
	/* 0, or a negative errno with a text (base/error.h) that says why this is no trace. -ENOMEM needs none. */
	int (*read)(struct mr_import *import);
};

#define MR_FORMAT(name) extern const struct mr_format mr_##name##_format;
#include "import/formats.def"
#undef MR_FORMAT

/* All of them, ended by NULL. */
extern const struct mr_format *const mr_formats[];

/* The one of `formats` that takes it; NULL if none does. */
const struct mr_format *mr_format_choose(const struct mr_format *const *formats,
					 const struct mr_head *head);

/* Fails, and says what it is and what to do. */
int mr_format_refuse(const struct mr_format *const *formats, const struct mr_head *head);

#endif
