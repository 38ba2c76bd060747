/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses that a report consists of, in its order.
 */
#include "analysis/analysis.h"

#include "base/progress.h"

int mr_analyse_all(const struct mr_model *model, struct mr_findings *findings)
{
	static mr_analysis *const analyses[] = {
		mr_analyse_health,        mr_analyse_devices,           mr_analyse_idle,
		mr_analyse_critical_path, mr_analyse_device_operations, mr_analyse_calls,
		mr_analyse_operations,    mr_analyse_latency,           mr_analyse_steps,
		mr_analyse_memory,        mr_analyse_threads,           mr_analyse_waits,
		mr_analyse_preemption,    mr_analyse_system_calls,      mr_analyse_input_output,
		mr_analyse_overview,
	};
	int result = 0;

	mr_progress_begin("analysing", mr_countof(analyses));
	for (size_t i = 0; result == 0 && i < mr_countof(analyses); i++) {
		result = analyses[i](model, findings);
		mr_progress_advance(1);
	}
	return result;
}
