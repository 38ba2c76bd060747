/* SPDX-License-Identifier: Apache-2.0 */
#include "model/survey.h"

#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "model/other_tracks.h"
#include "model/spans.h"
#include "model/survey_gaps.h"
#include "model/table.h"

/* A clock sample as recorded: the ids mean something in that process only. */
struct raw_sample {
	uint32_t process;
	struct mr_clock_sample sample;
};

struct surveyor {
	struct mr_survey *survey;
	mr_vec(struct raw_sample) samples;
	mr_vec(uint32_t) parents; /* number of each process's parent */
	mr_vec(uint64_t) starts;  /* ticks of the user clock when it attached; 0 if not known */
	struct mr_switching by_recorder, by_program;
	struct mr_sightings sightings;
};

struct track_key {
	uint32_t process;
	uint32_t tid;
};

static int intern(struct mr_survey *survey, const char *text, uint32_t *ret_string)
{
	return mr_strings_intern(&survey->definitions.strings, text, strlen(text), ret_string);
}

/* ---- who took part ------------------------------------------------------------------------------ */

static int add_host(struct mr_survey *survey)
{
	struct mr_host host = {0};
	int result = intern(survey, survey->trace->metadata.host, &host.name);

	return result < 0 ? result : mr_vec_push(&survey->hosts, host);
}

static int add_process(struct surveyor *surveyor, uint32_t number, uint32_t pid,
		       uint32_t *ret_process)
{
	struct mr_survey *survey = surveyor->survey;
	const struct mr_host_key key = {MR_OWN_HOST, number};
	uint32_t process;

	if (mr_strings_intern(&survey->process_keys, &key, sizeof key, &process) < 0)
		return -ENOMEM;
	if (process == survey->processes.count) {
		struct mr_process added = {
			.host = key.host,
			.number = number,
			.pid = pid,
			.parent = process,
			.rank = MR_NO_ORDINAL,
			.world_size = MR_NO_ORDINAL,
			.local_rank = MR_NO_ORDINAL,
			.first_ns = INT64_MAX,
			.last_ns = INT64_MIN,
		};
		struct mr_definition_scope scope = {0};

		if (mr_vec_push(&survey->processes, added) < 0 ||
		    mr_vec_push(&survey->definitions.scopes, scope) < 0 ||
		    mr_vec_push(&surveyor->parents, 0) < 0 || mr_vec_push(&surveyor->starts, 0) < 0)
			return -ENOMEM;
	}
	*ret_process = process;
	return 0;
}

static int add_track(struct mr_survey *survey, uint32_t process, uint32_t tid)
{
	const struct track_key key = {process, tid};
	struct mr_track added = {
		.kind = MR_TRACK_THREAD,
		.process = process,
		.tid = tid,
		.cpu = MR_NO_CPU,
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
	};
	uint32_t track;

	if (mr_strings_intern(&survey->track_keys, &key, sizeof key, &track) < 0)
		return -ENOMEM;
	if (track < survey->tracks.count)
		return 0;
	survey->processes.items[process].thread_count++;
	return mr_vec_push(&survey->tracks, added);
}

static int add_cpu(struct mr_survey *survey, uint32_t cpu)
{
	const struct mr_host_key key = {MR_OWN_HOST, cpu};
	uint32_t index;

	return mr_strings_intern(&survey->cpu_keys, &key, sizeof key, &index);
}

static int list_packets(struct surveyor *surveyor, const struct mr_trace_stream *stream)
{
	struct mr_survey *survey = surveyor->survey;

	survey->missing_packets += stream->missing_packets;
	survey->discarded_events += stream->discarded_events;
	for (uint32_t i = 0; i < stream->packet_count; i++) {
		const struct mr_packet_context *context = &stream->packets[i].packet->context;
		uint32_t process;

		if (add_process(surveyor, context->process, context->pid, &process) < 0)
			return -ENOMEM;
		if (stream->stream_class == MR_STREAM_KERNEL) {
			if (add_cpu(survey, context->tid) < 0)
				return -ENOMEM;
		} else if (context->process != MR_RECORDER_PROCESS &&
			   stream->kind == MR_PACKET_EVENTS &&
			   add_track(survey, process, context->tid) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

void mr_survey_find(const struct mr_survey *survey, const struct mr_packet_context *context,
		    uint32_t *ret_process, uint32_t *ret_track)
{
	uint32_t process = 0, track = MR_NO_TRACK;

	mr_survey_find_process(survey, MR_OWN_HOST, context->process, &process);
	const struct track_key key = {process, context->tid};
	mr_strings_find(&survey->track_keys, &key, sizeof key, &track);
	*ret_process = process;
	*ret_track = track;
}

/* ---- what the events say ------------------------------------------------------------------------ */

static int note_process_start(struct surveyor *surveyor, const struct mr_event *event)
{
	const struct mr_event_process_start *start = event->payload;
	/* Without a number it speaks of the process that wrote it. */
	uint32_t number = start->process ? start->process : event->context->process;
	uint32_t process;

	/* One that never recorded anything is known from here alone. */
	if (add_process(surveyor, number, start->pid, &process) < 0)
		return -ENOMEM;
	struct mr_process *entry = &surveyor->survey->processes.items[process];
	entry->origin = start->origin;
	surveyor->parents.items[process] = start->parent_process;
	surveyor->starts.items[process] = start->start;
	surveyor->survey->definitions.scopes.items[process].first_definition =
		start->first_definition;
	return intern(surveyor->survey, event->text, &entry->program);
}

static int note_clock_sample(struct surveyor *surveyor, const struct mr_event *event,
			     uint32_t process)
{
	const struct mr_event_clock_sample *sample = event->payload;
	struct raw_sample raw = {
		process,
		{sample->reference, sample->clock, sample->before, sample->value, sample->after}};

	return mr_vec_push(&surveyor->samples, raw);
}

static int note_text(struct mr_survey *survey, struct mr_texts_seen *seen, const char *text)
{
	uint32_t string;

	if (intern(survey, text, &string) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i] == string)
			return 0;
	return mr_vec_push(seen, string);
}

/* Of a thread that the recorder has seen from outside: it may run Python and record nothing. */
static int note_seen(struct surveyor *surveyor, const struct mr_event *event, uint32_t number,
		     uint32_t tid, uint32_t *ret_track)
{
	const struct mr_packet_context thread = {.process = number, .tid = tid};
	struct mr_survey *survey = surveyor->survey;
	uint32_t process;

	*ret_track = MR_NO_TRACK;
	if (!mr_survey_find_process(survey, MR_OWN_HOST, number, &process))
		return 0;
	if (add_track(survey, process, tid) < 0)
		return -ENOMEM;
	mr_survey_find(survey, &thread, &process, ret_track);
	return mr_sightings_note(&surveyor->sightings, *ret_track, event->ticks);
}

static int note_sample(struct surveyor *surveyor, const struct mr_event *event)
{
	const struct mr_event_python_sample *sample = event->payload;
	uint32_t track;

	return note_seen(surveyor, event, sample->process, sample->tid, &track);
}

/* Of several names the last one counts. */
static int note_name(struct surveyor *surveyor, const struct mr_event *event)
{
	const struct mr_event_python_thread_name *named = event->payload;
	uint32_t track;
	int result = note_seen(surveyor, event, named->process, named->tid, &track);

	return result < 0 || track == MR_NO_TRACK
		       ? result
		       : intern(surveyor->survey, event->text,
				&surveyor->survey->tracks.items[track].name);
}

/* Events of the level core, and all definitions, describe the trace itself; others are only counted. */
static int note(struct surveyor *surveyor, const struct mr_event *event, uint32_t process,
		uint32_t track)
{
	struct mr_survey *survey = surveyor->survey;

	switch (event->desc->id) {
	case MR_EVENT_process_start:
		return note_process_start(surveyor, event);
	case MR_EVENT_process_end:
		survey->processes.items[process].end = MR_PROCESS_EXIT;
		return 0;
	case MR_EVENT_process_exec:
		if (survey->processes.items[process].end == MR_PROCESS_END_NOT_SEEN)
			survey->processes.items[process].end = MR_PROCESS_EXEC;
		return 0;
	case MR_EVENT_thread_start:
	case MR_EVENT_thread_name:
		return track == MR_NO_TRACK ? 0
					    : intern(survey, event->text,
						     &survey->tracks.items[track].kernel_name);
	case MR_EVENT_process_rank: {
		const struct mr_event_process_rank *said = event->payload;
		struct mr_process *entry = &survey->processes.items[process];

		entry->rank = said->rank;
		entry->world_size = said->world_size;
		entry->local_rank = said->local_rank;
		return 0;
	}
	case MR_EVENT_runtime_seen:
		return note_text(survey, &survey->runtimes_seen, event->text);
	case MR_EVENT_runtime_not_traced:
		return note_text(survey, &survey->runtimes_not_traced, event->text);
	case MR_EVENT_interpreter: {
		const struct mr_event_interpreter *seen = event->payload;

		return mr_vec_push(&survey->interpreters,
				   ((struct mr_interpreter){process, seen->address, seen->bytes}));
	}
	case MR_EVENT_python_sample:
		return note_sample(surveyor, event);
	case MR_EVENT_python_thread_name:
		return note_name(surveyor, event);
	case MR_EVENT_python_sampling: {
		const struct mr_event_python_sampling *said = event->payload;

		survey->sampling =
			(struct mr_python_sampling){said->rate, said->samples, said->torn};
		return 0;
	}
	case MR_EVENT_hook_missing:
		return note_text(survey, &survey->hooks_missing, event->text);
	case MR_EVENT_queue_word:
		return note_text(survey, &survey->queue_words, event->text);
	case MR_EVENT_recording_switched:
		mr_switching_note(survey->processes.items[process].number == MR_RECORDER_PROCESS
					  ? &surveyor->by_recorder
					  : &surveyor->by_program,
				  event);
		return 0;
	case MR_EVENT_clock_sample:
		return note_clock_sample(surveyor, event, process);
	case MR_EVENT_loss: {
		const struct mr_event_loss *loss = event->payload;
		survey->losses[loss->reason] += loss->count;
		return 0;
	}
	case MR_EVENT_kernel_fork:
	case MR_EVENT_kernel_exec:
	case MR_EVENT_kernel_exit:
	case MR_EVENT_kernel_task_name:
		return mr_tasks_note(&survey->tasks, survey->processes.items[process].host,
				     &survey->definitions.strings, event);
	default:
		return mr_definitions_add(&survey->definitions, process, event);
	}
}

static int walk(struct surveyor *surveyor, const struct mr_trace_stream *stream)
{
	struct mr_survey *survey = surveyor->survey;
	const struct mr_packet_context *context = NULL;
	uint32_t process = 0, track = MR_NO_TRACK;
	struct mr_cursor cursor;
	struct mr_event event;
	struct mr_stream_reading last = {0};
	bool is_of_cpu =
		stream->stream_class == MR_STREAM_KERNEL && stream->kind == MR_PACKET_EVENTS;
	uint8_t noted = MR_LEVEL_core;

	if (stream->kind == MR_PACKET_DEFINITIONS)
		noted |= MR_LEVEL_kernel;
	mr_cursor_start(&cursor, survey->trace, stream);
	while (mr_cursor_next(&cursor, &event)) {
		if (mr_unlikely(event.context != context)) {
			context = event.context;
			mr_survey_find(survey, context, &process, &track);
		}
		survey->event_counts[event.desc->id]++;
		survey->processes.items[process].event_count++;
		if (mr_unlikely(event.desc->level & noted) &&
		    note(surveyor, &event, process, track) < 0)
			return -ENOMEM;
		if (is_of_cpu && mr_survey_look_for_gap(survey, &last, &event, &cursor) < 0)
			return -ENOMEM;
	}
	const struct mr_packet_context *end =
		&stream->packets[stream->packet_count - 1].packet->context;
	if (is_of_cpu && cursor.malformed_packets != last.malformed_packets &&
	    mr_survey_note_gap(survey, end->tid, last.ticks, end->end_ticks) < 0)
		return -ENOMEM;
	survey->unknown_events += cursor.unknown_events;
	survey->malformed_packets += cursor.malformed_packets;
	return 0;
}

/* ---- putting it together ------------------------------------------------------------------------ */

/* A parent is older than its child, so it has a lower number: chains of parents end. */
static void link_parents(struct surveyor *surveyor)
{
	struct mr_survey *survey = surveyor->survey;

	for (uint32_t i = 0; i < survey->processes.count; i++) {
		struct mr_process *process = &survey->processes.items[i];
		struct mr_definition_scope *scope = &survey->definitions.scopes.items[i];
		uint32_t number = surveyor->parents.items[i], parent;

		if (number == 0 || number >= process->number ||
		    !mr_survey_find_process(survey, process->host, number, &parent))
			continue;
		process->parent = scope->parent = parent;
		scope->has_parent = true;
	}
}

/* A forked process is of its parent's rank: the library starts once, before the fork. */
static void inherit_ranks(struct mr_survey *survey)
{
	for (uint32_t i = 0; i < survey->processes.count; i++) {
		struct mr_process *process = &survey->processes.items[i];
		const struct mr_process *of = process;

		while (of->rank == MR_NO_ORDINAL && of->origin == MR_process_origin_fork &&
		       of->parent != (uint32_t)(of - survey->processes.items))
			of = &survey->processes.items[of->parent];
		process->rank = of->rank;
		process->world_size = of->world_size;
		process->local_rank = of->local_rank;
	}
}

static int map_clocks(struct surveyor *surveyor)
{
	struct mr_survey *survey = surveyor->survey;
	const struct mr_definitions *definitions = &survey->definitions;
	size_t sample_count = surveyor->samples.count;
	size_t clock_count = definitions->clocks.count - MR_CLOCK_FIRST_DEVICE;
	mr_auto(free) struct mr_clock_sample *samples = calloc(sample_count + 1, sizeof *samples);
	mr_auto(free) struct mr_clock_definition *clocks = calloc(clock_count + 1, sizeof *clocks);

	if (!samples || !clocks)
		return mr_fail_errno(ENOMEM, "map the clocks");
	for (size_t i = 0; i < sample_count; i++) {
		const struct raw_sample *raw = &surveyor->samples.items[i];

		samples[i] = raw->sample;
		samples[i].reference =
			mr_definition_find_clock(definitions, raw->process, raw->sample.reference);
		samples[i].clock =
			mr_definition_find_clock(definitions, raw->process, raw->sample.clock);
	}
	for (size_t i = 0; i < clock_count; i++) {
		clocks[i].clock = (uint32_t)i + MR_CLOCK_FIRST_DEVICE;
		clocks[i].ticks_per_second =
			definitions->clocks.items[clocks[i].clock].ticks_per_second;
	}
	return mr_clocks_build(&survey->trace->metadata, clocks, (uint32_t)clock_count, samples,
			       (uint32_t)sample_count, &survey->clocks);
}

static int read_streams(struct surveyor *surveyor)
{
	struct mr_survey *survey = surveyor->survey;
	const struct mr_trace *trace = survey->trace;

	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (list_packets(surveyor, &trace->streams[i]) < 0)
			return -ENOMEM;
	mr_progress_begin("looking through the events", trace->event_bytes);
	for (uint32_t i = 0; i < trace->stream_count; i++)
		if (walk(surveyor, &trace->streams[i]) < 0)
			return -ENOMEM;
	for (int id = 0; id < 256; id++)
		survey->event_count += survey->event_counts[id];
	for (uint32_t i = 0; i < trace->damage_count; i++)
		survey->lost_bytes += trace->damages[i].lost_bytes;
	link_parents(surveyor);
	inherit_ranks(survey);
	if (mr_definitions_resolve(&survey->definitions) < 0)
		return -ENOMEM;
	return mr_tasks_build(&survey->tasks);
}

static int make(struct surveyor *surveyor)
{
	if (mr_definitions_start(&surveyor->survey->definitions) < 0 ||
	    add_host(surveyor->survey) < 0 || read_streams(surveyor) < 0)
		return mr_fail_errno(ENOMEM, "survey the trace");
	int result = map_clocks(surveyor);
	if (result < 0)
		return result;
	mr_survey_span(surveyor->survey, surveyor->starts.items);
	mr_sightings_span(&surveyor->sightings, surveyor->survey);
	mr_survey_span_levels(surveyor->survey, &surveyor->by_recorder, &surveyor->by_program);
	return mr_other_tracks_add(surveyor->survey) < 0 ? mr_fail_errno(ENOMEM, "survey the trace")
							 : 0;
}

int mr_survey_make(const struct mr_trace *trace, struct mr_survey **ret_survey)
{
	struct surveyor surveyor = {.survey = calloc(1, sizeof *surveyor.survey)};

	if (!surveyor.survey)
		return mr_fail_errno(ENOMEM, "survey the trace");
	surveyor.survey->trace = trace;
	int result = make(&surveyor);
	mr_vec_free(&surveyor.samples);
	mr_vec_free(&surveyor.parents);
	mr_vec_free(&surveyor.sightings);
	mr_vec_free(&surveyor.starts);
	if (result < 0)
		mr_survey_free(surveyor.survey);
	else
		*ret_survey = surveyor.survey;
	return result;
}

void mr_survey_free(struct mr_survey *survey)
{
	if (!survey)
		return;
	mr_clocks_free(survey->clocks);
	mr_definitions_free(&survey->definitions);
	mr_vec_free(&survey->hosts);
	mr_vec_free(&survey->processes);
	mr_vec_free(&survey->tracks);
	mr_vec_free(&survey->interpreters);
	mr_vec_free(&survey->runtimes_seen);
	mr_vec_free(&survey->runtimes_not_traced);
	mr_vec_free(&survey->hooks_missing);
	mr_vec_free(&survey->queue_words);
	mr_strings_free(&survey->process_keys);
	mr_strings_free(&survey->track_keys);
	mr_strings_free(&survey->cpu_keys);
	mr_tasks_free(&survey->tasks);
	mr_vec_free(&survey->gaps);
	free(survey);
}
