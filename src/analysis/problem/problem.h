/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems: rules that say what is wrong with a program, in the words of its field. doc/problems.md states each.
 *
 *     moments of the subject   ├────┤───────┤──┤──────────────┤─────┤
 *     rule 1 claims                 ├───────┤                             a claim is exclusive: what problems
 *     rule 2 claims                         ├──┤              ├──┤        cost, and the rest, sum to the whole
 *
 * A rule looks at what no rule before it has claimed. It claims moments, or parts of them, and describes what it
 * found. If that is too little to matter, its claims are void.
 */
#ifndef MR_ANALYSIS_PROBLEM_PROBLEM_H
#define MR_ANALYSIS_PROBLEM_PROBLEM_H

#include "analysis/finding/finding.h"
#include "analysis/problem/claims.h"
#include "analysis/problem/file_calls.h"
#include "analysis/problem/partners.h"
#include "analysis/problem/subject.h"

/* What a page fault takes, about: the fault itself, clearing a page, mapping it. */
#define MR_FAULT_NS INT64_C(500)

/* What rules get. */
struct mr_case {
	const struct mr_model *model; /* whole */
	const struct mr_model *cut;   /* what is looked at; perhaps the whole */
	struct mr_findings *findings;
	struct mr_subject subject;
	struct mr_partner *partners; /* by track */
	const char **thread_texts;   /* by track, as far as they were asked for; so are the next */
	const char **stage_texts;    /* by string */
	const char **folder_texts;   /* by file */
	const char **line_texts;     /* by site */
	uint8_t *file_calls;         /* file_calls.h */
	uint8_t *device_roles;       /* by string: exposed.h */
	uint32_t *sends;             /* of the subject: partners.h */
	struct mr_claims *claims;    /* what problems have claimed so far; NULL: nobody asks */
	const char *framework;       /* of the subject's process, or "" */
	int64_t whole_ns;            /* of the subject */
};

/* Fills in where, why and confidence, and claims, or sets outside_ns; without `why` it is not there. remedy is filled in by the table of
 * remedies, unless the rule knows better. -ENOMEM. */
typedef int mr_problem_rule(struct mr_case *of, struct mr_problem *problem);

#define MR_PROBLEM(key, title, ...) mr_problem_rule mr_find_##key;
#include "analysis/problem/problems.def"
#undef MR_PROBLEM

/* ---- what rules use ------------------------------------------------------------------------------- */

#define mr_each_moment(of, moment)                                          \
	for (struct mr_moment *moment = (of)->subject.moments.items,        \
			      *end_ = moment + (of)->subject.moments.count; \
	     moment < end_; moment++)

/* All that is left of it. */
static inline void mr_claim(struct mr_moment *moment)
{
	moment->claimed_ns = moment->left_ns;
}

/* What the rule has claimed so far; and whether that is enough to matter. If not, it need not be described. */
int64_t mr_claimed_ns(const struct mr_case *of);
bool mr_claims_matter(const struct mr_case *of);

/* Claims all moments of which this is true. */
typedef bool mr_moment_test(const struct mr_case *of, const struct mr_moment *moment);
void mr_claim_if(struct mr_case *of, mr_moment_test *test);

/* Claims what lies in [from_ns, to_ns), also of moments that reach out of it; the second only moments of which the test
 * says this. */
void mr_claim_within(struct mr_case *of, int64_t from_ns, int64_t to_ns);
void mr_claim_within_if(struct mr_case *of, int64_t from_ns, int64_t to_ns, mr_moment_test *test,
			bool says);

/* What was claimed there. */
int64_t mr_claimed_within_ns(const struct mr_case *of, int64_t from_ns, int64_t to_ns);

/* The thread that the subject waits for in the end, because something is handed over, outside all operations; and whether
 * it gets that by itself: the subject sets neither that thread nor the one that hands over to work, nor sends it something,
 * more than a quarter as often. MR_NO_TRACK if it waits for none. */
uint32_t mr_moment_giver(const struct mr_case *of, const struct mr_moment *moment,
			 bool *ret_by_itself);

/* "12.3 ms", "17,775", "61%" of the subject: from the findings' region; "" without memory. */
const char *mr_case_time(struct mr_case *of, int64_t ns);
const char *mr_case_count(struct mr_case *of, int64_t count);
const char *mr_case_share(struct mr_case *of, int64_t ns);

/* Among the claimed moments the text that stands for most of their time, as `name` gives it (NULL: of no
 * concern), and how much that is; "" if there is none. */
typedef const char *mr_moment_name(struct mr_case *of, const struct mr_moment *moment);
struct mr_share {
	const char *name;
	int64_t time_ns;
	uint32_t count; /* of different names */
};
int mr_case_most(struct mr_case *of, mr_moment_name *name, struct mr_share *ret_share);

/* The same of the culprits of the last stations. */
int mr_case_most_culprit(struct mr_case *of, struct mr_share *ret_share);

/* Is the subject's program a Python interpreter, by the name of its file? */
bool mr_case_is_python(const struct mr_case *of);

/* What is looked at: "steps", "part", "run". It is the steps if it begins with one, of any thread. */
const char *mr_case_whole(const struct mr_case *of);

/* "process 4711 'python3'"; NULL without memory. */
const char *mr_case_process(struct mr_case *of, uint32_t process);

/* A thread, as one speaks of it beside the subject: "the main thread", "thread 812 'loader'", "process 4711 'python3'",
 * "thread 812 'loader' of process 4711 'python3'". From the findings' region; "" without memory. */
const char *mr_case_thread(struct mr_case *of, uint32_t thread);

/* The same of the subject, at the begin of a sentence. */
const char *mr_case_subject(struct mr_case *of);

/* The folder of a file; NULL if it has none. */
const char *mr_case_folder(struct mr_case *of, uint32_t file);

/* The deepest stage of an input pipeline in the chain, by the last part of its name; NULL if there is none. */
const char *mr_moment_stage(struct mr_case *of, const struct mr_moment *moment);

/* The line of the program's own Python that the thread of a station is at, whether it runs or waits; NULL if none is known. */
const char *mr_station_line(struct mr_case *of, const struct mr_station *station, int64_t ns);

/* The same of the root of a moment. */
const char *mr_moment_line(struct mr_case *of, const struct mr_moment *moment);

/* Does a station take input from a pipeline, or make some? */
bool mr_moment_is_input(const struct mr_case *of, const struct mr_moment *moment);

/* What the root of a moment does, after "which": "computes", "sleeps"; NULL if it says nothing about the root itself. */
const char *mr_moment_deed(struct mr_case *of, const struct mr_moment *moment);

/* The words for a problem's remedy in the framework's own syntax (remedies.def); "" if there is none. */
const char *mr_remedy_of(const char *key, const char *framework);

/* Is it a cause of that name (doc/causes.md)? */
bool mr_link_is(struct mr_link link, const char *cause);

/* Is this the purpose of the execution or scope, or of one around it? MR_NO_ROW has none. */
bool mr_execution_is_for(const struct mr_model *model, uint32_t execution, enum mr_purpose purpose);
bool mr_scope_is_for(const struct mr_model *model, uint32_t scope, enum mr_purpose purpose);

/* The name of a node, function, thread. */
const char *mr_execution_node(const struct mr_model *model, uint32_t execution);
const char *mr_execution_type(const struct mr_model *model, uint32_t execution);
const char *mr_scope_name(const struct mr_model *model, uint32_t scope);

#endif
