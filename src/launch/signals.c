/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/signals.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/privilege.h"

enum {
	WITNESS_WAIT_NS = 200000,
	WITNESS_WAITS = 25,
	LONGEST_WAITS = 2000,
	STOPPED_WAIT_NS = 50000000,
};

/* Everything there is. Blocking the signals of a crash is safe: the kernel delivers one that record itself
 * has caused all the same. */
static sigset_t forwarded_signals(void)
{
	sigset_t set;
	sigfillset(&set);
	return set;
}

static bool is_stopped(pid_t pid)
{
	char path[64], text[1024] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	const char *name_end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
	return name_end && name_end[1] == ' ' && name_end[2] == 'T';
}

static void run_witness(struct mr_signals_shared *shared, pid_t record)
{
	prctl(PR_SET_NAME, "millrace-signal");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != record)
		_exit(0);
	sigset_t set = forwarded_signals();
	for (;;) {
		siginfo_t info;
		pid_t stopped = atomic_load(&shared->stopped);
		int number = stopped ? sigtimedwait(&set, &info,
						    &(struct timespec){.tv_nsec = STOPPED_WAIT_NS})
				     : sigwaitinfo(&set, &info);
		if (number > 0 && number < MR_SIGNAL_COUNT && info.si_pid != record)
			atomic_fetch_add(&shared->witnessed[number], 1);
		if (stopped && !is_stopped(stopped))
			kill(record, SIGCONT);
	}
}

int mr_signals_start(struct mr_signals *signals)
{
	sigset_t set = forwarded_signals();
	*signals = (struct mr_signals){.fd = -1};
	sigprocmask(SIG_BLOCK, &set, &signals->original);
	sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
		  &signals->original_child_action);
	void *shared = mmap(NULL, sizeof *signals->shared, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (shared == MAP_FAILED || signals->fd < 0)
		return mr_fail_errno(errno, "cannot watch signals");
	signals->shared = shared;
	pid_t record = getpid();
	signals->witness = fork();
	if (signals->witness == 0) {
		/* As long as it held the programs of the kernel level, none would be detached. */
		close_range(STDERR_FILENO + 1, UINT_MAX, 0);
		if (mr_privilege_drop() == 0)
			run_witness(signals->shared, record);
		_exit(1);
	}
	return signals->witness > 0 ? 0 : mr_fail_errno(errno, "cannot start a process");
}

void mr_signals_restore(const struct mr_signals *signals)
{
	sigaction(SIGCHLD, &signals->original_child_action, NULL);
	sigprocmask(SIG_SETMASK, &signals->original, NULL);
}

/* Has the witness got the signal without having come to look at it? If it runs, or is kept from running, it may have it
 * in its hands, uncounted: it does nothing else. */
static bool is_pending(pid_t witness, int number, bool *ret_is_running)
{
	char path[64], line[256], state = 'S';
	unsigned long long pending = 0;
	snprintf(path, sizeof path, "/proc/%d/status", witness);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "State: %c", &state) != 1 &&
		    sscanf(line, "ShdPnd: %llx", &pending) == 1)
			break;
	*ret_is_running = state == 'R';
	return pending >> (number - 1) & 1;
}

static bool is_witnessed(struct mr_signals *signals, int number)
{
	uint32_t count = atomic_load(&signals->shared->witnessed[number]);
	bool is_new = count != signals->seen[number];
	signals->seen[number] = count;
	return is_new;
}

/* Waits a moment for the witness: the kernel signals the members of a group one after another, and on a
 * busy machine it takes a while until the witness runs. */
static bool was_sent_to_group(struct mr_signals *signals, int number)
{
	bool pending = false, is_running = false;
	for (int i = 0, quiet = 0; i < LONGEST_WAITS && quiet < WITNESS_WAITS; i++) {
		if (is_witnessed(signals, number))
			return true;
		pending = is_pending(signals->witness, number, &is_running);
		quiet += !pending && !is_running;
		nanosleep(&(struct timespec){.tv_nsec = WITNESS_WAIT_NS}, NULL);
	}
	return is_witnessed(signals, number) || pending;
}

/* SIGCHLD of a change of the program, SIGXFSZ and SIGPIPE of a failed write, SIGXCPU of record's own work, and the
 * witness's SIGCONT. */
static bool is_our_own(const struct mr_signals *signals, const struct signalfd_siginfo *info)
{
	pid_t sender = (pid_t)info->ssi_pid;
	if (info->ssi_signo == SIGCHLD && info->ssi_code > 0)
		return true;
	if (info->ssi_code == SI_KERNEL)
		return info->ssi_signo == SIGXCPU;
	return info->ssi_code == SI_USER && (sender == getpid() || sender == signals->witness);
}

static bool ends_programs(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

bool mr_signals_handle(struct mr_signals *signals, pid_t child)
{
	struct signalfd_siginfo info;
	bool child_changed = false;
	while (read(signals->fd, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;
		/* Also if somebody has sent it: of two that wait, the kernel keeps the first. */
		child_changed |= number == SIGCHLD;
		if (number >= MR_SIGNAL_COUNT || is_our_own(signals, &info))
			continue;
		if (child == 0)
			signals->asked_to_end |= ends_programs(number);
		/* A terminal signals the group, too, but on its hang-up only the leader of the session. */
		else if (!was_sent_to_group(signals, number))
			kill(child, number);
	}
	return child_changed;
}

void mr_signals_stop_along(struct mr_signals *signals, pid_t child)
{
	atomic_store(&signals->shared->stopped, child);
	kill(signals->witness, SIGRTMAX); /* it has something to watch */
	kill(getpid(), SIGSTOP);
	atomic_store(&signals->shared->stopped, 0);
}

void mr_signals_stop(struct mr_signals *signals)
{
	if (signals->witness > 0) {
		kill(signals->witness, SIGKILL);
		waitpid(signals->witness, NULL, 0);
	}
	if (signals->shared)
		munmap(signals->shared, sizeof *signals->shared);
	if (signals->fd >= 0)
		close(signals->fd);
	*signals = (struct mr_signals){.fd = -1};
}
