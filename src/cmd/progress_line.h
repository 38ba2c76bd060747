/* SPDX-License-Identifier: Apache-2.0
 *
 * A line that shows the progress of long work (base/progress.h). It appears on stderr, if that is a terminal, after
 * half a second, and is erased at the end.
 */
#ifndef MR_CMD_PROGRESS_LINE_H
#define MR_CMD_PROGRESS_LINE_H

/* One at a time. */
void mr_progress_line_start(void);

/* Does nothing if there is no line. */
void mr_progress_line_stop(void);

#endif
