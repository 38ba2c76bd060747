/* SPDX-License-Identifier: Apache-2.0 */
#include "load/frameworks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

const struct mr_framework *const mr_known_frameworks[] = {
#define MR_FRAMEWORK(name) &mr_framework_##name,
#include "load/frameworks.def"
#undef MR_FRAMEWORK
};
const uint32_t mr_known_framework_count = mr_countof(mr_known_frameworks);

static int list_events(struct mr_frameworks *frameworks, uint32_t number)
{
	const struct mr_framework *framework = frameworks->rows[number];

	for (uint32_t i = 0; i < framework->event_count; i++) {
		uint8_t *of_event = &frameworks->of_event[framework->events[i]];

		if (*of_event)
			return -EEXIST;
		*of_event = (uint8_t)(number + 1);
	}
	return 0;
}

int mr_frameworks_start(struct mr_frameworks *frameworks, const struct mr_framework *const *rows,
			uint32_t count)
{
	int result = 0;

	*frameworks = (struct mr_frameworks){.rows = rows, .count = count};
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = list_events(frameworks, i);
	if (result < 0)
		return result;
	frameworks->states = calloc(count + 1, sizeof *frameworks->states);
	return frameworks->states ? 0 : -ENOMEM;
}

/* An interval that was open at the end belongs to whoever takes the event that its end would have written. */
uint32_t mr_frameworks_find(const struct mr_frameworks *frameworks, const struct mr_event *event)
{
	const struct mr_event_interval_unfinished *open = event->payload;

	return frameworks
		->of_event[event->desc->id == MR_EVENT_interval_unfinished ? open->event
									   : event->desc->id];
}

int mr_frameworks_add(struct mr_frameworks *frameworks, struct mr_loader *loader,
		      const struct mr_event *event)
{
	uint32_t number = mr_frameworks_find(frameworks, event);
	int result = 0;

	if (number == 0)
		return 0;
	const struct mr_framework *framework = frameworks->rows[number - 1];
	void **state = &frameworks->states[number - 1];
	if (!*state)
		result = framework->start(loader, state);
	return result < 0 ? result : framework->add(*state, event);
}

int mr_frameworks_run(struct mr_frameworks *frameworks, enum mr_framework_stage stage)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < frameworks->count; i++)
		if (frameworks->states[i] && frameworks->rows[i]->stages[stage])
			result = frameworks->rows[i]->stages[stage](frameworks->states[i]);
	return result;
}

void mr_frameworks_end(struct mr_frameworks *frameworks)
{
	for (uint32_t i = 0; frameworks->states && i < frameworks->count; i++)
		if (frameworks->states[i])
			frameworks->rows[i]->end(frameworks->states[i]);
	free(frameworks->states);
	frameworks->states = NULL;
}
