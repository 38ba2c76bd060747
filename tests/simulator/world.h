/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the simulator share: the program, the machine that runs it, and what it remembers.
 *
 * Everything that happens is a point, and has the points that it could not happen before:
 *
 *     point 7 (unlock) ──0──► point 8 (woken) ──latency──► point 9 (runs) ──duration──► point 10 (done)
 *                                                core free ──0──┘
 *
 * A point is at the latest of (point before + length of the edge). That is what replay.c computes again.
 */
#ifndef MR_TESTS_SIMULATOR_WORLD_H
#define MR_TESTS_SIMULATOR_WORLD_H

#include "base/macros.h"
#include "base/vector.h"
#include "schema/schema.h"
#include "simulator.h"

enum {
	MAX_CORES = 24,
	MAX_THREADS = 24,
	MAX_PROCESSES = 4,
	MAX_DEVICES = 6,
	MAX_QUEUES = 18,
	MAX_LOCKS = 12,
	MAX_PIPES = 8,
	MAX_WAITS = MAX_QUEUES, /* of one wait list */
	MAX_EVENTS = 4,         /* of CUDA, in a process */
	NOBODY = -1,
};

#define WORLD_BEGIN_NS INT64_C(1000000000)
#define NEVER          INT64_MAX

/* ---- the program -------------------------------------------------------------------------------- */

enum action_kind {
	ACT_RUN,       /* ns */
	ACT_INTERRUPT, /* ns; what: its number. An inner one if is_special */
	ACT_TIMER,     /* ns; what: enum call_number, in which it waits for a time limit */
	ACT_DISK,      /* ns; what: file, 0: a page fault */
	ACT_NETWORK,   /* ns; what: file, 0: poll */
	ACT_LOCK, /* what; ns: of a timed wait, which is repeated until it has the lock; 0: not timed */
	ACT_UNLOCK,
	ACT_READ, /* what: pipe; mode */
	ACT_WRITE,
	ACT_LOOK,       /* what: pipe; queue: so many actions back if there is nothing in it */
	ACT_CALL_BEGIN, /* what: function */
	ACT_CALL_END,
	ACT_LAUNCH,  /* what: queue; ns: of the operation; is_special: blocking */
	ACT_ENQUEUE, /* gives the operation to the device */
	ACT_AWAIT,   /* its operation, in a blocking launch; is_special: spins */
	ACT_LAUNCH_END,
	ACT_SYNC,       /* what: enum sync_scope; queue */
	ACT_SYNC_AWAIT, /* is_special: spins */
	ACT_SYNC_END,
	ACT_NODE_BEGIN, /* what: node */
	ACT_NODE_END,
	ACT_STEP_BEGIN, /* what: its number */
	ACT_STEP_END,
	ACT_SPAWN, /* what: thread */
	ACT_JOIN,
	ACT_YIELD,
	ACT_THROTTLE, /* ns */
};

enum read_mode {
	READ_PIPE,
	READ_STOPPED, /* the pipe stands for the signal that makes it go on */
	READ_ASLEEP,  /* and here for the signal that ends the sleep */
	READ_UNKNOWN,
};

struct action {
	enum action_kind kind;
	enum read_mode mode;
	bool is_special;
	uint32_t what;
	uint32_t queue;
	int64_t ns;
};

enum sync_scope {
	SYNC_LIST,
	SYNC_QUEUE,
	SYNC_PROCESS,
	SYNC_LAST, /* its last operation, which stands for the queue: it is in order */
};

/* Numbers of system calls. */
enum call_number {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_POLL = 7,
	CALL_IOCTL = 16,
	CALL_PREAD = 17,
	CALL_RECVFROM = 45,
	CALL_WAIT = 61,
	CALL_FUTEX = 202,
	CALL_SLEEP = 230,
};

/* Words in memory at which threads wait: locks have the first ones. */
enum {
	WORD_NONE,
	WORD_FIRST_LOCK,
	WORD_FIRST_TIMER = 1000, /* one for each thread */
	WORD_FIRST_END = 2000,   /* likewise: those who wait for its end */
};

/* What is done at a word: the kernel's numbers. */
enum word_command {
	COMMAND_WAIT = 0,
	COMMAND_WAKE = 1,
	COMMAND_WAIT_BITSET = 9,
};

/* Files: pipes come after these. */
enum {
	FILE_NONE,
	FILE_DATA_A,
	FILE_DATA_B,
	FILE_SOCKET,
	FILE_DEVICE,
	FILE_FIRST_PIPE,
};

/* ---- what is remembered ------------------------------------------------------------------------- */

enum state {
	RUNS,
	RUNNABLE,
	BLOCKED,
};

enum why {
	WHY_NONE,
	WHY_NEW,
	WHY_WOKEN,
	WHY_PREEMPTED,
	WHY_YIELDED,
	WHY_THROTTLED,
};

enum waker {
	WAKER_UNKNOWN,
	WAKER_THREAD,
	WAKER_TIMER,
	WAKER_INTERRUPT,
};

/* A stretch of a thread's life. */
struct stretch {
	int64_t begin_ns;
	int64_t end_ns;
	enum state state;
	enum why why;
	int core;
	/* Of BLOCKED. */
	const char *wait; /* "word", "disk", ... */
	uint32_t word;    /* at which it waits, or WORD_NONE */
	enum word_command command;
	uint32_t file;
	enum waker waker;
	int waker_thread;
	const char *source; /* name of the interrupt */
	int64_t ended_ns;   /* when what it waited for came: later, if it waited again and again */
};

struct call {
	int64_t begin_ns;
	int64_t end_ns;
	const char *function;
	uint64_t correlation;
	int queue;        /* it is about, or NOBODY */
	int operation;    /* it launches, or NOBODY */
	bool waits;       /* for the device */
	bool is_blocking; /* launch */
	bool is_lost;     /* not in the trace */
	int awaited;      /* operation whose end let it go on, or NOBODY */
};

struct node_run {
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t node;
};

struct interrupt {
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t number;
	bool is_inner;
};

/* A thread called the kernel to wake those who wait at a word. */
struct waking {
	int64_t ns;
	uint32_t word;
	int thread;
};

/* Who has a core. */
struct tenure {
	int64_t begin_ns;
	int64_t end_ns;
	int thread; /* NOBODY: idle */
};

struct operation {
	uint32_t queue;
	uint64_t correlation;
	char name[40];
	enum mr_operation_kind kind;
	int thread; /* that launched it */
	int call;   /* of the thread: its launch */
	int64_t length_ns;
	int64_t start_ns; /* NEVER: not yet */
	int64_t end_ns;
	uint32_t waits[MAX_WAITS];
	uint32_t wait_count;
	int before;     /* in its queue, if that is in order; or NOBODY */
	uint32_t place; /* in its queue, from 1 */
	bool is_enqueued;
	bool is_scheduled;
	int64_t latency_ns; /* from when it is ready to its start */
	uint32_t room_point;
	uint32_t enqueue_point;
	uint32_t start_point;
	uint32_t end_point;
};

/* ---- points ------------------------------------------------------------------------------------- */

enum owner {
	OWNER_NONE,
	OWNER_THREAD,
	OWNER_OPERATION,
};

struct edge {
	uint32_t from;
	uint32_t to;
	int64_t ns;
	enum owner owner; /* whose time it is */
	int who;
};

/* ---- the machine -------------------------------------------------------------------------------- */

struct thread {
	uint32_t tid;
	uint32_t process;
	bool is_traced;
	int priority;
	int pinned; /* to a core, or NOBODY */
	mr_vec(struct action) actions;
	size_t joins; /* actions that come last */

	bool is_born;
	bool is_ending; /* does no more than end */
	bool is_over;
	int64_t born_ns;
	int64_t over_ns;
	int maker;
	int core;
	size_t at; /* action */
	int phase; /* of it */
	uint32_t point;
	uint32_t wake_point;
	int64_t woken_ns;
	int wake_core;

	/* Of the chunk that runs or goes on when it runs again. */
	bool has_chunk;
	bool is_atomic; /* cannot be preempted */
	bool is_spinning;
	int64_t left_ns;     /* NEVER: it spins */
	int64_t chunk_ns;    /* when it began, or went on */
	int64_t released_ns; /* what it spins for was over; NEVER: not yet, or while it did not run */
	uint32_t release_point;
	uint32_t chunk; /* number of the chunk, of the time on a core, of the wait */
	uint32_t session;
	uint32_t wait;

	struct stretch now;
	mr_vec(struct stretch) life;
	mr_vec(struct call) calls;
	mr_vec(struct node_run) nodes;
	mr_vec(struct interrupt) interrupts;
	mr_vec(uint32_t) open_calls;
	mr_vec(uint32_t) open_nodes;
	int64_t step_ns;
	int64_t last_step_ns; /* when the last step ended; 0: there was none */
	int64_t call_ns;      /* since when it is in a system call */
	uint32_t call_number;
	uint32_t call_file;
	uint32_t call_word;
	enum word_command call_command;
	bool in_system_call;
	int64_t interrupt_ns;
	int64_t inner_ns;
	uint32_t step;
	int launching;            /* operation */
	int joined_by;            /* thread that waits for its end, or NOBODY */
	mr_vec(uint32_t) awaited; /* operations */
	bool is_waiting;          /* for them */
	int sync_call;            /* that is open, or NOBODY */
};

struct core {
	int running; /* NOBODY: idle */
	int64_t since_ns;
	uint32_t point; /* it got free, or changed */
	mr_vec(int) waiting;
	mr_vec(struct tenure) tenures;
	bool is_waking;
};

struct lock {
	int owner;
	bool is_handed; /* its owner has waited for it, so it does not know that nobody waits any more */
	mr_vec(int) waiting;
};

struct pipe {
	uint32_t filled;
	uint32_t point; /* of the last writing */
	int reader;     /* that waits */
};

struct device {
	char name[16];
	uint32_t process;
	uint32_t slots;
	uint32_t used;
	uint32_t free_point;
};

/* By queue: its last operation that something of CUDA comes after, or NOBODY. */
struct stream_order {
	int last[MAX_QUEUES];
};

struct queue {
	uint32_t device;
	bool is_in_order;
	bool has_unknown_order;
	bool is_default; /* of CUDA: comes after what is blocking, and that after it */
	bool is_non_blocking;
	uint32_t given;             /* how many operations */
	int last;                   /* operation given to it */
	struct stream_order before; /* what follows on it */
};

enum event_kind {
	EVENT_CHUNK, /* of a thread ends */
	EVENT_WAKE,
	EVENT_DISPATCH, /* a core that was idle, or is to look again */
	EVENT_SLICE,    /* of a thread is over */
	EVENT_UNTHROTTLE,
	EVENT_START, /* of an operation */
	EVENT_END,
};

struct event {
	int64_t ns;
	uint64_t number; /* first come, first served */
	enum event_kind kind;
	int who;
	uint32_t generation;
	enum waker waker;
	const char *source;
	uint32_t point; /* it follows from, so much later */
	int64_t edge_ns;
	uint32_t disk;  /* 1, 2: a disk has done its work; */
	bool is_queued; /* before it, it did other work */
};

struct simulation {
	struct simulation_options options;
	uint64_t random;
	int64_t now_ns;
	struct thread threads[MAX_THREADS];
	int thread_count;
	struct core cores[MAX_CORES];
	int core_count;
	struct lock locks[MAX_LOCKS];
	uint32_t lock_count;
	struct pipe pipes[MAX_PIPES];
	uint32_t pipe_count;
	struct device devices[MAX_DEVICES];
	uint32_t device_count;
	struct queue queues[MAX_QUEUES];
	uint32_t queue_count;
	struct stream_order recorded[MAX_PROCESSES][MAX_EVENTS]; /* events of CUDA */
	uint32_t process_count;
	int main_threads[MAX_PROCESSES];
	uint64_t correlations[MAX_PROCESSES];
	uint32_t node_count;
	bool has_own_names; /* every operation */
	int64_t disk_free_ns[2];
	uint32_t disk_point[2];
	mr_vec(struct operation) operations;
	mr_vec(struct waking) wakings;
	mr_vec(struct event) events;
	uint64_t event_number;
	mr_vec(int64_t) points;
	mr_vec(struct edge) edges;
	int64_t end_ns;
	struct writer *writer;
	mr_vec(int64_t) boundaries; /* moments at which anything changes */
	struct truth truth;
};

#define PUSH(vector, ...) world_require(mr_vec_push(vector, ((__VA_ARGS__))) == 0)

void world_require(bool condition);

/* From 0 to limit - 1; from low to high, small ones more often; true in so many of a hundred cases. */
uint32_t world_pick(struct simulation *simulation, uint32_t limit);
int64_t world_pick_ns(struct simulation *simulation, int64_t low_ns, int64_t high_ns);
bool world_chance(struct simulation *simulation, uint32_t percent);

/* A point at this moment; edges to the last point made. */
uint32_t world_point(struct simulation *simulation);
void world_edge(struct simulation *simulation, uint32_t from, int64_t ns, enum owner owner,
		int who);

void world_schedule(struct simulation *simulation, int64_t ns, struct event event);

/* program.c */
void program_make(struct simulation *simulation);

/* shapes.c: a program of the shape that the options say; and its work, shorter as they say. */
void shape_make(struct simulation *simulation);
void shape_shorten(struct simulation *simulation);

/* machine.c */
void machine_run(struct simulation *simulation);

/* launches.c: those who wait for the operation go on. */
void launch_operation_ended(struct simulation *simulation, uint32_t operation);

/* ---- cuda.c --------------------------------------------------------------------------------------- */

/* Streams and events as CUDA has them: what a launch on a queue, or a call that waits for something, comes after. */
void cuda_start(struct simulation *simulation);
void cuda_launch(struct simulation *simulation, uint32_t process, struct operation *operation);
void cuda_enqueued(struct simulation *simulation, uint32_t number);
void cuda_sync(struct simulation *simulation, uint32_t process, enum sync_scope scope,
	       uint32_t queue, struct operation *list);
void cuda_name(struct simulation *simulation, bool is_blocking, struct operation *operation);

/* device.c */
void device_enqueue(struct simulation *simulation, uint32_t operation);
void device_start(struct simulation *simulation, uint32_t operation);
void device_end(struct simulation *simulation, uint32_t operation);
bool operation_is_work(const struct operation *operation);

/* truth.c */
void truth_make(struct simulation *simulation);
void file_path(uint32_t file, char path[static 32]);

/* The latest moment before at which anything changes. */
int64_t truth_change_before(const struct simulation *simulation, int64_t ns);

/* Goes into the pieces at their end; their texts are copied. */
void truth_add_piece(struct truth_pieces *pieces, int64_t begin_ns, int64_t end_ns,
		     const char *text);

/* path.c */
void path_make(struct simulation *simulation);

#endif
