/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/chrome/kineto_device.h"

/* ---- records -------------------------------------------------------------------------------------- */

/* False if the numbers are not there. */
static bool read_stream(const struct mr_json_value *args, const char *name,
			struct mr_kineto_stream *ret_stream)
{
	struct mr_json_value device = mr_json_member(args, "device");
	struct mr_json_value stream = mr_json_member(args, name);

	return mr_json_unsigned(&device, &ret_stream->device) &&
	       mr_json_unsigned(&stream, &ret_stream->number);
}

int mr_kineto_note_wait(struct mr_kineto *kineto, const struct mr_chrome_event *event)
{
	struct mr_json_value correlation = mr_json_member(&event->args, "correlation");
	struct mr_json_value recorded =
		mr_json_member(&event->args, "wait_on_cuda_event_record_corr_id");
	struct mr_kineto_wait wait = {.is_of_stream =
					      mr_json_is(&event->name, "Stream Wait Event")};
	bool is_of_event = wait.is_of_stream || mr_json_is(&event->name, "Event Sync");

	if (!is_of_event && !mr_json_is(&event->name, "Stream Sync"))
		return 0; /* of the whole device: the call says that, too */
	if (!mr_json_unsigned(&correlation, &wait.correlation) ||
	    !mr_json_integer(&event->time, 3, &wait.ns) || wait.ns < 0)
		return 0;
	wait.until = wait.correlation;
	if (is_of_event && !mr_json_unsigned(&recorded, &wait.until))
		return 0; /* the event was recorded before the trace */
	if (!read_stream(&event->args, is_of_event ? "wait_on_stream" : "stream", &wait.awaited) ||
	    (wait.is_of_stream && !read_stream(&event->args, "stream", &wait.waiting)))
		return 0;
	return mr_vec_push(&kineto->waits, wait);
}

int mr_kineto_note_query(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			 uint64_t correlation)
{
	static const char word[] = "Query";
	bool is_query = correlation &&
			memmem(event->name.text, event->name.length, word, sizeof word - 1) != NULL;

	return is_query ? mr_vec_push(&kineto->queries, correlation) : 0;
}

/* ---- operations ----------------------------------------------------------------------------------- */

/* An operation, in the order of launches on its queue. */
struct launched {
	uint64_t correlation;
	uint32_t queue;
};

static int compare_launched(const void *left, const void *right)
{
	const struct launched *a = left, *b = right;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static struct launched *list_launched(const struct mr_builder *builder, size_t *ret_count)
{
	struct launched *list = malloc((builder->records.count + 1) * sizeof *list);
	size_t count = 0;

	for (size_t i = 0; list && i < builder->records.count; i++) {
		const uint8_t *event = &builder->payloads.items[builder->records.items[i].offset];
		const struct mr_event_device_operation *operation = (const void *)(event + 1);

		if (event[0] == MR_EVENT_device_operation && operation->correlation)
			list[count++] = (struct launched){operation->correlation, operation->queue};
	}
	if (list && count > 0)
		qsort(list, count, sizeof *list, compare_launched);
	*ret_count = count;
	return list;
}

/* The place of the first operation of the queue whose correlation is larger; of the next queue if there is none. */
static size_t find_after(const struct launched *list, size_t count, uint32_t queue,
			 uint64_t correlation)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].queue < queue ||
		    (list[middle].queue == queue && list[middle].correlation <= correlation))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static bool is_query(const struct mr_kineto *kineto, uint64_t correlation)
{
	return kineto->queries.count &&
	       bsearch(&correlation, kineto->queries.items, kineto->queries.count,
		       sizeof correlation, compare_numbers);
}

static int add_wait(struct mr_kineto *kineto, const struct mr_kineto_wait *wait,
		    const struct launched *list, size_t count)
{
	uint32_t awaited = mr_kineto_find_queue(kineto, &wait->awaited);
	size_t behind = find_after(list, count, awaited, wait->until);
	struct mr_event_runtime_wait event = {.correlation = wait->correlation};

	if (behind == 0 || list[behind - 1].queue != awaited)
		return 0; /* nothing was launched there in the trace */
	if (!wait->is_of_stream && is_query(kineto, wait->correlation))
		return 0;
	event.awaited = list[behind - 1].correlation;
	if (wait->is_of_stream) {
		uint32_t waiting = mr_kineto_find_queue(kineto, &wait->waiting);
		size_t next = find_after(list, count, waiting, wait->correlation);

		if (next == count || list[next].queue != waiting)
			return 0; /* nothing came behind it */
		event.correlation = list[next].correlation;
	}
	return mr_builder_add(kineto->builder, kineto->first_caller, wait->ns, wait->ns,
			      MR_EVENT_runtime_wait, &event);
}

/* Correlations are those of one process, and the records do not say whose. */
int mr_kineto_add_waits(struct mr_kineto *kineto)
{
	mr_auto(free) struct launched *list = NULL;
	size_t count = 0;
	int result = 0;

	if (kineto->waits.count == 0 || !kineto->has_calls || kineto->has_several_callers)
		return 0;
	list = list_launched(kineto->builder, &count);
	if (!list)
		return -ENOMEM;
	if (kineto->queries.count)
		qsort(kineto->queries.items, kineto->queries.count, sizeof(uint64_t),
		      compare_numbers);
	for (size_t i = 0; result == 0 && i < kineto->waits.count; i++)
		result = add_wait(kineto, &kineto->waits.items[i], list, count);
	return result;
}
