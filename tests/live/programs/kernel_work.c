/* SPDX-License-Identifier: Apache-2.0
 *
 * Works, waits, and says how much the kernel says it did.
 *
 *     work threads MS       threads that compute, sleep, yield and fight for a lock, for MS each; then one
 *                           line for each: "thread tid=.. at=.. on_cpu=.. run=.. delay=.. voluntary=.. forced=.."
 *                           on_cpu is how long it had a CPU; run is less by what a hypervisor took of that
 *     work burn MS          computes for MS of CPU time: "burnt tid=.. start=.. end=.."
 *     work calls COUNT      COUNT calls of getppid from each of two threads, on a CPU each
 *     work hang             says "ready tid=.." and blocks in read() of a pipe for ever
 *     work count FILE SECONDS    raises a number in FILE until the time is over, then prints it
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel_truth.h"
#include "task_times.h"
#include "thread_state.h"

enum {
	THREADS = 4
};

static void burn_ns(uint64_t ns)
{
	for (uint64_t end_ns = own_cpu_ns() + ns; own_cpu_ns() < end_ns;)
		for (volatile int i = 0; i < 200; i++)
			;
}

/* ---- threads -------------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	atomic_int tid;
	atomic_int is_done;
	int clock_fd; /* perf's clock that runs while the thread has a CPU */
	uint64_t end_ns;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int gate[2];

static void *run_worker(void *data)
{
	struct worker *worker = data;
	char byte;
	worker->clock_fd = open_task_clock(0);
	worker->tid = own_tid();
	while (now_ns() < worker->end_ns) {
		burn_ns(3000000);
		pthread_mutex_lock(&mutex);
		burn_ns(500000);
		pthread_mutex_unlock(&mutex);
		sched_yield();
		struct timespec pause = {.tv_nsec = 700000};
		nanosleep(&pause, NULL);
	}
	worker->is_done = 1;
	must(read(gate[0], &byte, 1)); /* blocked while its account is read */
	return NULL;
}

static long status_of(int tid, const char *name)
{
	char path[64], line[256];
	long value = -1;
	snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof line, file))
		if (strncmp(line, name, strlen(name)) == 0)
			value = atol(line + strlen(name) + 1);
	fclose(file);
	return value;
}

/* Until it is blocked and has left its CPU, however late the machine lets it come to that. */
static void wait_for(const struct worker *worker)
{
	uint64_t before_ns, now_ns = 0;
	do {
		sleep_ms(1);
		before_ns = now_ns;
		now_ns = worker->is_done ? read_task_clock(worker->clock_fd) : 0;
	} while (now_ns == 0 || now_ns != before_ns || !is_thread_asleep(worker->tid));
}

static void print_account(const struct worker *worker)
{
	char path[64];
	int tid = worker->tid;
	uint64_t on_cpu_ns = read_task_clock(worker->clock_fd), run_ns, delay_ns;
	snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
	FILE *file = fopen(path, "r");
	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &run_ns, &delay_ns) != 2)
		exit(1);
	fclose(file);
	printf("thread tid=%d at=%" PRIu64 " on_cpu=%" PRIu64 " run=%" PRIu64 " delay=%" PRIu64
	       " voluntary=%ld forced=%ld\n",
	       tid, now_ns(), on_cpu_ns, run_ns, delay_ns,
	       status_of(tid, "voluntary_ctxt_switches"),
	       status_of(tid, "nonvoluntary_ctxt_switches"));
}

static void work_threads(uint64_t ms)
{
	struct worker workers[THREADS];
	must(pipe(gate));
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.end_ns = now_ns() + ms * 1000000};
		must(-pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]));
	}
	sleep_ms((long)ms + 100);
	for (int i = 0; i < THREADS; i++) {
		wait_for(&workers[i]);
		print_account(&workers[i]);
	}
	must(write(gate[1], "xxxx", THREADS));
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

/* ---- the rest ------------------------------------------------------------------------------------- */

static void burn(uint64_t ms)
{
	uint64_t start_ns = now_ns();
	burn_ns(ms * 1000000);
	printf("burnt tid=%d start=%" PRIu64 " end=%" PRIu64 "\n", own_tid(), start_ns, now_ns());
}

/* While there is no room for records, nothing but these calls is made: nobody waits by a system call. Before, the
 * recorder has had time to write down a first packet, and afterwards to make room, also if it was kept from running. */
enum {
	BEFORE_MS = 1500,
	AFTER_MS = 1500
};
static long calls;
static atomic_int ready, may_begin, done;

static void *call_often(void *cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)(intptr_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
	ready++;
	while (!may_begin)
		;
	for (long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	done++;
	while (done < 2)
		;
	sleep_ms(AFTER_MS);
	return NULL;
}

static void call(long how_often)
{
	pthread_t threads[2];
	calls = how_often;
	for (intptr_t i = 0; i < 2; i++)
		must(-pthread_create(&threads[i], NULL, call_often, (void *)i));
	do
		sleep_ms(BEFORE_MS);
	while (ready < 2);
	may_begin = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void hang(void)
{
	int ends[2];
	char byte;
	must(pipe(ends));
	printf("ready tid=%d\n", own_tid());
	fflush(stdout);
	must(read(ends[0], &byte, 1));
}

static void count_up(const char *path, uint64_t seconds)
{
	int fd = must(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	must(ftruncate(fd, sizeof(uint64_t)));
	volatile uint64_t *number =
		mmap(NULL, sizeof *number, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (uint64_t end_ns = now_ns() + seconds * UINT64_C(1000000000); now_ns() < end_ns;) {
		++*number;
		syscall(SYS_getppid);
		sleep_ms(1);
	}
	printf("counted number=%" PRIu64 "\n", *number);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (argc == 3 && strcmp(what, "threads") == 0)
		work_threads((uint64_t)atol(argv[2]));
	else if (argc == 3 && strcmp(what, "burn") == 0)
		burn((uint64_t)atol(argv[2]));
	else if (argc == 3 && strcmp(what, "calls") == 0)
		call(atol(argv[2]));
	else if (argc == 2 && strcmp(what, "hang") == 0)
		hang();
	else if (argc == 4 && strcmp(what, "count") == 0)
		count_up(argv[2], (uint64_t)atol(argv[3]));
	else
		return 2;
	return 0;
}
