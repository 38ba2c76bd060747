/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the fuzzers of packets, model, analyses and answers: a trace, and a model, of packets that stand one after
 * another in memory, as in a stream file, of any threads and CPUs. No file is involved, so a run takes well below a
 * millisecond.
 */
#ifndef MR_TESTS_FUZZ_PACKETS_MODEL_H
#define MR_TESTS_FUZZ_PACKETS_MODEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/macros.h"
#include "load/load.h"

static inline void require(bool condition)
{
	if (!condition)
		abort();
}

/* Of at least one byte. */
static inline struct mr_trace *trace_of_packets(const uint8_t *bytes, size_t size)
{
	static const struct mr_metadata metadata = {
		.host = "h",
		.user = {"u", 1000000000, 0, 0, 0},
		.user_clock = MR_trace_clock_tsc,
		.monotonic = {"m", 1000000000, 0, 0, 0},
	};
	struct mr_mapping packets = {.size = size};
	struct mr_trace *trace = NULL;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED);
	packets.bytes = memcpy(memory, bytes, size);
	require(mr_trace_of_memory("fuzzed", &metadata, &packets, NULL, 0, &trace) == 0);
	trace->is_imported = true; /* there is no manifest */
	return trace;
}

/* NULL if it cannot be loaded, which must have a reason. */
static inline struct mr_model *model_of_packets(const uint8_t *bytes, size_t size)
{
	struct mr_trace *trace = size ? trace_of_packets(bytes, size) : NULL;
	struct mr_model *model = NULL;

	if (!trace)
		return NULL;
	return mr_model_load_trace(trace, &model) == 0 ? model : NULL;
}

#endif
