/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the reader of packets: an input is the bytes of one stream file, of our own layout. Reading our metadata, 30 KB
 * that never change, would take most of the time, so there is none. fuzz_metadata reads other layouts. Seeds:
 * tests/corpus/fuzz_reader.
 */
#include "read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mr_auto(trace) struct mr_trace *trace = size ? trace_of_packets(data, size) : NULL;

	if (trace)
		read_all(trace, size);
	return 0;
}
