/* SPDX-License-Identifier: Apache-2.0
 *
 * How a device spent its time. An instant counts once, however many queues, of whatever processes, were at work in it:
 *
 *     queue 0    ├── kernel ──┤          ├─ kernel ─┤
 *     queue 1  ├ copy ┤                                 ├ copy ┤
 *              ├─────── busy ─┤── idle ──┤── busy ──┤ . ├ busy ┤
 *              ├x┤ exposed     ─── hidden: the rest of the first copy
 *
 * The span reaches from the start of the first operation to the end of the last; of a cut model it is the
 * window. In it span = busy + idle, busy = compute + exposed and transfer = exposed + hidden, exactly.
 *
 * Markers and barriers are no work. Operations whose times are not known do not count.
 */
#ifndef MR_ANALYSIS_DEVICE_TIME_H
#define MR_ANALYSIS_DEVICE_TIME_H

#include "analysis/finding/finding.h"
#include "model/model.h"

struct mr_device_time {
	uint32_t operation_count; /* with times, of all kinds */
	int64_t first_ns;         /* the span; empty without operations */
	int64_t end_ns;
	int64_t busy_ns;
	int64_t compute_ns;  /* kernels and what is not known to be a transfer */
	int64_t transfer_ns; /* copies, fills, maps, migrations */
	int64_t longest_idle_ns;
	int64_t longest_idle_start_ns;
	uint32_t longest_idle_row; /* operation that ended it; MR_NO_ROW: none did */
};

static inline int64_t mr_device_span_ns(const struct mr_device_time *time)
{
	return time->end_ns - time->first_ns;
}

static inline int64_t mr_device_exposed_ns(const struct mr_device_time *time)
{
	return time->busy_ns - time->compute_ns;
}

/* Of the operations of these queues, which are of one device. -ENOMEM. */
int mr_device_time_make(const struct mr_model *model, const uint32_t *queues, uint32_t queue_count,
			struct mr_device_time *ret_time);

/* Where the rows of a queue begin in device_operations, and where they end. */
static inline const uint32_t *mr_queue_rows(const struct mr_model *model, uint32_t queue)
{
	uint32_t track = mr_survey_track_of_queue(model->survey, queue);

	return &model->device_operations.table.first_of_track[track];
}

/* Has the operation a time? */
static inline bool mr_operation_is_timed(const struct mr_model *model, uint32_t row)
{
	return !(model->device_operations.flags[row] & (MR_ROW_UNFINISHED | MR_ROW_UNTIMED));
}

static inline const char *mr_device_name(const struct mr_model *model, uint32_t device)
{
	uint32_t name = model->survey->definitions.devices.items[device].name;

	return name ? mr_model_text(model, name) : "(no name)";
}

static inline uint32_t mr_device_pid(const struct mr_model *model, uint32_t device)
{
	uint32_t process = model->survey->definitions.devices.items[device].process;

	return model->survey->processes.items[process].pid;
}

/* The device of an operation as its process knows it, which has the clock of its times. */
static inline uint32_t mr_operation_own_device(const struct mr_model *model, uint32_t row)
{
	uint32_t track = model->device_operations.track[row];
	uint32_t queue = model->survey->tracks.items[track].queue;

	return model->survey->definitions.queues.items[queue].device;
}

/* The device of the host that did it, the same for all processes that use it. */
static inline uint32_t mr_operation_device(const struct mr_model *model, uint32_t row)
{
	return mr_device_canonical(model, mr_operation_own_device(model, row));
}

/* Of the process that has it. */
static inline uint32_t mr_operation_pid(const struct mr_model *model, uint32_t row)
{
	return mr_device_pid(model, mr_operation_own_device(model, row));
}

/* Does another process have queues of the device, too? */
bool mr_device_is_shared(const struct mr_model *model, uint32_t device);

/* The processes that have queues of it: "7", or "7, 8"; NULL without memory. */
const char *mr_device_pids(const struct mr_model *model, struct mr_region *region, uint32_t device);

/* As a finding has it: MR_NO_VALUE if there are several. */
static inline int64_t mr_device_pid_value(const struct mr_model *model, uint32_t device)
{
	return mr_device_is_shared(model, device) ? MR_NO_VALUE
						  : (int64_t)mr_device_pid(model, device);
}

/* How exact the times of its operations are: as the worst of the clocks that processes have of it. */
uint64_t mr_device_bound_ns(const struct mr_model *model, uint32_t device);

/* A bound of times of a device as a finding has it: MR_NO_VALUE where it is not known. */
static inline int64_t mr_bound_value(const struct mr_model *model, uint64_t bound_ns)
{
	return mr_model_is_imported(model) || bound_ns > INT64_MAX ? MR_NO_VALUE
								   : (int64_t)bound_ns;
}

/* All but markers and barriers. */
bool mr_operation_is_work(uint8_t kind);

/* Copies, fills, maps and migrations. */
bool mr_operation_is_transfer(uint8_t kind);

#endif
