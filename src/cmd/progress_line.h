/* SPDX-License-Identifier: Apache-2.0
 *
 * A line on the terminal that tells how far a long piece of work is (base/progress.h): on stderr, if that is a
 * terminal, from half a second on, and erased at the end.
 */
#ifndef MR_CMD_PROGRESS_LINE_H
#define MR_CMD_PROGRESS_LINE_H

/* One at a time. */
void mr_progress_line_start(void);

/* Does nothing if there is none. */
void mr_progress_line_stop(void);

#endif
