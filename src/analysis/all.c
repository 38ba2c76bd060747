/* SPDX-License-Identifier: Apache-2.0
 *
 * The analyses that a report consists of: run in the order of their needs, shown in the order of the table.
 */
#include "analysis/analysis.h"

#include <assert.h>
#include <string.h>

#include "analysis/vocabulary.h"
#include "base/progress.h"

enum {
	MAX_NEEDS = 8
};

struct analysis {
	const char *key;
	const char *title;
	mr_analysis *function;
	const char *needs[MAX_NEEDS]; /* keys; NULL ends them */
};

static const struct analysis analyses[] = {
#define MR_ANALYSIS(key, title, ...) {#key, title, mr_analyse_##key, {__VA_ARGS__}},
#include "analysis/analyses.def"
#undef MR_ANALYSIS
};

struct run {
	const struct mr_model *model;
	struct mr_findings *findings;
	bool is_begun[mr_countof(analyses)];
};

static size_t find_analysis(const char *key)
{
	size_t i = 0;

	while (i < mr_countof(analyses) && strcmp(analyses[i].key, key) != 0)
		i++;
	assert(i < mr_countof(analyses));
	return i;
}

struct mr_finding *mr_finding_begin(struct mr_findings *findings, const char *key)
{
	const struct analysis *analysis = &analyses[find_analysis(key)];

	return mr_findings_add(findings, analysis->key, analysis->title);
}

static int run_one(struct run *run, size_t i)
{
	const char *const *need = analyses[i].needs;
	int result = 0;

	if (run->is_begun[i])
		return 0;
	run->is_begun[i] = true;
	for (; result == 0 && need < analyses[i].needs + MAX_NEEDS && *need; need++)
		result = run_one(run, find_analysis(*need));
	if (result == 0)
		result = analyses[i].function(run->model, run->findings);
	mr_progress_advance(1);
	return result;
}

static void sort_by_table(struct mr_findings *findings)
{
	struct mr_finding **items = findings->list.items;
	size_t sorted = 0;

	for (size_t i = 0; i < mr_countof(analyses); i++)
		for (size_t j = sorted; j < findings->list.count; j++) {
			struct mr_finding *finding = items[j];

			if (strcmp(finding->id, analyses[i].key) != 0)
				continue;
			memmove(&items[sorted + 1], &items[sorted], (j - sorted) * sizeof *items);
			items[sorted++] = finding;
			break;
		}
}

int mr_analyse_all(const struct mr_model *model, struct mr_findings *findings)
{
	struct run run = {.model = model, .findings = findings};
	int result = 0;

	mr_progress_begin("analysing", mr_countof(analyses));
	for (size_t i = 0; result == 0 && i < mr_countof(analyses); i++)
		result = run_one(&run, i);
	sort_by_table(findings);
	return result == 0 ? mr_vocabulary_apply(model, findings) : result;
}
