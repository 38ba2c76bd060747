/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"

#include <stdatomic.h>
#include <string.h>

#include <tensorflow/c/c_api.h>

/* ---- what TensorFlow 2.21 has ---- */

/* absl::Status: a pointer, or this. A function that returns one takes its address as a hidden first argument. */
typedef uintptr_t cxx_status;
#define CXX_OK ((cxx_status)1)

/* tensorflow::Var, of resource_var.h. */
struct variable {
	void (**methods)(struct variable *variable); /* destroy, delete, announce deletion, ... */
	_Atomic int64_t references;
	void *weak_references;
	bool is_initialized;
	_Atomic bool copy_on_read;
	uint64_t lock;     /* absl::Mutex */
	uint64_t value[4]; /* tensorflow::Tensor */
};

_Static_assert(offsetof(struct variable, lock) == 32 && offsetof(struct variable, value) == 40,
	       "not the layout of TensorFlow 2.21");

enum {
	METHOD_DELETE = 1,
	METHOD_TELL_DELETION = 2,
};

/* The symbol names contain Abseil's version, so most other releases lack them. */
#define CXX(name)  __asm__(name) __attribute__((weak))
#define ABSL       "4absl12lts_20250814"
#define ABSL_CLASS "_ZN" ABSL

const void *cxx_handle_of_input(TF_OpKernelContext *context, int input)
	CXX("_ZN10tensorflow15HandleFromInputEPNS_15OpKernelContextEi");
void cxx_look_up(cxx_status *ret_status, TF_OpKernelContext *context, const void *handle,
		 struct variable **ret_variable)
	CXX("_ZN10tensorflow14LookupResourceINS_3VarELb0EEEN" ABSL "6StatusEPNS_15OpKernelContextE"
	    "RKNS_14ResourceHandleEPPT_");
void cxx_lock(uint64_t *lock) CXX(ABSL_CLASS "5Mutex4lockEv");
void cxx_unlock(uint64_t *lock) CXX(ABSL_CLASS "5Mutex6unlockEv");
bool cxx_is_only_reference(const uint64_t *tensor) CXX("_ZNK10tensorflow6Tensor13RefCountIsOneEv");
TF_Tensor *cxx_share_tensor(const uint64_t *tensor, cxx_status *ret_status)
	CXX("_ZN10tensorflow19TF_TensorFromTensorERKNS_6TensorEPN" ABSL "6StatusE");
void cxx_set_tensor(cxx_status *ret_status, const TF_Tensor *source, uint64_t *tensor)
	CXX("_ZN10tensorflow17TF_TensorToTensorEPK9TF_TensorPNS_6TensorE");
void cxx_tell(TF_Status *status, const cxx_status *from)
	CXX("_ZN3tsl25Set_TF_Status_from_StatusEP10TSL_StatusRKN" ABSL "6StatusE");
void cxx_drop_status(cxx_status status) CXX("_ZNK" ABSL "15status_internal9StatusRep5UnrefEv");

/* On other architectures C cannot express how a status is returned. */
#ifdef __x86_64__
#define IS_KNOWN_MACHINE true
#else
#define IS_KNOWN_MACHINE false
#endif

bool mr_hold_possible(void)
{
	static const char known[] = "2.21.";

	return IS_KNOWN_MACHINE && strncmp(TF_Version(), known, strlen(known)) == 0 &&
	       cxx_handle_of_input && cxx_look_up && cxx_lock && cxx_unlock &&
	       cxx_is_only_reference && cxx_share_tensor && cxx_set_tensor && cxx_tell &&
	       cxx_drop_status;
}

static void take_status(struct mr_call *call, cxx_status status)
{
	if (status == CXX_OK)
		return;
	cxx_tell(call->status, &status);
	if (!(status & CXX_OK))
		cxx_drop_status(status);
}

/* ---- variables ---- */

static struct variable *find_variable(struct mr_call *call, int input)
{
	struct variable *variable = NULL;
	cxx_status status = CXX_OK;

	if (mr_call_failed(call))
		return NULL;
	cxx_look_up(&status, call->context, cxx_handle_of_input(call->context, input), &variable);
	take_status(call, status);
	return mr_call_failed(call) ? NULL : variable;
}

static void drop_variable(struct variable *variable)
{
	if (atomic_fetch_sub_explicit(&variable->references, 1, memory_order_acq_rel) != 1)
		return;
	variable->methods[METHOD_TELL_DELETION](variable);
	variable->methods[METHOD_DELETE](variable);
}

/* The variable's value, which the call then owns. */
static struct mr_tensor share_value(struct mr_call *call, struct variable *variable)
{
	cxx_status status = CXX_OK;
	TF_Tensor *tensor = cxx_share_tensor(variable->value, &status);

	take_status(call, status);
	return mr_call_adopt(call, tensor);
}

/* Replaces the variable's value by a copy. */
static void separate_value(struct mr_call *call, struct variable *variable)
{
	TF_AllocatorAttributes on_device = {.struct_size = TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE};
	struct mr_tensor old = share_value(call, variable);
	cxx_status status = CXX_OK;

	if (mr_call_failed(call))
		return;
	TF_Tensor *copy = TF_AllocateTemp(call->context, old.type, old.extents, old.rank,
					  &on_device, call->status);
	struct mr_tensor fresh = mr_call_adopt(call, copy);
	if (!mr_call_failed(call) && old.count > 0)
		mr_copy_on_device(call->stream, fresh.data, old.data, TF_TensorByteSize(copy),
				  call->status);
	if (mr_call_failed(call))
		return;
	cxx_set_tensor(&status, copy, variable->value);
	take_status(call, status);
}

static struct mr_tensor value_to_change(struct mr_call *call, struct variable *variable)
{
	if (!variable->is_initialized)
		mr_call_fail(call, TF_FAILED_PRECONDITION,
			     "the variable to change has no value yet");
	if (!mr_call_failed(call) && !cxx_is_only_reference(variable->value))
		separate_value(call, variable);
	if (mr_call_failed(call))
		return (struct mr_tensor){0};
	return share_value(call, variable);
}

/* ---- all that an op changes ---- */

/* Each variable once, in the order of addresses, so that ops that hold the same ones cannot deadlock. */
static void add_held(struct mr_held *held, struct variable *variable)
{
	int at = held->count;

	for (int i = 0; i < held->count; i++) {
		if (held->variables[i] == variable) {
			drop_variable(variable);
			return;
		}
	}
	for (; at > 0 && (uintptr_t)held->variables[at - 1] > (uintptr_t)variable; at--)
		held->variables[at] = held->variables[at - 1];
	held->variables[at] = variable;
	held->count++;
}

struct mr_held mr_hold(struct mr_call *call, int count, struct mr_tensor *ret_values)
{
	struct variable *variables[MR_HELD_MAX] = {0};
	struct mr_held held = {0};

	for (int i = 0; i < count; i++) {
		variables[i] = find_variable(call, i);
		if (variables[i])
			add_held(&held, variables[i]);
	}
	for (int i = 0; i < held.count; i++)
		cxx_lock(&((struct variable *)held.variables[i])->lock);
	for (int i = 0; i < count && !mr_call_failed(call); i++)
		ret_values[i] = value_to_change(call, variables[i]);
	return held;
}

void mr_held_release(struct mr_held *held)
{
	for (int i = 0; i < held->count; i++) {
		struct variable *variable = held->variables[i];

		cxx_unlock(&variable->lock);
		drop_variable(variable);
	}
	held->count = 0;
}
