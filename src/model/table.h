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
 * mr_table_sort() sorts rows by track, then by start; if two start together, the longer one comes first, so
 * that an interval always follows the interval that encloses it. The rows of track t are
 * [first_of_track[t], first_of_track[t + 1]).
 *
 * Strings, nodes, devices ... are indices into the model's own tables; 0 means none.
 */
#ifndef MR_MODEL_TABLE_H
#define MR_MODEL_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "model/column.h"
#include "model/kernel_columns.h"
#include "model/runtime_columns.h"

enum mr_row_flags {
	MR_ROW_UNFINISHED = 1 << 0, /* was open when the recording ended; the end is not real */
	MR_ROW_OVERLAPS = 1 << 1,   /* cuts into its predecessor on the track instead of nesting */
	MR_ROW_UNTIMED = 1 << 2,    /* a device operation whose times are not known */
	MR_ROW_BLOCKED = 1 << 3,  /* of a system call only the part in which it blocked is known */
	MR_ROW_VIOLATED = 1 << 4, /* a device operation at impossible times (constraints.h) */
	MR_ROW_CUT = 1 << 5,      /* reaches out of the window (window.h) */
	MR_ROW_BY_ORDER =
		1 << 6, /* a device operation tied to its call by order, not by identity */
	MR_ROW_ASYNCHRONOUS = 1 << 7, /* whoever asked for it did not wait for it; see done_ns */
};

/* Who reports memory. */
enum mr_memory_teller {
	MR_MEMORY_FRAMEWORK,
	MR_MEMORY_RUNTIME,
};

/* How a step is known. */
enum mr_step_origin {
	MR_STEP_MARKED,   /* by the program */
	MR_STEP_CALLED,   /* a call of the function that its process calls most often */
	MR_STEP_INFERRED, /* from what its process launches or executes again and again */
	MR_STEP_TAKEN,    /* an element of the input that such a call takes, if it takes several */
};

/* What a thread does for a stage of an input pipeline. */
enum mr_input_kind {
	MR_INPUT_REQUEST,  /* asks the stage for its next element */
	MR_INPUT_PRODUCE,  /* makes an element ahead, on a thread of the stage's own */
	MR_INPUT_CALL,     /* has the stage's function executed, and may wait for that */
	MR_INPUT_FUNCTION, /* executes the stage's function */
};

/* What an operation or a scope is for, as its framework names it (load/purposes.c). */
enum mr_purpose {
	MR_PURPOSE_OTHER,
	MR_PURPOSE_INPUT,       /* takes the next element of an input pipeline or queue */
	MR_PURPOSE_STAGE,       /* makes elements of an input pipeline */
	MR_PURPOSE_BEGIN_INPUT, /* makes an iterator over an input pipeline */
	MR_PURPOSE_PYTHON,      /* calls a function of the program that is written in Python */
	MR_PURPOSE_WRITE,       /* writes a checkpoint, a log or another file */
	MR_PURPOSE_COMMUNICATE, /* exchanges data with other processes */
	MR_PURPOSE_COUNT
};

/* Who saw where a thread was in Python. */
enum mr_sample_origin {
	MR_SAMPLE_EVENT,   /* the thread itself, before an event */
	MR_SAMPLE_OUTSIDE, /* the recorder */
};

/* What a runtime call is to the device. */
enum mr_call_role {
	MR_CALL_PLAIN,
	MR_CALL_LAUNCH, /* gives it an operation */
	MR_CALL_WAIT,   /* launches nothing, and returns when operations have ended */
};

#define MR_TABLES(TABLE)         \
	TABLE(node_executions)   \
	TABLE(scopes)            \
	TABLE(node_instants)     \
	TABLE(steps)             \
	TABLE(function_calls)    \
	TABLE(calls)             \
	TABLE(kernel_launches)   \
	TABLE(device_operations) \
	TABLE(dependencies)      \
	MR_RUNTIME_TABLES(TABLE) \
	TABLE(counters)          \
	TABLE(memory)            \
	TABLE(messages)          \
	TABLE(thread_waits)      \
	TABLE(collectives)       \
	TABLE(tensor_copies)     \
	TABLE(input_work)        \
	TABLE(samples)           \
	MR_KERNEL_TABLES(TABLE)

/* MR_ABOUT_... describes a table. COLUMN(type, name, "what it means"), with a type of column.h.
 * Every table begins with track and start_ns; a table of intervals goes on with duration_ns. */
#define MR_ABOUT_node_executions                                                                \
	"Executions of operations of the dataflow graph. TensorFlow reports the run for which " \
	"a thread worked only when the thread leaves the executor. If the program ends before " \
	"that, run, step and graph of the thread's last operations are not known."
#define MR_COLUMNS_node_executions(COLUMN)                                                        \
	COLUMN(track, track, "thread that executed it")                                           \
	COLUMN(time_ns, start_ns, "when it began")                                                \
	COLUMN(int64_t, duration_ns, "how long it took")                                          \
	COLUMN(int64_t, self_ns, "duration without the executions nested in it")                  \
	COLUMN(row_of(node_executions), parent, "the execution it is nested in")                  \
	COLUMN(node, node, "what was executed")                                                   \
	COLUMN(step_number, step, "step that it was executed for; NULL: not known")               \
	COLUMN(uint64_t, run, "run of the function; 0: none, or not known; -1: constant folding") \
	COLUMN(string, shapes,                                                                    \
	       "shapes of its inputs; NULL: not reported, as for eager operations")               \
	COLUMN(time_ns, asked_ns, "asynchronous eager operation: when it was requested")          \
	COLUMN(time_ns, done_ns, "asynchronous operation: when it was done; NULL: not known")     \
	COLUMN(site, site, "line of Python that asked for it; NULL: none, or not known")          \
	COLUMN(string, module,                                                                    \
	       "part of the model that asked for it, or whose gradient it computes: "             \
	       "layer3.1.conv2; NULL: none, or not known")                                        \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_scopes                                                                        \
	"What the framework's own tracing reports besides operations: functions, runs of the " \
	"executor, iterators, annotations."
#define MR_COLUMNS_scopes(COLUMN)                                                         \
	COLUMN(track, track, "thread that recorded it")                                   \
	COLUMN(time_ns, start_ns, "when it began")                                        \
	COLUMN(int64_t, duration_ns, "how long it took")                                  \
	COLUMN(int64_t, self_ns, "duration without the scopes nested in it")              \
	COLUMN(row_of(scopes), parent, "the scope it is nested in")                       \
	COLUMN(string, name, "what it is")                                                \
	COLUMN(string, detail, "further details; % stands for a number that varies")      \
	COLUMN(uint64_t, run, "run of the function that it belongs to; 0: none")          \
	COLUMN(uint64_t, key,                                                             \
	       "same key where the work continues; iterator or element: its own key")     \
	COLUMN(uint64_t, parent_key, "iterator: key of the iterator that it feeds")       \
	COLUMN(one_of(purpose), purpose, "what it is for, if that is known")              \
	COLUMN(site, site, "line of Python that it belongs to; NULL: none, or not known") \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_node_instants "Things that happened at a node at one moment."
#define MR_COLUMNS_node_instants(COLUMN)                \
	COLUMN(track, track, "thread that recorded it") \
	COLUMN(time_ns, start_ns, "when it happened")   \
	COLUMN(node, node, "the node")                  \
	COLUMN(uint32_t, step, "step number given by the program")

#define MR_ABOUT_steps "Steps of the program: training steps, frames, requests."
#define MR_COLUMNS_steps(COLUMN)                                                              \
	COLUMN(track, track, "thread that recorded it")                                       \
	COLUMN(time_ns, start_ns, "when it began")                                            \
	COLUMN(int64_t, duration_ns, "how long it took")                                      \
	COLUMN(uint64_t, step,                                                                \
	       "number given by the program; for other origins: how many steps came before")  \
	COLUMN(string, function, "origin CALLED, TAKEN: the called function; otherwise NULL") \
	COLUMN(one_of(step_origin), origin, "how it is known")                                \
	COLUMN(time_ns, device_start_ns,                                                      \
	       "when a device began with what was launched in it; NULL: nothing was")         \
	COLUMN(time_ns, device_end_ns, "when devices were done with it; NULL: likewise")      \
	COLUMN(site, site,                                                                    \
	       "origin MARKED: line of Python that began it; NULL: none, or not known")       \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_function_calls                                                              \
	"Calls of functions that the framework makes graphs of. It may make several graphs " \
	"of one function, such as one for each shape of its inputs."
#define MR_COLUMNS_function_calls(COLUMN)                                                 \
	COLUMN(track, track, "calling thread")                                            \
	COLUMN(time_ns, start_ns, "when it began")                                        \
	COLUMN(int64_t, duration_ns, "how long it took")                                  \
	COLUMN(string, function, "name of the function in the program")                   \
	COLUMN(string, graph, "name of the graph that was executed")                      \
	COLUMN(time_ns, executed_ns,                                                      \
	       "when the graph was prepared and its execution began; NULL: not known")    \
	COLUMN(uint8_t, is_first, "1: the first call of this graph that the trace shows") \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_calls "Calls to a runtime such as OpenCL or CUDA."
#define MR_COLUMNS_calls(COLUMN)                                                                   \
	COLUMN(track, track, "calling thread")                                                     \
	COLUMN(time_ns, start_ns, "when it began")                                                 \
	COLUMN(int64_t, duration_ns, "how long it took")                                           \
	COLUMN(int64_t, self_ns, "duration without the calls nested in it")                        \
	COLUMN(row_of(calls), parent, "the call it is nested in")                                  \
	COLUMN(string, function, "called function")                                                \
	COLUMN(uint64_t, correlation, "the same as that of its device operations")                 \
	COLUMN(int64_t, result, "what it returned")                                                \
	COLUMN(uint64_t, object, "handle that it uses, as the program sees it")                    \
	COLUMN(uint64_t, bytes, "number of bytes concerned")                                       \
	COLUMN(queue, queue, "queue that it gives work to")                                        \
	COLUMN(row_of(device_operations), operation, "first operation that it launched")           \
	COLUMN(row_of(device_operations), awaited,                                                 \
	       "of the operations it waits for, the one that ends last")                           \
	COLUMN(row_of(node_executions), execution, "innermost execution that encloses it")         \
	COLUMN(one_of(call_role), role, "what it does for the device")                             \
	COLUMN(one_of(operation_kind), kind, "launch: what it launches")                           \
	COLUMN(uint8_t, is_blocking, "1: a launch that returns only when the operation has ended") \
	COLUMN(site, site, "line of Python that made it; NULL: none, or not known")                \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_kernel_launches \
	"Details of a device kernel's launch, in addition to its row in calls."
#define MR_COLUMNS_kernel_launches(COLUMN)                                                 \
	COLUMN(track, track, "thread that launched it")                                    \
	COLUMN(time_ns, start_ns, "when it was launched")                                  \
	COLUMN(uint64_t, correlation, "the same as that of its call")                      \
	COLUMN(row_of(calls), call, "the call that launched it")                           \
	COLUMN(string, name, "name of the device kernel")                                  \
	COLUMN(uint64_t, global_x, "work items")                                           \
	COLUMN(uint64_t, global_y, "work items")                                           \
	COLUMN(uint64_t, global_z, "work items")                                           \
	COLUMN(uint32_t, local_x, "work items per group; 0: chosen by the runtime")        \
	COLUMN(uint32_t, local_y, "work items per group")                                  \
	COLUMN(uint32_t, local_z, "work items per group")                                  \
	COLUMN(uint32_t, private_bytes, "memory of each work item; 0: none, or not known") \
	COLUMN(uint32_t, group_bytes, "memory that a group shares; 0: none, or not known") \
	COLUMN(uint32_t, argument_bytes, "size of the arguments; 0: not known")            \
	COLUMN(uint8_t, is_ordered,                                                        \
	       "1: it begins when what was launched before has ended; 0: not known")

#define MR_ABOUT_device_operations                                                         \
	"Device kernels, copies and fills. It is not known when an unfinished or untimed " \
	"operation ran: its row has the time of its launch and no duration."
#define MR_COLUMNS_device_operations(COLUMN)                                                    \
	COLUMN(track, track, "track of the queue")                                              \
	COLUMN(time_ns, start_ns, "when the device began it")                                   \
	COLUMN(int64_t, duration_ns, "how long it took")                                        \
	COLUMN(time_ns, queued_ns, "when the program handed it to the runtime")                 \
	COLUMN(time_ns, submitted_ns, "when the runtime handed it to the device")               \
	COLUMN(uint64_t, raw_start, "ticks of the device's clock")                              \
	COLUMN(uint64_t, raw_end, "ticks of the device's clock")                                \
	COLUMN(uint64_t, counter_start,                                                         \
	       "the device's own counter when it began, if the runtime translates it to "       \
	       "the clock of raw_start; 0: it does not, or it is not known")                    \
	COLUMN(uint64_t, counter_end, "likewise, when it ended")                                \
	COLUMN(bound_ns, bound_ns, "error bound of its times")                                  \
	COLUMN(process, process, "process that launched it")                                    \
	COLUMN(row_of(calls), call, "the call that launched it")                                \
	COLUMN(row_of(node_executions), execution, "innermost execution around that call")      \
	COLUMN(node, node, "node of that execution")                                            \
	COLUMN(row_of(steps), step_row, "step of its process in which it was launched")         \
	COLUMN(row_of(device_operations), after,                                                \
	       "of the operations it waits for, the one that ends last")                        \
	COLUMN(string, name, "name of the device kernel, or kind of operation")                 \
	COLUMN(uint64_t, correlation, "the same as that of its call")                           \
	COLUMN(uint64_t, bytes, "bytes that it moved")                                          \
	COLUMN(uint64_t, flops, "floating-point operations; 0: not known")                      \
	COLUMN(uint64_t, accessed_bytes, "memory read and written; 0: not known")               \
	COLUMN(string, category, "what its compiler calls it; NULL: not known")                 \
	COLUMN(one_of(operation_kind), kind, "kind of operation")                               \
	COLUMN(one_of(memory_kind), from_memory, "copy: where the bytes come from")             \
	COLUMN(one_of(memory_kind), to_memory, "copy or fill: where they go to")                \
	COLUMN(device, target, "copy between devices: the one that gets the bytes")             \
	COLUMN(uint32_t, graph, "graph of the runtime that it is part of; 0: none")             \
	COLUMN(uint64_t, graph_node, "its node in that graph; 0: none")                         \
	COLUMN(uint32_t, registers, "device kernel: registers of each work item; 0: not known") \
	COLUMN(uint32_t, static_bytes,                                                          \
	       "device kernel: memory that a group shares, as it declares it")                  \
	COLUMN(uint32_t, dynamic_bytes, "device kernel: likewise, as its launch asks")          \
	COLUMN(one_of(purpose), purpose, "what it is for, if its name tells that")              \
	COLUMN(site, site, "line of Python that launched it; NULL: none, or not known")         \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_dependencies "A launch or another call waits for an operation."
#define MR_COLUMNS_dependencies(COLUMN)                                                   \
	COLUMN(track, track, "thread that recorded it")                                   \
	COLUMN(time_ns, start_ns, "when it was recorded")                                 \
	COLUMN(uint64_t, correlation, "correlation of the call that waits")               \
	COLUMN(uint64_t, awaited, "correlation of what it waits for; 0: the whole queue") \
	COLUMN(row_of(calls), call, "the call that waits")                                \
	COLUMN(row_of(calls), awaited_call, "the call that launched what it waits for")

#define MR_ABOUT_counters "Values that change over time."
#define MR_COLUMNS_counters(COLUMN)                     \
	COLUMN(track, track, "thread that recorded it") \
	COLUMN(time_ns, start_ns, "when")               \
	COLUMN(string, name, "name of the counter")     \
	COLUMN(int64_t, value, "its value from then on")

#define MR_ABOUT_memory                                                                           \
	"Memory that was allocated or freed. A framework allocates from memory that it got from " \
	"the runtime, so the bytes of the two must not be added."
#define MR_COLUMNS_memory(COLUMN)                                                                  \
	COLUMN(track, track, "thread that allocated or freed it")                                  \
	COLUMN(time_ns, start_ns, "when")                                                          \
	COLUMN(device, device, "device that holds the memory")                                     \
	COLUMN(string, allocator, "name of the allocator")                                         \
	COLUMN(node, node, "node it is for")                                                       \
	COLUMN(uint64_t, address, "address or handle")                                             \
	COLUMN(uint64_t, parent, "address of the memory that contains it; 0: not part of another") \
	COLUMN(size, bytes, "size; for a free: the bytes freed; NULL: not known")                  \
	COLUMN(one_of(memory_kind), kind, "where it lies, if its runtime says so")                 \
	COLUMN(uint64_t, pool, "address of the pool that it comes from; 0: none, or not known")    \
	COLUMN(uint64_t, live_bytes,                                                               \
	       "bytes that the process then held on the device, as counted by this teller")        \
	COLUMN(one_of(memory_teller), teller, "who reported it")                                   \
	COLUMN(site, site, "line of Python that allocated it; NULL: none, or not known")           \
	COLUMN(uint8_t, is_free, "1: freed")

#define MR_ABOUT_messages "Messages between threads, sent and received."
#define MR_COLUMNS_messages(COLUMN)                                          \
	COLUMN(track, track, "thread that sent or received it")              \
	COLUMN(time_ns, start_ns, "when")                                    \
	COLUMN(string, channel, "name of the channel")                       \
	COLUMN(uint64_t, key, "the same at both ends")                       \
	COLUMN(node, node, "node that sent or received it")                  \
	COLUMN(row_of(node_executions), execution, "execution of that node") \
	COLUMN(row_of(messages), peer, "the other end")                      \
	COLUMN(size, bytes, "size; NULL: not known")                         \
	COLUMN(uint8_t, is_receive, "1: received")

#define MR_ABOUT_thread_waits                                                                    \
	"Threads that waited for another thread of their process, as far as the dataflow level " \
	"tells: a thread that computes gradients waits for the threads that do the work."
#define MR_COLUMNS_thread_waits(COLUMN)                       \
	COLUMN(track, track, "thread that waited")            \
	COLUMN(time_ns, start_ns, "when the other one began") \
	COLUMN(int64_t, duration_ns, "how long it worked")    \
	COLUMN(track, awaited, "thread that worked; of several the last")

#define MR_ABOUT_collectives                                                                    \
	"Operations that several devices or processes do together, with the same keys in each " \
	"of them. The execution of the node only starts the collective."
#define MR_COLUMNS_collectives(COLUMN)                                                      \
	COLUMN(track, track, "thread that did it")                                          \
	COLUMN(time_ns, start_ns, "when it began")                                          \
	COLUMN(int64_t, duration_ns, "how long it took, including delays caused by others") \
	COLUMN(node, node, "node whose execution started it")                               \
	COLUMN(uint64_t, run, "run of the function that it belongs to")                     \
	COLUMN(size, bytes, "of the tensors that this participant gives; NULL: not known")  \
	COLUMN(uint64_t, group_key, "identifies the group of participants")                 \
	COLUMN(uint64_t, instance_key, "identifies the operation within the group")

#define MR_ABOUT_tensor_copies                                                                   \
	"Copies to, from, on and between devices in programs with a framework, and the tensors " \
	"that they moved. The tensor is unknown (NULL) in three cases: constants, which "        \
	"TensorFlow copies when it makes a function, before any operation that could be "        \
	"identified runs; data that the program reads outside of any operation, for instance "   \
	"with numpy(); and data that an operation copies for itself, except a variable that it " \
	"changes."
#define MR_COLUMNS_tensor_copies(COLUMN)                                                           \
	COLUMN(track, track, "thread that launched it")                                            \
	COLUMN(time_ns, start_ns, "when it was launched")                                          \
	COLUMN(row_of(device_operations), operation, "the copy")                                   \
	COLUMN(row_of(node_executions), execution, "execution that caused it")                     \
	COLUMN(node, node, "node that the tensor belongs to")                                      \
	COLUMN(ordinal, number, "number of the tensor among the node's inputs or outputs, from 0") \
	COLUMN(truth, is_input, "1: an input of the node; 0: an output")

#define MR_ABOUT_input_work                                                                     \
	"What threads do for the input pipeline, stage by stage. A stage that makes its "       \
	"elements ahead, on threads of its own, has rows of kind PRODUCE; requests to it only " \
	"wait for its buffer."
#define MR_COLUMNS_input_work(COLUMN)                                                         \
	COLUMN(track, track, "thread that does it")                                           \
	COLUMN(time_ns, start_ns, "when it began")                                            \
	COLUMN(int64_t, duration_ns, "how long it took")                                      \
	COLUMN(int64_t, self_ns, "duration without the work nested in it")                    \
	COLUMN(row_of(input_work), parent, "the work it is nested in")                        \
	COLUMN(one_of(input_kind), kind, "what the thread does")                              \
	COLUMN(string, path,                                                                  \
	       "the stage, after those that its elements go to: Root::Prefetch::Map; NULL: "  \
	       "not known")                                                                   \
	COLUMN(uint64_t, iterator, "iterator of the stage; 0: not known")                     \
	COLUMN(uint64_t, consumer, "REQUEST: iterator that it feeds; 0: the program")         \
	COLUMN(uint64_t, run, "CALL, FUNCTION: run of the stage's function")                  \
	COLUMN(ordinal, parallelism,                                                          \
	       "REQUEST: elements that the stage may make at a time; "                        \
	       "NULL: not reported")                                                          \
	COLUMN(ordinal, buffer_limit, "REQUEST: size of its buffer; NULL: not reported")      \
	COLUMN(ordinal, buffered, "REQUEST: elements in its buffer then; NULL: not reported") \
	COLUMN(truth, is_autotuned,                                                           \
	       "REQUEST: 1: the framework chooses parallelism or buffer; NULL: not reported") \
	COLUMN(row_flags, flags, "special properties")

#define MR_ABOUT_samples                                                                         \
	"Where threads were in Python: as they say themselves before they record something, "    \
	"wherever that is not where they were before; and as the recorder saw them, many times " \
	"a second, if they had run since it last looked."
#define MR_COLUMNS_samples(COLUMN)                                                       \
	COLUMN(track, track, "the thread")                                               \
	COLUMN(time_ns, start_ns, "when")                                                \
	COLUMN(site, site, "line of Python; NULL: none")                                 \
	COLUMN(int64_t, cpu_ns,                                                          \
	       "OUTSIDE: CPU time of the thread since its sample before; -1: not known") \
	COLUMN(one_of(sample_origin), origin, "who saw it")

struct mr_detail;

struct mr_table_desc {
	const char *name;
	const char *doc;
	const struct mr_column_desc *columns;
	uint32_t column_count;
};

/* What all tables have; the column pointers follow it in memory. */
struct mr_table {
	const struct mr_table_desc *desc;
	uint32_t *first_of_track; /* NULL until sorted */
	uint32_t *whole_rows;     /* of a cut (window.h): where the rows come from; else NULL */
	struct mr_detail *detail; /* of intervals that were saved in an index or come from one */
	uint32_t count;
	uint32_t capacity;
	bool is_mapped; /* from the saved index (index.h): no column may be written or freed */
};

/* The column pointers of any table, in the order of its description. */
static inline void **mr_table_columns(struct mr_table *table)
{
	return (void **)(table + 1);
}

/* Has the table durations? */
bool mr_table_is_interval(const struct mr_table *table);

/* Makes room for `wanted` rows in all: 0, -ENOMEM, or -EOVERFLOW beyond 2^32 - 2 rows. */
int mr_table_reserve(struct mr_table *table, uint64_t wanted);

/* Puts the rows in order. After -ENOMEM the table is good only for mr_table_free(). */
int mr_table_sort(struct mr_table *table, uint32_t track_count);

/* Likewise, together with values that the caller keeps beside the rows, one for each. */
int mr_table_sort_with(struct mr_table *table, uint32_t track_count, uint32_t *beside);

/* Takes out the rows that are marked; the others stay in order. -ENOMEM. */
int mr_table_drop(struct mr_table *table, const bool *is_dropped, uint32_t track_count);

/* Fills in first_of_track of rows that are in order. -ENOMEM. */
int mr_table_find_tracks(struct mr_table *table, uint32_t track_count);

void mr_table_free(struct mr_table *table);

/* struct mr_steps { struct mr_table table; uint32_t *track; ... };    struct mr_steps_row {...};
 * extern const struct mr_table_desc mr_steps_desc;
 * int mr_steps_append(struct mr_steps *, struct mr_steps_row);                                    */
#define MR_COLUMN_POINTER(type, name, ...) MR_TYPE_##type *name;
#define MR_COLUMN_VALUE(type, name, ...)   MR_TYPE_##type name;
#define MR_COLUMN_STORE(type, name, ...)   columns->name[at] = row.name;
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
