/* SPDX-License-Identifier: Apache-2.0
 *
 * What PyTorch's allocators gave and got back, by the instants that are called [memory]:
 *
 *     Bytes            given, or got back if negative
 *     Addr             where; older profilers do not say
 *     Device Type, Id  PyTorch's own number of the device: where only one is visible that is 0, whichever it is
 *     Total Allocated  what the allocator says that it has given in all
 *     Total Reserved   what it holds
 *
 * Totals know more than the records: what was given before the trace, and what was not recorded. The difference becomes
 * memory without an address, so that what is live is what the allocator says, at each record. Without totals, memory
 * that is given back and was never given must have been there before.
 */
#ifndef MR_IMPORT_CHROME_KINETO_MEMORY_H
#define MR_IMPORT_CHROME_KINETO_MEMORY_H

#include "import/chrome/kineto.h"

/* Notes the record of these bytes. 0 or -ENOMEM. */
int mr_kineto_note_memory(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			  uint32_t thread, int64_t ns, int64_t bytes);

/* Makes events of the records, once all devices that execute operations are known. 0 or -ENOMEM. */
int mr_kineto_add_memory(struct mr_kineto *kineto);

#endif
