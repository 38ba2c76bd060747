/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the model: what happened, as plain columns. Each table is described once, below;
 * from that come its struct of arrays, its row (for appending) and its description for generic code.
 *
 *     table        first_of_track     track   start_ns  duration_ns  ...      every column is an array
 *     ┌─────────┐  ┌───┐             ┌─────┬──────────┬────────────┬─────     of table.count values
 *     │ count   │  │ 0 ├────────────►│  0  │  100     │  50        │
 *     │ ...     │  │ 3 ├──────┐      │  0  │  110     │  20        │
 *     └─────────┘  │ 4 │      │      │  0  │  160     │   5        │
 *                  └───┘      └─────►│  1  │   90     │ 200        │
 *
 * After mr_table_sort() rows stand by track, in a track by start; of two that start together the longer
 * comes first, so that an interval always follows what encloses it. Rows of track t are
 * [first_of_track[t], first_of_track[t + 1]).
 *
 * Strings, nodes, devices ... are indices into the model's own tables; 0 means none.
 */
#ifndef MR_MODEL_TABLE_H
#define MR_MODEL_TABLE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define MR_NO_ROW  UINT32_MAX
#define MR_NO_TIME INT64_MIN /* a time that was not recorded */

enum mr_row_flags {
	MR_ROW_UNFINISHED = 1 << 0, /* was open when the recording ended; the end is not real */
	MR_ROW_OVERLAPS = 1 << 1,   /* cuts into its predecessor on the track instead of nesting */
};

enum mr_thread_state {
	MR_STATE_RUN,
	MR_STATE_RUNNABLE,
	MR_STATE_BLOCKED,
};

#define MR_TABLES(TABLE)         \
	TABLE(node_executions)   \
	TABLE(node_instants)     \
	TABLE(steps)             \
	TABLE(calls)             \
	TABLE(device_operations) \
	TABLE(states)            \
	TABLE(counters)          \
	TABLE(memory)            \
	TABLE(messages)

/* COLUMN(type, name). Every table begins with track and start_ns; a table of
 * intervals goes on with duration_ns. */
#define MR_COLUMNS_node_executions(COLUMN)                                                \
	COLUMN(uint32_t, track)                                                           \
	COLUMN(int64_t, start_ns)                                                         \
	COLUMN(int64_t, duration_ns)                                                      \
	COLUMN(int64_t, self_ns) /* not spent in executions nested in it */               \
	COLUMN(uint32_t, parent) /* row of the execution it is nested in, or MR_NO_ROW */ \
	COLUMN(uint32_t, node)                                                            \
	COLUMN(uint32_t, step)                                                            \
	COLUMN(uint8_t, flags)

#define MR_COLUMNS_node_instants(COLUMN) \
	COLUMN(uint32_t, track)          \
	COLUMN(int64_t, start_ns)        \
	COLUMN(uint32_t, node)           \
	COLUMN(uint32_t, step)

#define MR_COLUMNS_steps(COLUMN)     \
	COLUMN(uint32_t, track)      \
	COLUMN(int64_t, start_ns)    \
	COLUMN(int64_t, duration_ns) \
	COLUMN(uint64_t, step)       \
	COLUMN(uint8_t, flags)

#define MR_COLUMNS_calls(COLUMN)                                                      \
	COLUMN(uint32_t, track)                                                       \
	COLUMN(int64_t, start_ns)                                                     \
	COLUMN(int64_t, duration_ns)                                                  \
	COLUMN(int64_t, self_ns)                                                      \
	COLUMN(uint32_t, parent)                                                      \
	COLUMN(uint32_t, function)    /* string */                                    \
	COLUMN(uint64_t, correlation) /* the same as that of its device operations */ \
	COLUMN(int64_t, result)                                                       \
	COLUMN(uint8_t, flags)

#define MR_COLUMNS_device_operations(COLUMN)       \
	COLUMN(uint32_t, track) /* of the queue */ \
	COLUMN(int64_t, start_ns)                  \
	COLUMN(int64_t, duration_ns)               \
	COLUMN(int64_t, queued_ns)                 \
	COLUMN(int64_t, submitted_ns)              \
	COLUMN(uint32_t, name) /* string */        \
	COLUMN(uint64_t, correlation)              \
	COLUMN(uint64_t, bytes)                    \
	COLUMN(uint8_t, kind) /* enum mr_operation_kind */

#define MR_COLUMNS_states(COLUMN)    \
	COLUMN(uint32_t, track)      \
	COLUMN(int64_t, start_ns)    \
	COLUMN(int64_t, duration_ns) \
	COLUMN(uint8_t, state) /* enum mr_thread_state; told by the kernel level */

#define MR_COLUMNS_counters(COLUMN)         \
	COLUMN(uint32_t, track)             \
	COLUMN(int64_t, start_ns)           \
	COLUMN(uint32_t, name) /* string */ \
	COLUMN(int64_t, value)

#define MR_COLUMNS_memory(COLUMN)                \
	COLUMN(uint32_t, track)                  \
	COLUMN(int64_t, start_ns)                \
	COLUMN(uint32_t, device)                 \
	COLUMN(uint32_t, allocator) /* string */ \
	COLUMN(uint32_t, node)                   \
	COLUMN(uint64_t, address)                \
	COLUMN(uint64_t, bytes)                  \
	COLUMN(uint8_t, is_free)

#define MR_COLUMNS_messages(COLUMN)            \
	COLUMN(uint32_t, track)                \
	COLUMN(int64_t, start_ns)              \
	COLUMN(uint32_t, channel) /* string */ \
	COLUMN(uint64_t, key)                  \
	COLUMN(uint64_t, bytes)                \
	COLUMN(uint8_t, is_receive)

struct mr_column_desc {
	const char *name;
	uint32_t bytes; /* of one value */
};

struct mr_table_desc {
	const char *name;
	const struct mr_column_desc *columns;
	uint32_t column_count;
};

/* What all tables have; the column pointers follow it in memory. */
struct mr_table {
	const struct mr_table_desc *desc;
	uint32_t *first_of_track; /* NULL until sorted */
	uint32_t count;
	uint32_t capacity;
};

/* Makes room for `wanted` rows in all: 0, -ENOMEM, or -EOVERFLOW beyond 2^32 - 2 rows. */
int mr_table_reserve(struct mr_table *table, uint64_t wanted);

/* Puts the rows in order. After -ENOMEM the table is good only for mr_table_free(). */
int mr_table_sort(struct mr_table *table, uint32_t track_count);

void mr_table_free(struct mr_table *table);

/* struct mr_steps { struct mr_table table; uint32_t *track; ... };    struct mr_steps_row {...};
 * extern const struct mr_table_desc mr_steps_desc;
 * int mr_steps_append(struct mr_steps *, struct mr_steps_row);                                    */
#define MR_COLUMN_POINTER(type, name) type *name;
#define MR_COLUMN_VALUE(type, name)   type name;
#define MR_COLUMN_STORE(type, name)   columns->name[at] = row.name;
#define MR_TABLE_TYPES(name)                                                              \
	struct mr_##name {                                                                \
		struct mr_table table;                                                    \
		MR_COLUMNS_##name(MR_COLUMN_POINTER)                                      \
	};                                                                                \
	struct mr_##name##_row {                                                          \
		MR_COLUMNS_##name(MR_COLUMN_VALUE)                                        \
	};                                                                                \
	extern const struct mr_table_desc mr_##name##_desc;                               \
	static inline int mr_##name##_append(struct mr_##name *columns,                   \
					     struct mr_##name##_row row)                  \
	{                                                                                 \
		uint32_t at = columns->table.count;                                       \
		if (mr_unlikely(at == columns->table.capacity)) {                         \
			int result = mr_table_reserve(&columns->table, (uint64_t)at + 1); \
			if (result < 0)                                                   \
				return result;                                            \
		}                                                                         \
		MR_COLUMNS_##name(MR_COLUMN_STORE) columns->table.count = at + 1;         \
		return 0;                                                                 \
	}
MR_TABLES(MR_TABLE_TYPES)
#undef MR_TABLE_TYPES
#undef MR_COLUMN_STORE
#undef MR_COLUMN_VALUE
#undef MR_COLUMN_POINTER

#endif
