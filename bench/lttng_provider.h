/* SPDX-License-Identifier: Apache-2.0
 *
 * Input of LTTng-UST's generator, which includes it several times: hence the unusual guard.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, instant,
	LTTNG_UST_TP_ARGS(uint32_t, node, uint32_t, step),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, node, node)
		lttng_ust_field_integer(uint32_t, step, step)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
