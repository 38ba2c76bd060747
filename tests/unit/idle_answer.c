/* SPDX-License-Identifier: Apache-2.0 */
#include "idle_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct mr_model *idle_model;

int idle_start(void **state)
{
	(void)state;
	idle_model = hand_model_start();
	return 0;
}

int idle_end(void **state)
{
	(void)state;
	mr_model_free(idle_model);
	return 0;
}

static const struct mr_idle_device *device_of(const struct mr_idle *idle, const char *name)
{
	for (size_t i = 0; i < idle->devices.count; i++) {
		const struct mr_idle_device *device = &idle->devices.items[i];
		uint32_t string =
			idle_model->survey->definitions.devices.items[device->device].name;

		if (strcmp(mr_model_text(idle_model, string), name) == 0)
			return device;
	}
	fail_msg("no device %s", name);
	return NULL;
}

char *idle_print(const struct mr_idle *idle, const char *name)
{
	const struct mr_idle_device *device = device_of(idle, name);
	struct mr_region region = {0};
	size_t bytes;
	char *printed = NULL;
	FILE *to = open_memstream(&printed, &bytes);

	for (uint32_t i = 0; i < device->piece_count; i++) {
		const struct mr_idle_piece *piece = &idle->pieces.items[device->first_piece + i];

		fprintf(to, "%s%" PRId64 "-%" PRId64 " %s", i ? "; " : "", piece->start_ns,
			piece->start_ns + piece->duration_ns,
			mr_chain_text(idle_model, &region, &idle->chains, piece->chain));
	}
	fclose(to);
	mr_region_free(&region);
	return printed;
}

void idle_expect(const char *name, const char *wanted)
{
	mr_auto(idle) struct mr_idle idle = {0};

	hand_model_load();
	assert_int_equal(mr_idle_make(idle_model, &idle), 0);
	mr_auto(free) char *found = idle_print(&idle, name);
	assert_string_equal(found, wanted);
}

void idle_work_around_gap(void)
{
	hand_operation(QUEUE_A, 0, 100, "first", 1);
	hand_operation(QUEUE_A, 3000, 3100, "second", 2);
	hand_launch(0, 2000, 2100, 2);
}

#define AFTER_GAP "; 2000-2100 launch (launch); 2100-3000 dispatch"

void idle_expect_gap(const char *wanted)
{
	mr_auto(free) char *all = NULL;

	assert_true(asprintf(&all, "%s" AFTER_GAP, wanted) > 0);
	idle_expect("gpu0", all);
}
