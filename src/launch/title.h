/* SPDX-License-Identifier: Apache-2.0
 *
 * How a recording goes, in the title of the terminal on stderr: there it is seen, and not mixed with what the
 * program prints. The title that was there before comes back at the end.
 */
#ifndef MR_LAUNCH_TITLE_H
#define MR_LAUNCH_TITLE_H

#include <stdint.h>

void mr_title_begin(void);
void mr_title_show(uint64_t since_start_ns, uint64_t written_bytes);
void mr_title_end(void);

#endif
