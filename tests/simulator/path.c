/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical path by the definition of doc/causes.md: backwards from the end, one moment of change after
 * the other.
 */
#include "causes.h"

#include <string.h>

struct walk {
	const struct simulation *simulation;
	bool is_on_thread;
	int who; /* thread or operation */
	int64_t at_ns;
	struct truth_pieces back; /* latest first */
};

static void emit(struct walk *walk, int64_t begin_ns, const char *text)
{
	begin_ns = mr_max(begin_ns, WORLD_BEGIN_NS);
	if (begin_ns < walk->at_ns)
		PUSH(&walk->back, (struct truth_piece){begin_ns, walk->at_ns, strdup(text)});
	walk->at_ns = begin_ns;
}

static void go_to(struct walk *walk, bool is_thread, int who, int64_t ns)
{
	walk->is_on_thread = is_thread;
	walk->who = who;
	walk->at_ns = ns;
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
	int64_t after_ns = after == NOBODY ? INT64_MIN : simulation->operations.items[after].end_ns;
	int64_t launch_ns =
		launch->is_lost ? INT64_MIN : mr_min(launch->end_ns, operation->start_ns);
	/* A blocking launch gave it to the device some time after it began. */
	bool is_after = launch->is_blocking ? after_ns >= launch->begin_ns : after_ns >= launch_ns;
	int64_t from_ns = is_after ? after_ns : launch_ns;
	if (from_ns == INT64_MIN) {
		snprintf(text, sizeof text, "unlaunched(%s on %s)", operation->name,
			 simulation->devices[simulation->queues[operation->queue].device].name);
		emit(walk, WORLD_BEGIN_NS, text);
		return;
	}
	while (walk->at_ns > from_ns) {
		int64_t begin_ns = mr_max(from_ns, change_before(walk));

		cause_device_text(simulation, number, begin_ns, text);
		emit(walk, begin_ns, text);
	}
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
		go_to(walk, true, thread->maker, thread->born_ns);
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

	if (view.waiting && is_over && awaited && awaited->end_ns == walk->at_ns) {
		go_to(walk, false, view.awaited, walk->at_ns);
		return;
	}
	bool is_sync = view.waiting && is_over;
	if (!is_sync && stretch && stretch->state == BLOCKED) {
		if (stretch->waker == WAKER_THREAD &&
		    simulation->threads[stretch->waker_thread].is_traced) {
			go_to(walk, true, stretch->waker_thread, walk->at_ns);
			return;
		}
		begin_ns = stretch->begin_ns;
	}
	cause_thread_text(simulation, walk->who, ns, !is_sync, text);
	emit(walk, begin_ns, text);
	if (is_sync && awaited && awaited->end_ns == begin_ns && view.waiting->begin_ns <= begin_ns)
		go_to(walk, false, view.awaited, begin_ns);
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

		if (walk.is_on_thread)
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
	mr_vec_free(&walk.back);
}
