/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous eager execution: TFE_Execute() only puts a node into the queue of an executor, whose own thread runs it
 * later. The node's address is the same on both sides, and unique until the node was run:
 *
 *     calling thread     ├ TFE_Execute ── AddOrExecute(node) ┤
 *     executor's thread                                         ├ RunItem(item of the node) ──────┤
 *
 *     NodeItem           0 vtable    8 references    16 id    24 node         of 2.15 to 2.21
 *
 * A synchronous executor runs the node inside AddOrExecute(), if that is called at all. Nodes of other machines are not
 * complete when RunItem() returns: it moves them to the unfinished ones.
 *
 * The functions return a Status, an object with a destructor: by address, which is passed in front of all arguments on
 * x86-64. On aarch64 it is passed in a register that C does not know of, so nothing is done there.
 */
#include "hook/tensorflow/tensorflow.h"

#define ADD_OR_EXECUTE      \
	"_ZN10tensorflow13" \
	"EagerExecutor12AddOrExecuteESt10unique_ptrINS_9EagerNodeESt14default_deleteIS2_EE"
#define RUN_ITEM "_ZN10tensorflow13EagerExecutor7RunItemEN3tsl4core11RefCountPtrINS0_8NodeItemEEEb"
#define MOVE_TO_UNFINISHED  \
	"_ZN10tensorflow13" \
	"EagerExecutor16MoveToUnfinishedEN3tsl4core11RefCountPtrINS0_8NodeItemEEEb"

static const char *const needed[] = {
	ADD_OR_EXECUTE,
	RUN_ITEM,
	MOVE_TO_UNFINISHED,
	"_ZTVN10tensorflow13EagerExecutor8NodeItemE",
};

#ifdef __x86_64__

struct node_item {
	const void *vtable;
	uint64_t references;
	uint64_t id;
	const void *node;
};

/* Both are std::unique_ptr and the like: objects that hold one address, passed by theirs. */
void *add_or_execute(void *ret_status, void *executor, void *const *node)
	MR_STAND_IN(ADD_OR_EXECUTE);
void *run_item(void *ret_status, void *executor, struct node_item *const *item, bool from_queue)
	MR_STAND_IN(RUN_ITEM);
void *move_to_unfinished(void *ret_status, void *executor, void *item, bool from_queue)
	MR_STAND_IN(MOVE_TO_UNFINISHED);

/* What this thread runs, innermost, has been moved to the unfinished ones. */
static _Thread_local bool goes_on __attribute__((tls_model("initial-exec")));

/* The node of an item that looks as it should; else NULL. */
static const void *node_of(const struct node_item *item)
{
	static _Atomic(const char *) known;
	const char *vtable = atomic_load_explicit(&known, memory_order_relaxed);
	const size_t behind_type = 16; /* where a vtable begins, as objects see it */

	if (mr_unlikely(!vtable)) {
		vtable = (const char *)mr_symbol_find("_ZTVN10tensorflow13EagerExecutor8NodeItemE");
		atomic_store_explicit(&known, vtable, memory_order_relaxed);
	}
	return item && vtable && item->vtable == vtable + behind_type ? item->node : NULL;
}

void *add_or_execute(void *ret_status, void *executor, void *const *node)
{
	if (mr_tensorflow_is_on())
		mr_emit(eager_enqueue, .item = (uintptr_t)*node);
	return MR_ORIGINAL(add_or_execute, ADD_OR_EXECUTE)(ret_status, executor, node);
}

void *run_item(void *ret_status, void *executor, struct node_item *const *item, bool from_queue)
{
	__typeof__(&run_item) run = MR_ORIGINAL(run_item, RUN_ITEM);
	const void *node = mr_tensorflow_is_on() ? node_of(*item) : NULL;

	if (!node)
		return run(ret_status, executor, item, from_queue);
	bool around_goes_on = goes_on;
	goes_on = false;
	uint64_t start = mr_ticks_now();
	void *result = run(ret_status, executor, item, from_queue);
	uint64_t duration = mr_min(mr_ticks_now() - start, MR_U48_MAX);
	mr_emit(eager_run, .item = (uintptr_t)node, .duration_ticks = mr_u48_from(duration),
		.is_done = !goes_on);
	goes_on = around_goes_on;
	return result;
}

void *move_to_unfinished(void *ret_status, void *executor, void *item, bool from_queue)
{
	goes_on = true;
	return MR_ORIGINAL(move_to_unfinished, MOVE_TO_UNFINISHED)(ret_status, executor, item,
								   from_queue);
}

static bool is_known_machine(void)
{
	return true;
}

#else

static bool is_known_machine(void)
{
	return false;
}

#endif

bool mr_executor_is_seen(void)
{
	for (size_t i = 0; i < mr_countof(needed); i++)
		if (!mr_symbol_find(needed[i]))
			return false;
	return is_known_machine();
}
