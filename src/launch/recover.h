/* SPDX-License-Identifier: Apache-2.0
 *
 * Completes the trace of a recorder that was killed: committed packets are still in the arena, which is a file.
 */
#ifndef MR_LAUNCH_RECOVER_H
#define MR_LAUNCH_RECOVER_H

#include <stdbool.h>

/* If the trace's recorder is gone and left its arena behind, takes what is in it: afterwards the trace is
 * complete, and *ret_recovered is true. A trace that needs nothing is left alone. Fails if the trace is
 * still being recorded (-EBUSY), or cannot be completed. */
int mr_recover_trace(const char *path, bool *ret_recovered);

#endif
