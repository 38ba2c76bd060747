/* SPDX-License-Identifier: Apache-2.0
 *
 * The viewer's page as part of the program: the few files that a browser asks for. bundle.py makes them of ui/ while
 * building.
 */
#ifndef MR_REPORT_ASSETS_H
#define MR_REPORT_ASSETS_H

#include <stddef.h>

struct mr_asset {
	const char *path; /* "viewer.js" */
	const char *type; /* what HTTP calls it */
	const char *tag;  /* another for other content: quoted, as an ETag is */
	const void *bytes;
	size_t size;
};

extern const struct mr_asset mr_assets[];
extern const size_t mr_asset_count;

/* NULL if there is none. */
const struct mr_asset *mr_asset_find(const char *path);

#endif
