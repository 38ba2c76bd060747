/* SPDX-License-Identifier: Apache-2.0
 *
 * waits FILE [ROUNDS]: a thread blocks in each of many ways, and says when, in what, and who woke it:
 *
 *     wait name=pipe tid=.. partner=.. start=.. woken=.. end=.. on_cpu=.. object=..
 *
 *     thread      start ├──── blocked ────┤ end
 *     partner                             ┴ woken       (equal to end where a timer or a disk wakes)
 *
 * FILE is read from the disk, so it must not be small, and is locked. Each way is tried ROUNDS times.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "kernel_truth.h"
#include "task_times.h"
#include "thread_state.h"

enum {
	WAIT_MS = 40,
	READ_BYTES = 8 << 20
};

/* One wait: what the two sides share. */
struct wait {
	const char *name;
	void (*prepare)(struct wait *); /* by the partner, before the waiting thread exists */
	void (*block)(struct wait *);
	void (*wake)(struct wait *); /* NULL: nobody, a timer or a disk ends it */
	atomic_int waiter_tid;
	int partner_tid;
	uint64_t start_ns, woken_ns, end_ns, on_cpu_ns;
	int fd, other_fd;     /* what is waited for, and what is used to end the wait */
	unsigned long object; /* futex address, inode or port: whatever names it in the trace */
};

static const char *file_name;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_set;

static unsigned long inode_of(int fd)
{
	struct stat status;
	must(fstat(fd, &status));
	return status.st_ino;
}

/* How often the thread has slept: one that was kept from running may come too late to wait. */
static long sleeps(void)
{
	struct rusage usage;
	must(getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

static void close_both(struct wait *wait)
{
	close(wait->fd);
	if (wait->other_fd != wait->fd)
		close(wait->other_fd);
}

/* ---- condition variable ------------------------------------------------------------------------- */

static void prepare_condition(struct wait *wait)
{
	wait->object = (unsigned long)&condition;
}

static void block_on_condition(struct wait *wait)
{
	(void)wait;
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&condition, &mutex);
	is_set = 0;
	pthread_mutex_unlock(&mutex);
}

static void signal_condition(struct wait *wait)
{
	(void)wait;
	pthread_mutex_lock(&mutex);
	is_set = 1;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&condition);
}

/* ---- pipes, event counters, polling ------------------------------------------------------------- */

static void prepare_pipe(struct wait *wait)
{
	int ends[2];
	must(pipe(ends));
	wait->fd = ends[0];
	wait->other_fd = ends[1];
	wait->object = inode_of(wait->fd);
}

static void read_byte(struct wait *wait)
{
	char byte;
	must(read(wait->fd, &byte, 1));
	close_both(wait);
}

static void write_byte(struct wait *wait)
{
	must(write(wait->other_fd, "x", 1));
}

static void prepare_eventfd(struct wait *wait)
{
	wait->fd = wait->other_fd = must(eventfd(0, 0));
}

static void read_number(struct wait *wait)
{
	uint64_t number;
	must(read(wait->fd, &number, sizeof number));
	close_both(wait);
}

static void write_number(struct wait *wait)
{
	uint64_t number = 1;
	must(write(wait->other_fd, &number, sizeof number));
}

static void epoll_pipe(struct wait *wait)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = must(epoll_create1(0));
	must(epoll_ctl(epoll, EPOLL_CTL_ADD, wait->fd, &event));
	must(epoll_wait(epoll, &event, 1, -1));
	close(epoll);
	close_both(wait);
}

/* ---- time ----------------------------------------------------------------------------------------- */

static void sleep_for_a_while(struct wait *wait)
{
	(void)wait;
	sleep_ms(WAIT_MS);
}

static void prepare_timer(struct wait *wait)
{
	wait->fd = wait->other_fd = must(timerfd_create(CLOCK_MONOTONIC, 0));
}

static void read_timer(struct wait *wait)
{
	struct itimerspec time = {.it_value = {.tv_nsec = WAIT_MS * 1000000}};
	uint64_t number;
	long before;
	do {
		wait->start_ns = now_ns();
		must(timerfd_settime(wait->fd, 0, &time, NULL));
		before = sleeps();
		must(read(wait->fd, &number, sizeof number));
		wait->end_ns = now_ns();
	} while (sleeps() == before);
	close_both(wait);
}

/* ---- disk, locks ---------------------------------------------------------------------------------- */

static void read_from_disk(struct wait *wait)
{
	void *buffer = aligned_alloc(4096, READ_BYTES);
	int fd = must(open(file_name, O_RDONLY | O_DIRECT));
	int clock_fd = open_task_clock(0);
	wait->start_ns = now_ns();
	wait->on_cpu_ns = read_task_clock(clock_fd);
	must(pread(fd, buffer, READ_BYTES, 0));
	wait->on_cpu_ns = read_task_clock(clock_fd) - wait->on_cpu_ns;
	wait->end_ns = now_ns();
	close(clock_fd);
	close(fd);
	free(buffer);
}

static void prepare_lock(struct wait *wait)
{
	wait->fd = must(open(file_name, O_RDONLY));
	wait->other_fd = must(open(file_name, O_RDONLY));
	must(flock(wait->other_fd, LOCK_EX));
}

static void take_lock(struct wait *wait)
{
	must(flock(wait->fd, LOCK_EX));
	wait->end_ns = now_ns();
	close_both(wait);
}

static void give_lock(struct wait *wait)
{
	must(flock(wait->other_fd, LOCK_UN));
}

/* ---- network -------------------------------------------------------------------------------------- */

static void prepare_socket(struct wait *wait)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	wait->fd = must(socket(AF_INET, SOCK_DGRAM, 0));
	must(bind(wait->fd, (struct sockaddr *)&address, size));
	must(getsockname(wait->fd, (struct sockaddr *)&address, &size));
	wait->other_fd = must(socket(AF_INET, SOCK_DGRAM, 0));
	must(connect(wait->other_fd, (struct sockaddr *)&address, size));
	wait->object = ntohs(address.sin_port);
}

static void receive(struct wait *wait)
{
	char byte;
	must(recv(wait->fd, &byte, 1, 0));
	close_both(wait);
}

static void send_byte(struct wait *wait)
{
	must(send(wait->other_fd, "x", 1, 0));
}

/* ---- children, threads, signals ------------------------------------------------------------------- */

static bool is_child_waited_for(struct wait *wait)
{
	int ends[2];
	must(pipe(ends));
	pid_t child = must(fork());
	if (child == 0) {
		sleep_ms(WAIT_MS);
		uint64_t ended_ns = now_ns();
		must(write(ends[1], &ended_ns, sizeof ended_ns));
		_exit(0);
	}
	wait->partner_tid = child;
	long before = sleeps();
	wait->start_ns = now_ns();
	must(waitpid(child, NULL, 0));
	wait->end_ns = now_ns();
	bool has_waited = sleeps() != before;
	must(read(ends[0], &wait->woken_ns, sizeof wait->woken_ns));
	close(ends[0]);
	close(ends[1]);
	return has_waited;
}

static void wait_for_child(struct wait *wait)
{
	while (!is_child_waited_for(wait))
		;
}

struct short_life {
	int tid;
	uint64_t ended_ns;
};

static void *live_shortly(void *data)
{
	struct short_life *life = data;
	life->tid = own_tid();
	sleep_ms(WAIT_MS);
	life->ended_ns = now_ns();
	return NULL;
}

static void join_thread(struct wait *wait)
{
	struct short_life life;
	pthread_t thread;
	long before;
	do {
		must(-pthread_create(&thread, NULL, live_shortly, &life));
		before = sleeps();
		wait->start_ns = now_ns();
		must(-pthread_join(thread, NULL));
		wait->end_ns = now_ns();
	} while (sleeps() == before);
	wait->woken_ns = life.ended_ns;
	wait->partner_tid = life.tid;
}

static void on_signal(int number)
{
	(void)number;
}

static void pause_for_signal(struct wait *wait)
{
	(void)wait;
	pause();
}

static void send_signal(struct wait *wait)
{
	must(syscall(SYS_tgkill, getpid(), wait->waiter_tid, SIGUSR1));
}

/* ---- the waits ------------------------------------------------------------------------------------ */

static const struct wait waits[] = {
	{.name = "condition",
	 .prepare = prepare_condition,
	 .block = block_on_condition,
	 .wake = signal_condition},
	{.name = "pipe", .prepare = prepare_pipe, .block = read_byte, .wake = write_byte},
	{.name = "eventfd", .prepare = prepare_eventfd, .block = read_number, .wake = write_number},
	{.name = "epoll", .prepare = prepare_pipe, .block = epoll_pipe, .wake = write_byte},
	{.name = "sleep", .block = sleep_for_a_while},
	{.name = "timerfd", .prepare = prepare_timer, .block = read_timer},
	{.name = "disk", .block = read_from_disk},
	{.name = "udp", .prepare = prepare_socket, .block = receive, .wake = send_byte},
	{.name = "lock", .prepare = prepare_lock, .block = take_lock, .wake = give_lock},
	{.name = "child", .block = wait_for_child},
	{.name = "join", .block = join_thread},
	{.name = "signal", .block = pause_for_signal, .wake = send_signal},
};

static void *run_waiter(void *data)
{
	struct wait *wait = data;
	pthread_setname_np(pthread_self(), wait->name);
	wait->start_ns = now_ns();
	wait->waiter_tid = own_tid();
	wait->block(wait);
	if (wait->end_ns == 0)
		wait->end_ns = now_ns();
	return NULL;
}

static void try(struct wait wait)
{
	pthread_t thread;
	wait.partner_tid = own_tid();
	if (wait.prepare)
		wait.prepare(&wait);
	must(-pthread_create(&thread, NULL, run_waiter, &wait));
	if (wait.wake) {
		while (!wait.waiter_tid)
			sched_yield();
		do /* woken before it waits it would not wait, or for ever */
			sleep_ms(WAIT_MS);
		while (!is_thread_asleep(wait.waiter_tid));
		wait.woken_ns = now_ns();
		wait.wake(&wait);
	}
	must(-pthread_join(thread, NULL));
	printf("wait name=%s tid=%d partner=%d start=%" PRIu64 " woken=%" PRIu64 " end=%" PRIu64
	       " on_cpu=%" PRIu64 " object=%lu\n",
	       wait.name, wait.waiter_tid, wait.partner_tid, wait.start_ns,
	       wait.woken_ns ? wait.woken_ns : wait.end_ns, wait.end_ns, wait.on_cpu_ns,
	       wait.object);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: waits FILE [ROUNDS]\n", stderr);
		return 2;
	}
	file_name = argv[1];
	signal(SIGUSR1, on_signal);
	for (int round = argc > 2 ? atoi(argv[2]) : 1; round > 0; round--)
		for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
			try(waits[i]);
	return 0;
}
