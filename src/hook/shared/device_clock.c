/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/shared/device_clock.h"

#include "record/recorder.h"

enum {
	TIMER_TRIES = 4,
	FIRST_TICKS = 1 << 17, /* width of the first bracket worth writing: tens of microseconds */
	DRIFT_SHIFT = 16,      /* how little clocks may drift: 15 parts in a million */
	FIRST_WINDOW_NS = 900000, /* the reader takes the best of the samples of a millisecond */
	LAST_WINDOW_NS = 1000000000,
};

/* What follows, up to the public functions, is called with the lock held. */
static void write_best(struct mr_device_clock *clock)
{
	const struct mr_bracket *best = &clock->best;
	mr_emit(clock_sample, .reference = mr_arena->user_clock, .clock = clock->id,
		.before = best->before, .value = best->value, .after = best->after);
	clock->last_ns = best->value;
	clock->window_ns = mr_min(clock->window_ns * 2, (uint64_t)LAST_WINDOW_NS);
	clock->best.after = 0;
}

/* A bracket much wider than others is no help before the clock may have drifted as far. */
static bool is_worth_writing(const struct mr_device_clock *clock)
{
	const struct mr_bracket *best = &clock->best;
	uint64_t width = best->after - best->before;
	if (!clock->last_ns)
		return width < FIRST_TICKS;
	return width / 2 <= clock->narrowest_ticks ||
	       (best->value > clock->last_ns &&
		width < (best->value - clock->last_ns) >> DRIFT_SHIFT);
}

static bool is_due(const struct mr_device_clock *clock, uint64_t now_ns)
{
	return !clock->last_ns || now_ns >= clock->last_ns + clock->window_ns;
}

static bool is_narrower(const struct mr_bracket *bracket, const struct mr_bracket *than)
{
	return than->after == 0 || bracket->after - bracket->before < than->after - than->before;
}

/* False if the device cannot be asked for its time. */
static bool read_timer(mr_device_timer *timer, void *device, struct mr_bracket *ret_bracket)
{
	struct mr_bracket best = {0};
	for (int i = 0; i < TIMER_TRIES; i++) {
		struct mr_bracket bracket = {.before = mr_ticks_now()};
		if (!timer(device, &bracket.value) || bracket.value == 0)
			return false;
		bracket.after = mr_ticks_now();
		if (is_narrower(&bracket, &best))
			best = bracket;
	}
	*ret_bracket = best;
	return best.after != 0;
}

/* False if the timer does not agree with the times of operations, as of some drivers: it is not asked again. */
static bool sample_by_timer(struct mr_device_clock *clock, uint64_t queued_ns)
{
	struct mr_bracket sample;
	bool is_right = read_timer(clock->timer, clock->device, &sample) &&
			sample.value >= queued_ns &&
			sample.value - queued_ns < UINT64_C(60) * LAST_WINDOW_NS;
	if (is_right)
		clock->best = sample;
	else
		clock->timer = NULL;
	return is_right;
}

void mr_device_clock_open(struct mr_device_clock *clock, uint32_t name, mr_device_timer *timer,
			  void *device)
{
	struct mr_bracket unused;
	clock->device = device;
	clock->window_ns = FIRST_WINDOW_NS;
	clock->narrowest_ticks = UINT32_MAX;
	clock->id = mr_define_clock(name, LAST_WINDOW_NS);
	clock->timer = timer && read_timer(timer, device, &unused) ? timer : NULL;
}

void mr_device_clock_note(struct mr_device_clock *clock, const struct mr_bracket *bracket)
{
	uint64_t width = bracket->after - bracket->before;
	if (!mr_lock(&clock->lock))
		return;
	if (width < clock->narrowest_ticks)
		clock->narrowest_ticks = (uint32_t)width;
	if (is_narrower(bracket, &clock->best))
		clock->best = *bracket;
	if (is_due(clock, bracket->value) &&
	    ((clock->timer && sample_by_timer(clock, bracket->value)) || is_worth_writing(clock)))
		write_best(clock);
	mr_unlock(&clock->lock);
}

void mr_device_clock_poll(struct mr_device_clock *clock, uint64_t passed_ns)
{
	uint64_t known_ns = passed_ns ? passed_ns : clock->last_ns;
	if (!clock->timer || !mr_lock(&clock->lock))
		return;
	if (clock->timer && !known_ns && read_timer(clock->timer, clock->device, &clock->best))
		write_best(clock);
	else if (clock->timer && known_ns && is_due(clock, known_ns) &&
		 sample_by_timer(clock, known_ns))
		write_best(clock);
	mr_unlock(&clock->lock);
}

void mr_device_clock_close(struct mr_device_clock *clock)
{
	if (!mr_lock(&clock->lock))
		return;
	if (clock->timer && clock->last_ns)
		sample_by_timer(clock, clock->last_ns);
	if (clock->best.after && (!clock->last_ns || is_worth_writing(clock)))
		write_best(clock);
	mr_unlock(&clock->lock);
}
