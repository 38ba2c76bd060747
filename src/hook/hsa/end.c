/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a program that uses HSA: records what devices have done while HSA still answers. HIP never shuts HSA down, so
 * that there may be no other sign of the end than exit().
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

#include "hook/hook.h"
#include "hook/hsa/hsa.h"
#include "record/identity.h"
#include "record/own_call.h"

/* A forked child has none. */
static bool has_queues(void)
{
	return mr_hsa && atomic_load_explicit(&mr_hsa->queues, memory_order_relaxed);
}

/* Not from within a call of HSA or HIP (a signal handler or a callback ends the program), which may hold locks. */
static void harvest_last(void)
{
	Dl_info library;
	if (mr_hsa_depth > 0 || mr_hsa_caller ||
	    !dladdr((void *)mr_hsa_next[MR_HSA_hsa_signal_load_relaxed], &library))
		return;
	mr_hsa_harvest_all();
	mr_hsa_harvest_watched();
	mr_hsa_clocks_close();
}

/* As a rule a handler runs with its signal blocked. */
static bool may_be_signal_handler(void)
{
	sigset_t blocked;
	return !mr_own_call_is_allowed(SYS_rt_sigprocmask) ||
	       sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

static void leave_program(bool is_end)
{
	if (!has_queues() || !mr_is_own_process() || may_be_signal_handler())
		return;
	harvest_last();
	if (is_end)
		mr_hsa_write_unfinished();
}

/* At exit() or quick_exit(), while HSA still works: it was loaded before the first queue was made. */
static void on_program_exit(void)
{
	if (has_queues())
		harvest_last();
}

void mr_hsa_prepare_exit(void)
{
	if (atomic_exchange(&mr_hsa->is_exit_prepared, true))
		return;
	atexit(on_program_exit);
	at_quick_exit(on_program_exit);
}

void mr_hsa_forget_all(void)
{
	bool is_exit_prepared = atomic_load(&mr_hsa->is_exit_prepared);
	mr_own_call(SYS_madvise, mr_hsa, sizeof *mr_hsa, MADV_DONTNEED);
	atomic_store(&mr_hsa->is_exit_prepared, is_exit_prepared);
}

const struct mr_hook_functions mr_hsa_functions = {
	.leave = leave_program,
	.end = mr_hsa_write_unfinished,
	.note_missing = mr_hsa_note_missing,
};
