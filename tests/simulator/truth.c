/* SPDX-License-Identifier: Apache-2.0
 *
 * Why every device was idle, one instant after the other: between two moments at which anything in the machine
 * changes, all instants are alike.
 */
#include "causes.h"

#include <string.h>

enum {
	DEFAULT_THRESHOLD_NS = 20000,
	GAPS_NEEDED = 20,
};

/* ---- gaps --------------------------------------------------------------------------------------- */

static bool ends_gaps(const struct operation *operation)
{
	return operation_is_work(operation) && operation->start_ns < operation->end_ns;
}

/* Of two that start together: whose launch began first, then the smaller correlation. */
static bool is_before(const struct simulation *simulation, int a, int b)
{
	const struct call *launch_a = operation_launch(simulation, a),
			  *launch_b = operation_launch(simulation, b);
	int64_t a_ns = operation_at(simulation, a)->start_ns;
	int64_t b_ns = operation_at(simulation, b)->start_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns;
	if (!launch_a != !launch_b)
		return launch_a != NULL;
	if (launch_a && launch_a->begin_ns != launch_b->begin_ns)
		return launch_a->begin_ns < launch_b->begin_ns;
	return operation_at(simulation, a)->correlation < operation_at(simulation, b)->correlation;
}

/* What ends the gap that contains the instant; NOBODY. */
static int gap_end(const struct simulation *simulation, uint32_t device, int64_t ns)
{
	int first = NOBODY;

	for (int i = 0; i < (int)simulation->operations.count; i++)
		if (operation_device(simulation, i) == device &&
		    ends_gaps(operation_at(simulation, i)) &&
		    operation_at(simulation, i)->start_ns > ns &&
		    (first == NOBODY || is_before(simulation, i, first)))
			first = i;
	return first;
}

static int compare_ns(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The length of the gap before the operation, if it ends one, at whose begin it was ready; 0. */
static int64_t ready_gap_ns(const struct simulation *simulation, int number)
{
	const struct operation *operation = operation_at(simulation, number);
	const struct call *launch = operation_launch(simulation, number);
	int64_t begin_ns = operation_free_since_ns(simulation, number);
	int after = operation_after(simulation, number);

	if (!ends_gaps(operation) || begin_ns == INT64_MIN || begin_ns >= operation->start_ns ||
	    gap_end(simulation, operation_device(simulation, number), operation->start_ns - 1) !=
		    number)
		return 0;
	bool is_ready = launch && launch->end_ns <= begin_ns &&
			(after == NOBODY || operation_at(simulation, after)->end_ns <= begin_ns);
	return is_ready ? operation->start_ns - begin_ns : 0;
}

static void find_threshold(struct simulation *simulation, uint32_t device)
{
	mr_vec(int64_t) lengths = {0};

	for (int i = 0; i < (int)simulation->operations.count; i++) {
		int64_t ns =
			operation_device(simulation, i) == device ? ready_gap_ns(simulation, i) : 0;

		if (ns > 0)
			PUSH(&lengths, ns);
	}
	if (lengths.count)
		qsort(lengths.items, lengths.count, sizeof *lengths.items, compare_ns);
	simulation->truth.devices[device].threshold_ns =
		lengths.count < GAPS_NEEDED ? DEFAULT_THRESHOLD_NS
					    : lengths.items[(95 * lengths.count + 99) / 100 - 1];
	mr_vec_free(&lengths);
}

/* ---- moments at which anything changes ---------------------------------------------------------- */

#define NOTE_ALL(simulation, vector)                                           \
	for (size_t i_ = 0; i_ < (vector)->count; i_++) {                      \
		PUSH(&(simulation)->boundaries, (vector)->items[i_].begin_ns); \
		PUSH(&(simulation)->boundaries, (vector)->items[i_].end_ns);   \
	}

static void find_boundaries(struct simulation *simulation)
{
	for (int i = 0; i < simulation->thread_count; i++) {
		const struct thread *thread = &simulation->threads[i];

		NOTE_ALL(simulation, &thread->life);
		NOTE_ALL(simulation, &thread->calls);
		NOTE_ALL(simulation, &thread->nodes);
		NOTE_ALL(simulation, &thread->interrupts);
	}
	for (int i = 0; i < simulation->core_count; i++)
		NOTE_ALL(simulation, &simulation->cores[i].tenures);
	for (int i = 0; i < (int)simulation->operations.count; i++) {
		int64_t ready = operation_ready_ns(simulation, i);
		uint32_t of = operation_device(simulation, i);

		PUSH(&simulation->boundaries, operation_at(simulation, i)->start_ns);
		PUSH(&simulation->boundaries, operation_at(simulation, i)->end_ns);
		if (ready == NEVER)
			continue;
		PUSH(&simulation->boundaries, ready);
		PUSH(&simulation->boundaries, ready + simulation->truth.devices[of].threshold_ns);
	}
	PUSH(&simulation->boundaries, WORLD_BEGIN_NS);
	PUSH(&simulation->boundaries, simulation->end_ns);
	qsort(simulation->boundaries.items, simulation->boundaries.count,
	      sizeof *simulation->boundaries.items, compare_ns);
}

int64_t truth_change_before(const struct simulation *simulation, int64_t ns)
{
	size_t low = 0, high = simulation->boundaries.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (simulation->boundaries.items[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	world_require(low > 0);
	return simulation->boundaries.items[low - 1];
}

/* ---- all devices -------------------------------------------------------------------------------- */

void truth_add_piece(struct truth_pieces *pieces, int64_t begin_ns, int64_t end_ns,
		     const char *text)
{
	struct truth_piece *last = pieces->count ? &pieces->items[pieces->count - 1] : NULL;

	if (begin_ns >= end_ns)
		return;
	if (last && last->end_ns == begin_ns && strcmp(last->text, text) == 0) {
		last->end_ns = end_ns;
		return;
	}
	PUSH(pieces, (struct truth_piece){begin_ns, end_ns, strdup(text)});
}

static void find_span(struct simulation *simulation, uint32_t device)
{
	struct truth_device *truth = &simulation->truth.devices[device];

	*truth = (struct truth_device){.first_ns = INT64_MAX, .last_ns = INT64_MIN};
	snprintf(truth->name, sizeof truth->name, "%s", simulation->devices[device].name);
	for (int i = 0; i < (int)simulation->operations.count; i++) {
		if (operation_device(simulation, i) != device)
			continue;
		truth->first_ns = mr_min(truth->first_ns, operation_at(simulation, i)->start_ns);
		truth->last_ns = mr_max(truth->last_ns, operation_at(simulation, i)->end_ns);
	}
}

static void explain(struct simulation *simulation, uint32_t device)
{
	struct truth_device *truth = &simulation->truth.devices[device];

	for (size_t i = 0; i + 1 < simulation->boundaries.count; i++) {
		int64_t begin_ns = simulation->boundaries.items[i];
		int64_t end_ns = simulation->boundaries.items[i + 1];
		char text[TEXT_BYTES] = "no more work";

		if (begin_ns == end_ns || begin_ns < truth->first_ns ||
		    begin_ns >= truth->last_ns ||
		    device_busy_with(simulation, device, begin_ns) != NOBODY)
			continue;
		int operation = gap_end(simulation, device, begin_ns);
		if (operation != NOBODY)
			cause_delay_text(simulation, operation, begin_ns, text);
		truth_add_piece(&truth->pieces, begin_ns, end_ns, text);
		truth->idle_ns += end_ns - begin_ns;
	}
}

void truth_make(struct simulation *simulation)
{
	struct truth *truth = &simulation->truth;

	truth->first_ns = WORLD_BEGIN_NS;
	truth->last_ns = simulation->end_ns;
	truth->device_count = simulation->device_count;
	truth->devices = calloc(truth->device_count, sizeof *truth->devices);
	world_require(truth->devices != NULL);
	for (uint32_t i = 0; i < simulation->device_count; i++)
		find_span(simulation, i);
	for (uint32_t i = 0; i < simulation->device_count; i++)
		find_threshold(simulation, i);
	find_boundaries(simulation);
	for (uint32_t i = 0; i < simulation->device_count; i++)
		explain(simulation, i);
}

void simulation_operation(const struct simulation *simulation, uint32_t pid, uint64_t correlation,
			  int64_t *ret_start_ns, int64_t *ret_end_ns)
{
	for (int i = 0; i < (int)simulation->operations.count; i++) {
		const struct operation *operation = operation_at(simulation, i);
		uint32_t process = simulation->threads[operation->thread].process;

		if (operation->correlation != correlation ||
		    simulation->threads[simulation->main_threads[process]].tid != pid)
			continue;
		*ret_start_ns = operation->start_ns;
		*ret_end_ns = operation->end_ns;
		return;
	}
	world_require(false);
}
