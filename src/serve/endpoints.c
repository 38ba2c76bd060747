/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/endpoints.h"

#include <string.h>

#include "base/macros.h"

static const struct {
	const char *name;
	mr_answer_function *answer;
} endpoints[] = {
	{"trace", mr_answer_trace},
	{"slices", mr_answer_slices},
	{"series", mr_answer_series},
	{"row", mr_answer_row},
	{"at", mr_answer_at},
	{"label", mr_answer_label},
	{"histogram", mr_answer_histogram},
	{"next", mr_answer_next},
	{"find", mr_answer_find},
	{"steps", mr_answer_steps},
	{"step_causes", mr_answer_step_causes},
	{"groups", mr_answer_groups},
	{"icicle", mr_answer_icicle},
	{"report", mr_answer_report},
	{"node", mr_answer_node},
	{"memory", mr_answer_memory},
	{"live", mr_answer_live},
	{"graph", mr_answer_graph},
	{"graph_find", mr_answer_graph_find},
};

mr_answer_function *mr_endpoint_find(const char *name)
{
	for (size_t i = 0; i < mr_countof(endpoints); i++)
		if (strcmp(name, endpoints[i].name) == 0)
			return endpoints[i].answer;
	return NULL;
}
