/* SPDX-License-Identifier: Apache-2.0
 *
 * TFE_Execute: what the program executes eagerly, single operations and whole functions. TensorFlow's own tracing
 * records their names and times, but not the device on which they ran.
 */
#include "hook/tensorflow/tensorflow.h"

#include "hook/python/python.h"
#include "hook/symbols.h"
#include "record/steps.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
	RESOURCE = 20, /* TF_RESOURCE: a variable, an iterator ... */
};

typedef void execute_function(void *operation, void **results, int *result_count, void *status);

static struct {
	_Atomic(execute_function *) execute; /* the last to be known: then all others are */
	bool can_ask;
	const char *(*name)(void *operation, void *status);
	const char *(*requested)(void *operation, void *status);
	const char *(*device)(void *tensor, void *status);
	int (*input_count)(void *operation, void *status); /* NULL, as the next two: not known */
	void *(*input)(void *operation, int index, void *status);
	int (*data_type)(void *tensor);
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
	original.input_count = (int (*)(void *, void *))mr_symbol_find("TFE_OpGetFlatInputCount");
	original.input = (void *(*)(void *, int, void *))mr_symbol_find("TFE_OpGetFlatInput");
	original.data_type = (int (*)(void *))mr_symbol_find("TFE_TensorHandleDataType");
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

/* Is one of the inputs a resource? Types are known also of inputs that are yet to be computed. */
static bool uses_resource(void *operation, void *own_status)
{
	if (!original.input_count || !original.input || !original.data_type)
		return false;
	int count = original.input_count(operation, own_status);
	for (int i = 0; i < count; i++) {
		void *input = original.input(operation, i, own_status);
		if (input && original.data_type(input) == RESOURCE)
			return true;
	}
	return false;
}

/* Functions are named like that, operations are not. */
static bool is_function(const char *name)
{
	return name && strncmp(name, "__", 2) == 0;
}

/* An operation as it is before it is executed. */
struct asked {
	uint32_t name;
	uint32_t requested;
	bool is_pinned; /* it has no results, and is executed where its resource is */
};

static struct asked ask(void *operation, const int *result_count)
{
	void *own_status = original.new_status();
	const char *name = original.name(operation, own_status);
	struct asked asked = {
		.name = intern(name),
		.requested = intern(original.requested(operation, own_status)),
		.is_pinned = result_count && *result_count == 0 && !is_function(name) &&
			     uses_resource(operation, own_status),
	};
	original.delete_status(own_status);
	return asked;
}

/* Where its first result is. If there is none: operations on a resource have then the device of that, whatever the
 * program asked for; of others the device is known only if TensorFlow has set another. */
static uint32_t device_of(void *operation, const struct asked *asked, void *const *results,
			  const int *result_count, void *status)
{
	bool is_ok = original.code(status) == 0;
	bool has_result = is_ok && results && result_count && *result_count > 0 && results[0];
	void *own_status = original.new_status();
	uint32_t device = intern(has_result ? original.device(results[0], own_status)
					    : original.requested(operation, own_status));
	original.delete_status(own_status);
	if (has_result || (is_ok && asked->is_pinned) || device != asked->requested)
		return device;
	return 0;
}

/* The length of a function's name without the number of the graph that was made of it: __inference_train_step_40 and
 * __inference_train_step_67 are the same function. */
static size_t length_of_function(const char *name)
{
	size_t length = strlen(name), at = length;
	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at > 1 && at < length && name[at - 1] == '_' ? at - 1 : length;
}

/* A step is an execution of a function. */
static void count_step(void *operation)
{
	void *own_status = original.new_status();
	const char *name = original.name(operation, own_status);
	uint64_t key = 0;
	bool is_step = is_function(name);
	size_t length = is_step ? length_of_function(name) : 0;
	for (size_t i = 0; i < length; i++)
		key = key * 31 + (uint8_t)name[i];
	original.delete_status(own_status);
	if (is_step)
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
	const struct asked asked = ask(operation, result_count);
	uint64_t start = mr_ticks_now();
	execute(operation, results, result_count, status);
	/* Before the time is taken: counted back from the event, the call must begin where it did. */
	uint32_t device = device_of(operation, &asked, results, result_count, status);
	mr_python_note();
	uint64_t duration = mr_min(mr_ticks_now() - start, MR_U48_MAX);
	mr_emit(eager_operation, .name = asked.name, .requested = asked.requested, .device = device,
		.duration_ticks = mr_u48_from(duration));
}
