/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes what prints the findings: an input is a byte that says what is printed, and packets of which the findings are
 * made. One thing at a time, since printing takes longer than all else. Seeds: tests/corpus/fuzz_report.
 */
#include <stdio.h>

#include "analysis/analysis.h"
#include "packets_model.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum output {
	TEXT,
	NARROW_TEXT,
	JSON,
	CONTENTS,
	OUTPUTS
};

static FILE *sink;

static void print_text(const struct mr_summary *summary, const struct mr_findings *findings,
		       bool is_narrow)
{
	const struct mr_text_style wide = {.width = 100, .max_rows = 20, .utf8 = true};
	const struct mr_text_style narrow = {.width = 30, .max_rows = 2, .brief = true};

	mr_report_print_text(summary, findings, is_narrow ? &narrow : &wide, sink);
}

static void analyse(const struct mr_model *model, enum output output, struct mr_findings *findings)
{
	struct mr_summary summary;

	if (output == CONTENTS) {
		require(mr_analyse_contents(model, findings) == 0);
		require(mr_analyse_verification(model, findings) == 0);
	} else {
		require(mr_analyse_all(model, findings) == 0);
	}
	require(mr_summary_make(model, &findings->region, &summary) == 0);
	if (output == JSON || output == CONTENTS)
		require(mr_report_print_json(&summary, findings, output == JSON, MR_JSON_ONE_LINE,
					     sink) == 0);
	else
		print_text(&summary, findings, output == NARROW_TEXT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!sink)
		require((sink = fopen("/dev/null", "w")) != NULL);
	if (size == 0)
		return 0;
	mr_auto(model) struct mr_model *model = model_of_packets(data + 1, size - 1);
	struct mr_findings findings = {0};
	if (model)
		analyse(model, data[0] % OUTPUTS, &findings);
	mr_findings_free(&findings);
	return 0;
}
