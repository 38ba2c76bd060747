/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the analyses: an input is packets. The analyses themselves assert that breakdowns sum to their wholes. What prints
 * them takes longer than all of them, and has a fuzzer of its own (fuzz_report.c). Seeds: tests/corpus/fuzz_analysis.
 */
#include "analysis/analysis.h"
#include "packets_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	mr_auto(model) struct mr_model *model = model_of_packets(data, size);
	struct mr_findings findings = {0};

	if (model)
		require(mr_analyse_all(model, &findings) == 0);
	mr_findings_free(&findings);
	return 0;
}
