/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces in which nothing is as it should be: well-formed packets of events of all kinds and levels whose
 * times, ids and relations are random, and as often as not cannot be. The model and all analyses must come
 * to an end, in one piece, with breakdowns that sum (asserted where they are made) — of the whole trace and of
 * parts of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "kernel_trace.h"
#include "runtime_trace.h"
#include "trace_writer.h"

enum {
	SEEDS = 100,
	EVENTS = 300,
	CPUS = 2,
	DEVICES = 2,
	TASKS = 12,
	PARTS = 3, /* of each trace */
};

static uint32_t ids[MR_ID_KINDS][2]; /* some that are defined */

typedef int analysis(const struct mr_model *model, struct mr_findings *findings);

static analysis *const analyses[] = {
	mr_analyse_health,       mr_analyse_contents,      mr_analyse_devices,
	mr_analyse_idle,         mr_analyse_critical_path, mr_analyse_device_operations,
	mr_analyse_calls,        mr_analyse_memory,        mr_analyse_steps,
	mr_analyse_operations,   mr_analyse_latency,       mr_analyse_threads,
	mr_analyse_waits,        mr_analyse_preemption,    mr_analyse_system_calls,
	mr_analyse_input_output, mr_analyse_overview,
};

/* Numbers that often mean something, and often are too large to. */
static uint64_t draw_number(uint64_t *random, uint64_t now)
{
	static const uint64_t corners[] = {0,
					   1,
					   UINT64_MAX,
					   INT64_MAX,
					   (uint64_t)INT64_MIN,
					   UINT32_MAX,
					   (UINT64_C(1) << 48) - 1,
					   UINT64_C(1) << 47,
					   (UINT64_C(1) << 61) - 1};
	uint64_t drawn = next_random(random);

	switch (next_random(random) % 8) {
	case 0:
		return corners[drawn % mr_countof(corners)];
	case 1:
		return now - drawn % 100000;
	case 2:
		return DEVICE_TIME(now) + drawn % 100000 - 50000;
	case 3:
		return drawn % 1000000;
	default:
		return drawn % TASKS; /* tids, correlations */
	}
}

static uint64_t draw_field(const struct mr_field_desc *field, uint64_t *random, uint64_t now)
{
	uint64_t drawn = next_random(random);

	if (drawn % 8 == 0)
		return draw_number(random, now);
	if (field->enumeration)
		return field->enumeration->values[drawn / 8 % field->enumeration->value_count]
			.number;
	if (field->id_of)
		return ids[field->id_of][drawn / 8 % 2];
	/* Times of operations are in order now and then. */
	if (strcmp(field->name, "start") == 0)
		return DEVICE_TIME(now) - 30000 - drawn / 8 % 20000;
	if (strcmp(field->name, "end") == 0)
		return DEVICE_TIME(now) - 30000 + drawn / 8 % 20000;
	return draw_number(random, now);
}

static size_t draw_fields(const struct mr_event_desc *desc, uint64_t *random, uint64_t now,
			  uint8_t *payload)
{
	size_t size = 0;

	for (uint32_t i = 0; i < desc->field_count && desc->fields[i].type != MR_str; i++) {
		uint32_t bytes = mr_type_bytes(desc->fields[i].type);

		put_number(payload + size, draw_field(&desc->fields[i], random, now), bytes);
		size += bytes;
	}
	return size;
}

static const struct mr_event_desc *draw_event(uint64_t *random, uint8_t first, uint8_t last)
{
	const struct mr_event_desc *desc;

	do
		desc = &mr_event_table[first + next_random(random) % (last - first + 1u)];
	while (!desc->name);
	return desc;
}

static uint64_t draw_time(uint64_t *random, uint64_t last)
{
	return last + (next_random(random) % 3 ? next_random(random) % 20000 : 0);
}

static void write_user_events(uint64_t *random)
{
	uint64_t now = TRACE_BEGIN + 1000;

	for (uint32_t i = 0; i < DEVICES; i++) {
		ids[MR_ID_device][i] = define_device("gpu", 100);
		ids[MR_ID_queue][i] =
			define_queue(ids[MR_ID_device][i], "q", MR_queue_order_in_order, false);
		ids[MR_ID_node][i] = define_node("node", "type");
		ids[MR_ID_string][i] = define_string("text");
	}
	define_edge(ids[MR_ID_node][0], ids[MR_ID_node][1], MR_edge_kind_data);
	define_edge(ids[MR_ID_node][1], ids[MR_ID_node][0], MR_edge_kind_data);
	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct mr_event_desc *desc =
			draw_event(random, MR_EVENT_node_interval, MR_EVENT_loss);
		uint8_t payload[256] = {0};
		size_t size = draw_fields(desc, random, now, payload);

		now = draw_time(random, now);
		emit_event(desc->id, now, payload, size + desc->has_text);
	}
}

static void write_kernel_events(uint64_t *random)
{
	uint64_t now = TRACE_BEGIN + 1000;
	uint32_t running[CPUS] = {0};

	for (uint32_t tid = 1; tid < TASKS; tid++)
		kernel_born(tid % CPUS, now, tid - 1, tid, tid / 3 + 1, "task");
	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct mr_event_desc *desc =
			draw_event(random, MR_EVENT_kernel_switch, MR_EVENT_kernel_uring_complete);
		uint32_t cpu = next_random(random) % CPUS, next = next_random(random) % TASKS;
		uint8_t payload[256];
		size_t size = draw_fields(desc, random, now, payload);

		now = draw_time(random, now);
		if (next_random(random) % 2) { /* a switch that can be */
			kernel_switch(cpu, now, running[cpu], next, next % 5);
			running[cpu] = next;
		} else {
			kernel_trace_put(cpu, desc->id, now, payload, size,
					 desc->has_text ? "text" : NULL);
		}
	}
}

static void analyse(const struct mr_model *model)
{
	struct mr_findings findings = {0};

	for (size_t i = 0; i < mr_countof(analyses); i++)
		assert_int_equal(analyses[i](model, &findings), 0);
	mr_findings_free(&findings);
}

static void analyse_part(const struct mr_model *model, uint64_t *random)
{
	struct mr_window window = mr_model_window(model);
	uint64_t length = (uint64_t)window.last_ns - (uint64_t)window.first_ns;
	struct mr_model *cut = NULL;

	if (length < 2)
		return;
	window.first_ns += (int64_t)(next_random(random) % (length / 2));
	window.last_ns -= (int64_t)(next_random(random) % (length / 2));
	assert_int_equal(mr_model_cut(model, &(struct mr_part){window, NULL}, &cut), 0);
	analyse(cut);
	mr_model_free(cut);
}

static void test_impossible_traces(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t random = seed;

		kernel_trace_begin(CPUS);
		runtime_trace_start_in((char *)kernel_trace_directory());
		write_user_events(&random);
		runtime_trace_finish();
		write_kernel_events(&random);
		struct mr_model *model = kernel_trace_load(TRACE_END);
		analyse(model);
		for (uint32_t i = 0; i < PARTS; i++)
			analyse_part(model, &random);
		kernel_trace_end(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impossible_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
