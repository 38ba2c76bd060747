/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of the traced runtime in titles: its users say "stream" where ours is "queue". Keys stay what they are, and so
 * do words wherever several runtimes are traced that do not agree.
 */
#ifndef MR_ANALYSIS_VOCABULARY_H
#define MR_ANALYSIS_VOCABULARY_H

#include "analysis/finding/finding.h"
#include "model/model.h"

/* What the user calls a queue: "queue", or the one word that all runtimes of the trace have for it. */
const char *mr_queue_word(const struct mr_model *model);

/* Puts it into the titles of tables and columns. -ENOMEM. */
int mr_vocabulary_apply(const struct mr_model *model, struct mr_findings *findings);

/* A text with `ours` replaced by `theirs` wherever it is a word, or one in the plural; the text itself if it is not there.
 * NULL without memory. */
const char *mr_reword(struct mr_region *region, const char *text, const char *ours,
		      const char *theirs);

#endif
