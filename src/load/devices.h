/* SPDX-License-Identifier: Apache-2.0
 *
 * Which devices are one. Each process defines its own, and so do frameworks; a host has each once.
 *
 *     process 1   framework's XPU:0 ──same──► runtime's "Graphics 7" ◄┐
 *     process 2                               runtime's "Graphics 7"  ┴── the same, if the records prove it
 *
 * A device of a runtime is the same as another process' if both have the same identity, or are the CPU of their host,
 * under the same name: there is but one. Without an identity others may be two of a kind; they stay different. So do
 * devices of which a process has several with one identity: they are parts, and which of them another has is not known.
 *
 * A framework's device is the same as a runtime's if all device kernels that its operations launched ran there.
 */
#ifndef MR_LOAD_DEVICES_H
#define MR_LOAD_DEVICES_H

#include "model/model.h"

/* When operations lead to the executions that launched them: fills in `same` of devices. -ENOMEM. */
int mr_devices_unite(struct mr_model *model);

#endif
