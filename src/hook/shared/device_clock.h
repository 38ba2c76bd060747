/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of a device, tied to millrace's clock by brackets: each reading lies between two readings of our clock.
 *
 *     our clock       before ───────────────────── after
 *     device clock                  value
 *
 * If a runtime can report the device's time, the hook asks for it. Otherwise it uses the program's own launches: the
 * runtime notes the device's time when a command is queued, which is during the launching call. So the hook sends
 * nothing to the device, and the program sees nothing. Some calls take long (the first launch of a device kernel may
 * compile it), so the narrowest bracket of a window becomes a sample. Windows grow from nearly a millisecond to a
 * second; the first sample is written at once, because the program may end soon.
 *
 * Thread safe. Device times are nanoseconds.
 */
#ifndef MR_HOOK_SHARED_DEVICE_CLOCK_H
#define MR_HOOK_SHARED_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct mr_bracket {
	uint64_t before;
	uint64_t value;
	uint64_t after;
};

/* Asks the runtime for a device's time; false if it does not know. */
typedef bool mr_device_timer(void *device, uint64_t *ret_ns);

struct mr_device_clock {
	_Atomic uintptr_t lock; /* of what follows the line */
	uint32_t id;
	void *device;
	/* ---- */
	mr_device_timer
		*timer; /* NULL: there is none, or it does not agree with the times of operations */
	struct mr_bracket best;   /* narrowest since the last sample; after 0: none */
	uint64_t last_ns;         /* time of the device at the last sample; 0: none yet */
	uint64_t window_ns;       /* a sample is due this long after it */
	uint32_t narrowest_ticks; /* bracket of all */
};

/* Makes a clock of zeroes ready and defines it in the trace by the id of its name. `timer` may be NULL. */
void mr_device_clock_open(struct mr_device_clock *clock, uint32_t name, mr_device_timer *timer,
			  void *device);

/* What a launch reveals: perhaps a sample. */
void mr_device_clock_note(struct mr_device_clock *clock, const struct mr_bracket *bracket);

/* For a clock with a timer: a sample, if one is due. `passed_ns` is a time of the device that has passed, which the timer
 * must agree with; 0: none is known. */
void mr_device_clock_poll(struct mr_device_clock *clock, uint64_t passed_ns);

/* Writes the last sample, while the runtime can be asked. */
void mr_device_clock_close(struct mr_device_clock *clock);

#endif
