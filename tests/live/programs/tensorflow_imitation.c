/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that looks like TensorFlow to the hook, by name, symbols and layouts, and calls itself as TensorFlow
 * does: for what the real one does not do on demand. play(SCENE) prints what the library saw; it must print the same
 * when it is not traced. Compiled by its test.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAMED(name) __asm__(name)

struct string {
	const char *data;
	size_t length;
	char inline_data[16];
};

/* ---- TraceMe ------------------------------------------------------------------------------------------ */

struct event {
	struct string name;
	int64_t start, end;
};

struct events {
	void *pointers[3];
};

_Atomic int trace_level NAMED("_ZN3tsl8profiler8internal13g_trace_levelE") = -1;
void record(struct event *event) NAMED("_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE");
void clear(void) NAMED("_ZN3tsl8profiler15TraceMeRecorder5ClearEv");
struct events consume(void) NAMED("_ZN3tsl8profiler15TraceMeRecorder7ConsumeEv");
bool start(int level) NAMED("_ZN3tsl8profiler15TraceMeRecorder5StartEi");
struct events stop(void) NAMED("_ZN3tsl8profiler15TraceMeRecorder4StopEv");

static uintptr_t recorded;

void record(struct event *event)
{
	(void)event;
	recorded++;
}

void clear(void)
{
	recorded = 0;
}

struct events consume(void)
{
	struct events events = {{(void *)recorded, NULL, NULL}};
	recorded = 0;
	return events;
}

bool start(int level)
{
	int off = -1;
	bool has_started = atomic_compare_exchange_strong(&trace_level, &off, level);
	if (has_started)
		clear();
	return has_started;
}

struct events stop(void)
{
	return atomic_exchange(&trace_level, -1) >= 0 ? consume() : (struct events){0};
}

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void trace(const char *name, size_t length)
{
	struct event event = {.name = {.data = name, .length = length}, .start = now_ns()};
	event.end = event.start + 1;
	if (trace_level >= 2)
		record(&event);
}

/* ---- operations --------------------------------------------------------------------------------------- */

struct operation {
	const char *name;
};

static int executed;

/* ---- executors: a queue of one ---------------------------------------------------------------------------- */

struct item {
	const void *vtable;
	uint64_t references, id;
	void *node;
};

const void *const item_vtable[3] NAMED("_ZTVN10tensorflow13EagerExecutor8NodeItemE") = {NULL};
void *add(void *status, void *executor, void **node)
	NAMED("_ZN10tensorflow13EagerExecutor12AddOrExecuteESt10unique_ptrINS_"
	      "9EagerNodeESt14default_deleteIS2_EE");
void *run_item(void *status, void *executor, struct item **item, bool from_queue)
	NAMED("_ZN10tensorflow13EagerExecutor7RunItemEN3tsl4core11RefCountPtrINS0_8NodeItemEEEb");
void *move(void *status, void *executor, struct item **item, bool from_queue)
	NAMED("_ZN10tensorflow13EagerExecutor16MoveToUnfinishedEN3tsl4core11RefCountPtrINS0_"
	      "8NodeItemEEEb");

static bool is_asynchronous, is_far, is_unknown_item;
static struct item queued;

void *add(void *status, void *executor, void **node)
{
	(void)executor;
	queued = (struct item){is_unknown_item ? (const void *)&queued : item_vtable + 2, 1, 7,
			       *node};
	return status;
}

void *run_item(void *status, void *executor, struct item **item, bool from_queue)
{
	if (is_far)
		move(status, executor, item, from_queue);
	executed += *(int *)(*item)->node;
	return status;
}

void *move(void *status, void *executor, struct item **item, bool from_queue)
{
	(void)executor, (void)item, (void)from_queue;
	return status;
}

static void *run_queue(void *unused)
{
	struct item *item = &queued;
	void *status = NULL;
	(void)unused;
	return run_item(&status, NULL, &item, true) == &status ? &queued : NULL;
}

/* ---- operations by themselves ----------------------------------------------------------------------------- */

const char *TF_Version(void);
void *TF_NewStatus(void);
void TF_DeleteStatus(void *status);
int TF_GetCode(void *status);
const char *TFE_OpGetName(struct operation *operation, void *status);
const char *TFE_OpGetDevice(struct operation *operation, void *status);
const char *TFE_TensorHandleDeviceName(void *tensor, void *status);
void TFE_Execute(struct operation *operation, void **results, int *count, void *status);

const char *TF_Version(void)
{
	return "2.0";
}

void *TF_NewStatus(void)
{
	return calloc(1, sizeof(int));
}

void TF_DeleteStatus(void *status)
{
	free(status);
}

int TF_GetCode(void *status)
{
	return *(int *)status;
}

const char *TFE_OpGetName(struct operation *operation, void *status)
{
	(void)status;
	return operation->name;
}

const char *TFE_OpGetDevice(struct operation *operation, void *status)
{
	(void)operation, (void)status;
	return "";
}

const char *TFE_TensorHandleDeviceName(void *tensor, void *status)
{
	(void)status;
	return tensor;
}

void TFE_Execute(struct operation *operation, void **results, int *count, void *status)
{
	(void)operation, (void)status;
	if (is_asynchronous) {
		static int work = 1;
		void *node = &work, *own_status = NULL;
		if (add(&own_status, NULL, &node) != &own_status)
			abort();
	} else {
		executed++;
	}
	*count = 1;
	results[0] = "/device:CPU:0";
}

static void execute(const char *name)
{
	struct operation operation = {name};
	void *results[1] = {NULL};
	void *status = TF_NewStatus();
	int count = 1;
	TFE_Execute(&operation, results, &count, status);
	TF_DeleteStatus(status);
}

/* ---- memory ------------------------------------------------------------------------------------------- */

void *allocate(size_t bytes, int alignment) NAMED("_ZN3tsl4port13AlignedMallocEmi");
void release(void *memory) NAMED("_ZN3tsl4port11AlignedFreeEPv");

void *allocate(size_t bytes, int alignment)
{
	void *memory = NULL;
	return posix_memalign(&memory, (size_t)alignment, bytes) == 0 ? memory : NULL;
}

void release(void *memory)
{
	free(memory);
}

/* ---- the activity watcher ----------------------------------------------------------------------------- */

enum {
	SLOTS = 7,
};

struct attribute {
	struct string key, value;
};

struct activity {
	struct string title;
	uint64_t category;
	uint64_t map[4];
};

_Atomic int
	watcher_level NAMED("_ZN10tensorflow16activity_watcher12tfw_internal15g_watcher_levelE");
uint64_t watch(struct activity **activity) NAMED(
	"_ZN10tensorflow16activity_watcher12tfw_internal19RecordActivityStartESt10unique_ptrINS0_"
	"8ActivityESt14default_deleteIS3_EE");

uint64_t watch(struct activity **activity)
{
	(void)activity;
	return 0;
}

static struct string string_of(const char *text)
{
	return (struct string){.data = text, .length = strlen(text)};
}

/* A node's activity, its attributes in any order, the map laid out as versions do. */
static void run_node(const char *name, const char *inputs, unsigned first, unsigned layout)
{
	struct attribute attributes[5] = {
		{string_of("step_id"), string_of("-7")},
		{string_of("node_name"), string_of(name)},
		{string_of("op"), string_of("NoOp")},
		{string_of("inputs"), string_of(inputs)},
		{string_of("device"), string_of("/device:CPU:0")},
	};
	struct attribute slots[SLOTS];
	int8_t full[SLOTS] = {-128, -128, -128, -128, -128, -128, -128};
	memset(slots, 0xee, sizeof slots);
	for (unsigned i = 0; i < 5; i++) {
		slots[(first + i) % SLOTS] = attributes[i];
		full[(first + i) % SLOTS] = (int8_t)i;
	}
	uint64_t control = (uint64_t)full, at = (uint64_t)slots;
	struct activity activity = {.title = string_of("ExecutorState::Process")};
	const uint64_t layouts[][4] = {{control, at, 5, SLOTS},
				       {control, at, SLOTS, 5},
				       {SLOTS, 5 << 17 | 99, control, at},
				       {8, 8, 8, 8}};
	memcpy(activity.map, layouts[layout], sizeof activity.map);
	struct activity *pointer = &activity;
	if (watcher_level >= 2)
		watch(&pointer);
}

/* One attribute, kept where the pointers are otherwise. */
static void run_other(void)
{
	struct activity activity = {.title = string_of("Other::Activity"),
				    .map = {1, 2 << 17, 0, 0}};
	struct activity *pointer = &activity;
	if (watcher_level >= 2)
		watch(&pointer);
}

/* ---- scenes ------------------------------------------------------------------------------------------- */

static void play_texts(void)
{
	static char large[40000];
	memset(large, 'x', sizeof large - 1);
	trace("", 0);
	trace("a\0b", 3);
	trace(large, strlen(large));
	for (const char *text = "first#step_num=1#\0"
				"many#a=1,b=2,c=3,d=4,step_num=2#\0"
				"percent#label=%,step_num=3#\0"
				"large#a=99999999999999999999,step_num=4#\0"
				"node:Relu#shape=(float[1,2])#\0";
	     *text; text += strlen(text) + 1)
		trace(text, strlen(text));
}

static void play_profile(void)
{
	bool first = start(2);
	trace("a", 1);
	bool second = start(1);
	trace("b", 1);
	uintptr_t count = (uintptr_t)stop().pointers[0];
	bool third = stop().pointers[0] != NULL;
	trace("c", 1);
	printf("profile %d %d %d: %d events, %d later\n", first, second, third, (int)count,
	       (int)recorded);
}

static void play_nodes(void)
{
	static char inputs[30000];
	for (size_t length = 0; length < sizeof inputs - 40;)
		length +=
			(size_t)sprintf(inputs + length, "%s^input%zu", length ? "; " : "", length);
	run_other();
	for (unsigned i = 0; i < 3 * SLOTS; i++)
		run_node("node", "x; y:1", i, i % 3);
	run_node("group", inputs, 0, 0);
	run_node("last", "", 0, 2);
}

static void play_asynchronous(const char *scene)
{
	pthread_t executor;
	void *result;
	is_asynchronous = true;
	is_far = strcmp(scene, "far") == 0;
	is_unknown_item = strcmp(scene, "unknown_item") == 0;
	trace("SomeScope", strlen("SomeScope"));
	execute("Later");
	if (pthread_create(&executor, NULL, run_queue, NULL) != 0 ||
	    pthread_join(executor, &result) != 0 || !result)
		abort();
}

/* The watcher sleeps when there was nothing new for long, though an iterator has new names all the time, and wakes
 * again; the first that comes after a long time is looked at all the same. */
static void play_quiet(void)
{
	char text[40];
	run_node("early", "", 0, 0);
	for (int i = 0; i < 12; i++) {
		usleep(100000);
		trace(text, (size_t)sprintf(text, "Iterator::Repeat[%d]::FromTensor", i));
	}
	run_node("early", "", 0, 0);
	run_node("asleep", "", 0, 0);
	trace("new:NoOp", strlen("new:NoOp"));
	run_node("awake", "", 0, 0);
	usleep(1200000);
	run_node("late", "", 0, 0);
	run_node("later", "", 0, 0);
}

/* And when what is known has come very often. */
static void play_busy(void)
{
	for (int i = 0; i < 10000; i++)
		run_node("early", "", 0, 0);
	run_node("asleep", "", 0, 0);
	trace("new:NoOp", strlen("new:NoOp"));
	run_node("awake", "", 0, 0);
}

/* From now on the kernel answers to some calls as it is told to, and to all others in another way. */
static void filter_calls(const int *calls, size_t count, uint32_t answer, uint32_t otherwise)
{
	struct sock_filter filter[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short length = 1;
	for (size_t i = 0; i < count; i++) {
		filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								(uint32_t)calls[i], 0, 1);
		filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
	struct sock_fprog program = {length, filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		puts("cannot filter");
}

/* The call by which the hook finds out what memory it may read. */
static void forbid_reading(void)
{
	static const int calls[] = {SYS_rt_sigprocmask};
	filter_calls(calls, 1, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
}

/* Nothing but what a program needs to compute with threads, and to say the result. */
static void enter_sandbox(void)
{
	static const int calls[] = {
		SYS_read,           SYS_write,       SYS_mmap,
		SYS_munmap,         SYS_mprotect,    SYS_brk,
		SYS_madvise,        SYS_futex,       SYS_rt_sigaction,
		SYS_rt_sigprocmask, SYS_clone,       SYS_exit,
		SYS_clock_gettime,  SYS_sched_yield, SYS_newfstatat,
		SYS_rseq,           SYS_exit_group,  SYS_set_robust_list,
		SYS_getpid,         SYS_gettid,      SYS_prctl,
	};
	filter_calls(calls, sizeof calls / sizeof *calls, SECCOMP_RET_ALLOW,
		     SECCOMP_RET_KILL_PROCESS);
}

static void play_all(void)
{
	for (int i = 0; i < 3; i++)
		execute("MatMul");
	release(allocate(1000, 64));
	play_nodes();
	play_texts();
}

void play(const char *scene);
void play(const char *scene)
{
	if (strcmp(scene, "forbidden") == 0)
		forbid_reading();
	if (strcmp(scene, "sandbox") == 0)
		enter_sandbox();
	if (strcmp(scene, "unknown") == 0)
		run_node("node", "", 0, 3);
	if (strcmp(scene, "profile") == 0)
		play_profile();
	else if (strcmp(scene, "quiet") == 0)
		play_quiet();
	else if (strcmp(scene, "busy") == 0)
		play_busy();
	else if (strcmp(scene, "later") == 0 || strcmp(scene, "far") == 0 ||
		 strcmp(scene, "unknown_item") == 0)
		play_asynchronous(scene);
	else if (strcmp(scene, "fork") != 0)
		play_all();
	else if (fork() == 0) {
		play_all();
		exit(executed == 3 ? 0 : 1);
	} else {
		int status = -1;
		wait(&status);
		printf("child: %d\n", status);
	}
	printf("%s: %d executed\n", scene, executed);
}
