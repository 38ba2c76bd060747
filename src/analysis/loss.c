/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/loss.h"

#include <inttypes.h>
#include <string.h>

/* Packets, loss events and manifest each count the same losses; what one misses another may know. */
uint64_t mr_count_lost_events(const struct mr_model *model)
{
	uint64_t counted = mr_max(model->survey->discarded_events, model->manifest->lost_events);
	uint64_t by_reason = 0;

	for (size_t i = 0; i < mr_countof(model->survey->losses); i++)
		by_reason += model->survey->losses[i];
	return mr_max(counted, by_reason);
}

/* What the kernel level lost was not the program's to record. */
static uint64_t count_own_lost_events(const struct mr_model *model)
{
	const uint64_t *losses = model->survey->losses;
	uint64_t lost = mr_count_lost_events(model);
	uint64_t of_kernel = losses[MR_loss_reason_kernel_buffer_full] +
			     losses[MR_loss_reason_kernel_task_not_followed] +
			     losses[MR_loss_reason_kernel_nesting];

	return lost > of_kernel ? lost - of_kernel : 0;
}

uint64_t mr_count_missing_bytes(const struct mr_model *model)
{
	uint64_t seen = model->trace->event_bytes + model->survey->lost_bytes;

	return model->manifest->kept_bytes > seen ? model->manifest->kept_bytes - seen : 0;
}

static bool is_empty(const struct mr_survey *survey)
{
	for (int id = 0; id < 256; id++)
		if (survey->event_counts[id] &&
		    mr_event_table[id].level & (MR_LEVEL_dataflow | MR_LEVEL_runtime))
			return false;
	return true;
}

static bool has_traced_process(const struct mr_survey *survey)
{
	for (size_t i = 0; i < survey->processes.count; i++)
		if (survey->processes.items[i].number > MR_RECORDER_PROCESS)
			return true;
	return false;
}

/* Why the first process that was not instrumented was not; NULL if all were. */
static const char *not_instrumented_reason(const struct mr_manifest *manifest)
{
	for (size_t i = 0; i < manifest->process_count; i++)
		if (!manifest->processes[i].traced)
			return manifest->processes[i].reason ? manifest->processes[i].reason : "?";
	return NULL;
}

static bool has_level(const struct mr_manifest *manifest, const char *name)
{
	for (size_t i = 0; i < manifest->level_count; i++)
		if (strcmp(manifest->levels[i], name) == 0)
			return true;
	return false;
}

/* Reasons that lie in the recording, not in the program; NULL if there is none. */
static const char *recording_reason(const struct mr_model *model)
{
	const struct mr_manifest *manifest = model->manifest;
	const struct mr_survey *survey = model->survey;

	if (model->trace->damage_count || survey->malformed_packets ||
	    mr_count_missing_bytes(model))
		return "the trace is damaged";
	if (manifest->overwritten_user_packets)
		return "its events, if it made any, were overwritten; give --last or --max-size "
		       "more";
	if (count_own_lost_events(model))
		return "all its events were lost";
	if (manifest->state && strcmp(manifest->state, "recording") == 0)
		return "the recording is not finished";
	if (manifest->state && strcmp(manifest->state, "lost") == 0)
		return "the recorder was killed and its buffer is gone";
	if (manifest->state && strcmp(manifest->state, "stopped") == 0)
		return "the recording was stopped before the program's end";
	if (mr_model_is_imported(model))
		return "the imported trace has none";
	if (!has_traced_process(survey)) {
		const char *reason = not_instrumented_reason(manifest);
		return reason ? reason : "the library attached to no process";
	}
	if (manifest->problem)
		return "what was to be recorded is not known";
	if (!has_level(manifest, "dataflow"))
		return "the level dataflow was not recorded";
	if (manifest->delay_ns && manifest->duration_ns > 0 &&
	    (uint64_t)manifest->duration_ns < manifest->delay_ns)
		return "the program ended before the time of --delay was over";
	if (manifest->delay_ns && survey->runtimes_seen.count &&
	    survey->runtimes_not_traced.count == 0)
		return "the program called no framework or GPU runtime after the time of --delay";
	if (manifest->first_step)
		return "the program did not get to the steps of --steps";
	return NULL;
}

bool mr_name_not_traced(const struct mr_survey *survey, char names[MR_NAMES_BYTES])
{
	const struct mr_texts_seen *not_traced = &survey->runtimes_not_traced;
	int length = 0;

	for (size_t i = 0; i < not_traced->count && length < MR_NAMES_BYTES; i++)
		length += snprintf(names + length, (size_t)(MR_NAMES_BYTES - length), "%s%s",
				   i ? ", " : "", mr_survey_text(survey, not_traced->items[i]));
	return not_traced->count > 0;
}

static void explain_runtimes(const struct mr_survey *survey, char sentence[MR_EMPTY_BYTES])
{
	const struct mr_texts_seen *seen = &survey->runtimes_seen;
	char names[MR_NAMES_BYTES];

	if (mr_name_not_traced(survey, names)) {
		snprintf(sentence, MR_EMPTY_BYTES,
			 "Nothing was traced inside the program: it loaded %.100s%s, and this "
			 "version of millrace does not trace %s. 'millrace doctor' lists what it "
			 "can trace.",
			 mr_survey_text(survey, seen->items[0]),
			 seen->count > 1 ? " and others" : "", names);
		return;
	}
	snprintf(sentence, MR_EMPTY_BYTES,
		 "Nothing was traced inside the program: it loaded %.100s%s, but no call of %s "
		 "reached millrace. 'millrace doctor' lists what this version can trace.",
		 mr_survey_text(survey, seen->items[0]), seen->count > 1 ? " and others" : "",
		 seen->count > 1 ? "them" : "it");
}

bool mr_explain_empty(const struct mr_model *model, char sentence[MR_EMPTY_BYTES])
{
	const struct mr_survey *survey = model->survey;

	if (!is_empty(survey))
		return false;
	const char *reason = recording_reason(model);
	if (reason)
		snprintf(sentence, MR_EMPTY_BYTES,
			 "Nothing from inside the program is in the trace: %.200s.", reason);
	else if (survey->runtimes_seen.count)
		explain_runtimes(survey, sentence);
	else
		snprintf(sentence, MR_EMPTY_BYTES,
			 "Nothing was traced inside the program: it loaded no known framework or "
			 "GPU runtime and has no annotations (millrace.h).");
	return true;
}
