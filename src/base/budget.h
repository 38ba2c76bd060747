/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory the process may allocate, so that an input that needs too much is refused, and does not make the
 * machine stop. The kernel enforces it (RLIMIT_DATA): an allocation fails, which every function reports as -ENOMEM.
 * Mapped files do not count.
 */
#ifndef MR_BASE_BUDGET_H
#define MR_BASE_BUDGET_H

#include <stdint.h>

/* From here on so much more than now, as far as the process's own limit allows. */
void mr_budget_set(uint64_t bytes);

/* If `error` is -ENOMEM and there is a budget, the cause becomes that WHAT needs more than that. Returns the error. */
int mr_budget_explain(int error, const char *what);

#endif
