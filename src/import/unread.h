/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that millrace recognises by their first bytes but cannot read: the error says what the file is and what to
 * give instead.
 */
#ifndef MR_IMPORT_UNREAD_H
#define MR_IMPORT_UNREAD_H

#include "import/formats.h"

struct mr_unread {
	const char *name;   /* with its article: "a PNG image" */
	const char *advice; /* what to do, as an imperative */
};

/* NULL if nothing is known about such files. */
const struct mr_unread *mr_unread_find(const struct mr_head *head);

#endif
