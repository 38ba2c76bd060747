/* SPDX-License-Identifier: Apache-2.0
 *
 * What waited for what, as the profiler's records of synchronisation (category cuda_sync) say:
 *
 *     Stream Wait Event   stream 7 waits for what was launched on stream 20 before its event was recorded:
 *                         the next operation of stream 7 depends on the last of those
 *     Event Sync          the call waits for those
 *     Stream Sync         the call waits for what was launched on its stream before
 *
 * Operations of a stream are launched in the order of their correlations. Records are noted while the file is read, and
 * become dependencies when all operations are known.
 */
#ifndef MR_IMPORT_CHROME_KINETO_WAITS_H
#define MR_IMPORT_CHROME_KINETO_WAITS_H

#include "import/chrome/kineto.h"

/* 0 or -ENOMEM. */
int mr_kineto_note_wait(struct mr_kineto *kineto, const struct mr_chrome_event *event);
int mr_kineto_add_waits(struct mr_kineto *kineto);

/* Notes a call that only asks whether something is done: it has a record, too, but does not wait. 0 or -ENOMEM. */
int mr_kineto_note_query(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			 uint64_t correlation);

#endif
