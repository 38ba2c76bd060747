/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/signals.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { WITNESS_WAIT_NS = 200000, WITNESS_WAITS = 100 };

/* Everything but what stops or crashes a process. */
static sigset_t forwarded_signals(void)
{
	static const int excluded[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGSEGV,
				       SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTRAP, SIGSYS};
	sigset_t set;
	sigfillset(&set);
	for (size_t i = 0; i < mr_countof(excluded); i++)
		sigdelset(&set, excluded[i]);
	return set;
}

static void run_witness(_Atomic uint32_t *witnessed, pid_t record)
{
	prctl(PR_SET_NAME, "millrace-signal");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != record)
		_exit(0);
	sigset_t set = forwarded_signals();
	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(&set, &info);
		if (number > 0 && number < MR_SIGNAL_COUNT)
			atomic_fetch_add(&witnessed[number], 1);
	}
}

int mr_signals_start(struct mr_signals *signals)
{
	sigset_t set = forwarded_signals();
	*signals = (struct mr_signals){.fd = -1};
	sigprocmask(SIG_BLOCK, &set, &signals->original);
	void *shared = mmap(NULL, MR_SIGNAL_COUNT * sizeof(uint32_t), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	signals->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (shared == MAP_FAILED || signals->fd < 0)
		return mr_fail_errno(errno, "cannot watch signals");
	signals->witnessed = shared;
	pid_t record = getpid();
	signals->witness = fork();
	if (signals->witness == 0)
		run_witness(signals->witnessed, record);
	return signals->witness > 0 ? 0 : mr_fail_errno(errno, "cannot start a process");
}

/* Waits a moment for the witness: the kernel signals the members of a group one after another. */
static bool was_sent_to_group(struct mr_signals *signals, int number)
{
	for (int i = 0; i < WITNESS_WAITS; i++) {
		uint32_t count = atomic_load(&signals->witnessed[number]);
		if (count != signals->seen[number]) {
			signals->seen[number] = count;
			return true;
		}
		nanosleep(&(struct timespec){.tv_nsec = WITNESS_WAIT_NS}, NULL);
	}
	return false;
}

bool mr_signals_handle(struct mr_signals *signals, pid_t child)
{
	struct signalfd_siginfo info;
	bool child_changed = false;
	while (read(signals->fd, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;
		if (number == SIGCHLD && info.ssi_code > 0) {
			child_changed = true;
			continue;
		}
		bool sent_by_terminal = info.ssi_code == SI_KERNEL;
		if (number >= MR_SIGNAL_COUNT || sent_by_terminal)
			continue;
		if (!was_sent_to_group(signals, number))
			kill(child, number);
	}
	return child_changed;
}

void mr_signals_stop(struct mr_signals *signals)
{
	if (signals->witness > 0) {
		kill(signals->witness, SIGKILL);
		waitpid(signals->witness, NULL, 0);
	}
	if (signals->witnessed)
		munmap(signals->witnessed, MR_SIGNAL_COUNT * sizeof(uint32_t));
	if (signals->fd >= 0)
		close(signals->fd);
	*signals = (struct mr_signals){.fd = -1};
}
