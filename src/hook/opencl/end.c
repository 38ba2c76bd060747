/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a program that uses OpenCL: records what devices have done while drivers still answer.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

#include "hook/hook.h"
#include "hook/opencl/layer.h"
#include "record/identity.h"
#include "record/own_call.h"

/* A forked child has none. */
static bool has_queues(void)
{
	return mr_opencl && atomic_load_explicit(&mr_opencl->queues, memory_order_relaxed);
}

/* Not from within a call of OpenCL (a signal handler or a callback ends the program), where the driver may
 * hold locks of its own. */
static void harvest_last(void)
{
	Dl_info loader;
	if (mr_opencl_depth > 0 || !dladdr((void *)mr_opencl_next.clGetEventInfo, &loader))
		return;
	mr_opencl_harvest_all(true);
	mr_opencl_clocks_close();
}

/* As a rule a handler runs with its signal blocked. */
static bool may_be_signal_handler(void)
{
	sigset_t blocked;
	return !mr_own_call_is_allowed(SYS_rt_sigprocmask) ||
	       sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

/* A handler may have interrupted the driver. There are some that block nothing (SA_NODEFER): so at the end no
 * event is given back, for which the driver would need free(), perhaps interrupted, too. */
void mr_opencl_leave_program(bool is_end)
{
	if (!has_queues() || !mr_is_own_process() || may_be_signal_handler())
		return;
	atomic_store_explicit(&mr_opencl->is_leaving, is_end, memory_order_relaxed);
	harvest_last();
	if (is_end)
		mr_opencl_write_unfinished();
}

/* At exit() or quick_exit(), while drivers still work: they were loaded before the first queue was made. */
static void on_program_exit(void)
{
	atomic_store_explicit(&mr_opencl->is_exiting, true, memory_order_relaxed);
	/* First: a forked child must not wait for the dynamic linker's lock. */
	if (has_queues())
		harvest_last();
}

void mr_opencl_prepare_exit(void)
{
	if (atomic_exchange(&mr_opencl->is_exit_prepared, true))
		return;
	atexit(on_program_exit);
	at_quick_exit(on_program_exit);
}

const struct mr_hook_functions mr_opencl_functions = {
	.leave = mr_opencl_leave_program,
	.end = mr_opencl_write_unfinished,
};
