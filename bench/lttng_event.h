/* SPDX-License-Identifier: Apache-2.0
 *
 * The same event as node_instant, with LTTng-UST: two 32-bit integers. Without liblttng-ust at build
 * time it does nothing, and bench/run skips the comparison.
 */
#ifndef BENCH_LTTNG_EVENT_H
#define BENCH_LTTNG_EVENT_H

#include <stdint.h>

#ifdef BENCH_HAS_LTTNG
#include "lttng_provider.h"
#define bench_lttng_event(node, step) lttng_ust_tracepoint(bench, instant, (node), (step))
#else
#define bench_lttng_event(node, step) ((void)(node), (void)(step))
#endif

#endif
