/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices are one. Each process defines its own, and so do frameworks; a host has each once.
 *
 *     process 1   framework's XPU:0 ──same──► runtime's "Graphics 7" ◄┐
 *     process 2                               runtime's "Graphics 7"  ┴── the same, if the records prove it
 *
 * A device of a runtime is the same as another process' if both are the CPU of their host, under the same name: there
 * is but one. Others may be two of a kind, and records do not tell them apart; they stay different.
 *
 * A framework's device is the same as a runtime's if all GPU kernels that its operations launched ran there.
 */
#ifndef MR_LOAD_DEVICES_H
#define MR_LOAD_DEVICES_H

#include "model/model.h"

/* When operations lead to the executions that launched them: fills in `same` of devices. -ENOMEM. */
int mr_devices_unite(struct mr_model *model);

#endif
