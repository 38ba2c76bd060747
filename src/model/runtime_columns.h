/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of what a runtime's own tracer reports besides operations, described as table.h explains.
 */
#ifndef MR_MODEL_RUNTIME_COLUMNS_H
#define MR_MODEL_RUNTIME_COLUMNS_H

#define MR_RUNTIME_TABLES(TABLE) \
	TABLE(synchronisations)  \
	TABLE(overheads)         \
	TABLE(external_numbers)

#define MR_ABOUT_synchronisations                                                           \
	"Waiting for a device, as the runtime's tracer reports it; calls and dependencies " \
	"say the same where it does not."
#define MR_COLUMNS_synchronisations(COLUMN)                                                       \
	COLUMN(track, track, "thread that made the call; not known: thread that recorded it")     \
	COLUMN(time_ns, start_ns, "when it began")                                                \
	COLUMN(int64_t, duration_ns, "how long it took")                                          \
	COLUMN(one_of(synchronisation_kind), kind,                                                \
	       "what was waited for; QUEUE_WAITS: a queue waits for an event, the call does not") \
	COLUMN(queue, queue, "the queue; NULL: it concerns none, or all")                         \
	COLUMN(uint32_t, event, "number of the runtime's event; 0: it concerns none")             \
	COLUMN(uint64_t, correlation, "correlation of the call")                                  \
	COLUMN(row_of(calls), call, "the call")

#define MR_ABOUT_overheads                                                                    \
	"What a runtime or its tracer did besides the program's work: loading and compiling " \
	"code, writing records."
#define MR_COLUMNS_overheads(COLUMN)                                                   \
	COLUMN(track, track, "thread that did it; not known: thread that recorded it") \
	COLUMN(time_ns, start_ns, "when it began")                                     \
	COLUMN(int64_t, duration_ns, "how long it took")                               \
	COLUMN(string, name, "what it did")                                            \
	COLUMN(uint8_t, is_own, "1: the track is that of the thread that did it")      \
	COLUMN(uint64_t, correlation, "correlation of the call in which it happened")  \
	COLUMN(row_of(calls), call, "that call")

#define MR_ABOUT_external_numbers \
	"Numbers that another tool in the program gave to calls of a runtime."
#define MR_COLUMNS_external_numbers(COLUMN)                                     \
	COLUMN(track, track, "thread that recorded it")                         \
	COLUMN(time_ns, start_ns, "when it was recorded")                       \
	COLUMN(uint64_t, number, "the tool's number")                           \
	COLUMN(uint8_t, kind, "whose numbers these are, as the runtime counts") \
	COLUMN(uint64_t, correlation, "correlation of the call")                \
	COLUMN(row_of(calls), call, "the call")

#endif
