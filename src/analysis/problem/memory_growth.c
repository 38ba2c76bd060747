/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory grows: from step to step the program holds more memory. The cost is that of the pages which the kernel must give it.
 */
#include "analysis/memory_growth.h"
#include "analysis/memory_holders.h"
#include "analysis/problem/problem.h"
#include "base/format.h"

enum {
	FEWEST_STEPS = 8,
	SMALLEST_GROWTH = 16 << 20, /* bytes in all: less is no leak */
	PAGE_BYTES = 4096,
};

/* Of all steps, as one step has it. */
static int64_t grown_bytes(const struct mr_memory_growth *growth)
{
	int64_t bytes;

	if (!growth->is_growing || growth->step_count < FEWEST_STEPS ||
	    __builtin_mul_overflow(growth->bytes_per_step, (int64_t)growth->step_count, &bytes))
		return 0;
	return bytes;
}

/* The account of the subject's process that grows most; without growth if none does. */
static int find_growth(const struct mr_case *of, struct mr_memory_account *ret_account,
		       struct mr_memory_growth *ret_growth)
{
	uint32_t count = mr_memory_account_count(of->model);
	mr_auto(free) struct mr_memory_growth *growths = calloc(count + 1, sizeof *growths);
	int result = growths ? mr_memory_growth_make(of->cut, growths) : -ENOMEM;

	*ret_growth = (struct mr_memory_growth){0};
	for (uint32_t i = 0; result == 0 && i < count; i++) {
		const struct mr_memory_account account = mr_memory_account(of->model, i);

		if (account.process == of->subject.process &&
		    grown_bytes(&growths[i]) > grown_bytes(ret_growth)) {
			*ret_account = account;
			*ret_growth = growths[i];
		}
	}
	return result;
}

/* New memory means new pages: claims what these take, from moments in which threads run. */
static void claim_pages(struct mr_case *of, int64_t bytes)
{
	int64_t left_ns = bytes / PAGE_BYTES * MR_FAULT_NS;

	mr_each_moment(of, moment)
	{
		if (mr_last_station(&of->subject, moment)->link.kind != MR_CAUSE_CPU)
			continue;
		moment->claimed_ns = mr_min(moment->left_ns, left_ns);
		left_ns -= moment->claimed_ns;
	}
}

/* The line of the program for which the operation last allocated memory of the account: "train.py:12 step"; "" if none is
 * known. */
static const char *find_line(struct mr_case *of, const struct mr_memory_account *account,
			     uint32_t operation)
{
	const struct mr_memory *memory = &of->model->memory;
	const struct mr_definitions *definitions = &of->model->survey->definitions;
	uint32_t site = 0;

	for (uint32_t row = memory->table.count; operation && site == 0 && row-- > 0;)
		if (!memory->is_free[row] && memory->device[row] == account->device &&
		    definitions->nodes.items[memory->node[row]].name == operation)
			site = memory->site[row];
	while (site &&
	       mr_sites_origin(&definitions->sites, &definitions->strings, site) != MR_CODE_PROGRAM)
		site = definitions->sites.items[site].parent;
	return site ? mr_line_text(of->model, &of->findings->region, site) : "";
}

static int describe(struct mr_case *of, struct mr_problem *problem,
		    const struct mr_memory_account *account, const struct mr_memory_growth *growth)
{
	struct mr_region *region = &of->findings->region;
	mr_auto(memory_holders) struct mr_memory_holders holders = {0};
	char step[MR_FORMAT_BYTES], all[MR_FORMAT_BYTES];

	if (mr_memory_holders_compare(of->model, account, growth->first_ns, growth->last_ns,
				      &holders) < 0)
		return -ENOMEM;
	const char *name =
		holders.list.count ? mr_model_text(of->model, holders.list.items[0].name) : "";
	const char *line = *name ? find_line(of, account, holders.list.items[0].name) : "";
	if (!line)
		return -ENOMEM;
	mr_format_bytes(step, growth->bytes_per_step);
	mr_format_bytes(all, grown_bytes(growth));
	problem->cost = mr_region_print(region, "%s a step", step);
	problem->where = *name ? mr_region_print(region, "allocated by %s", name) : "";
	problem->why = mr_region_print(
		region,
		"The program holds %s more after each step, %s more in all%s%s%s%s%s. "
		"Something keeps what the steps return.",
		step, all, *name ? "; most of it was allocated by " : "", name, *line ? " (" : "",
		line, *line ? ")" : "");
	return problem->cost && problem->where && problem->why ? 0 : -ENOMEM;
}

int mr_find_memory_growth(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_memory_account account = {0};
	struct mr_memory_growth growth;

	if (find_growth(of, &account, &growth) < 0)
		return -ENOMEM;
	if (grown_bytes(&growth) < SMALLEST_GROWTH)
		return 0;
	claim_pages(of, grown_bytes(&growth));
	problem->is_urgent = true;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	return describe(of, problem, &account, &growth);
}
