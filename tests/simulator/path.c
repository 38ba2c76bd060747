/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path by the definition of doc/causes.md: backwards from the end, one moment of change after
 * the other.
 */
#include "causes.h"

#include <string.h>

/* A thread that waited, and that the path has left for what it waited for. */
struct left {
	int who;
	int64_t begin_ns;
	const struct stretch *stretch; /* NULL: it waited for a device */
	const struct call *ordinary;
	bool is_lock;
	int holder; /* of the lock, with whom the path stayed, or NOBODY */
};

struct walk {
	const struct simulation *simulation;
	bool is_on_thread;
	int who; /* thread or operation */
	int64_t at_ns;
	bool has_jumped; /* to where it is, and not moved since */
	const struct call *
		ordinary; /* in which the path came to the thread: it counts as if it did not wait */
	mr_vec(struct left) left;
	struct truth_pieces back; /* latest first */
};

/* Beyond the begin of a wait for a lock the path does not go. */
static int64_t limit_ns(const struct walk *walk)
{
	int64_t ns = WORLD_BEGIN_NS;

	for (size_t i = 0; i < walk->left.count; i++)
		if (walk->left.items[i].is_lock)
			ns = mr_max(ns, walk->left.items[i].begin_ns);
	return ns;
}

static void emit(struct walk *walk, int64_t begin_ns, const char *text)
{
	begin_ns = mr_max(begin_ns, limit_ns(walk));
	if (begin_ns >= walk->at_ns)
		return;
	PUSH(&walk->back, (struct truth_piece){begin_ns, walk->at_ns, strdup(text)});
	walk->at_ns = begin_ns;
	walk->has_jumped = false;
}

static void go_to(struct walk *walk, bool is_thread, int who, int64_t ns)
{
	walk->is_on_thread = is_thread;
	walk->who = who;
	walk->at_ns = ns;
	walk->has_jumped = true;
	walk->ordinary = NULL;
}

/* ---- waits ---------------------------------------------------------------------------------------- */

static void leave(struct walk *walk, const struct stretch *stretch, int64_t begin_ns)
{
	const struct simulation *simulation = walk->simulation;
	const struct thread *thread = &simulation->threads[walk->who];
	struct left left = {walk->who, begin_ns, stretch, walk->ordinary, false, NOBODY};

	if (stretch)
		left.is_lock = strcmp(cause_wait_name(simulation, walk->who, stretch), "lock") == 0;
	for (size_t i = 0; stretch && stretch->word && i < thread->life.count; i++) {
		const struct stretch *other = &thread->life.items[i];

		if (other->state == BLOCKED && other->word == stretch->word &&
		    other->ended_ns == stretch->ended_ns)
			left.begin_ns = mr_min(left.begin_ns, other->begin_ns);
	}
	PUSH(&walk->left, left);
}

static void go_back(struct walk *walk, size_t to)
{
	struct left left = walk->left.items[to];

	walk->left.count = to;
	go_to(walk, true, left.who, walk->at_ns);
	walk->has_jumped = false;
	walk->ordinary = left.ordinary;
}

/* At the begin of a wait for a lock: back to who waited, unless who has the lock had waited for it, too. */
static bool end_wait(struct walk *walk)
{
	size_t at = walk->left.count;

	while (at-- > 0)
		if (walk->left.items[at].is_lock && walk->left.items[at].begin_ns == walk->at_ns)
			break;
	if (at == SIZE_MAX)
		return false;
	const struct left *left = &walk->left.items[at];
	if (walk->is_on_thread && words_got_by_waiting(walk->simulation, walk->who, left->who,
						       left->stretch, left->begin_ns))
		walk->left.items[at] = (struct left){left->who,      left->begin_ns, left->stretch,
						     left->ordinary, false,          walk->who};
	else
		go_back(walk, at);
	return true;
}

/* Nobody waited yet when the sleep was over. */
static bool end_sleep(struct walk *walk, const char *text, const struct stretch *stretch)
{
	size_t last = walk->left.count - 1;

	if (strncmp(text, "sleep(", strlen("sleep(")) != 0 || walk->left.count == 0 ||
	    walk->left.items[last].begin_ns < stretch->end_ns)
		return false;
	go_back(walk, last);
	return true;
}

/* What a thread does that has a lock, for which the path left another. */
static void name_holder(const struct walk *walk, char text[static TEXT_BYTES])
{
	static const char *const plain[] = {"cpu", "sleep", "call", "untraced", "unknown"};
	const struct left *last = walk->left.count ? &walk->left.items[walk->left.count - 1] : NULL;

	if (!last || !(last->is_lock || last->holder == walk->who) || last->who == walk->who)
		return;
	for (size_t i = 0; i < mr_countof(plain); i++) {
		size_t length = strlen(plain[i]);

		if (strncmp(text, plain[i], length) == 0 &&
		    (text[length] == 0 || text[length] == '(')) {
			snprintf(text, TEXT_BYTES, "lock(thread %u)",
				 walk->simulation->threads[walk->who].tid);
			return;
		}
	}
}

static int64_t change_before(const struct walk *walk)
{
	return truth_change_before(walk->simulation, walk->at_ns);
}

/* ---- on an operation ---------------------------------------------------------------------------- */

static void walk_operation(struct walk *walk)
{
	const struct simulation *simulation = walk->simulation;
	int number = walk->who, after = operation_after(simulation, number);
	const struct operation *operation = &simulation->operations.items[number];
	const struct call *launch =
		&simulation->threads[operation->thread].calls.items[operation->call];
	char text[TEXT_BYTES];

	snprintf(text, sizeof text, "device(%s on %s)", operation->name,
		 simulation->devices[simulation->queues[operation->queue].device].name);
	emit(walk, operation->start_ns, text);
	if (walk->at_ns == limit_ns(walk))
		return;
	/* The path may have come before the operation started. */
	int64_t after_ns =
		after == NOBODY ? INT64_MIN
				: mr_min(simulation->operations.items[after].end_ns, walk->at_ns);
	int64_t launch_ns = launch->is_lost ? INT64_MIN : mr_min(launch->end_ns, walk->at_ns);
	/* A blocking launch gave it to the device some time after it began. */
	bool is_after = launch->is_blocking ? after_ns >= mr_min(launch->begin_ns, walk->at_ns)
					    : after_ns >= launch_ns;
	int64_t from_ns = is_after ? after_ns : launch_ns;
	if (from_ns == INT64_MIN) {
		snprintf(text, sizeof text, "unlaunched(%s on %s)", operation->name,
			 simulation->devices[simulation->queues[operation->queue].device].name);
		emit(walk, WORLD_BEGIN_NS, text);
		return;
	}
	while (walk->at_ns > mr_max(from_ns, limit_ns(walk))) {
		int64_t begin_ns = mr_max(from_ns, change_before(walk));

		cause_device_text(simulation, number, begin_ns, text);
		emit(walk, begin_ns, text);
	}
	if (walk->at_ns > from_ns)
		return;
	if (is_after)
		go_to(walk, false, after, from_ns);
	else
		go_to(walk, true, operation->thread, from_ns);
}

/* ---- on a thread -------------------------------------------------------------------------------- */

/* Where the thread has not begun: true. */
static bool walk_to_maker(struct walk *walk)
{
	const struct simulation *simulation = walk->simulation;
	const struct thread *thread = &simulation->threads[walk->who];

	if (simulation->options.no_kernel_level || walk->at_ns > thread->born_ns)
		return false;
	if (walk->who == simulation->main_threads[0])
		emit(walk, WORLD_BEGIN_NS, "untraced");
	else
		go_to(walk, true, thread->maker, walk->at_ns);
	return true;
}

static void walk_thread(struct walk *walk)
{
	const struct simulation *simulation = walk->simulation;
	char text[TEXT_BYTES];

	if (walk_to_maker(walk))
		return;
	int64_t begin_ns = change_before(walk), ns = walk->at_ns - 1;
	struct view view = cause_look(simulation, walk->who, ns);
	const struct operation *awaited =
		view.awaited == NOBODY ? NULL : &simulation->operations.items[view.awaited];
	bool is_over = !awaited || awaited->end_ns <= ns;
	const struct stretch *stretch = view.stretch;

	if (view.waiting && !is_over && walk->has_jumped)
		walk->ordinary = view.waiting;
	if (view.waiting && !is_over && walk->ordinary != view.waiting) {
		leave(walk, NULL, view.waiting->begin_ns);
		go_to(walk, false, view.awaited, walk->at_ns);
		return;
	}
	bool is_sync = view.waiting && is_over && walk->ordinary != view.waiting;
	if (!is_sync && stretch && stretch->state == BLOCKED) {
		if (stretch->waker == WAKER_THREAD &&
		    simulation->threads[stretch->waker_thread].is_traced) {
			if (walk->left.count &&
			    walk->left.items[walk->left.count - 1].who == stretch->waker_thread) {
				go_back(walk, walk->left.count - 1);
				return;
			}
			leave(walk, stretch, stretch->begin_ns);
			go_to(walk, true, stretch->waker_thread, walk->at_ns);
			return;
		}
		begin_ns = stretch->begin_ns;
	}
	cause_thread_text(simulation, walk->who, ns, !is_sync, text);
	if (end_sleep(walk, text, stretch))
		return;
	name_holder(walk, text);
	emit(walk, begin_ns, text);
}

/* ---- where it begins ---------------------------------------------------------------------------- */

/* Without the kernel level: the end of its last interval, if it has one of its own will. */
static int64_t last_interval_ns(const struct simulation *simulation, const struct thread *thread)
{
	bool has_nodes = !simulation->options.no_dataflow_level, matters = false;
	int64_t ns = INT64_MIN;

	for (size_t i = 0; i < thread->calls.count; i++) {
		const struct call *call = &thread->calls.items[i];

		if (call->is_lost)
			continue;
		ns = mr_max(ns, call->end_ns);
		matters |= call->waits || call->operation != NOBODY;
	}
	for (size_t i = 0; i < thread->nodes.count && has_nodes; i++)
		ns = mr_max(ns, thread->nodes.items[i].end_ns);
	if (thread->last_step_ns && has_nodes)
		ns = mr_max(ns, thread->last_step_ns);
	matters |= has_nodes && (thread->nodes.count || thread->last_step_ns);
	return matters ? ns : INT64_MIN;
}

static int64_t last_of_thread(const struct simulation *simulation, int who)
{
	const struct thread *thread = &simulation->threads[who];

	return simulation->options.no_kernel_level ? last_interval_ns(simulation, thread)
						   : thread->over_ns;
}

/* The main thread comes first; of others the one that began first. */
static bool is_thread_better(const struct simulation *simulation, int who, int than)
{
	int main = simulation->main_threads[0];

	if (who == main || than == main)
		return who == main;
	return simulation->threads[who].born_ns < simulation->threads[than].born_ns;
}

static void find_beginning(struct walk *walk)
{
	const struct simulation *simulation = walk->simulation;
	int64_t best_ns = INT64_MIN;

	walk->at_ns = simulation->end_ns;
	for (int i = 0; i < simulation->thread_count; i++) {
		int64_t ns = last_of_thread(simulation, i);

		if (simulation->threads[i].is_traced &&
		    (ns > best_ns || (ns == best_ns && ns != INT64_MIN &&
				      is_thread_better(simulation, i, walk->who)))) {
			best_ns = ns;
			walk->who = i;
			walk->is_on_thread = true;
		}
	}
	for (int i = 0; i < (int)simulation->operations.count; i++) {
		const struct operation *operation = &simulation->operations.items[i];
		bool is_equal = operation->end_ns == best_ns && !walk->is_on_thread &&
				operation->correlation <
					simulation->operations.items[walk->who].correlation;

		/* One of no duration at the very end lies behind it. */
		if (operation->start_ns < simulation->end_ns &&
		    (operation->end_ns > best_ns || is_equal)) {
			best_ns = operation->end_ns;
			walk->who = i;
			walk->is_on_thread = false;
		}
	}
	emit(walk, best_ns, "untraced");
}

void path_make(struct simulation *simulation)
{
	struct walk walk = {.simulation = simulation};
	uint32_t jumps = 0;

	find_beginning(&walk);
	while (walk.at_ns > WORLD_BEGIN_NS) {
		int64_t before_ns = walk.at_ns;

		if (end_wait(&walk))
			;
		else if (walk.is_on_thread)
			walk_thread(&walk);
		else
			walk_operation(&walk);
		jumps = walk.at_ns == before_ns ? jumps + 1 : 0;
		world_require(jumps < 100);
	}
	for (size_t i = walk.back.count; i-- > 0;) {
		const struct truth_piece *piece = &walk.back.items[i];

		truth_add_piece(&simulation->truth.path, piece->begin_ns, piece->end_ns,
				piece->text);
		free(piece->text);
	}
	mr_vec_free(&walk.left);
	mr_vec_free(&walk.back);
}
