/* SPDX-License-Identifier: Apache-2.0
 *
 * The first of these that holds:
 *
 *     it was seen in a function of Python that has a role             the role of that function
 *     its tid is the pid                                              MAIN
 *     it executed a node that has a role, or has a name that does     the role of that
 *     it worked for the input pipeline                                INPUT
 *     it executed nodes                                               INTER_OP
 *     of its wake-ups by threads of its process, most came from       INTRA_OP
 *     threads that executed a node just then, or are INTRA_OP
 *
 * Names have roles in tables of frameworks and runtimes:
 *
 *     MR_ROLE(field, text, role)
 *         field    CODE (a function of Python, is), NODE (its type, begins with the text), THREAD (the kernel's name, begins with it)
 */
#include "load/roles.h"

#include <string.h>

#include "base/sort.h"

enum field {
	CODE,
	NODE,
	THREAD,
};

enum {
	ROUNDS = 2, /* a helper may wake another one */
};

static const struct naming {
	enum field field;
	const char *text;
	enum mr_thread_role role;
} namings[] = {
#define MR_ROLE(field, text, role) {field, text, MR_ROLE_##role},
#include "load/cuda/roles.def"
#include "load/torch/roles.def"
#undef MR_ROLE
};

static uint8_t role_of(enum field field, const char *name)
{
	for (size_t i = 0; i < mr_countof(namings); i++)
		if (namings[i].field == field &&
		    (field == CODE ? strcmp(name, namings[i].text) == 0
				   : strncmp(name, namings[i].text, strlen(namings[i].text)) == 0))
			return (uint8_t)namings[i].role;
	return MR_ROLE_NONE;
}

static struct mr_track *thread_of(const struct mr_model *model, uint32_t track)
{
	return &model->survey->tracks.items[track];
}

/* ---- by lines of Python ---------------------------------------------------------------------------- */

/* With the classes around it cut off. */
static const char *function_name(const struct mr_model *model, uint32_t code)
{
	const char *name =
		mr_model_text(model, model->survey->definitions.sites.codes.items[code].name);
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* A site has the role of its function, else that of the site that called it, which has a lower number. */
static int look_at_samples(const struct mr_model *model)
{
	const struct mr_sites *sites = &model->survey->definitions.sites;
	const struct mr_samples *samples = &model->samples;
	mr_auto(free) uint8_t *of_code = malloc(sites->codes.count + 1);
	mr_auto(free) uint8_t *of_site = calloc(sites->count + 1, 1);

	if (!of_code || !of_site)
		return -ENOMEM;
	for (uint32_t i = 0; i < sites->codes.count; i++)
		of_code[i] = role_of(CODE, function_name(model, i));
	for (uint32_t i = 1; i < sites->count; i++) {
		const struct mr_site *site = &sites->items[i];

		of_site[i] = of_code[site->code] ? of_code[site->code] : of_site[site->parent];
	}
	for (uint32_t row = 0; row < samples->table.count; row++)
		if (of_site[samples->site[row]])
			thread_of(model, samples->track[row])->role = of_site[samples->site[row]];
	return 0;
}

/* ---- by names ------------------------------------------------------------------------------------- */

static void look_at_threads(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;

	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		struct mr_track *track = &survey->tracks.items[i];

		if (track->kind != MR_TRACK_THREAD || track->role)
			continue;
		track->role = track->tid == survey->processes.items[track->process].pid
				      ? MR_ROLE_MAIN
				      : role_of(THREAD, mr_model_text(model, track->kernel_name));
	}
}

static int look_at_nodes(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node_executions *executions = &model->node_executions;
	mr_auto(free) uint8_t *of_node = malloc(definitions->nodes.count + 1);

	if (!of_node)
		return -ENOMEM;
	for (size_t i = 0; i < definitions->nodes.count; i++)
		of_node[i] = role_of(NODE, mr_model_text(model, definitions->nodes.items[i].type));
	for (uint32_t row = 0; row < executions->table.count; row++) {
		struct mr_track *track = thread_of(model, executions->track[row]);

		if (!track->role)
			track->role = of_node[executions->node[row]];
	}
	return 0;
}

/* ---- by rows -------------------------------------------------------------------------------------- */

static void look_at_rows(const struct mr_model *model)
{
	const uint32_t *work = model->input_work.table.first_of_track;
	const uint32_t *executions = model->node_executions.table.first_of_track;

	for (uint32_t i = 0; i < model->survey->tracks.count; i++) {
		struct mr_track *track = thread_of(model, i);

		if (track->kind != MR_TRACK_THREAD || track->role)
			continue;
		if (work[i] < work[i + 1])
			track->role = MR_ROLE_INPUT;
		else if (executions[i] < executions[i + 1])
			track->role = MR_ROLE_INTER_OP;
	}
}

static bool executes(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const uint32_t *first = &executions->table.first_of_track[track];
	uint32_t row = mr_find_larger(executions->start_ns, first[0], first[1], ns);

	if (row-- == first[0])
		return false;
	while (row != MR_NO_ROW && executions->start_ns[row] + executions->duration_ns[row] < ns)
		row = executions->parent[row];
	return row != MR_NO_ROW;
}

static bool is_helper(const struct mr_model *model, uint32_t track)
{
	const struct mr_wakeups *wakeups = &model->wakeups;
	const uint32_t *first = &wakeups->table.first_of_track[track];
	uint64_t of_process = 0, for_nodes = 0;

	for (uint32_t row = first[0]; row < first[1]; row++) {
		uint32_t waker = wakeups->waker[row];

		if (waker == MR_NO_TRACK ||
		    thread_of(model, waker)->process != thread_of(model, track)->process)
			continue;
		of_process++;
		for_nodes += thread_of(model, waker)->role == MR_ROLE_INTRA_OP ||
			     executes(model, waker, wakeups->start_ns[row]);
	}
	return 2 * for_nodes > of_process;
}

static void find_helpers(const struct mr_model *model)
{
	for (int round = 0; round < ROUNDS && model->node_executions.table.count; round++)
		for (uint32_t i = 0; i < model->survey->tracks.count; i++) {
			struct mr_track *track = thread_of(model, i);

			if (track->kind == MR_TRACK_THREAD && !track->role && is_helper(model, i))
				track->role = MR_ROLE_INTRA_OP;
		}
}

int mr_roles_find(struct mr_model *model)
{
	int result = look_at_samples(model);

	if (result < 0)
		return result;
	look_at_threads(model);
	result = look_at_nodes(model);
	if (result < 0)
		return result;
	look_at_rows(model);
	find_helpers(model);
	return 0;
}
