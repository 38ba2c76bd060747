/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning and the end of tracing CUDA, and when buffers are flushed in between.
 *
 *     cuInit() ─► InitializeInjection ─► libcupti, subscription, callbacks, kinds of records
 *     program's calls ─► flush, if that is due
 *     exit(), _exit() ─► forced flush: what has not ended comes, too        exec ─► flush
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hook/cuda/cuda.h"
#include "hook/hook.h"
#include "record/identity.h"
#include "record/own_call.h"

enum {
	/* Ticks between two flushes: some hundred milliseconds, or ten after a call that waits, when much is complete. */
	FLUSH_TICKS = 1 << 29,
	WAIT_FLUSH_TICKS = 1 << 25,
};

struct mr_cuda_state *mr_cuda;
void *mr_cuda_subscription;
static bool is_api_recorded; /* calls that launch are: correlations need it */

static const int kinds[] = {MR_CUPTI_KIND_CONCURRENT_KERNEL,
			    MR_CUPTI_KIND_MEMCPY,
			    MR_CUPTI_KIND_MEMCPY2,
			    MR_CUPTI_KIND_MEMSET,
			    MR_CUPTI_KIND_OVERHEAD,
			    MR_CUPTI_KIND_SYNCHRONIZATION,
			    MR_CUPTI_KIND_EXTERNAL_CORRELATION,
			    MR_CUPTI_KIND_MEMORY2};

/* ---- flushing ---------------------------------------------------------------------------------------------- */

void mr_cuda_flush(bool is_forced)
{
	if (!mr_cuda->clock.id ||
	    (!is_forced && atomic_load_explicit(&mr_cuda->is_exiting, memory_order_relaxed)))
		return;
	atomic_store_explicit(&mr_cuda->flush_due_ticks, mr_ticks_now() + FLUSH_TICKS,
			      memory_order_relaxed);
	mr_cupti.cuptiActivityFlushAll(is_forced ? MR_CUPTI_FLUSH_FORCED : 0);
	mr_cuda_clock_note();
}

void mr_cuda_flush_if_due(uint64_t now, bool has_waited)
{
	uint64_t due = atomic_load_explicit(&mr_cuda->flush_due_ticks, memory_order_relaxed);
	if (mr_unlikely(now > due - (has_waited ? FLUSH_TICKS - WAIT_FLUSH_TICKS : 0)))
		mr_cuda_flush(false);
}

/* ---- recording operations ------------------------------------------------------------------------------------ */

/* By its name, as there are more than functions.def knows. */
static bool launches(const struct mr_cuda_function *function)
{
	return function->title &&
	       (strstr(function->title, "Launch") || strstr(function->title, "Memcpy") ||
		strstr(function->title, "Memset"));
}

bool mr_cuda_records(int kind)
{
	for (size_t i = 0; i < mr_countof(kinds); i++)
		if (kinds[i] == kind)
			return true;
	return false;
}

bool mr_cuda_records_calls(int domain, uint32_t number)
{
	struct mr_cuda_function *function = mr_cuda_function_find(domain, number);
	return is_api_recorded && function && launches(function);
}

/* CUPTI makes correlations only for calls that it records, too: those that launch, if it can be told which. */
static void record_launches(bool is_on)
{
	if (!mr_cupti.cuptiActivityEnableRuntimeApi || !mr_cupti.cuptiActivityEnableDriverApi) {
		for (int kind = MR_CUPTI_KIND_DRIVER; kind <= MR_CUPTI_KIND_RUNTIME; kind++)
			if (is_on)
				mr_cupti.cuptiActivityEnable(kind);
			else if (!mr_cuda_guest_wants(kind))
				mr_cupti.cuptiActivityDisable(kind);
		return;
	}
	if (is_api_recorded)
		return;
	is_api_recorded = true;
	for (int domain = MR_CUPTI_DRIVER; domain <= MR_CUPTI_RUNTIME; domain++)
		for (uint32_t number = 1; number < MR_CUPTI_CALLBACKS; number++) {
			struct mr_cuda_function *function = mr_cuda_function_find(domain, number);
			if (!function || !launches(function))
				continue;
			if (domain == MR_CUPTI_DRIVER)
				mr_cupti.cuptiActivityEnableDriverApi(number, 1);
			else
				mr_cupti.cuptiActivityEnableRuntimeApi(number, 1);
		}
}

void mr_cuda_follow_level(bool is_on)
{
	if (atomic_exchange(&mr_cuda->is_on, is_on) == is_on || !mr_cuda->clock.id)
		return;
	if (is_on)
		record_launches(true);
	else
		mr_cuda_flush(false);
	for (size_t i = 0; i < mr_countof(kinds); i++)
		if (is_on)
			mr_cupti.cuptiActivityEnable(kinds[i]);
		else if (!mr_cuda_guest_wants(kinds[i]))
			mr_cupti.cuptiActivityDisable(kinds[i]);
	if (!is_on)
		record_launches(false);
}

/* ---- start -------------------------------------------------------------------------------------------------- */

static void on_program_exit(void)
{
	if (mr_cuda->clock.id && !mr_cuda_is_in_call()) {
		mr_cuda_flush(true);
		mr_device_clock_close(&mr_cuda->clock);
	}
	atomic_store_explicit(&mr_cuda->is_exiting, true, memory_order_relaxed);
}

static void note_missing(const char *what)
{
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, what);
}

static bool subscribe(void)
{
	uint32_t version = 0;
	if (!mr_cupti_load()) {
		note_missing("libcupti: calls and operations of CUDA are not traced");
		return false;
	}
	int result = mr_cupti.cuptiSubscribe(&mr_cuda_subscription, mr_cuda_call_back, NULL);
	if (result != MR_CUPTI_SUCCESS) {
		char text[128];
		mr_cuda_subscription = NULL;
		mr_cupti.cuptiGetVersion(&version);
		snprintf(text, sizeof text,
			 result == MR_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS
				 ? "CUPTI, which another tool uses: CUDA is not traced"
				 : "CUPTI %u, whose cuptiSubscribe() fails with %d: CUDA is not "
				   "traced",
			 version, result);
		note_missing(text);
		return false;
	}
	return true;
}

static bool start(void)
{
	struct mr_cuda_state *state = mr_own_map(sizeof *state);
	if (!state || mr_own_call(SYS_madvise, state, sizeof *state, MADV_WIPEONFORK) != 0 ||
	    !subscribe() || !mr_cuda_learn_functions())
		return false;
	mr_cuda = state;
	mr_define_event(MR_EVENT_queue_word, NULL, 0, "stream");
	mr_cuda_clock_open(NULL);
	mr_cupti.cuptiActivityRegisterCallbacks(mr_cuda_request_buffer, mr_cuda_complete_buffer);
	mr_cuda_follow_level(mr_level_is_on(MR_LEVEL_runtime));
	mr_cupti.cuptiEnableDomain(1, mr_cuda_subscription, MR_CUPTI_RUNTIME);
	mr_cupti.cuptiEnableDomain(1, mr_cuda_subscription, MR_CUPTI_DRIVER);
	mr_cupti.cuptiEnableCallback(1, mr_cuda_subscription, MR_CUPTI_RESOURCE,
				     MR_CUPTI_STREAM_DESTROY_STARTING);
	atexit(on_program_exit);
	at_quick_exit(on_program_exit);
	return true;
}

bool mr_cuda_start(void)
{
	static atomic_bool has_begun;
	if (mr_arena && mr_arena->control->wanted_levels & MR_LEVEL_runtime &&
	    !atomic_exchange(&has_begun, true)) {
		mr_cuda_is_own_call = true;
		start();
		mr_cuda_is_own_call = false;
	}
	return mr_cuda && mr_cuda->clock.id;
}

/* As the driver knows it. Its result says that the library may stay. */
__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	mr_hook_start();
	mr_cuda_start();
	return 1;
}

/* ---- end ------------------------------------------------------------------------------------------------------ */

/* As a rule a handler runs with its signal blocked; it may have interrupted CUPTI. */
static bool may_be_signal_handler(void)
{
	sigset_t blocked;
	return !mr_own_call_is_allowed(SYS_rt_sigprocmask) ||
	       sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || !sigisemptyset(&blocked);
}

static void leave_program(bool is_end)
{
	if (!mr_cuda || !mr_cuda->clock.id || !mr_is_own_process() || mr_cuda_is_in_call() ||
	    may_be_signal_handler() ||
	    atomic_load_explicit(&mr_cuda->is_exiting, memory_order_relaxed))
		return;
	mr_cuda_flush(is_end);
	if (is_end) {
		mr_device_clock_close(&mr_cuda->clock);
		atomic_store_explicit(&mr_cuda->is_exiting, true, memory_order_relaxed);
	}
}

const struct mr_hook_functions mr_cuda_functions = {
	.leave = leave_program,
};
