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
#include "model/kernel_columns.h"

#define MR_NO_ROW  UINT32_MAX
#define MR_NO_TIME INT64_MIN /* a time that was not recorded */

enum mr_row_flags {
	MR_ROW_UNFINISHED = 1 << 0, /* was open when the recording ended; the end is not real */
	MR_ROW_OVERLAPS = 1 << 1,   /* cuts into its predecessor on the track instead of nesting */
	MR_ROW_UNTIMED = 1 << 2,    /* a device operation whose times are not known */
	MR_ROW_BLOCKED = 1 << 3, /* of a system call only the part in which it blocked is known */
};

/* Who tells of memory. What a framework hands out lies in what it got from the runtime: the two
 * must not be added. */
enum mr_memory_teller {
	MR_MEMORY_FRAMEWORK,
	MR_MEMORY_RUNTIME,
};

/* What a runtime call is to the device. */
enum mr_call_role {
	MR_CALL_PLAIN,
	MR_CALL_LAUNCH, /* gives it an operation */
	MR_CALL_WAIT,   /* launches nothing, and returns when operations have ended */
};

#define MR_TABLES(TABLE)         \
	TABLE(node_executions)   \
	TABLE(node_instants)     \
	TABLE(steps)             \
	TABLE(calls)             \
	TABLE(kernel_launches)   \
	TABLE(device_operations) \
	TABLE(dependencies)      \
	TABLE(counters)          \
	TABLE(memory)            \
	TABLE(messages)          \
	MR_KERNEL_TABLES(TABLE)

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

#define MR_COLUMNS_calls(COLUMN)                                                              \
	COLUMN(uint32_t, track)                                                               \
	COLUMN(int64_t, start_ns)                                                             \
	COLUMN(int64_t, duration_ns)                                                          \
	COLUMN(int64_t, self_ns)                                                              \
	COLUMN(uint32_t, parent)                                                              \
	COLUMN(uint32_t, function)    /* string */                                            \
	COLUMN(uint64_t, correlation) /* the same as that of its device operations */         \
	COLUMN(int64_t, result)                                                               \
	COLUMN(uint64_t, object) /* handle of what it is about, as the program sees it */     \
	COLUMN(uint64_t, bytes)  /* that it is about */                                       \
	COLUMN(uint32_t, queue)                                                               \
	COLUMN(uint32_t, operation)  /* first row of what it launched, or MR_NO_ROW */        \
	COLUMN(uint8_t, role)        /* enum mr_call_role */                                  \
	COLUMN(uint8_t, kind)        /* enum mr_operation_kind, of a launch */                \
	COLUMN(uint8_t, is_blocking) /* a launch that returns when the operation has ended */ \
	COLUMN(uint8_t, flags)

/* What a launch of a kernel says besides the call. */
#define MR_COLUMNS_kernel_launches(COLUMN)                     \
	COLUMN(uint32_t, track)                                \
	COLUMN(int64_t, start_ns)                              \
	COLUMN(uint64_t, correlation)                          \
	COLUMN(uint32_t, call) /* row, or MR_NO_ROW */         \
	COLUMN(uint32_t, name) /* string */                    \
	COLUMN(uint64_t, global_x)                             \
	COLUMN(uint64_t, global_y)                             \
	COLUMN(uint64_t, global_z)                             \
	COLUMN(uint32_t, local_x) /* 0: left to the runtime */ \
	COLUMN(uint32_t, local_y)                              \
	COLUMN(uint32_t, local_z)

/* One that is unfinished or untimed stands where it was launched, and has no duration: when it ran
 * is not known. */
#define MR_COLUMNS_device_operations(COLUMN)                            \
	COLUMN(uint32_t, track) /* of the queue */                      \
	COLUMN(int64_t, start_ns)                                       \
	COLUMN(int64_t, duration_ns)                                    \
	COLUMN(int64_t, queued_ns)                                      \
	COLUMN(int64_t, submitted_ns)                                   \
	COLUMN(uint32_t, process) /* that launched it */                \
	COLUMN(uint32_t, call)    /* row of the launch, or MR_NO_ROW */ \
	COLUMN(uint32_t, name)    /* string */                          \
	COLUMN(uint64_t, correlation)                                   \
	COLUMN(uint64_t, bytes)                                         \
	COLUMN(uint8_t, kind) /* enum mr_operation_kind */              \
	COLUMN(uint8_t, flags)

/* A launch or another call waits for an operation. */
#define MR_COLUMNS_dependencies(COLUMN)                                              \
	COLUMN(uint32_t, track)                                                      \
	COLUMN(int64_t, start_ns)                                                    \
	COLUMN(uint64_t, correlation)  /* of the one that waits */                   \
	COLUMN(uint64_t, awaited)      /* correlation of what it waits for */        \
	COLUMN(uint32_t, call)         /* row of the one that waits, or MR_NO_ROW */ \
	COLUMN(uint32_t, awaited_call) /* row of the launch of what it waits for, or MR_NO_ROW */

#define MR_COLUMNS_counters(COLUMN)         \
	COLUMN(uint32_t, track)             \
	COLUMN(int64_t, start_ns)           \
	COLUMN(uint32_t, name) /* string */ \
	COLUMN(int64_t, value)

#define MR_COLUMNS_memory(COLUMN)                                                                 \
	COLUMN(uint32_t, track)                                                                   \
	COLUMN(int64_t, start_ns)                                                                 \
	COLUMN(uint32_t, device)                                                                  \
	COLUMN(uint32_t, allocator) /* string */                                                  \
	COLUMN(uint32_t, node)                                                                    \
	COLUMN(uint64_t, address) /* or handle */                                                 \
	COLUMN(uint64_t, parent)  /* address of what it is a part of; 0: it is its own */         \
	COLUMN(uint64_t, bytes)   /* of a free: what it gives back, if its allocation is known */ \
	COLUMN(uint64_t, live_bytes) /* then held on the device, by the same teller */            \
	COLUMN(uint8_t, teller)      /* enum mr_memory_teller */                                  \
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
