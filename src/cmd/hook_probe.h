/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for a framework or GPU runtime of hooks.def: whether it is installed, which version, and whether it can be traced.
 */
#ifndef MR_CMD_HOOK_PROBE_H
#define MR_CMD_HOOK_PROBE_H

#include "cmd/capability.h"
#include "hook/hooks.h"

/* False if there is nothing to look for. */
bool mr_hook_is_probed(const struct mr_hook *hook);

/* Sets all fields of the capability except its level. */
void mr_hook_probe_for(const struct mr_hook *hook, struct mr_capability *capability);

#endif
