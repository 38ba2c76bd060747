/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows the progress of a recording in the title of the terminal on stderr, where it is visible but not mixed with
 * the program's output. The previous title is restored at the end.
 */
#ifndef MR_LAUNCH_TITLE_H
#define MR_LAUNCH_TITLE_H

#include <stdint.h>

void mr_title_begin(void);
void mr_title_show(uint64_t since_start_ns, uint64_t written_bytes);
void mr_title_end(void);

#endif
