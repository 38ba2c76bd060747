/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: what an interrupt of the device raises, and the runtime waits for. There are as few as a driver has; when they
 * run out, the runtime makes signals without one.
 *
 * As with the driver, raising an event ends the waits of all threads that wait for it: a thread of the program and one of
 * the runtime often wait for the same. Only if nobody waits does the event stay raised, for the next who does.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"

enum {
	EVENTS = 4096,
	LONGEST_MS = 24 * 3600 * 1000,
};

struct event {
	HsaEvent shared; /* first: the runtime's pointer leads here */
	uint64_t raises; /* how often it was raised */
	uint32_t waits;  /* that go on */
	bool is_raised;
	bool is_manual;
};

static struct event *events[EVENTS]; /* the first is never used */
static uint64_t mailboxes[EVENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t raised;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&raised, &attributes);
}

void soft_event_raise(uint32_t id)
{
	pthread_mutex_lock(&lock);
	if (id < EVENTS && events[id]) {
		struct event *event = events[id];
		event->raises++;
		event->is_raised = event->is_manual || event->waits == 0;
		pthread_cond_broadcast(&raised);
	}
	pthread_mutex_unlock(&lock);
}

static struct event *new_event(const HsaEventDescriptor *wanted, bool is_manual, bool is_raised)
{
	uint32_t id = 1;
	while (id < EVENTS && events[id])
		id++;
	struct event *event = id < EVENTS ? calloc(1, sizeof *event) : NULL;
	if (!event)
		return NULL;
	event->shared.EventId = id;
	event->shared.EventData.EventType = wanted->EventType;
	event->shared.EventData.HWData2 = (HSAuint64)&mailboxes[id];
	event->is_manual = is_manual;
	event->is_raised = is_raised;
	events[id] = event;
	return event;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *wanted, bool is_manual,
					    bool is_raised, HsaEvent **ret_event)
{
	pthread_once(&once, prepare);
	pthread_mutex_lock(&lock);
	struct event *event = new_event(wanted, is_manual, is_raised);
	pthread_mutex_unlock(&lock);
	if (!event)
		return HSAKMT_STATUS_ERROR;
	*ret_event = &event->shared;
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event)
{
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	events[event->EventId] = NULL;
	pthread_mutex_unlock(&lock);
	free(event);
	return HSAKMT_STATUS_SUCCESS;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event)
{
	if (event)
		soft_event_raise(event->EventId);
	return HSAKMT_STATUS_SUCCESS;
}

static bool take_raised(HsaEvent *list[], HSAuint32 count)
{
	bool is_any = false;
	for (HSAuint32 i = 0; i < count; i++) {
		struct event *event = (struct event *)list[i];
		if (event->is_raised) {
			event->is_raised = event->is_manual;
			is_any = true;
		}
	}
	return is_any;
}

/* A wait for these begins, or ends. */
static void change_waits(HsaEvent *list[], HSAuint32 count, uint32_t change)
{
	for (HSAuint32 i = 0; i < count; i++)
		((struct event *)list[i])->waits += change;
}

static uint64_t count_raises(HsaEvent *list[], HSAuint32 count)
{
	uint64_t raises = 0;
	for (HSAuint32 i = 0; i < count; i++)
		raises += ((struct event *)list[i])->raises;
	return raises;
}

/* The runtime only waits for any. It also waits for events it could not make, and expects to be told so at once. */
SOFT_EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *list[], HSAuint32 count, bool is_all,
						     HSAuint32 milliseconds)
{
	(void)is_all;
	for (HSAuint32 i = 0; i < count; i++)
		if (!list[i])
			return HSAKMT_STATUS_INVALID_HANDLE;
	struct timespec until;
	uint64_t wait_ms = milliseconds < LONGEST_MS ? milliseconds : LONGEST_MS;
	clock_gettime(CLOCK_MONOTONIC, &until);
	uint64_t until_ns = (uint64_t)until.tv_nsec + wait_ms % 1000 * 1000000;
	until.tv_sec += (time_t)(wait_ms / 1000 + until_ns / 1000000000);
	until.tv_nsec = (long)(until_ns % 1000000000);
	pthread_once(&once, prepare);
	pthread_mutex_lock(&lock);
	bool is_raised = take_raised(list, count), is_late = false;
	uint64_t raises = count_raises(list, count);
	change_waits(list, count, 1);
	while (!is_raised && !is_late) {
		is_late = pthread_cond_timedwait(&raised, &lock, &until) == ETIMEDOUT;
		is_raised = count_raises(list, count) != raises;
	}
	change_waits(list, count, (uint32_t)-1);
	pthread_mutex_unlock(&lock);
	return is_raised ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 milliseconds)
{
	return hsaKmtWaitOnMultipleEvents(&event, 1, false, milliseconds);
}
