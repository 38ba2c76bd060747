/* SPDX-License-Identifier: Apache-2.0
 *
 * What blocked threads waited for from other threads: columns exchange, ended_by and released_by of the states, as
 * doc/causes.md defines them.
 */
#ifndef MR_LOAD_EXCHANGES_H
#define MR_LOAD_EXCHANGES_H

#include "model/model.h"

/* After system calls and wake-ups are linked to the states. -ENOMEM. */
int mr_exchanges_link(struct mr_model *model);

/* The number of the system call futex; UINT32_MAX: the trace does not name it. */
uint32_t mr_futex_number(const struct mr_model *model);

#endif
