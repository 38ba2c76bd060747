/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/level_switch.h"

#include "record/recorder.h"

void mr_level_switch_init(struct mr_level_switch *levels, const struct mr_session_options *options,
			  const struct mr_arena_file *file, struct mr_kernel_level *kernel,
			  const struct mr_drain *drain)
{
	*levels = (struct mr_level_switch){.options = options,
					   .file = file,
					   .kernel = kernel,
					   .drain = drain,
					   .mask = options->levels &
						   ~(kernel->kernel ? 0u : MR_LEVEL_kernel)};
}

/* What is said of the kernel level is complete between the two events. */
static void turn_kernel(struct mr_level_switch *levels, bool on)
{
	if (!on)
		mr_emit(recording_switched, .is_on = 0);
	mr_kernel_level_enable(levels->kernel, on);
	if (on)
		mr_emit(recording_switched, .is_on = 1);
	levels->is_on = on;
}

static void turn_program(struct mr_level_switch *levels, bool on)
{
	if (!levels->drain->stop_reason)
		mr_arena_file_switch(levels->file, MR_LEVEL_core | (on ? levels->mask : 0));
}

void mr_level_switch_start(struct mr_level_switch *levels)
{
	const struct mr_session_options *options = levels->options;
	struct mr_control *control = levels->file->arena->control;
	control->wanted_levels = levels->mask;
	if (options->step_range)
		strcpy(control->step_range, options->step_range);
	if (options->has_steps) {
		control->first_step = options->first_step;
		control->last_step = options->last_step;
		control->step_levels = levels->mask;
	}
	levels->is_on = options->delay_ns == 0 && !options->has_steps;
	turn_program(levels, levels->is_on);
	if (levels->is_on) /* and it was not off before: there is nothing to say */
		mr_kernel_level_enable(levels->kernel, true);
	else
		turn_kernel(levels, false);
}

/* The program has switched the levels itself. */
static void follow(struct mr_level_switch *levels)
{
	uint32_t now = atomic_load_explicit(&levels->file->arena->tables->step_levels,
					    memory_order_relaxed);
	bool on = now & ~(uint32_t)MR_LEVEL_core;
	if (on != levels->is_on)
		turn_kernel(levels, on);
}

void mr_level_switch_update(struct mr_level_switch *levels, uint64_t since_start_ns)
{
	const struct mr_session_options *options = levels->options;
	if (options->has_steps) {
		follow(levels);
		return;
	}
	bool wanted = !levels->drain->stop_reason && since_start_ns >= options->delay_ns &&
		      (!options->duration_ns ||
		       since_start_ns < options->delay_ns + options->duration_ns);
	if (wanted != levels->is_on) {
		turn_program(levels, wanted);
		turn_kernel(levels, wanted);
	}
}
