/* SPDX-License-Identifier: Apache-2.0
 *
 * TFE_Execute: what the program executes one by one, single operations and whole functions. TensorFlow's own
 * tracing has their names and times, but not on which device they ended up.
 */
#include "hook/tensorflow/tensorflow.h"

#include "hook/symbols.h"
#include "record/steps.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void execute_function(void *operation, void **results, int *result_count, void *status);

static struct {
	_Atomic(execute_function *) execute; /* the last to be known: then all others are */
	bool can_ask;
	const char *(*name)(void *operation, void *status);
	const char *(*requested)(void *operation, void *status);
	const char *(*device)(void *tensor, void *status);
	void *(*new_status)(void);
	void (*delete_status)(void *status);
	int (*code)(void *status);
} original;

/* Several threads may do it at once, with the same result. */
static execute_function *prepare(void)
{
	original.name = (const char *(*)(void *, void *))mr_symbol_find("TFE_OpGetName");
	original.requested = (const char *(*)(void *, void *))mr_symbol_find("TFE_OpGetDevice");
	original.device =
		(const char *(*)(void *, void *))mr_symbol_find("TFE_TensorHandleDeviceName");
	original.new_status = (void *(*)(void))mr_symbol_find("TF_NewStatus");
	original.delete_status = (void (*)(void *))mr_symbol_find("TF_DeleteStatus");
	original.code = (int (*)(void *))mr_symbol_find("TF_GetCode");
	original.can_ask = original.name && original.requested && original.device &&
			   original.new_status && original.delete_status && original.code;
	execute_function *execute = (execute_function *)mr_symbol_find("TFE_Execute");
	atomic_store_explicit(&original.execute, execute, memory_order_release);
	return execute;
}

static uint32_t intern(const char *text)
{
	return text ? mr_define_string(text) : 0;
}

static uint32_t device_of(void *const *results, const int *result_count, void *status)
{
	bool has_result = original.code(status) == 0 && results && result_count &&
			  *result_count > 0 && results[0];
	void *own_status = has_result ? original.new_status() : NULL;
	if (!own_status)
		return 0;
	uint32_t device = intern(original.device(results[0], own_status));
	original.delete_status(own_status);
	return device;
}

/* A step is an execution of a function. */
static void count_step(void *operation)
{
	void *own_status = original.new_status();
	const char *name = original.name(operation, own_status);
	uint64_t key = 0;
	bool is_function = name && strncmp(name, "__", 2) == 0;
	for (const char *at = name; is_function && *at; at++)
		key = key * 31 + (uint8_t)*at;
	original.delete_status(own_status);
	if (is_function)
		mr_steps_count(key);
}

EXPORTED execute_function TFE_Execute;

void TFE_Execute(void *operation, void **results, int *result_count, void *status)
{
	execute_function *execute = atomic_load_explicit(&original.execute, memory_order_acquire);
	if (mr_unlikely(!execute) && !(execute = prepare()))
		return; /* cannot be: this is called in its place */
	if (mr_steps_matter() && original.can_ask)
		count_step(operation);
	if (!mr_tensorflow_is_on() || !original.can_ask) {
		execute(operation, results, result_count, status);
		return;
	}
	/* The operation may be gone when it returns, and names are its own. */
	void *own_status = original.new_status();
	uint32_t name = intern(original.name(operation, own_status));
	uint32_t requested = intern(original.requested(operation, own_status));
	original.delete_status(own_status);
	uint64_t start = mr_ticks_now();
	execute(operation, results, result_count, status);
	uint64_t duration = mr_min(mr_ticks_now() - start, MR_U48_MAX);
	mr_emit(eager_operation, .name = name, .requested = requested,
		.device = device_of(results, result_count, status),
		.duration_ticks = mr_u48_from(duration));
}
