/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of causes of an instant, by the definitions of doc/causes.md, from what the machine remembers.
 *
 *     "dependency(work7 on gpu1) > lock(thread 1003) > cpu(conv in 1003)"
 */
#include "causes.h"

#include <stdarg.h>
#include <string.h>

enum {
	MAX_LINKS = 32,
	RAW_LINKS = 200, /* before dependencies along a queue are made one */
};

struct link {
	char text[64];
	int operation; /* of a dependency, else NOBODY */
};

struct chain {
	struct link links[RAW_LINKS];
	size_t count;
};

/* ---- links -------------------------------------------------------------------------------------- */

mr_printf_format(3, 4) static void add(struct chain *chain, int operation, const char *format, ...)
{
	va_list arguments;

	world_require(chain->count < RAW_LINKS);
	va_start(arguments, format);
	vsnprintf(chain->links[chain->count].text, sizeof chain->links[0].text, format, arguments);
	va_end(arguments);
	chain->links[chain->count++].operation = operation;
}

uint32_t operation_device(const struct simulation *simulation, int operation)
{
	return simulation->queues[operation_at(simulation, operation)->queue].device;
}

static void add_operation(const struct simulation *simulation, struct chain *chain,
			  const char *kind, int operation)
{
	add(chain, strcmp(kind, "dependency") == 0 ? operation : NOBODY, "%s(%s on %s)", kind,
	    operation_at(simulation, operation)->name,
	    simulation->devices[operation_device(simulation, operation)].name);
}

/* A dependency that is followed by the one before it in its queue is left out. */
static bool is_left_out(const struct simulation *simulation, const struct chain *chain, size_t at)
{
	int operation = chain->links[at].operation;

	return operation != NOBODY && at + 1 < chain->count &&
	       chain->links[at + 1].operation != NOBODY &&
	       operation_at(simulation, operation)->before == chain->links[at + 1].operation;
}

static void print_chain(const struct simulation *simulation, const struct chain *chain,
			char text[static TEXT_BYTES])
{
	size_t left = 0, length = 0, number = 0;

	for (size_t i = 0; i < chain->count; i++)
		left += !is_left_out(simulation, chain, i);
	text[0] = 0;
	for (size_t i = 0; i < chain->count && number < MAX_LINKS; i++) {
		if (is_left_out(simulation, chain, i))
			continue;
		bool is_cut = ++number == MAX_LINKS && left > MAX_LINKS;
		length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%s",
					   number > 1 ? " > " : "",
					   is_cut ? "unknown" : chain->links[i].text);
		world_require(length < TEXT_BYTES);
	}
}

/* ---- what is known of a thread ------------------------------------------------------------------ */

static bool waits_at(const struct simulation *simulation, const struct call *call, int64_t ns)
{
	int after;

	if (!call->waits || !call->is_blocking)
		return call->waits;
	after = operation_after(simulation, call->operation);
	return operation_at(simulation, call->operation)->start_ns <= ns ||
	       (after != NOBODY && ns < operation_at(simulation, after)->end_ns);
}

/* A blocking launch waits for its operation, and before for what keeps that from starting. */
static int awaited_at(const struct simulation *simulation, const struct call *call, int64_t ns)
{
	if (!call->is_blocking)
		return call->awaited;
	return operation_at(simulation, call->operation)->start_ns <= ns
		       ? call->operation
		       : operation_after(simulation, call->operation);
}

static const struct stretch *stretch_at(const struct thread *thread, int64_t ns)
{
	size_t low = 0, high = thread->life.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (thread->life.items[middle].end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < thread->life.count && thread->life.items[low].begin_ns <= ns
		       ? &thread->life.items[low]
		       : NULL;
}

/* What encloses was remembered before what it encloses. */
struct view cause_look(const struct simulation *simulation, int who, int64_t ns)
{
	const struct thread *thread = &simulation->threads[who];
	struct view view = {.awaited = NOBODY};

	if (!simulation->options.no_kernel_level)
		view.stretch = stretch_at(thread, ns);
	for (size_t i = 0; i < thread->calls.count && thread->calls.items[i].begin_ns <= ns; i++) {
		const struct call *call = &thread->calls.items[i];

		if (ns >= call->end_ns || call->is_lost)
			continue;
		view.call = call;
		if (call->operation != NOBODY)
			view.launching = call;
		if (!view.waiting && waits_at(simulation, call, ns))
			view.waiting = call;
	}
	if (view.waiting)
		view.awaited = awaited_at(simulation, view.waiting, ns);
	for (size_t i = 0; i < thread->nodes.count && !simulation->options.no_dataflow_level; i++)
		if (thread->nodes.items[i].begin_ns <= ns && ns < thread->nodes.items[i].end_ns)
			view.node = &thread->nodes.items[i];
	for (size_t i = 0; i < thread->interrupts.count; i++)
		if (!thread->interrupts.items[i].is_inner &&
		    thread->interrupts.items[i].begin_ns <= ns &&
		    ns < thread->interrupts.items[i].end_ns)
			view.interrupt = &thread->interrupts.items[i];
	return view;
}

static int occupant_at(const struct simulation *simulation, int core, int64_t ns)
{
	const struct core *here = &simulation->cores[core];

	/* One that lasts beyond the end of the trace is not known to last until then. */
	for (size_t i = 0; i < here->tenures.count; i++)
		if (here->tenures.items[i].begin_ns <= ns && ns < here->tenures.items[i].end_ns &&
		    here->tenures.items[i].end_ns <= simulation->end_ns)
			return here->tenures.items[i].thread;
	return NOBODY;
}

static const char *node_name(const struct node_run *node)
{
	static const char *const names[] = {"conv", "relu", "load", "pool", "dense", "loss"};

	return names[node->node];
}

/* ---- delay, device, host, blocked --------------------------------------------------------------- */

static void delay(const struct simulation *simulation, struct chain *chain, int operation,
		  int64_t ns);
static void host(const struct simulation *simulation, struct chain *chain, int who, int64_t ns);

static void add_thread(const struct simulation *simulation, struct chain *chain, const char *kind,
		       int who)
{
	const struct thread *thread = &simulation->threads[who];

	add(chain, NOBODY, "%s(%s %u)", kind, thread->is_traced ? "thread" : "task", thread->tid);
}

/* The first link; true if the chain goes on with what the waker did. */
static bool add_blocked(const struct simulation *simulation, struct chain *chain, int who,
			const struct stretch *stretch)
{
	const char *wait = cause_wait_name(simulation, who, stretch);
	char path[32];

	file_path(stretch->file, path);
	if (strcmp(wait, "disk") == 0) {
		add(chain, NOBODY, *path ? "disk(%s)" : "disk", path);
	} else if (strcmp(wait, "sleep") == 0 && stretch->waker == WAKER_THREAD &&
		   simulation->threads[stretch->waker_thread].is_traced) {
		add_thread(simulation, chain, "signal", stretch->waker_thread);
		return true;
	} else if (strcmp(wait, "sleep") == 0 || stretch->waker == WAKER_TIMER) {
		add_thread(simulation, chain, "sleep", who);
	} else if (stretch->waker == WAKER_THREAD) {
		add_thread(simulation, chain, wait, stretch->waker_thread);
		return simulation->threads[stretch->waker_thread].is_traced;
	} else {
		add(chain, NOBODY, "%s(%s)", wait, *path ? path : stretch->source);
	}
	return false;
}

static void add_runnable(const struct simulation *simulation, struct chain *chain, int who,
			 const struct stretch *stretch, int64_t ns)
{
	int occupant = occupant_at(simulation, stretch->core, ns);

	if (stretch->why == WHY_THROTTLED)
		add(chain, NOBODY, "throttled");
	else if (occupant != NOBODY && occupant != who)
		add_thread(simulation, chain, "preempted", occupant);
	else if (stretch->why == WHY_WOKEN || stretch->why == WHY_NEW)
		add(chain, NOBODY, "wake-up");
	else
		add(chain, NOBODY, "preempted");
}

static void add_running(const struct simulation *simulation, struct chain *chain, int who,
			const struct view *view)
{
	static const char *const kinds[] = {"irq", "softirq", "vector"};
	uint32_t tid = simulation->threads[who].tid;

	if (view->interrupt)
		add(chain, NOBODY, "interrupt(%s %u)", kinds[view->interrupt->number % 3],
		    view->interrupt->number);
	else if (view->call)
		add(chain, NOBODY, "cpu(%s in %u)", view->call->function, tid);
	else if (view->node)
		add(chain, NOBODY, "cpu(%s in %u)", node_name(view->node), tid);
	else
		add(chain, NOBODY, "cpu(thread %u)", tid);
}

/* The state of the thread decides; true if the chain goes on with what the waker did. */
static bool add_state(const struct simulation *simulation, struct chain *chain, int who, int64_t ns,
		      const struct view *view)
{
	if (!view->stretch && view->call)
		add(chain, NOBODY, "call(%s)", view->call->function);
	else if (!view->stretch && view->node)
		add(chain, NOBODY, "untraced(%s in %u)", node_name(view->node),
		    simulation->threads[who].tid);
	else if (!view->stretch)
		add(chain, NOBODY, "untraced");
	else if (view->stretch->state == RUNS)
		add_running(simulation, chain, who, view);
	else if (view->stretch->state == RUNNABLE)
		add_runnable(simulation, chain, who, view->stretch, ns);
	else
		return add_blocked(simulation, chain, who, view->stretch);
	return false;
}

static void host(const struct simulation *simulation, struct chain *chain, int who, int64_t ns)
{
	struct view view = cause_look(simulation, who, ns);
	const struct operation *awaited =
		view.awaited == NOBODY ? NULL : operation_at(simulation, view.awaited);

	if (view.waiting && awaited && ns < awaited->end_ns) {
		add_operation(simulation, chain, "dependency", view.awaited);
		if (ns < awaited->start_ns)
			delay(simulation, chain, view.awaited, ns);
	} else if (view.waiting && (!view.stretch || view.stretch->state != RUNNABLE)) {
		add(chain, NOBODY, "sync(%s)", view.waiting->function);
	} else if (add_state(simulation, chain, who, ns, &view)) {
		host(simulation, chain, view.stretch->waker_thread, ns);
	}
}

const struct call *operation_launch(const struct simulation *simulation, int operation)
{
	const struct operation *launched = operation_at(simulation, operation);
	const struct call *call =
		&simulation->threads[launched->thread].calls.items[launched->call];

	return call->is_lost ? NULL : call;
}

static bool is_later(const struct operation *a, const struct operation *b)
{
	return a->end_ns > b->end_ns || (a->end_ns == b->end_ns && a->correlation < b->correlation);
}

int operation_after(const struct simulation *simulation, int number)
{
	const struct operation *operation = operation_at(simulation, number);
	int last = operation->before;

	for (uint32_t i = 0; operation_launch(simulation, number) && i < operation->wait_count; i++)
		if (last == NOBODY || is_later(operation_at(simulation, (int)operation->waits[i]),
					       operation_at(simulation, last)))
			last = (int)operation->waits[i];
	return last;
}

static bool is_busy_with(const struct operation *operation, int64_t ns)
{
	return operation_is_work(operation) && operation->start_ns <= ns && ns < operation->end_ns;
}

int device_busy_with(const struct simulation *simulation, uint32_t device, int64_t ns)
{
	int first = NOBODY;

	for (int i = 0; i < (int)simulation->operations.count; i++) {
		const struct operation *operation = operation_at(simulation, i);
		const struct operation *before =
			first == NOBODY ? NULL : operation_at(simulation, first);

		if (operation_device(simulation, i) != device || !is_busy_with(operation, ns))
			continue;
		if (!before || operation->start_ns < before->start_ns ||
		    (operation->start_ns == before->start_ns &&
		     operation->correlation < before->correlation))
			first = i;
	}
	return first;
}

int64_t operation_free_since_ns(const struct simulation *simulation, int operation)
{
	int64_t start_ns = operation_at(simulation, operation)->start_ns;
	uint32_t device = operation_device(simulation, operation);
	int64_t since_ns = INT64_MIN;

	for (int i = 0; i < (int)simulation->operations.count; i++) {
		const struct operation *other = operation_at(simulation, i);

		if (operation_device(simulation, i) == device && operation_is_work(other) &&
		    other->start_ns < other->end_ns && other->start_ns < start_ns)
			since_ns = mr_max(since_ns, mr_min(other->end_ns, start_ns));
	}
	return since_ns;
}

int64_t operation_ready_ns(const struct simulation *simulation, int operation)
{
	int after = operation_after(simulation, operation);
	const struct call *launch = operation_launch(simulation, operation);
	int64_t ns = operation_free_since_ns(simulation, operation);

	if (!launch)
		return NEVER;
	ns = mr_max(ns, launch->is_blocking ? launch->begin_ns : launch->end_ns);
	return after == NOBODY ? ns : mr_max(ns, operation_at(simulation, after)->end_ns);
}

static void device(const struct simulation *simulation, struct chain *chain, int operation,
		   int64_t ns)
{
	uint32_t of = operation_device(simulation, operation);
	int after = operation_after(simulation, operation),
	    busy = device_busy_with(simulation, of, ns);
	int64_t ready = operation_ready_ns(simulation, operation);

	if (after != NOBODY && ns < operation_at(simulation, after)->end_ns) {
		add_operation(simulation, chain, "dependency", after);
		if (ns < operation_at(simulation, after)->start_ns)
			delay(simulation, chain, after, ns);
	} else if (busy != NOBODY) {
		add_operation(simulation, chain, "device busy", busy);
	} else if (ready != NEVER && ready <= ns &&
		   ns < ready + simulation->truth.devices[of].threshold_ns) {
		add(chain, NOBODY, "dispatch");
	} else {
		add(chain, NOBODY, "device unknown");
	}
}

/* A blocking launch waits for what is before its operation. */
static bool is_held_up(const struct simulation *simulation, int operation, int64_t ns)
{
	int after = operation_after(simulation, operation);

	return operation_launch(simulation, operation)->is_blocking && after != NOBODY &&
	       ns < operation_at(simulation, after)->end_ns;
}

static void delay(const struct simulation *simulation, struct chain *chain, int operation,
		  int64_t ns)
{
	const struct call *launch = operation_launch(simulation, operation);
	int who = operation_at(simulation, operation)->thread;

	if (!launch) {
		add_operation(simulation, chain, "unlaunched", operation);
	} else if (ns < launch->begin_ns) {
		host(simulation, chain, who, ns);
	} else if (ns < launch->end_ns && !is_held_up(simulation, operation, ns)) {
		struct view view = cause_look(simulation, who, ns);

		if (!view.stretch || view.stretch->state == RUNS)
			add(chain, NOBODY, "launch(%s)", launch->function);
		else
			host(simulation, chain, who, ns);
	} else {
		device(simulation, chain, operation, ns);
	}
}

/* ---- as text ------------------------------------------------------------------------------------ */

void cause_delay_text(const struct simulation *simulation, int operation, int64_t ns,
		      char text[static TEXT_BYTES])
{
	struct chain chain = {.count = 0};

	delay(simulation, &chain, operation, ns);
	print_chain(simulation, &chain, text);
}

void cause_device_text(const struct simulation *simulation, int operation, int64_t ns,
		       char text[static TEXT_BYTES])
{
	struct chain chain = {.count = 0};

	device(simulation, &chain, operation, ns);
	print_chain(simulation, &chain, text);
}

void cause_thread_text(const struct simulation *simulation, int who, int64_t ns, bool is_ordinary,
		       char text[static TEXT_BYTES])
{
	struct chain chain = {.count = 0};
	struct view view = cause_look(simulation, who, ns);

	if (view.waiting && !is_ordinary && (!view.stretch || view.stretch->state != RUNNABLE))
		add(&chain, NOBODY, "sync(%s)", view.waiting->function);
	else if (view.launching &&
		 (!view.stretch || (view.stretch->state == RUNS && !view.interrupt)))
		add(&chain, NOBODY, "launch(%s)", view.launching->function);
	else
		add_state(simulation, &chain, who, ns, &view);
	print_chain(simulation, &chain, text);
}
