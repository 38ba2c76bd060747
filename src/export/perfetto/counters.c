/* SPDX-License-Identifier: Apache-2.0
 *
 * Values over time as Perfetto's counters: those that programs report, by process and name; and memory, by process, device
 * and who reports it.
 */
#include "export/perfetto/perfetto.h"

enum {
	NAME_BYTES = 512,

	PACKET_TRACK = 60,
	TRACK_ID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	COUNTER_UNIT = 3,
	UNIT_NONE = 0,
	UNIT_BYTES = 3,

	EVENT_VALUE = 30,
};

#define MEMORY UINT32_MAX

/* What a counter is of. */
struct key {
	uint32_t process;
	uint32_t name;   /* string; MEMORY: of a device */
	uint32_t device; /* of memory */
	uint32_t teller;
};

static int describe(struct mr_perfetto *perfetto, const struct key *key, uint64_t id)
{
	const struct mr_survey *survey = perfetto->model->survey;
	struct mr_bytes *bytes = &perfetto->bytes;
	char name[NAME_BYTES];
	uint64_t parent;
	int result = mr_perfetto_process(perfetto, key->process, &parent);

	if (result < 0)
		return result;
	if (key->name != MEMORY)
		snprintf(name, sizeof name, "%s", mr_survey_text(survey, key->name));
	else
		snprintf(
			name, sizeof name, "memory of %s (%s)",
			mr_survey_text(survey, survey->definitions.devices.items[key->device].name),
			key->teller == MR_MEMORY_FRAMEWORK ? "framework" : "runtime");
	size_t packet = mr_packet_begin(perfetto);
	size_t track = mr_proto_begin(bytes, PACKET_TRACK);
	mr_proto_number(bytes, TRACK_ID, id);
	mr_proto_number(bytes, TRACK_PARENT, parent);
	mr_proto_text(bytes, TRACK_NAME, name);
	size_t counter = mr_proto_begin(bytes, TRACK_COUNTER);
	mr_proto_number(bytes, COUNTER_UNIT, key->name == MEMORY ? UNIT_BYTES : UNIT_NONE);
	mr_proto_end(bytes, counter);
	mr_proto_end(bytes, track);
	return mr_packet_end(perfetto, packet);
}

static int add_value(struct mr_perfetto *perfetto, struct key key, int64_t time_ns, int64_t value)
{
	uint32_t before = mr_strings_count(&perfetto->counters), number;

	if (time_ns < 0) {
		perfetto->left_out++;
		return 0;
	}
	int result = mr_strings_intern(&perfetto->counters, &key, sizeof key, &number);
	uint64_t id = mr_track_id(MR_SPACE_COUNTER, number);
	if (result == 0 && number == before)
		result = describe(perfetto, &key, id);
	if (result < 0)
		return result;
	size_t packet = mr_packet_begin(perfetto);
	size_t event = mr_event_begin(perfetto, MR_EVENT_COUNTER, id, time_ns);
	mr_proto_number(&perfetto->bytes, EVENT_VALUE, (uint64_t)value);
	mr_proto_end(&perfetto->bytes, event);
	return mr_packet_end(perfetto, packet);
}

int mr_perfetto_counters(struct mr_perfetto *perfetto)
{
	const struct mr_counters *counters = &perfetto->model->counters;
	const struct mr_memory *memory = &perfetto->model->memory;
	const struct mr_track *tracks = perfetto->model->survey->tracks.items;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < counters->table.count; i++)
		result = add_value(perfetto,
				   (struct key){.process = tracks[counters->track[i]].process,
						.name = counters->name[i]},
				   counters->start_ns[i], counters->value[i]);
	for (uint32_t i = 0; result == 0 && i < memory->table.count; i++)
		result = add_value(perfetto,
				   (struct key){.process = tracks[memory->track[i]].process,
						.name = MEMORY,
						.device = memory->device[i],
						.teller = memory->teller[i]},
				   memory->start_ns[i], (int64_t)memory->live_bytes[i]);
	return result;
}
