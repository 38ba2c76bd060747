/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the files of a trace are what was written: every event of every packet is decoded, and the saved index was
 * compared with its checksums when the trace was opened. Packets have no checksums (CTF 1.8 knows none), so a changed
 * number inside an event that is still valid is not found. What is missing was found by others already, and is listed
 * here too: one warning of this finding says that something is wrong.
 */
#include "analysis/analysis.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/format.h"
#include "model/index.h"

enum {
	LISTED_MAX = 1000 /* invalid packets */
};

struct verification {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	uint64_t packets;
	uint64_t events;
	uint64_t invalid;                            /* packets */
	mr_vec(const struct mr_trace_packet *) list; /* of them, the first */
};

#define say(verification, severity, ...) \
	mr_finding_say((verification)->findings, (verification)->finding, severity, __VA_ARGS__)

/* ---- packets -------------------------------------------------------------------------------------- */

/* Reads a stream packet by packet, so that it is known which one is abandoned. */
static int read_stream(struct verification *verification, const struct mr_trace_stream *stream)
{
	struct mr_trace_stream one = *stream;
	struct mr_cursor cursor;
	struct mr_event event;

	one.packet_count = 1;
	mr_cursor_start(&cursor, verification->model->trace, &one);
	for (uint32_t i = 0; i < stream->packet_count; i++) {
		uint64_t before = cursor.malformed_packets;

		one.packets = &stream->packets[i];
		cursor.packet_index = 0;
		while (mr_cursor_next(&cursor, &event))
			verification->events++;
		verification->packets++;
		if (cursor.malformed_packets == before)
			continue;
		verification->invalid++;
		if (verification->list.count < LISTED_MAX &&
		    mr_vec_push(&verification->list, one.packets) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_packets(struct verification *verification)
{
	const struct mr_trace *trace = verification->model->trace;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < trace->stream_count; i++)
		result = read_stream(verification, &trace->streams[i]);
	return result;
}

static int list_invalid(struct verification *verification)
{
	static const struct mr_finding_column columns[] = {
		{"file", "file", MR_UNIT_TEXT, 0},
		{"offset", "offset", MR_UNIT_NUMBER, 0},
		{"packet_bytes", "packet", MR_UNIT_BYTES, 0},
	};
	struct mr_finding_table *table =
		mr_finding_add_table(verification->findings, verification->finding,
				     "invalid_packets", "Packets with an invalid event", columns,
				     mr_countof(columns), (uint32_t)verification->list.count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct mr_trace_packet *packet = verification->list.items[i];

		mr_finding_value(table, i, 0)->text =
			verification->model->trace->files[packet->file];
		mr_finding_value(table, i, 1)->number = (int64_t)packet->file_offset;
		mr_finding_value(table, i, 2)->number = packet->content_bytes;
	}
	return 0;
}

static int tell_packets(struct verification *verification)
{
	const struct mr_model *model = verification->model;
	const struct mr_survey *survey = model->survey;
	int result = 0;

	if (verification->invalid == 0)
		result = say(verification, MR_SEVERITY_FINE,
			     "All %" PRIu64 " packet%s of %u file%s can be read: %" PRIu64
			     " event%s.",
			     verification->packets, mr_plural(verification->packets),
			     model->trace->file_count, mr_plural(model->trace->file_count),
			     verification->events, mr_plural(verification->events));
	else
		result = say(verification, MR_SEVERITY_WARNING,
			     "%" PRIu64 " of %" PRIu64
			     " packets contain an invalid event: the rest of each is unreadable.",
			     verification->invalid, verification->packets);
	if (result == 0 && verification->invalid)
		result = list_invalid(verification);
	if (result == 0 && model->trace->damage_count)
		result = say(verification, MR_SEVERITY_WARNING,
			     "%u place%s outside of packets cannot be read: %" PRIu64
			     " bytes (see the health of the trace).",
			     model->trace->damage_count, mr_plural(model->trace->damage_count),
			     survey->lost_bytes);
	if (result == 0 && survey->missing_packets && !model->manifest->overwritten_packets)
		result = say(verification, MR_SEVERITY_WARNING, "%" PRIu64 " packet%s missing.",
			     survey->missing_packets,
			     survey->missing_packets == 1 ? " is" : "s are");
	return result;
}

/* ---- the index ------------------------------------------------------------------------------------ */

static int tell_index(struct verification *verification)
{
	const struct mr_index_state *state = &verification->model->index_state;

	if (verification->model->trace->is_imported)
		return 0;
	switch (state->bytes ? state->result : -ENOENT) {
	case 0:
		return say(verification, MR_SEVERITY_FINE,
			   "The saved index matches its checksums: %" PRIu64 " bytes.",
			   state->bytes);
	case -ENOENT:
		return say(verification, MR_SEVERITY_FINE, "There is no saved index of yours.");
	case -ESTALE:
		return say(verification, MR_SEVERITY_NOTE,
			   "The saved index was not used: it is older than the trace, the program "
			   "or the last start of the machine.");
	case -EBADMSG:
		return say(verification, MR_SEVERITY_WARNING,
			   "The saved index (" MR_INDEX_FILE ") was damaged at byte %" PRIu64
			   " of %" PRIu64 ". It was not used, and is written anew.",
			   state->damaged_at, state->bytes);
	}
	return say(verification, MR_SEVERITY_NOTE, "The saved index could not be read.");
}

int mr_analyse_verification(const struct mr_model *model, struct mr_findings *findings)
{
	struct verification verification = {
		.model = mr_model_whole(model),
		.findings = findings,
		.finding = mr_findings_add(findings, "verification", "Verification"),
	};
	int result = verification.finding ? read_packets(&verification) : -ENOMEM;

	if (result == 0)
		result = tell_packets(&verification);
	if (result == 0)
		result = tell_index(&verification);
	mr_vec_free(&verification.list);
	return result < 0 ? mr_fail_errno(-result, "verify the trace") : 0;
}
