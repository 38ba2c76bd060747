/* SPDX-License-Identifier: Apache-2.0
 *
 * Retracing: a function that the framework made a graph of before gets another graph. Before the call the thread traces the
 * function, and executes nothing meanwhile; in the call it optimises and prepares the graph until that is executed.
 *
 *     call before ├──┤  op  op  op ├────── traces ───────┤ op ├─ prepares ─├─ executes ─┤
 */
#include <string.h>

#include "analysis/problem/problem.h"
#include "base/format.h"
#include "base/sort.h"

/* Was the function called before, with another graph, by the same thread? */
static bool is_called_before(const struct mr_function_calls *calls, uint32_t first, uint32_t row)
{
	for (uint32_t i = row; i-- > first;)
		if (calls->function[i] == calls->function[row])
			return true;
	return false;
}

/* When the thread was last done with a call, of any function. */
static int64_t end_before(const struct mr_function_calls *calls, uint32_t first, uint32_t row)
{
	return row == first ? INT64_MIN : calls->start_ns[row - 1] + calls->duration_ns[row - 1];
}

/* The longest stretch between the two times in which the thread executes no operation. */
static struct mr_window find_tracing(const struct mr_model *model, uint32_t thread, int64_t from_ns,
				     int64_t to_ns)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const uint32_t *first = &executions->table.first_of_track[thread];
	struct mr_window longest = {from_ns, from_ns};
	int64_t busy_until_ns = from_ns;

	for (uint32_t row = mr_find_larger(executions->start_ns, first[0], first[1], from_ns - 1);;
	     row++) {
		bool is_last = row == first[1] || executions->start_ns[row] >= to_ns;
		int64_t start_ns = is_last ? to_ns : executions->start_ns[row];

		if (start_ns > busy_until_ns &&
		    start_ns - busy_until_ns > longest.last_ns - longest.first_ns)
			longest = (struct mr_window){busy_until_ns, start_ns};
		if (is_last)
			break;
		busy_until_ns = mr_max(busy_until_ns, start_ns + executions->duration_ns[row]);
	}
	return longest;
}

static void claim_one(struct mr_case *of, uint32_t first, uint32_t row)
{
	const struct mr_function_calls *calls = &of->model->function_calls;
	int64_t from_ns = mr_max(end_before(calls, first, row), of->subject.window.first_ns);
	struct mr_window tracing =
		find_tracing(of->model, of->subject.thread, from_ns, calls->start_ns[row]);

	mr_claim_within(of, tracing.first_ns, tracing.last_ns);
	mr_claim_within(of, calls->start_ns[row], calls->executed_ns[row]);
}

struct retraced {
	uint32_t count;
	uint32_t function; /* string: of the last one */
};

static struct retraced claim_retraced(struct mr_case *of)
{
	const struct mr_function_calls *calls = &of->model->function_calls;
	const uint32_t *first = &calls->table.first_of_track[of->subject.thread];
	struct retraced retraced = {0};

	for (uint32_t row = first[0]; row < first[1]; row++) {
		if (!calls->is_first[row] || !is_called_before(calls, first[0], row) ||
		    calls->executed_ns[row] == MR_NO_TIME ||
		    calls->start_ns[row] < of->subject.window.first_ns ||
		    calls->start_ns[row] >= of->subject.window.last_ns)
			continue;
		claim_one(of, first[0], row);
		retraced.count++;
		retraced.function = calls->function[row];
	}
	return retraced;
}

int mr_find_retracing(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct retraced retraced = claim_retraced(of);

	if (retraced.count == 0)
		return 0;
	const char *function = mr_model_text(of->model, retraced.function);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = mr_region_print(region, "function %s", function);
	problem->why =
		mr_region_print(region,
				"%s was traced again %u time%s: each time its arguments or its "
				"Python objects differed, so each call made a new graph.",
				function, retraced.count, mr_plural(retraced.count));
	return problem->where && problem->why ? 0 : -ENOMEM;
}
