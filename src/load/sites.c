/* SPDX-License-Identifier: Apache-2.0 */
#include "load/sites.h"

#include "model/lines.h"

#define NOT_KNOWN ((UINT64_C(1) << 48) - 1)

static int add_own(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_site *site = event->payload;

	loader->site = mr_loader_find(loader, MR_ID_site, site->site);
	loader->model->anomalies.undefined += site->site != 0 && loader->site == 0;
	if (loader->track == MR_NO_TRACK)
		return 0;
	return mr_samples_append(
		&loader->model->samples,
		(struct mr_samples_row){.track = loader->track,
					.start_ns = mr_loader_to_ns(loader, event->ticks),
					.site = loader->site,
					.cpu_ns = -1,
					.origin = MR_SAMPLE_EVENT});
}

/* The recorder's own definitions say what the site is. */
static int add_from_outside(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_python_sample *sample = event->payload;
	const struct mr_packet_context thread = {.process = sample->process, .tid = sample->tid};
	uint64_t cpu_ns = mr_u48_value(sample->cpu_ns);
	uint32_t process, track;

	mr_survey_find(loader->model->survey, &thread, &process, &track);
	if (track == MR_NO_TRACK) {
		loader->model->anomalies.undefined++;
		return 0;
	}
	return mr_samples_append(
		&loader->model->samples,
		(struct mr_samples_row){.track = track,
					.start_ns = mr_loader_to_ns(loader, event->ticks),
					.site = mr_loader_find(loader, MR_ID_site, sample->site),
					.cpu_ns = cpu_ns == NOT_KNOWN ? -1 : (int64_t)cpu_ns,
					.origin = MR_SAMPLE_OUTSIDE});
}

bool mr_samples_take(struct mr_loader *loader, const struct mr_event *event, int *ret_result)
{
	if (event->desc->id == MR_EVENT_site)
		*ret_result = add_own(loader, event);
	else if (event->desc->id == MR_EVENT_python_sample)
		*ret_result = add_from_outside(loader, event);
	else
		return false;
	return true;
}

/* Rows of one thread are added in order. Others come in between only where a stream changes its thread. */
uint32_t mr_loader_site_at(const struct mr_loader *loader, int64_t ns)
{
	const struct mr_samples *samples = &loader->model->samples;

	for (uint32_t row = samples->table.count; row-- > 0;) {
		if (samples->track[row] != loader->track || samples->origin[row] != MR_SAMPLE_EVENT)
			break;
		if (samples->start_ns[row] <= ns)
			return samples->site[row];
	}
	return 0;
}

int mr_sites_link(struct mr_model *model)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_states *states = &model->states;

	for (uint32_t row = 0; row < operations->table.count; row++)
		if (operations->call[row] != MR_NO_ROW)
			operations->site[row] = model->calls.site[operations->call[row]];
	if (model->samples.table.count == 0)
		return 0;
	for (uint32_t row = 0; row < states->table.count; row++)
		if (states->state[row] == MR_STATE_BLOCKED)
			states->site[row] =
				mr_line_at(model, states->track[row], states->start_ns[row], NULL);
	return 0;
}
