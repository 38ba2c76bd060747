/* SPDX-License-Identifier: Apache-2.0
 *
 * A framework that does not exist.
 */
#ifndef MR_LOAD_LOOM_LOOM_H
#define MR_LOAD_LOOM_LOOM_H

#include "load/frameworks.h"

extern const struct mr_framework mr_framework_loom;

#endif
