/* SPDX-License-Identifier: Apache-2.0
 *
 * What the viewer's server answers about a table that the timeline did not show: a thread with an operation and, in
 * the new table, two slices of its node; then an empty trace, which has the descriptions of tables as any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_model.h"
#include "kernel_trace.h"

static void show(struct mr_view *view, const char *question)
{
	json_t *answer = ask_json(view, "%s", question);
	char *text = json_dumps(answer, JSON_COMPACT);

	printf("%s\n", text);
	free(text);
	json_decref(answer);
}

int main(void)
{
	struct mr_model *model = hand_model_start();
	struct mr_view *view = NULL;

	hand_node(0, 0, 100, "all_reduce");
	for (int i = 0; i < 2; i++)
		mr_collectives_append(&model->collectives,
				      (struct mr_collectives_row){.start_ns = 10 + 50 * i,
								  .duration_ns = 30,
								  .node = 1});
	hand_model_load();
	if (mr_view_make(model, &view) < 0)
		return 1;
	for (uint32_t i = 0; i < view->bands.list.count; i++)
		printf("%s ", mr_sliced_name(view->bands.list.items[i].table));
	printf("\n");
	show(view, "row?table=collectives&row=1");
	show(view, "groups?table=collectives");
	show(view, "find?text=all_reduce");
	kernel_trace_begin(1);
	kernel_trace_cut(0, 1, 0);
	if (mr_view_make(kernel_trace_load(1000), &view) < 0)
		return 1;
	show(view, "trace");
	return 0;
}
