/* SPDX-License-Identifier: Apache-2.0
 *
 * Input and output of which everything is known:
 *
 *     io direct FILE        reads FILE past the page cache: "direct tid=.. bytes=.. device=.."
 *     io faults FILE        touches pages of FILE that are not in memory:
 *                           "faults tid=.. major=.. page=.. first=.. last=.. touching=.."
 *     io uring FILE         reads FILE through an io_uring: "request tid=.. data=.. opcode=.. result=.."
 *     io tcp                bytes over a connection: "connection tid=.. server=PORT client=PORT sent=.. received=.."
 *     io descriptors FILE   reads FILE through descriptors got in many ways: "read tid=.. how=.. bytes=.."
 *     io signals            "signal number=.. sender=.. receiver=.. code=.."
 *     io moves COUNT        goes from one CPU to another: "moves tid=.. count=.."
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "cpus.h"
#include "kernel_truth.h"

enum {
	CHUNK = 1 << 20
};

static struct stat status_of(int fd)
{
	struct stat status;
	must(fstat(fd, &status));
	return status;
}

static void drop_from_memory(int fd)
{
	must(fsync(fd));
	must(-posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
}

/* ---- disk ----------------------------------------------------------------------------------------- */

static void read_directly(const char *path)
{
	void *buffer = aligned_alloc(4096, CHUNK);
	int fd = must(open(path, O_RDONLY | O_DIRECT));
	struct stat status = status_of(fd);
	size_t bytes = 0;
	for (ssize_t got; (got = must(read(fd, buffer, CHUNK))) > 0;)
		bytes += (size_t)got;
	printf("direct tid=%d bytes=%zu device=%u\n", own_tid(), bytes,
	       major(status.st_dev) << 20 | minor(status.st_dev));
	free(buffer);
}

static void fault(const char *path)
{
	int fd = must(open(path, O_RDWR));
	size_t size = (size_t)status_of(fd).st_size, page = (size_t)sysconf(_SC_PAGESIZE);
	drop_from_memory(fd);
	volatile char *data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		exit(1);
	must(madvise((void *)data, size, MADV_RANDOM)); /* one page for each fault */
	struct rusage before, after;
	getrusage(RUSAGE_THREAD, &before);
	uint64_t touching_ns = 0; /* without what happens to the thread in between */
	for (size_t at = 0; at < size; at += page) {
		uint64_t start_ns = now_ns();
		(void)data[at];
		touching_ns += now_ns() - start_ns;
	}
	getrusage(RUSAGE_THREAD, &after);
	printf("faults tid=%d major=%ld page=%zu first=%lu last=%lu touching=%" PRIu64 "\n",
	       own_tid(), after.ru_majflt - before.ru_majflt, page, (unsigned long)data,
	       (unsigned long)(data + size - page), touching_ns);
}

/* ---- io_uring ------------------------------------------------------------------------------------- */

struct ring {
	int fd;
	char *submission, *completion;
	struct io_uring_sqe *entries;
	struct io_uring_params parameters;
};

static void *map_ring(int fd, size_t size, off_t offset)
{
	void *data =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
	if (data == MAP_FAILED)
		exit(1);
	return data;
}

static void open_ring(struct ring *ring)
{
	memset(ring, 0, sizeof *ring);
	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->parameters);
	if (ring->fd < 0) {
		printf("unavailable why=%s\n", strerror(errno));
		exit(0);
	}
	const struct io_uring_params *is = &ring->parameters;
	ring->submission = map_ring(ring->fd, is->sq_off.array + is->sq_entries * sizeof(__u32),
				    IORING_OFF_SQ_RING);
	ring->completion =
		map_ring(ring->fd, is->cq_off.cqes + is->cq_entries * sizeof(struct io_uring_cqe),
			 IORING_OFF_CQ_RING);
	ring->entries = map_ring(ring->fd, is->sq_entries * sizeof *ring->entries, IORING_OFF_SQES);
}

static __u32 *ring_word(char *base, __u32 offset)
{
	return (__u32 *)(void *)(base + offset);
}

/* One request, submitted and waited for. */
static int request(struct ring *ring, const struct io_uring_sqe *entry)
{
	const struct io_uring_params *is = &ring->parameters;
	__u32 *tail = ring_word(ring->submission, is->sq_off.tail);
	__u32 slot = *tail & (is->sq_entries - 1);
	ring->entries[slot] = *entry;
	ring_word(ring->submission, is->sq_off.array)[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	__u32 *head = ring_word(ring->completion, is->cq_off.head);
	struct io_uring_cqe *done =
		(struct io_uring_cqe *)(void *)(ring->completion + is->cq_off.cqes) +
		(*head & (is->cq_entries - 1));
	int result = done->res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	printf("request tid=%d data=%llu opcode=%d result=%d\n", own_tid(),
	       (unsigned long long)entry->user_data, entry->opcode, result);
	return result;
}

static void read_by_ring(const char *path)
{
	static char buffer[65536];
	struct ring ring;
	int fd = must(open(path, O_RDWR));
	drop_from_memory(fd);
	open_ring(&ring);
	request(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = 4711});
	for (__u64 i = 0; i < 8; i++)
		request(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_READ,
						      .fd = fd,
						      .addr = (__u64)(uintptr_t)buffer,
						      .len = sizeof buffer,
						      .off = i * 8 * sizeof buffer,
						      .user_data = UINT64_C(1) << 40 | i});
	request(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_READ,
					      .fd = 999,
					      .addr = (__u64)(uintptr_t)buffer,
					      .len = 1,
					      .user_data = 4712});
}

/* ---- network -------------------------------------------------------------------------------------- */

static int port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t size = sizeof address;
	must(getsockname(fd, (struct sockaddr *)&address, &size));
	return ntohs(address.sin_port);
}

static void receive_all(int fd, size_t bytes)
{
	char buffer[4096];
	while (bytes > 0)
		bytes -= (size_t)must(
			recv(fd, buffer, bytes < sizeof buffer ? bytes : sizeof buffer, 0));
}

static void converse(void)
{
	static char data[100000];
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int listening = must(socket(AF_INET, SOCK_STREAM, 0));
	must(bind(listening, (struct sockaddr *)&address, size));
	must(listen(listening, 1));
	must(getsockname(listening, (struct sockaddr *)&address, &size));
	int client = must(socket(AF_INET, SOCK_STREAM, 0));
	must(connect(client, (struct sockaddr *)&address, size));
	int server = must(accept(listening, NULL, NULL));
	must(send(client, data, sizeof data, 0));
	receive_all(server, sizeof data);
	must(write(server, data, 777));
	receive_all(client, 777);
	printf("connection tid=%d server=%d client=%d sent=%zu received=%d\n", own_tid(),
	       port_of(listening), port_of(client), sizeof data, 777);
}

/* ---- descriptors ---------------------------------------------------------------------------------- */

static void read_by(const char *how, int fd)
{
	char buffer[4096];
	ssize_t got = must(pread(fd, buffer, sizeof buffer, 0));
	printf("read tid=%d how=%s bytes=%zd\n", own_tid(), how, got);
	fflush(stdout);
}

static void pass(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof control};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
	memcpy(CMSG_DATA(header), &fd, sizeof fd);
	must(sendmsg(socket, &message, 0));
}

static int take(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec vector = {&byte, 1};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof control};
	int fd;
	must(recvmsg(socket, &message, 0));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
	return fd;
}

/* Standard input is the same file, inherited. */
static void read_in_many_ways(const char *path)
{
	int pair[2];
	read_by("inherited", STDIN_FILENO);
	int fd = must(open(path, O_RDONLY));
	read_by("opened", fd);
	int copy = must(dup(fd));
	close(fd);
	read_by("copied", copy);
	read_by("moved", must(dup2(copy, 700)));
	read_by("fcntl", must(fcntl(copy, F_DUPFD, 50)));
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pass(pair[0], copy);
	close(copy);
	read_by("passed", take(pair[1]));
	pid_t child = must(fork());
	if (child == 0) {
		read_by("forked", 700);
		_exit(0);
	}
	must(waitpid(child, NULL, 0));
	prctl(PR_SET_NAME, "renamed");
}

/* ---- signals, CPUs -------------------------------------------------------------------------------- */

static void on_signal(int number, siginfo_t *what, void *context)
{
	(void)number, (void)what, (void)context;
}

static void signal_each_other(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	int receiver = own_tid();
	must(syscall(SYS_tgkill, getpid(), receiver, SIGUSR1));
	printf("signal number=%d sender=%d receiver=%d code=%d\n", SIGUSR1, receiver, receiver,
	       SI_TKILL);
	pid_t child = must(fork());
	if (child == 0) {
		must(kill(getppid(), SIGALRM));
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0)
		;
	printf("signal number=%d sender=%d receiver=%d code=%d\n", SIGALRM, child, receiver,
	       SI_USER);
	printf("signal number=%d sender=%d receiver=%d code=%d\n", SIGCHLD, child, receiver,
	       CLD_EXITED);
}

static void move(long count)
{
	cpu_set_t allowed;

	must(sched_getaffinity(0, sizeof allowed, &allowed));
	for (long i = 0; i <= count; i++) {
		must(stay_on(cpu_at(&allowed, i % 2)));
		if (i == 0)
			printf("moves tid=%d count=%ld start=%" PRIu64 " first=%d second=%d\n",
			       own_tid(), count, now_ns(), cpu_at(&allowed, 0),
			       cpu_at(&allowed, 1));
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (argc == 3 && strcmp(what, "direct") == 0)
		read_directly(argv[2]);
	else if (argc == 3 && strcmp(what, "faults") == 0)
		fault(argv[2]);
	else if (argc == 3 && strcmp(what, "uring") == 0)
		read_by_ring(argv[2]);
	else if (argc == 2 && strcmp(what, "tcp") == 0)
		converse();
	else if (argc == 3 && strcmp(what, "descriptors") == 0)
		read_in_many_ways(argv[2]);
	else if (argc == 2 && strcmp(what, "signals") == 0)
		signal_each_other();
	else if (argc == 3 && strcmp(what, "moves") == 0)
		move(atol(argv[2]));
	else
		return 2;
	return 0;
}
