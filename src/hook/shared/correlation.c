/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/shared/correlation.h"

/* Alone in its cache line: what lies beside is not written by all threads. */
_Alignas(64) _Atomic uint64_t mr_last_correlation;
