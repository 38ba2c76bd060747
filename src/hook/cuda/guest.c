/* SPDX-License-Identifier: Apache-2.0
 *
 * Another user of CUPTI in the same process, such as PyTorch's profiler (Kineto). CUPTI has room for one subscriber, and
 * gives buffers to whoever asked last. So the functions by which a library uses CUPTI stand here in front of the original
 * ones, and the other user becomes our guest:
 *
 *     program's call ─► CUPTI ─► our callback ─┬─► the call in the trace
 *                                              └─► the guest's callback, for what it has enabled
 *     full buffer    ─► CUPTI ─► our callback ─┬─► operations in the trace
 *                                              └─► the guest's callback, as the buffer is its own
 *
 * It sees what it would see alone: records of kinds that only we have enabled are taken out of its buffers. While it wants
 * no records, buffers are ours again. The order of who comes first does not matter: if the guest does, we subscribe before it. A user that finds the functions by dlsym() is not seen here; if it was
 * first, CUDA is not traced, and the trace says so.
 *
 * When the guest gives CUPTI another clock, all times are in that clock from then on: what is complete is read first.
 */
#include "hook/cuda/cuda.h"
#include "hook/hook.h"
#include "hook/shared/stand_in.h"

/* Records of calls of a function. */
enum wish {
	AS_ITS_KIND,
	WANTED,
	UNWANTED,
};

static struct {
	_Atomic(mr_cupti_callback *) callback;
	_Atomic(void *) data;
	atomic_bool is_wanted[MR_CUPTI_DOMAINS][MR_CUPTI_CALLBACKS];
	atomic_bool is_kind_wanted[MR_CUPTI_KINDS];
	_Atomic uint8_t calls[MR_CUPTI_DOMAINS][MR_CUPTI_CALLBACKS]; /* enum wish */
	_Atomic(mr_cupti_request *) request;
	_Atomic(mr_cupti_complete *) complete;
	_Atomic int kind_count;  /* that it wants */
	atomic_bool wants_calls; /* of single functions */
} guest;

atomic_bool mr_cuda_has_guest;

/* What the guest knows its subscription by. */
#define GUEST ((void *)&guest)

/* ---- passing on -------------------------------------------------------------------------------------------- */

void mr_cuda_guest_call_back(int domain, uint32_t number, const void *call)
{
	mr_cupti_callback *callback = atomic_load_explicit(&guest.callback, memory_order_acquire);
	if (mr_unlikely(callback != NULL) && domain > 0 && domain < MR_CUPTI_DOMAINS &&
	    number < MR_CUPTI_CALLBACKS &&
	    atomic_load_explicit(&guest.is_wanted[domain][number], memory_order_relaxed))
		callback(atomic_load_explicit(&guest.data, memory_order_relaxed), domain, number,
			 call);
}

static bool is_own_buffer(const uint8_t *buffer)
{
	for (int i = 0; i < MR_CUDA_BUFFERS; i++)
		if (mr_cuda->buffers[i].memory == buffer)
			return true;
	return false;
}

bool mr_cuda_guest_has(const uint8_t *buffer)
{
	return atomic_load_explicit(&guest.complete, memory_order_acquire) &&
	       !is_own_buffer(buffer);
}

bool mr_cuda_guest_request(uint8_t **ret_buffer, size_t *ret_bytes, size_t *ret_most)
{
	mr_cupti_request *request = atomic_load_explicit(&guest.request, memory_order_acquire);
	if (!request || (atomic_load_explicit(&guest.kind_count, memory_order_relaxed) == 0 &&
			 !atomic_load_explicit(&guest.wants_calls, memory_order_relaxed)))
		return false;
	request(ret_buffer, ret_bytes, ret_most);
	return *ret_buffer != NULL;
}

bool mr_cuda_guest_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			    size_t used)
{
	mr_cupti_complete *complete = atomic_load_explicit(&guest.complete, memory_order_acquire);
	if (!mr_cuda_guest_has(buffer))
		return false;
	complete(context, stream, buffer, bytes, used);
	return true;
}

bool mr_cuda_guest_wants(int kind)
{
	return kind >= 0 && kind < MR_CUPTI_KINDS &&
	       atomic_load_explicit(&guest.is_kind_wanted[kind], memory_order_relaxed);
}

bool mr_cuda_guest_wants_record(uint32_t kind, uint32_t number)
{
	bool is_call = kind == MR_CUPTI_KIND_DRIVER || kind == MR_CUPTI_KIND_RUNTIME;
	int domain = kind == MR_CUPTI_KIND_DRIVER ? MR_CUPTI_DRIVER : MR_CUPTI_RUNTIME;
	uint8_t wish =
		is_call && number < MR_CUPTI_CALLBACKS
			? atomic_load_explicit(&guest.calls[domain][number], memory_order_relaxed)
			: AS_ITS_KIND;
	return wish == WANTED || (wish == AS_ITS_KIND && mr_cuda_guest_wants((int)kind));
}

/* ---- the functions of CUPTI -------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

/* A traced process in which we are the subscriber, or can be. */
static bool is_host(void)
{
	mr_hook_start();
	return mr_cuda_start();
}

EXPORT int cuptiSubscribe(void **ret_subscriber, mr_cupti_callback *callback, void *data);
EXPORT int cuptiUnsubscribe(void *subscriber);
EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t number);
EXPORT int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityDisable(int kind);
EXPORT int cuptiActivityEnableDriverApi(uint32_t number, uint8_t enable);
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t number, uint8_t enable);
EXPORT int cuptiActivityRegisterCallbacks(mr_cupti_request *request, mr_cupti_complete *complete);
EXPORT int cuptiActivityRegisterTimestampCallback(mr_cupti_clock *clock);
EXPORT int cuptiFinalize(void);

int cuptiSubscribe(void **ret_subscriber, mr_cupti_callback *callback, void *data)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiSubscribe, "cuptiSubscribe")(ret_subscriber, callback,
								     data);
	if (atomic_load(&guest.callback))
		return MR_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
	memset(guest.is_wanted, 0, sizeof guest.is_wanted);
	atomic_store_explicit(&guest.data, data, memory_order_relaxed);
	atomic_store_explicit(&guest.callback, callback, memory_order_release);
	atomic_store_explicit(&mr_cuda_has_guest, true, memory_order_release);
	*ret_subscriber = GUEST;
	return MR_CUPTI_SUCCESS;
}

int cuptiUnsubscribe(void *subscriber)
{
	if (subscriber != GUEST)
		return MR_ORIGINAL(cuptiUnsubscribe, "cuptiUnsubscribe")(subscriber);
	atomic_store_explicit(&guest.callback, NULL, memory_order_release);
	return MR_CUPTI_SUCCESS;
}

/* Our own callbacks are on for all calls. Others are turned on when the guest asks for them, and then stay. */
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t number)
{
	if (subscriber != GUEST)
		return MR_ORIGINAL(cuptiEnableCallback, "cuptiEnableCallback")(enable, subscriber,
									       domain, number);
	if (domain > 0 && domain < MR_CUPTI_DOMAINS && number < MR_CUPTI_CALLBACKS)
		atomic_store_explicit(&guest.is_wanted[domain][number], enable != 0,
				      memory_order_relaxed);
	return enable ? mr_cupti.cuptiEnableCallback(1, mr_cuda_subscription, domain, number)
		      : MR_CUPTI_SUCCESS;
}

int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain)
{
	if (subscriber != GUEST)
		return MR_ORIGINAL(cuptiEnableDomain, "cuptiEnableDomain")(enable, subscriber,
									   domain);
	for (uint32_t i = 0; domain > 0 && domain < MR_CUPTI_DOMAINS && i < MR_CUPTI_CALLBACKS; i++)
		atomic_store_explicit(&guest.is_wanted[domain][i], enable != 0,
				      memory_order_relaxed);
	return enable ? mr_cupti.cuptiEnableDomain(1, mr_cuda_subscription, domain)
		      : MR_CUPTI_SUCCESS;
}

static void note_kind(int kind, bool is_wanted)
{
	if (kind >= 0 && kind < MR_CUPTI_KINDS &&
	    atomic_exchange(&guest.is_kind_wanted[kind], is_wanted) != is_wanted)
		atomic_fetch_add_explicit(&guest.kind_count, is_wanted ? 1 : -1,
					  memory_order_relaxed);
}

int cuptiActivityEnable(int kind)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiActivityEnable, "cuptiActivityEnable")(kind);
	note_kind(kind, true);
	return mr_cupti.cuptiActivityEnable(kind);
}

/* What we need ourselves stays on. */
int cuptiActivityDisable(int kind)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiActivityDisable, "cuptiActivityDisable")(kind);
	note_kind(kind, false);
	bool is_ours = atomic_load_explicit(&mr_cuda->is_on, memory_order_relaxed) &&
		       mr_cuda_records(kind);
	return is_ours ? MR_CUPTI_SUCCESS : mr_cupti.cuptiActivityDisable(kind);
}

/* A function that launches stays on: without records of it, operations have no correlation. */
static int note_calls(int domain, uint32_t number, bool is_wanted)
{
	if (number < MR_CUPTI_CALLBACKS) {
		atomic_store_explicit(&guest.calls[domain][number],
				      is_wanted ? (uint8_t)WANTED : (uint8_t)UNWANTED,
				      memory_order_relaxed);
		if (is_wanted)
			atomic_store_explicit(&guest.wants_calls, true, memory_order_relaxed);
	}
	if (!is_wanted && mr_cuda_records_calls(domain, number))
		return MR_CUPTI_SUCCESS;
	return domain == MR_CUPTI_DRIVER
		       ? mr_cupti.cuptiActivityEnableDriverApi(number, is_wanted)
		       : mr_cupti.cuptiActivityEnableRuntimeApi(number, is_wanted);
}

int cuptiActivityEnableDriverApi(uint32_t number, uint8_t enable)
{
	if (!is_host() || !mr_cupti.cuptiActivityEnableDriverApi)
		return MR_ORIGINAL(cuptiActivityEnableDriverApi,
				   "cuptiActivityEnableDriverApi")(number, enable);
	return note_calls(MR_CUPTI_DRIVER, number, enable != 0);
}

int cuptiActivityEnableRuntimeApi(uint32_t number, uint8_t enable)
{
	if (!is_host() || !mr_cupti.cuptiActivityEnableRuntimeApi)
		return MR_ORIGINAL(cuptiActivityEnableRuntimeApi,
				   "cuptiActivityEnableRuntimeApi")(number, enable);
	return note_calls(MR_CUPTI_RUNTIME, number, enable != 0);
}

/* Buffers that are out already are ours, or the guest's: they come back first. */
int cuptiActivityRegisterCallbacks(mr_cupti_request *request, mr_cupti_complete *complete)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiActivityRegisterCallbacks,
				   "cuptiActivityRegisterCallbacks")(request, complete);
	mr_cuda_flush(false);
	atomic_store_explicit(&guest.complete, complete, memory_order_release);
	atomic_store_explicit(&guest.request, request, memory_order_release);
	return MR_CUPTI_SUCCESS;
}

int cuptiActivityRegisterTimestampCallback(mr_cupti_clock *clock)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiActivityRegisterTimestampCallback,
				   "cuptiActivityRegisterTimestampCallback")(clock);
	bool is_on = atomic_load_explicit(&mr_cuda->is_on, memory_order_relaxed);
	/* It must come before kinds are enabled. */
	if (is_on)
		mr_cuda_follow_level(false);
	int result = MR_ORIGINAL(cuptiActivityRegisterTimestampCallback,
				 "cuptiActivityRegisterTimestampCallback")(clock);
	if (result == MR_CUPTI_SUCCESS)
		mr_cuda_clock_open(clock);
	if (is_on)
		mr_cuda_follow_level(true);
	return result;
}

/* Would end our subscription, too. */
int cuptiFinalize(void)
{
	if (!is_host())
		return MR_ORIGINAL(cuptiFinalize, "cuptiFinalize")();
	mr_cuda_flush(false);
	atomic_store_explicit(&guest.callback, NULL, memory_order_release);
	return MR_CUPTI_SUCCESS;
}
