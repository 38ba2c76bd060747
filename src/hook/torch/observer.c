/* SPDX-License-Identifier: Apache-2.0
 *
 * RecordFunction: PyTorch's own tracing, which its profiler uses, too. Whatever it executes is an object of that class, with
 * a name; observers are called when it begins and when it ends. There is one observer for each kind ("scope") of objects, so
 * that the kind is known without looking into the object.
 *
 * Objects come in two sorts:
 *
 *     in a frame of the thread     operators: they end on the same thread, before what they are nested in.
 *                                  An interval each, written at its end; `opened` holds those that go on.
 *     elsewhere                    annotations and asynchronous work: another thread may end them, in any order.
 *                                  Two events, which src/load joins by the address of the object.
 *
 *     opened   aten::linear | aten::addmm |                top: the innermost
 *
 */
#include "hook/python/python.h"
#include "hook/shared/names.h"
#include "hook/torch/torch.h"
#include "record/interval.h"
#include "record/steps.h"
#include "record/thread_room.h"

enum {
	OPEN_MAX = 64, /* nested in each other */
	FRAMES_BYTES = 16 << 10,
	LOWEST_ADDRESS = 1 << 16, /* nothing is mapped below (vm.mmap_min_addr) */
};

/* ---- what goes on -------------------------------------------------------------------------------- */

struct open {
	const void *function;
	struct mr_interval interval; /* what: the name; step: see pack() */
};

struct opened {
	uint64_t generation; /* of the process that began them: a forked child has begun none */
	uint32_t count;
	struct open items[OPEN_MAX];
};
_Static_assert(sizeof(struct opened) <= MR_ROOM_BYTES, "it fits");

/* An unfinished interval has room for one number besides the name. */
static uint64_t pack(enum mr_torch_scope scope, uint64_t sequence)
{
	return (uint64_t)scope << 48 | sequence;
}

/* ---- names --------------------------------------------------------------------------------------- */

static _Atomic(mr_torch_name_function *) name_of;

void mr_torch_set_name_function(mr_torch_name_function *function)
{
	atomic_store(&name_of, function);
}

/* NULL if that is no text: a version that returns something else. */
static const char *name_function_of(const void *function)
{
	const char *name = atomic_load_explicit(&name_of, memory_order_relaxed)(function);
	return mr_likely((uintptr_t)name >= LOWEST_ADDRESS) ? name : NULL;
}

/* ---- steps --------------------------------------------------------------------------------------- */

static const char *after(const char *text, const char *beginning)
{
	size_t length = strlen(beginning);
	return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

/* For `record --steps`: the program's own marks, else the steps of its optimizer. */
static void note_step(const char *name)
{
	const char *mark = after(name, "ProfilerStep#");
	if (mr_steps_is_range(name)) {
		mr_steps_note_range();
	} else if (mark) {
		uint64_t number = 0;
		for (; *mark >= '0' && *mark <= '9'; mark++)
			number = number * 10 + (uint64_t)(*mark - '0');
		mr_steps_mark(number);
	} else if (after(name, "Optimizer.step#")) {
		uint64_t key = 0;
		for (; *name; name++)
			key = key * 31 + (uint8_t)*name;
		mr_steps_count(key);
	}
}

/* ---- begin and end ------------------------------------------------------------------------------- */

static bool is_in_frame(const void *function)
{
	return (uintptr_t)function - (uintptr_t)__builtin_frame_address(0) < FRAMES_BYTES;
}

static enum mr_torch_scope scope_of(const struct open *open)
{
	return (enum mr_torch_scope)(open->interval.step >> 48);
}

static bool is_backward(const struct open *open)
{
	return scope_of(open) == MR_torch_scope_backward_function;
}

/* Whether no operator is around what is, or will be, at that place. */
static bool is_outermost_at(const struct opened *opened, uint32_t place)
{
	return place == 0 || scope_of(&opened->items[place - 1]) != MR_torch_scope_function;
}

static void begin_operation(const void *function, enum mr_torch_scope scope, uint32_t name)
{
	struct opened *opened = mr_thread_room(MR_ROOM_torch);
	if (opened && mr_unlikely(opened->generation != mr_this_process.generation))
		opened->count = 0;
	if (mr_unlikely(!opened || opened->count == OPEN_MAX)) {
		mr_count_loss(MR_loss_reason_deep_interval, 1);
		return;
	}
	struct open *open = &opened->items[opened->count];
	/* What is nested in an operator is called from C++; what autograd or TorchScript calls may be Python. */
	bool is_outermost = is_outermost_at(opened, opened->count);
	if (is_outermost) {
		mr_python_note();
		mr_torch_note_module();
		mr_torch_count_outermost();
	}
	uint64_t sequence = mr_torch_sequence_of(function, scope, true);
	open->function = function;
	mr_interval_begin(&open->interval, MR_EVENT_torch_operation, name, pack(scope, sequence));
	opened->generation = mr_this_process.generation;
	mr_signal_fence();
	opened->count++;
	if (mr_unlikely(mr_torch_tensors_are_due()) && (is_outermost || is_backward(open)))
		mr_torch_note_inputs(function);
}

void mr_torch_begin(const void *function, enum mr_torch_scope scope)
{
	const char *name = name_function_of(function);
	if (mr_unlikely(!name))
		return;
	if (scope == MR_torch_scope_user_scope && mr_steps_matter())
		note_step(name);
	if (!mr_level_is_on(MR_LEVEL_dataflow))
		return;
	if (is_in_frame(function)) {
		begin_operation(function, scope, mr_name_of(name));
		return;
	}
	mr_python_note();
	mr_emit(torch_scope_begin, .name = mr_name_of(name), .object = (uintptr_t)function,
		.scope = (uint8_t)scope);
	uint64_t bytes = mr_torch_input_bytes(function);
	if (bytes)
		mr_emit(torch_scope_bytes, .object = (uintptr_t)function, .bytes = bytes);
}

static void end_operation(const struct open *open)
{
	const struct mr_interval *interval = &open->interval;
	struct mr_event_torch_operation event = {.name = interval->what,
						 .sequence =
							 mr_u48_from(interval->step & MR_U48_MAX),
						 .scope = (uint8_t)scope_of(open)};
	mr_call_interval_end(interval, MR_EVENT_torch_operation, &event, sizeof event);
}

/* The place of an object among those that go on; 0 if it is not one of them. What stands above it was left without an
 * end, which cannot be as long as their frames are unwound. */
static uint32_t find_open(const struct opened *opened, const void *function)
{
	bool is_own = opened && opened->generation == mr_this_process.generation;
	uint32_t place = is_own ? opened->count : 0;
	while (place > 0 && opened->items[place - 1].function != function)
		place--;
	return place;
}

void mr_torch_end(const void *function, void *context)
{
	(void)context;
	struct opened *opened = mr_thread_room(MR_ROOM_torch);
	uint32_t place = find_open(opened, function);
	if (mr_likely(place > 0)) {
		if (mr_unlikely(mr_torch_tensors_are_due()) && is_outermost_at(opened, place - 1))
			mr_torch_note_outputs(function);
		opened->count = place - 1;
		mr_signal_fence();
		end_operation(&opened->items[place - 1]);
	} else if (mr_level_is_on(MR_LEVEL_dataflow) && !is_in_frame(function)) {
		mr_emit(torch_scope_end, .object = (uintptr_t)function);
	}
}

/* An operation ends with the same fields as a call of a runtime begins, so that one function writes both. */
_Static_assert(offsetof(struct mr_event_torch_operation, duration_ticks) ==
		       offsetof(struct mr_event_runtime_call, duration_ticks),
	       "mr_call_interval_end() sets it");
