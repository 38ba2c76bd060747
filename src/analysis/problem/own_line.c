/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/problem/own_line.h"

#include <string.h>

#include "base/format.h"
#include "model/lines.h"

enum {
	TELLING_PERMILLE = 250, /* of what is claimed: a function with less explains little */
};

/* By site, the site itself or the nearest above it that is the user's; 0: none is. NULL without memory. */
static uint32_t *find_own_sites(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_sites *sites = &definitions->sites;
	uint32_t *own = calloc(sites->count + 1, sizeof *own);

	for (uint32_t i = 1; own && i < sites->count; i++)
		own[i] = mr_sites_origin(sites, &definitions->strings, i) == MR_CODE_PROGRAM
				 ? i
				 : own[sites->items[i].parent];
	return own;
}

/* The site that the last of its threads with a line was at. */
static uint32_t site_of(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);
	uint32_t site = 0;

	for (uint32_t i = moment->station_count; site == 0 && i-- > 0;)
		if (stations[i].thread != MR_NO_TRACK)
			site = mr_line_at(of->model, stations[i].thread, moment->start_ns, NULL);
	return site;
}

struct own_line {
	uint32_t site; /* with most time of all lines of the function; 0: there is none */
	int64_t function_ns;
};

static struct own_line find_most(const struct mr_sites *sites, const int64_t *site_ns,
				 int64_t *code_ns)
{
	struct own_line most = {0};
	int64_t line_ns = 0;
	uint32_t code = 0;

	for (uint32_t i = 1; i < sites->count; i++)
		code_ns[sites->items[i].code] += site_ns[i];
	for (uint32_t i = 1; i < sites->codes.count; i++)
		if (code_ns[i] > most.function_ns) {
			most.function_ns = code_ns[i];
			code = i;
		}
	for (uint32_t i = 1; code && i < sites->count; i++)
		if (sites->items[i].code == code && site_ns[i] > line_ns) {
			line_ns = site_ns[i];
			most.site = i;
		}
	return most;
}

static int find_own_line(const struct mr_case *of, struct own_line *ret_line)
{
	const struct mr_sites *sites = &of->model->survey->definitions.sites;
	mr_auto(free) uint32_t *own = find_own_sites(of->model);
	mr_auto(free) int64_t *site_ns = calloc(sites->count + 1, sizeof *site_ns);
	mr_auto(free) int64_t *code_ns = calloc(sites->codes.count + 1, sizeof *code_ns);

	if (!own || !site_ns || !code_ns)
		return -ENOMEM;
	mr_each_moment(of, moment)
	{
		uint32_t site = moment->claimed_ns ? own[site_of(of, moment)] : 0;

		if (site)
			site_ns[sites->items[site].same] += moment->claimed_ns;
	}
	*ret_line = find_most(sites, site_ns, code_ns);
	return 0;
}

static const char *explain(const struct mr_case *of, const char *why, struct own_line line)
{
	const struct mr_sites *sites = &of->model->survey->definitions.sites;
	const struct mr_site *site = &sites->items[line.site];
	const struct mr_code *code = &sites->codes.items[site->code];
	const char *path = mr_model_text(of->model, code->file), *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path, *name = mr_model_text(of->model, code->name);
	bool is_module = strcmp(name, "<module>") == 0;
	char share[MR_FORMAT_BYTES];

	mr_format_percent(share, line.function_ns, mr_claimed_ns(of));
	return mr_region_print(&of->findings->region, "%s Of this, %s is %s%s, most at %s:%u.", why,
			       share, is_module ? "at module level" : "in ", is_module ? "" : name,
			       file, site->line);
}

/* What others do to the program, or the device does, has no line. That of memory is where it is allocated. */
static bool may_have_line(const struct mr_problem *problem)
{
	static const char *const without[] = {"other_process", "throttled", "oversubscribed",
					      "device_limit", "memory_growth"};

	for (size_t i = 0; i < mr_countof(without); i++)
		if (strcmp(problem->key, without[i]) == 0)
			return false;
	return !problem->outside_ns && !strstr(problem->why, ".py:");
}

int mr_problem_name_line(struct mr_case *of, struct mr_problem *problem)
{
	struct own_line line;

	if (of->model->survey->definitions.sites.count < 2 || !may_have_line(problem))
		return 0;
	if (find_own_line(of, &line) < 0)
		return -ENOMEM;
	if (line.site == 0 || mr_permille(line.function_ns, mr_claimed_ns(of)) < TELLING_PERMILLE)
		return 0;
	problem->why = explain(of, problem->why, line);
	return problem->why ? 0 : -ENOMEM;
}
