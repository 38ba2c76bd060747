/* SPDX-License-Identifier: Apache-2.0
 *
 * Where threads were in Python: events to rows of `samples`, and from there to the columns `site` of other tables.
 *
 * A hook writes the event `site` before an event that was asked for elsewhere than the one before (hook/python/python.h).
 * What a function of C recorded has the site that was noted last, as Python does not go on meanwhile: mr_loader.site.
 * What begins in one line and ends in another has the site that was noted last when it began: mr_loader_site_at().
 */
#ifndef MR_LOAD_SITES_H
#define MR_LOAD_SITES_H

#include "load/loader.h"

/* Takes an event `site` or `python_sample`; false if it is another one. Its result is 0 or -ENOMEM. */
bool mr_samples_take(struct mr_loader *loader, const struct mr_event *event, int *ret_result);

/* The site that the thread whose events are being read had noted by then; 0: none. */
uint32_t mr_loader_site_at(const struct mr_loader *loader, int64_t ns);

/* Once rows are sorted and lead to each other. */
int mr_sites_link(struct mr_model *model);

#endif
