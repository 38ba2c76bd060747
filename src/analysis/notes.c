/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes that are the same for every trace of a framework's version: they help to read the numbers, endanger no
 * verdict, and therefore stand below the findings.
 */
#include "analysis/analysis.h"

#include <string.h>

#include "base/error.h"

enum when {
	ALWAYS,
	FROM_START,
	LATER,
};

static const struct note {
	enum when when;
	uint8_t event;
	const char *text;
	const char *sentence;
} notes[] = {
#define MR_FRAMEWORK_NOTE(when, event, text, sentence) {when, MR_EVENT_##event, text, sentence},
#include "analysis/frameworks.def"
#undef MR_FRAMEWORK_NOTE
};

static bool has_text(const struct mr_model *model, const char *beginning)
{
	const struct mr_strings *strings = &model->survey->definitions.strings;

	for (uint32_t i = 0; i < mr_strings_count(strings); i++)
		if (strncmp(mr_strings_text(strings, i), beginning, strlen(beginning)) == 0)
			return true;
	return false;
}

static bool applies(const struct mr_model *model, const struct note *note)
{
	bool is_late = model->manifest->delay_ns || model->manifest->first_step;

	return (note->when == ALWAYS || is_late == (note->when == LATER)) &&
	       model->survey->event_counts[note->event] > 0 &&
	       (*note->text == '\0' || has_text(model, note->text));
}

static int say(struct mr_findings *findings, struct mr_finding **finding, const char *sentence)
{
	if (!*finding)
		*finding = mr_finding_begin(findings, "notes");
	return *finding ? mr_finding_say(findings, *finding, MR_SEVERITY_NOTE, "%s", sentence)
			: -ENOMEM;
}

/* Where it means that nothing is traced, health warns of it. */
static int say_missing_hooks(const struct mr_survey *survey, struct mr_findings *findings,
			     struct mr_finding **finding)
{
	for (size_t i = 0; i < survey->hooks_missing.count; i++) {
		const char *sentence =
			mr_region_print(&findings->region, "millrace could not hook %s.",
					mr_survey_text(survey, survey->hooks_missing.items[i]));

		if (!sentence || say(findings, finding, sentence) < 0)
			return -ENOMEM;
	}
	return 0;
}

int mr_analyse_notes(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_model *whole = mr_model_whole(model);
	struct mr_finding *finding = NULL;
	int result = say_missing_hooks(whole->survey, findings, &finding);

	for (size_t i = 0; result == 0 && i < mr_countof(notes); i++)
		if (applies(whole, &notes[i]))
			result = say(findings, &finding, notes[i].sentence);
	return result < 0 ? mr_fail_errno(ENOMEM, "note what frameworks do") : 0;
}
