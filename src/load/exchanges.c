/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that blocks at a futex waits for a lock or for something that another thread hands over. The kernel does not
 * know which; what threads do with the word (the futex's address) tells:
 *
 *     lock        A waits ── B wakes ── A has it ── A wakes        who waited gives it back
 *     hand-over   A waits ── B wakes     A waits ── B wakes        it goes one way
 *
 * Words of a process are sorted with what threads did there, so that all of a word stands together, and in it all of a
 * thread. This takes O(n) for n futex calls.
 */
#include "load/exchanges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "model/kernel_link.h"

/* Commands of futex calls, as the kernel numbers them. */
enum futex_command {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_WAKE_OP = 5,
	FUTEX_LOCK_PI = 6,
	FUTEX_UNLOCK_PI = 7,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_LOCK_PI2 = 13,
};

enum {
	SEND_NS = 100000, /* a call that sends takes no longer to have done so */
};

/* What a thread did at a word. */
struct use {
	uint64_t word;
	uint32_t process;
	uint32_t track;
	uint32_t state; /* BLOCKED there; MR_NO_ROW: it woke others */
	int64_t ns;     /* when the wait ended, or the call that wakes began */
	uint8_t command;
};

/* A thread began to do something at a word of the GIL. */
struct turn {
	int64_t ns;
	uint32_t process;
	uint32_t track;
};

struct maker {
	struct mr_model *model;
	uint32_t futex; /* mr_futex_number() */
	mr_vec(struct use) uses;
	mr_vec(struct turn) turns; /* in order */
};

/* ---- collecting --------------------------------------------------------------------------------- */

uint32_t mr_futex_number(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (uint32_t i = 0; i < definitions->system_calls.count; i++)
		if (strcmp(mr_model_text(model, definitions->system_calls.items[i]), "futex") == 0)
			return i;
	return UINT32_MAX;
}

static bool wakes(uint8_t command)
{
	return command == FUTEX_WAKE || command == FUTEX_WAKE_OP || command == FUTEX_UNLOCK_PI ||
	       command == FUTEX_WAKE_BITSET;
}

/* The futex call in which the thread is blocked, or MR_NO_ROW. */
static uint32_t futex_call_of(const struct maker *maker, uint32_t state)
{
	const struct mr_model *model = maker->model;
	uint32_t call = model->states.system_call[state];

	return call != MR_NO_ROW && model->system_calls.number[call] == maker->futex ? call
										     : MR_NO_ROW;
}

static int collect_waits(struct maker *maker)
{
	const struct mr_states *states = &maker->model->states;
	const struct mr_system_calls *calls = &maker->model->system_calls;
	const struct mr_track *tracks = maker->model->survey->tracks.items;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < states->table.count; row++) {
		uint32_t call = states->state[row] == MR_STATE_BLOCKED ? futex_call_of(maker, row)
								       : MR_NO_ROW;

		if (call != MR_NO_ROW)
			result = mr_vec_push(
				&maker->uses,
				((struct use){mr_futex_word(calls->argument[call]),
					      tracks[states->track[row]].process,
					      states->track[row], row,
					      states->start_ns[row] + states->duration_ns[row],
					      calls->operation[call]}));
	}
	return result;
}

static int collect_wakes(struct maker *maker)
{
	const struct mr_system_calls *calls = &maker->model->system_calls;
	const struct mr_track *tracks = maker->model->survey->tracks.items;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < calls->table.count; row++)
		if (calls->number[row] == maker->futex && wakes(calls->operation[row]))
			result = mr_vec_push(
				&maker->uses,
				((struct use){mr_futex_word(calls->argument[row]),
					      tracks[calls->track[row]].process, calls->track[row],
					      MR_NO_ROW, calls->start_ns[row],
					      calls->operation[row]}));
	return result;
}

/* Numbers of the uses, by process, word and thread. NULL without memory. */
static struct mr_sort_item *sort_uses(const struct maker *maker)
{
	size_t count = maker->uses.count;
	struct mr_sort_item *items = malloc((count + 1) * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = malloc((count + 1) * sizeof *scratch);

	if (!items || !scratch) {
		free(items);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){maker->uses.items[i].track, i};
	mr_sort(items, scratch, count);
	for (size_t i = 0; i < count; i++)
		items[i].key = maker->uses.items[items[i].index].word;
	mr_sort(items, scratch, count);
	for (size_t i = 0; i < count; i++)
		items[i].key = maker->uses.items[items[i].index].process;
	mr_sort(items, scratch, count);
	return items;
}

/* ---- telling locks from hand-overs -------------------------------------------------------------- */

/* What all threads did at a word. */
struct habits {
	bool waits_plainly;     /* as mutexes do, and condition variables do not */
	bool is_priority_lock;  /* by the command itself */
	bool is_given_back;     /* a thread that had waited there woke others later */
	bool is_one_way;        /* a thread wakes others there that never waits there */
	bool is_partly_unknown; /* calls that do not block are not recorded */
};

/* Of one thread: places [first, end). */
static void add_thread(const struct maker *maker, const struct mr_sort_item *items, size_t first,
		       size_t end, struct habits *habits)
{
	int64_t first_wait_ns = INT64_MAX, last_wake_ns = INT64_MIN;

	for (size_t i = first; i < end; i++) {
		const struct use *use = &maker->uses.items[items[i].index];

		if (use->state == MR_NO_ROW) {
			last_wake_ns = mr_max(last_wake_ns, use->ns);
			continue;
		}
		uint32_t call = maker->model->states.system_call[use->state];
		first_wait_ns = mr_min(first_wait_ns, use->ns);
		habits->waits_plainly |= use->command == FUTEX_WAIT;
		habits->is_priority_lock |=
			use->command == FUTEX_LOCK_PI || use->command == FUTEX_LOCK_PI2;
		habits->is_partly_unknown |=
			(maker->model->system_calls.flags[call] & MR_ROW_BLOCKED) != 0;
	}
	habits->is_given_back |= first_wait_ns <= last_wake_ns;
	habits->is_one_way |= first_wait_ns == INT64_MAX;
}

static enum mr_exchange judge(const struct habits *habits)
{
	if (habits->is_priority_lock)
		return MR_EXCHANGE_LOCK;
	if (habits->is_given_back && (habits->waits_plainly || !habits->is_one_way))
		return MR_EXCHANGE_LOCK;
	return habits->is_partly_unknown ? MR_EXCHANGE_UNKNOWN : MR_EXCHANGE_HAND_OVER;
}

static bool is_same_word(const struct use *a, const struct use *b)
{
	return a->process == b->process && a->word == b->word;
}

/* In the state of an interpreter: of the process, or of the one whose fork it is. */
static bool is_gil(const struct mr_survey *survey, const struct use *use)
{
	uint32_t program = survey->processes.items[use->process].program;

	for (size_t i = 0; i < survey->interpreters.count; i++) {
		const struct mr_interpreter *interpreter = &survey->interpreters.items[i];

		if (survey->processes.items[interpreter->process].program == program &&
		    use->word - interpreter->address < interpreter->bytes)
			return true;
	}
	return false;
}

/* The uses of one word begin at this place; returns where the next word's do. */
static size_t judge_word(struct maker *maker, const struct mr_sort_item *items, size_t first)
{
	const struct use *uses = maker->uses.items, *word = &uses[items[first].index];
	struct habits habits = {0};
	size_t end = first;

	while (end < maker->uses.count && is_same_word(&uses[items[end].index], word)) {
		size_t of_thread = end;

		while (end < maker->uses.count && is_same_word(&uses[items[end].index], word) &&
		       uses[items[end].index].track == uses[items[of_thread].index].track)
			end++;
		add_thread(maker, items, of_thread, end, &habits);
	}
	enum mr_exchange exchange =
		is_gil(maker->model->survey, word) ? MR_EXCHANGE_GIL : judge(&habits);
	for (size_t i = first; i < end; i++)
		if (uses[items[i].index].state != MR_NO_ROW)
			maker->model->states.exchange[uses[items[i].index].state] =
				(uint8_t)exchange;
	return end;
}

/* ---- what ended a wait -------------------------------------------------------------------------- */

static bool is_timer(const struct mr_model *model, uint32_t wakeup)
{
	return wakeup != MR_NO_ROW && (model->wakeups.context[wakeup] == MR_wake_context_timer ||
				       model->wakeups.context[wakeup] == MR_wake_context_hrtimer);
}

/* Timed waits that run out and are repeated at the same word, with next to nothing in between, are one wait. From the
 * last state of the thread to its first. */
static void find_ends(struct maker *maker, uint32_t track)
{
	struct mr_states *states = &maker->model->states;
	const uint32_t *first = &states->table.first_of_track[track];
	uint32_t next = MR_NO_ROW; /* wait at a futex */
	int64_t ran_ns = 0;        /* between this state and that */

	for (uint32_t row = first[1]; row-- > first[0];) {
		states->ended_by[row] = states->wakeup[row];
		if (states->state[row] == MR_STATE_RUN)
			ran_ns += states->duration_ns[row];
		if (states->state[row] == MR_STATE_UNKNOWN)
			next = MR_NO_ROW;
		if (states->state[row] != MR_STATE_BLOCKED)
			continue;
		uint32_t call = futex_call_of(maker, row);
		if (call != MR_NO_ROW && next != MR_NO_ROW &&
		    mr_is_repeat(states->duration_ns[row], ran_ns) &&
		    mr_is_same_futex(maker->model, row, next) &&
		    is_timer(maker->model, states->wakeup[row]))
			states->ended_by[row] = states->ended_by[next];
		next = call == MR_NO_ROW ? MR_NO_ROW : row;
		ran_ns = 0;
	}
}

/* ---- senders ------------------------------------------------------------------------------------ */

static bool begins_with_any(const char *text, const char *const *beginnings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Is the thread in a call that sends through a socket? */
static bool is_in_sending_call(const struct mr_model *model, uint32_t track, int64_t ns)
{
	static const char *const senders[] = {"send",  "write",    "splice",
					      "close", "shutdown", "connect"};
	static const char *const sockets[] = {"TCP", "UDP", "ICMP", "SCTP", "RAW", "socket:"};
	const struct mr_system_calls *calls = &model->system_calls;
	const struct mr_definitions *definitions = &model->survey->definitions;
	const uint32_t *first = &calls->table.first_of_track[track];
	uint32_t next = mr_find_larger(calls->start_ns, first[0], first[1], ns);
	uint32_t call = next - 1;

	if (next == first[0] || calls->start_ns[call] + calls->duration_ns[call] < ns ||
	    calls->number[call] >= definitions->system_calls.count)
		return false;
	uint32_t name = definitions->system_calls.items[calls->number[call]];
	uint32_t path = definitions->files.items[calls->file[call]].path;
	return begins_with_any(mr_model_text(model, name), senders, mr_countof(senders)) &&
	       begins_with_any(mr_model_text(model, path), sockets, mr_countof(sockets));
}

/* Bytes are recorded when they are on their way. This is known, too, where calls that do not block are not recorded. */
static bool has_sent_since(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const struct mr_socket_bytes *bytes = &model->socket_bytes;
	const uint32_t *first = &bytes->table.first_of_track[track];
	uint32_t row = mr_find_larger(bytes->start_ns, first[0], first[1], ns);

	while (row < first[1] && bytes->is_receive[row])
		row++;
	return row < first[1] && bytes->start_ns[row] - ns < SEND_NS;
}

/* On the way to another socket of the same machine the kernel lets the sender do the receiver's part, as if an interrupt
 * did it. */
static bool is_sending(const struct mr_model *model, uint32_t track, int64_t ns)
{
	return is_in_sending_call(model, track, ns) || has_sent_since(model, track, ns);
}

static uint32_t find_waker(const struct mr_model *model, uint32_t wakeup)
{
	const struct mr_wakeups *wakeups = &model->wakeups;

	if (wakeup == MR_NO_ROW || wakeups->waker[wakeup] == MR_NO_TRACK)
		return MR_NO_TRACK;
	if (wakeups->context[wakeup] == MR_wake_context_task)
		return wakeups->waker[wakeup];
	if (wakeups->context[wakeup] == MR_wake_context_softirq &&
	    is_sending(model, wakeups->waker[wakeup], wakeups->start_ns[wakeup]))
		return wakeups->waker[wakeup];
	return MR_NO_TRACK;
}

/* ---- who has the GIL ---------------------------------------------------------------------------- */

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->track > b->track) - (a->track < b->track);
}

static int collect_turns(struct maker *maker)
{
	const struct mr_states *states = &maker->model->states;
	int result = 0;

	for (size_t i = 0; result == 0 && i < maker->uses.count; i++) {
		const struct use *use = &maker->uses.items[i];
		int64_t ns = use->state == MR_NO_ROW ? use->ns : states->start_ns[use->state];

		if (is_gil(maker->model->survey, use))
			result = mr_vec_push(&maker->turns,
					     ((struct turn){ns, use->process, use->track}));
	}
	if (maker->turns.count)
		qsort(maker->turns.items, maker->turns.count, sizeof *maker->turns.items,
		      compare_turns);
	return result;
}

static bool waits_for_gil(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const struct mr_states *states = &model->states;
	const uint32_t *first = &states->table.first_of_track[track];
	uint32_t next = mr_find_larger(states->start_ns, first[0], first[1], ns);

	return next > first[0] && states->exchange[next - 1] == MR_EXCHANGE_GIL &&
	       ns < states->start_ns[next - 1] + states->duration_ns[next - 1];
}

/* Who wants the GIL asks again after a time. If it is free then, nobody wakes anybody. But who had it is the next to do
 * something there: it waits until another thread has taken it, or wants it back. */
static uint32_t find_holder(const struct maker *maker, uint32_t row)
{
	const struct mr_model *model = maker->model;
	uint32_t track = model->states.track[row];
	int64_t ns = model->wakeups.start_ns[model->states.ended_by[row]];
	size_t from = 0, to = maker->turns.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (maker->turns.items[middle].ns < ns)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < maker->turns.count; from++) {
		const struct turn *turn = &maker->turns.items[from];

		if (turn->process == model->survey->tracks.items[track].process &&
		    turn->track != track && !waits_for_gil(model, turn->track, ns))
			return turn->track;
	}
	return MR_NO_TRACK;
}

/* ---- all together ------------------------------------------------------------------------------- */

static uint32_t find_releaser(const struct maker *maker, uint32_t row)
{
	const struct mr_model *model = maker->model;

	if (model->states.exchange[row] == MR_EXCHANGE_GIL &&
	    is_timer(model, model->states.ended_by[row]))
		return find_holder(maker, row);
	return find_waker(model, model->states.ended_by[row]);
}

static int judge_words(struct maker *maker)
{
	int result = collect_waits(maker);

	if (result == 0)
		result = collect_wakes(maker);
	if (result < 0)
		return result;
	mr_auto(free) struct mr_sort_item *items = sort_uses(maker);
	if (!items)
		return -ENOMEM;
	for (size_t first = 0; first < maker->uses.count;)
		first = judge_word(maker, items, first);
	return 0;
}

int mr_exchanges_link(struct mr_model *model)
{
	struct maker maker = {.model = model, .futex = mr_futex_number(model)};
	struct mr_states *states = &model->states;
	int result = judge_words(&maker);

	if (result == 0)
		result = collect_turns(&maker);
	for (uint32_t track = 0; result == 0 && track < model->survey->tracks.count; track++)
		find_ends(&maker, track);
	for (uint32_t row = 0; result == 0 && row < states->table.count; row++)
		states->released_by[row] = find_releaser(&maker, row);
	mr_vec_free(&maker.uses);
	mr_vec_free(&maker.turns);
	return result;
}
