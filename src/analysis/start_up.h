/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run spends before and after the time that is looked at, in a line each.
 *
 *     run     ├─ imports ─┤─ building ──┤─ warm-up ─┤─ steps that are looked at ─────┤─ end ─┤
 *             start       first work    first step  first steady step                last
 */
#ifndef MR_ANALYSIS_START_UP_H
#define MR_ANALYSIS_START_UP_H

#include "model/model.h"

/* Of a cut; from the region, or NULL without memory. "" if nothing comes before or after. */
const char *mr_start_up_text(const struct mr_model *cut, struct mr_region *region);
const char *mr_end_text(const struct mr_model *cut, struct mr_region *region);

#endif
