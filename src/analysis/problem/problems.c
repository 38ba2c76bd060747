/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong: runs the rules of problems.def, and makes of their claims a diagnosis.
 */
#include <assert.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/finding/tally.h"
#include "analysis/problem/own_line.h"
#include "base/error.h"
#include "base/format.h"

enum {
	WORTH_PERMILLE = 50, /* what costs less is no problem */
	EVIDENCE = 3,
	OUTSIDE_PERMILLE = 300,
	PYTHON_PART = 2,  /* that a program in Python runs Python is half a verdict */
	VERDICT_PART = 8, /* a fault that costs an eighth of it comes first */
};

static const struct rule {
	const char *key;
	const char *title;
	mr_problem_rule *find;
	uint64_t causes; /* bits; 0: any */
} rules[] = {
#define MR_CAUSE_BIT(kind)          (UINT64_C(1) << MR_CAUSE_##kind)
#define MR_PROBLEM(key, title, ...) {#key, title, mr_find_##key, 0 __VA_OPT__(| __VA_ARGS__)},
#include "analysis/problem/problems.def"
#undef MR_PROBLEM
};

static const struct mr_finding_column columns[] = {
	{"problem", "", MR_UNIT_TEXT, MR_COLUMN_TELLING},
	{"key", "key", MR_UNIT_TEXT, MR_COLUMN_DATA},
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"share_permille", "share", MR_UNIT_PERMILLE, MR_COLUMN_DATA},
	{"where", "where", MR_UNIT_TEXT, MR_COLUMN_TELLING},
};

/* ---- one rule --------------------------------------------------------------------------------------- */

static const char *describe_root(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);
	struct mr_region *region = &of->findings->region;
	const char *culprit = mr_link_culprit(of->model, region, last->link);

	if (!culprit)
		return NULL;
	return mr_region_print(region, "%s%s%s", mr_cause_name(last->link.kind),
			       *culprit ? ": " : "", culprit);
}

/* The longest moment that begins not before `from` in the order of length; ties by time. */
static const struct mr_moment *next_longest(const struct mr_case *of, const struct mr_moment *after)
{
	const struct mr_moment *best = NULL;

	mr_each_moment(of, moment)
	{
		bool is_later = !after || moment->claimed_ns < after->claimed_ns ||
				(moment->claimed_ns == after->claimed_ns && moment > after);

		if (moment->claimed_ns && is_later &&
		    (!best || moment->claimed_ns > best->claimed_ns))
			best = moment;
	}
	return best;
}

static int prove(struct mr_case *of, struct mr_problem *problem)
{
	const struct mr_survey *survey = of->model->survey;
	const struct mr_track *track = &survey->tracks.items[of->subject.thread];
	const struct mr_moment *moment = NULL;

	for (int i = 0; i < EVIDENCE && (moment = next_longest(of, moment)); i++) {
		struct mr_evidence evidence = {
			.what = describe_root(of, moment),
			.track = of->subject.thread,
			.pid = survey->processes.items[track->process].pid,
			.tid = track->tid,
			.start_ns = moment->start_ns,
			.duration_ns = moment->duration_ns,
		};

		if (!evidence.what || mr_vec_push(&problem->evidence, evidence) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int note_claims(const struct mr_case *of, const char *key)
{
	mr_each_moment(of, moment)
	{
		const struct mr_claim claim = {key, moment->start_ns, moment->duration_ns,
					       moment->claimed_ns,
					       *mr_last_station(&of->subject, moment)};

		if (claim.claimed_ns && mr_vec_push(&of->claims->list, claim) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What was claimed is taken, or given back. */
static int settle(struct mr_case *of, const char *key, bool is_taken)
{
	int result = is_taken && of->claims ? note_claims(of, key) : 0;

	mr_each_moment(of, moment)
	{
		assert(moment->claimed_ns >= 0 && moment->claimed_ns <= moment->left_ns);
		if (is_taken)
			moment->left_ns -= moment->claimed_ns;
		moment->claimed_ns = 0;
	}
	return result;
}

/* Whether there is enough of what the rule is about: it cannot claim more. */
static bool can_matter(const struct mr_case *of, const struct rule *rule)
{
	int64_t sum_ns = 0;

	for (int kind = 0; kind < MR_CAUSE_COUNT; kind++)
		if (rule->causes >> kind & 1)
			mr_ns_add(&sum_ns, of->subject.cause_ns[kind]);
	return rule->causes == 0 || mr_permille(sum_ns, of->whole_ns) >= WORTH_PERMILLE;
}

bool mr_claims_matter(const struct mr_case *of)
{
	return mr_permille(mr_claimed_ns(of), of->whole_ns) >= WORTH_PERMILLE;
}

static int run_rule(struct mr_case *of, const struct rule *rule)
{
	struct mr_problem problem = {.key = rule->key, .title = rule->title, .where = ""};
	int result = rule->find(of, &problem);

	int64_t claimed_ns = mr_claimed_ns(of);
	problem.time_ns = problem.outside_ns ? problem.outside_ns : claimed_ns;
	bool is_worth =
		problem.why && (problem.is_urgent || problem.cost || problem.outside_ns ||
				(problem.time_ns > 0 &&
				 mr_permille(problem.time_ns, of->whole_ns) >= WORTH_PERMILLE));
	if (result == 0 && is_worth) {
		if (!problem.remedy)
			problem.remedy = mr_remedy_of(rule->key, of->framework);
		result = mr_problem_name_line(of, &problem);
		if (result == 0)
			result = prove(of, &problem);
		if (result == 0)
			result = mr_vec_push(&of->findings->diagnosis.problems, problem);
		if (result < 0)
			mr_vec_free(&problem.evidence);
	}
	return result == 0 && claimed_ns ? settle(of, rule->key, is_worth) : result;
}

/* ---- the diagnosis ---------------------------------------------------------------------------------- */

/* What comes before the steps is worth less than what costs them a third of their time. */
static int64_t fault_rank(const struct mr_problem *problem, int64_t whole_ns)
{
	if (problem->outside_ns)
		return mr_min(problem->outside_ns, whole_ns * OUTSIDE_PERMILLE / 1000);
	return strcmp(problem->key, "python_bound") == 0 ? problem->time_ns / PYTHON_PART
							 : problem->time_ns;
}

/* Something that is wrong with the program itself. */
static bool is_own_fault(const struct mr_problem *problem)
{
	return !problem->is_verdict && !problem->outside_ns &&
	       strcmp(problem->key, "other_process") != 0;
}

/* What is wrong comes before the verdict that the device is the limit; what others do to the program does if it is worth
 * an eighth of it. */
static int64_t verdict_rank(const struct mr_diagnosis *diagnosis, const struct mr_problem *verdict)
{
	int64_t rank_ns = verdict->time_ns / VERDICT_PART;

	for (size_t i = 0; i < diagnosis->problems.count; i++) {
		const struct mr_problem *problem = &diagnosis->problems.items[i];

		if (is_own_fault(problem))
			rank_ns = mr_min(rank_ns, fault_rank(problem, diagnosis->whole_ns) - 1);
	}
	return rank_ns;
}

static void rank_problems(struct mr_diagnosis *diagnosis)
{
	for (size_t i = 0; i < diagnosis->problems.count; i++) {
		struct mr_problem *problem = &diagnosis->problems.items[i];

		problem->rank_ns = problem->is_verdict ? verdict_rank(diagnosis, problem)
						       : fault_rank(problem, diagnosis->whole_ns);
	}
}

static int compare_problems(const void *left, const void *right)
{
	const struct mr_problem *a = left, *b = right;

	if (a->is_urgent != b->is_urgent)
		return b->is_urgent - a->is_urgent;
	return (a->rank_ns < b->rank_ns) - (a->rank_ns > b->rank_ns);
}

static int64_t rest_ns(const struct mr_case *of)
{
	int64_t sum_ns = 0;

	mr_each_moment(of, moment) sum_ns += moment->left_ns;
	return sum_ns;
}

static void add_row(const struct mr_case *of, struct mr_finding_table *table, uint32_t row,
		    const struct mr_problem *problem)
{
	union mr_value *cells = mr_finding_value(table, row, 0);

	cells[0].text = problem->title;
	cells[1].text = problem->key;
	cells[2].number = problem->time_ns;
	cells[3].number = mr_permille(problem->time_ns, of->whole_ns);
	cells[4].text = problem->where;
}

static int tabulate(const struct mr_case *of, struct mr_finding *finding)
{
	const struct mr_diagnosis *diagnosis = &of->findings->diagnosis;
	const struct mr_problem rest = {
		.title = "the rest", .key = "", .time_ns = rest_ns(of), .where = ""};
	uint32_t count = (uint32_t)diagnosis->problems.count, row = 0;
	struct mr_finding_table *table =
		mr_finding_add_table(of->findings, finding, "problems", "What the time goes to",
				     columns, mr_countof(columns), count + 1);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		if (!diagnosis->problems.items[i].outside_ns)
			add_row(of, table, row++, &diagnosis->problems.items[i]);
	if (rest.time_ns > 0)
		add_row(of, table, row++, &rest);
	table->row_count = row;
	table->wholes[2] = of->whole_ns;
	mr_finding_check(table);
	return 0;
}

static int say(const struct mr_case *of, struct mr_finding *finding)
{
	const struct mr_diagnosis *diagnosis = &of->findings->diagnosis;
	int result = 0;

	for (size_t i = 0; result == 0 && i < diagnosis->problems.count; i++)
		result = mr_finding_say(of->findings, finding, MR_SEVERITY_NOTE, "%s: %s",
					diagnosis->problems.items[i].title,
					diagnosis->problems.items[i].why);
	return result;
}

static int diagnose(struct mr_case *of)
{
	struct mr_diagnosis *diagnosis = &of->findings->diagnosis;
	int result = 0;

	diagnosis->of = mr_case_whole(of);
	diagnosis->whole_ns = of->whole_ns;
	diagnosis->process = mr_case_process(of, of->subject.process);
	for (size_t i = 0; result == 0 && i < mr_countof(rules); i++)
		if (can_matter(of, &rules[i]))
			result = run_rule(of, &rules[i]);
	if (result < 0)
		return result;
	rank_problems(diagnosis);
	if (diagnosis->problems.count)
		qsort(diagnosis->problems.items, diagnosis->problems.count,
		      sizeof *diagnosis->problems.items, compare_problems);
	struct mr_finding *finding = mr_finding_begin(of->findings, "problems");
	if (!finding || say(of, finding) < 0)
		return -ENOMEM;
	return tabulate(of, finding);
}

static const char *framework_of(const struct mr_case *of)
{
	return mr_model_text(of->model,
			     of->model->survey->processes.items[of->subject.process].framework);
}

static int prepare(struct mr_case *of)
{
	const struct mr_survey *survey = of->model->survey;
	const struct mr_definitions *definitions = &survey->definitions;

	of->partners = mr_partners_make(of->model, of->subject.window, of->subject.thread);
	of->sends = mr_count_sends(of->model, of->subject.window, of->subject.thread);
	of->file_calls = mr_file_calls_make(of->model);
	of->thread_texts = calloc(survey->tracks.count + 1, sizeof *of->thread_texts);
	of->stage_texts =
		calloc(mr_strings_count(&definitions->strings) + 1, sizeof *of->stage_texts);
	of->device_roles =
		calloc(mr_strings_count(&definitions->strings) + 1, sizeof *of->device_roles);
	of->folder_texts = calloc(definitions->files.count + 1, sizeof *of->folder_texts);
	of->line_texts = calloc(definitions->sites.count + 1, sizeof *of->line_texts);
	return of->partners && of->sends && of->file_calls && of->device_roles &&
			       of->thread_texts && of->stage_texts && of->folder_texts &&
			       of->line_texts
		       ? 0
		       : -ENOMEM;
}

static void clean_up(struct mr_case *of)
{
	free(of->partners);
	free(of->sends);
	free(of->file_calls);
	free(of->device_roles);
	free(of->thread_texts);
	free(of->stage_texts);
	free(of->folder_texts);
	free(of->line_texts);
}

int mr_analyse_problems(const struct mr_model *model, struct mr_findings *findings)
{
	return mr_problems_find(model, findings, NULL);
}

int mr_problems_find(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_claims *ret_claims)
{
	struct mr_window window = mr_model_window(model);
	struct mr_case of = {
		.model = mr_model_whole(model),
		.cut = model,
		.findings = findings,
		.claims = ret_claims,
		.framework = "",
		.whole_ns = window.last_ns - window.first_ns,
	};
	int result = mr_subject_make(model, &of.subject);

	if (result < 0)
		return mr_fail_errno(-result, "look for problems");
	if (of.subject.moments.count) {
		of.framework = framework_of(&of);
		result = prepare(&of);
		if (result == 0)
			result = diagnose(&of);
		clean_up(&of);
	}
	mr_subject_free(&of.subject);
	return result < 0 ? mr_fail_errno(-result, "look for problems") : 0;
}
