/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass over a trace: processes and threads, definitions, relations between clocks, how many events of
 * each kind there are and how many were lost. It keeps none of the events.
 * Enough for `info` and `dump`; the model (model.h) builds on it.
 *
 *     hosts ◄── processes ◄── tracks: one per thread, then one per queue of a device, then one per CPU
 *
 * A thread is identified by (process, tid). A tid that the same process used twice is one track. Threads and
 * processes that only the kernel level saw come last of their kind (task_tracks.h).
 * MR_RECORDER_PROCESS is the recorder itself, whose stream holds clock samples: it has no track.
 *
 * Everything belongs to the survey; it borrows the trace, which must live longer. Read-only once
 * made.
 */
#ifndef MR_MODEL_SURVEY_H
#define MR_MODEL_SURVEY_H

#include "clock/clocks.h"
#include "model/definitions.h"
#include "model/tasks.h"
#include "trace/trace.h"

#define MR_NO_TRACK UINT32_MAX

/* How a process was seen to end. A failed exec looks like one that worked until the process exits. */
enum mr_process_end {
	MR_PROCESS_END_NOT_SEEN, /* killed, _exit(), or still running */
	MR_PROCESS_EXIT,
	MR_PROCESS_EXEC, /* its program was replaced: the same pid goes on as another process */
};

/* A machine, from one start of it to the next. Numbers of processes, threads and CPUs are its own. */
struct mr_host {
	uint32_t name;    /* string */
	uint32_t boot_id; /* string; 0: not known */
};

#define MR_OWN_HOST 0 /* that the trace was recorded on: the only one as long as it is one trace */

struct mr_process {
	uint32_t host;
	uint32_t number; /* in this run; 0: known from the kernel level alone */
	uint32_t pid;
	uint32_t parent;  /* index of the process it came from; its own if there is none */
	uint32_t program; /* string */
	uint32_t
		framework; /* string: the folder of load/ that knows the names in it; 0: none does */
	uint32_t rank;     /* in its job; MR_NO_ORDINAL: none, or not known; so are the next */
	uint32_t world_size; /* of the job */
	uint32_t local_rank; /* on the host */
	uint8_t origin;      /* enum mr_process_origin */
	enum mr_process_end end;
	int64_t first_ns; /* span of its packets */
	int64_t last_ns;
	uint64_t event_count;
	uint32_t thread_count;
};

enum mr_track_kind {
	MR_TRACK_THREAD,
	MR_TRACK_QUEUE,
	MR_TRACK_CPU,
};

/* What a thread is for (load/roles.c). */
enum mr_thread_role {
	MR_ROLE_NONE,   /* not known */
	MR_ROLE_MAIN,   /* the first of its process */
	MR_ROLE_INPUT,  /* works for the input pipeline */
	MR_ROLE_LOADER, /* makes batches, or hands them on, outside of the thread that wants them */
	MR_ROLE_AUTOGRAD, /* computes gradients */
	MR_ROLE_INTER_OP, /* executes operations */
	MR_ROLE_INTRA_OP, /* helps others to execute operations */
	MR_ROLE_POLLER,   /* waits for what devices say */
	MR_ROLE_COUNT
};

struct mr_track {
	enum mr_track_kind kind;
	uint8_t role; /* enum mr_thread_role */
	uint32_t host;
	uint32_t process;
	uint32_t tid;         /* of a thread */
	uint32_t queue;       /* of a device */
	uint32_t cpu;         /* its number; MR_NO_CPU of others */
	uint32_t name;        /* string: as the program calls it, else as the kernel does */
	uint32_t kernel_name; /* string; of a thread */
	int64_t first_ns;
	int64_t last_ns;
};

/* What has a number on its host. */
struct mr_host_key {
	uint32_t host;
	uint32_t number;
};

/* Strings, each once; a vector. */
/* Where a Python interpreter has its state, and its lock in it. */
struct mr_interpreter {
	uint32_t process;
	uint64_t address;
	uint64_t bytes;
};

struct mr_texts_seen {
	uint32_t *items;
	size_t count;
	size_t capacity;
};

/* Kernel records of a CPU are missing from that time to that. */
struct mr_gap {
	uint32_t host;
	uint32_t cpu;
	int64_t begin_ns;
	int64_t end_ns;
};

struct mr_survey {
	const struct mr_trace *trace;
	struct mr_definitions definitions;
	struct mr_clocks *clocks;
	mr_vec(struct mr_host) hosts;
	mr_vec(struct mr_process) processes;
	mr_vec(struct mr_track) tracks;
	uint32_t first_queue_track;
	uint32_t first_cpu_track;
	struct mr_texts_seen runtimes_seen;       /* file names of libraries */
	struct mr_texts_seen runtimes_not_traced; /* names of what they are, if it is not traced */
	struct mr_texts_seen hooks_missing;
	struct mr_texts_seen queue_words; /* what traced runtimes call a queue */
	mr_vec(struct mr_interpreter) interpreters;
	struct mr_strings process_keys; /* struct mr_host_key: process number → index */
	struct mr_strings track_keys;   /* (process, tid) → index */
	struct mr_strings cpu_keys;     /* struct mr_host_key: CPU → index from first_cpu_track */
	struct mr_tasks tasks;
	uint64_t ambiguous_tasks;   /* that could belong to several threads of the user streams */
	mr_vec(struct mr_gap) gaps; /* kernel records lost, by CPU and time */

	/* The trace's whole span, in the trace clock and in user-clock ticks. */
	int64_t first_ns;
	int64_t last_ns;
	uint64_t first_user_ticks;
	uint64_t last_user_ticks;

	/* The span of the kernel level's packets; empty (first > last) without it. */
	int64_t first_kernel_ns;
	int64_t last_kernel_ns;

	/* With --delay, --duration, --steps: from when to when levels were on, and the kernel level, which the
	 * recorder switches after a program has switched the others. INT64_MIN and INT64_MAX: never switched. */
	struct mr_switched {
		int64_t on_ns;
		int64_t off_ns;
	} recorded, kernel_recorded;

	uint64_t event_counts[256]; /* by event id */
	uint64_t event_count;
	uint64_t unknown_events;
	uint64_t malformed_packets;
	uint64_t missing_packets;
	uint64_t discarded_events;
	uint64_t losses[256]; /* by enum mr_loss_reason */
	uint64_t lost_bytes;  /* damaged parts of files */

	/* How often the recorder looked where threads were in Python, as it says at the end. */
	struct mr_python_sampling {
		uint64_t rate; /* samples a second */
		uint64_t samples;
		uint64_t torn; /* dropped */
	} sampling;
};

int mr_survey_make(const struct mr_trace *trace, struct mr_survey **ret_survey);
void mr_survey_free(struct mr_survey *survey);

/* Where the events of a packet belong. *ret_track is MR_NO_TRACK for the recorder's. */
void mr_survey_find(const struct mr_survey *survey, const struct mr_packet_context *context,
		    uint32_t *ret_process, uint32_t *ret_track);

/* The process of that number; false if there is none. */
static inline bool mr_survey_find_process(const struct mr_survey *survey, uint32_t host,
					  uint32_t number, uint32_t *ret_process)
{
	const struct mr_host_key key = {host, number};

	return mr_strings_find(&survey->process_keys, &key, sizeof key, ret_process);
}

/* The track of a queue of the definitions; MR_NO_TRACK for queue 0. */
static inline uint32_t mr_survey_track_of_queue(const struct mr_survey *survey, uint32_t queue)
{
	return queue ? survey->first_queue_track + queue - 1 : MR_NO_TRACK;
}

/* The track of a CPU that has a kernel stream; MR_NO_TRACK for others. */
static inline uint32_t mr_survey_track_of_cpu(const struct mr_survey *survey, uint32_t host,
					      uint32_t cpu)
{
	const struct mr_host_key key = {host, cpu};
	uint32_t index;

	return mr_strings_find(&survey->cpu_keys, &key, sizeof key, &index)
		       ? survey->first_cpu_track + index
		       : MR_NO_TRACK;
}

/* ", executes operations" and the like, to follow a thread; "" if that is not known, or it is the main thread. */
const char *mr_thread_role_text(uint8_t role);

static inline const char *mr_survey_text(const struct mr_survey *survey, uint32_t string)
{
	return mr_strings_text(&survey->definitions.strings, string);
}

#endif
