/* SPDX-License-Identifier: Apache-2.0
 *
 * roctx: ranges and marks of programs for AMD's GPUs.
 */
#ifndef MR_HOOK_ROCTX_ROCTX_H
#define MR_HOOK_ROCTX_ROCTX_H

/* What stands in front of the function that roctx has by this name; `found` if that is not roctx's; NULL if it is ours, and
 * there is no roctx. */
void *mr_roctx_stub_of(const char *name, void *found);

#endif
