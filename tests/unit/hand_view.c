/* SPDX-License-Identifier: Apache-2.0 */
#include "hand_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_writer.h"

struct mr_model *hand_made;
struct mr_view *hand_view;

int hand_view_start(void **state)
{
	(void)state;
	hand_made = hand_model_start();
	hand_view = NULL;
	return 0;
}

int hand_view_end(void **state)
{
	(void)state;
	mr_view_free(hand_view);
	mr_model_free(hand_made);
	return 0;
}

void hand_view_look(void)
{
	struct mr_metadata metadata = writer_metadata;

	metadata.user_clock = MR_trace_clock_monotonic;
	assert_int_equal(mr_clocks_build(&metadata, NULL, 0, NULL, 0, &hand_made->survey->clocks),
			 0);
	hand_model_load();
	hand_made->survey->last_ns = 10000;
	assert_int_equal(mr_view_make(hand_made, &hand_view), 0);
}

uint32_t row_at(const struct mr_table *table, int64_t ns)
{
	const int64_t *start_ns = mr_table_columns((struct mr_table *)table)[1];

	for (uint32_t row = 0; row < table->count; row++)
		if (start_ns[row] == ns)
			return row;
	fail_msg("nothing begins at %lld", (long long)ns);
	return MR_NO_ROW;
}
