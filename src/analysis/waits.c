/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocked time of all threads, divided three ways: by what they waited for, by the call and file in which they
 * did, and by who or what ended the wait. Each division sums to the whole.
 */
#include "analysis/analysis.h"

#include "analysis/cause/crowd.h"
#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"
#include "base/error.h"

enum {
	EVIDENCE = 3,
};

struct waits {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_tally by_kind;
	struct mr_tally by_call;
	struct mr_tally by_waker;
	int64_t blocked_ns;
};

/* ---- what for ----------------------------------------------------------------------------------- */

static int name_kind(const struct mr_model *model, struct mr_findings *findings, const void *key,
		     uint32_t row, union mr_value *cells)
{
	(void)model, (void)findings, (void)row;
	cells[0].text = mr_wait_kind_name(*(const uint8_t *)key);
	return 0;
}

static int add_kinds(const struct waits *waits)
{
	static const struct mr_finding_column columns[] = {
		{"wait", "for", MR_UNIT_TEXT, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_wait", "Blocked, by what for", columns,
						  mr_countof(columns), name_kind};

	return mr_tally_show(&waits->by_kind, waits->model, waits->findings, waits->finding, &look,
			     waits->blocked_ns);
}

/* ---- in which call ------------------------------------------------------------------------------ */

struct call_key {
	uint32_t number; /* UINT32_MAX: none */
	uint32_t file;
};

static struct call_key call_of(const struct mr_model *model, uint32_t row)
{
	uint32_t call = model->states.system_call[row];

	if (call == MR_NO_ROW)
		return (struct call_key){UINT32_MAX, 0};
	return (struct call_key){model->system_calls.number[call], model->system_calls.file[call]};
}

static int name_call(const struct mr_model *model, struct mr_findings *findings, const void *key,
		     uint32_t row, union mr_value *cells)
{
	const struct call_key *call = key;

	(void)row;
	cells[0].text = call->number == UINT32_MAX
				? "(not known, or none)"
				: mr_system_call_text(model, findings, call->number);
	cells[1].text = mr_file_path(model, call->file);
	return cells[0].text ? 0 : -ENOMEM;
}

static int prove_calls(const struct waits *waits, const struct mr_sort_item *order)
{
	for (size_t i = 0; i < waits->by_call.entries.count && i < EVIDENCE; i++) {
		uint32_t row = waits->by_call.entries.items[order[i].index].longest;
		const struct call_key *key = mr_tally_key(&waits->by_call, order[i].index);
		union mr_value cells[2];

		if (key->number == UINT32_MAX)
			continue;
		if (name_call(waits->model, waits->findings, key, row, cells) < 0)
			return -ENOMEM;
		const char *what =
			mr_region_print(&waits->findings->region, "%s%s%s", cells[0].text,
					*cells[1].text ? " " : "", cells[1].text);
		if (!what || mr_finding_prove(waits->finding,
					      mr_state_evidence(waits->model, row, what)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_calls(const struct waits *waits)
{
	static const struct mr_finding_column columns[] = {
		{"call", "system call", MR_UNIT_TEXT, 0},
		{"file", "file or socket", MR_UNIT_TEXT, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_call", "Blocked, by system call", columns,
						  mr_countof(columns), name_call};
	mr_auto(free) struct mr_sort_item *order = NULL;

	if (mr_tally_show(&waits->by_call, waits->model, waits->findings, waits->finding, &look,
			  waits->blocked_ns) < 0 ||
	    mr_tally_sort(&waits->by_call, &order) < 0)
		return -ENOMEM;
	return prove_calls(waits, order);
}

/* ---- ended by whom ------------------------------------------------------------------------------ */

/* Who ran when an interrupt or a timer woke the thread has nothing to do with it. */
struct waker_key {
	uint32_t tid;    /* of a thread that woke; MR_NO_TID: not recorded */
	uint32_t name;   /* string */
	uint32_t source; /* string */
	uint32_t context;
	uint32_t crowd; /* of threads with that name; 0: none (crowd.h) */
};

/* What ends a wait may come after the window. */
static struct waker_key waker_of(const struct mr_model *model, uint32_t row)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_wakeups *wakeups = &whole->wakeups;
	uint32_t wakeup = whole->states.wakeup[mr_table_whole_row(&model->states.table, row)];

	if (wakeup == MR_NO_ROW)
		return (struct waker_key){.tid = MR_NO_TID};
	struct waker_key key = {.source = wakeups->source[wakeup],
				.context = wakeups->context[wakeup]};
	if (key.context == MR_wake_context_task) {
		key.tid = wakeups->waker_tid[wakeup];
		key.name = mr_task_name_at(&model->survey->tasks,
					   mr_track_host(model, wakeups->track[wakeup]), key.tid,
					   wakeups->start_ns[wakeup]);
	}
	return key;
}

static bool widen_waker(const void *context, void *key, uint32_t members)
{
	struct waker_key *waker = key;

	(void)context;
	if (!waker->name)
		return false;
	waker->tid = 0;
	waker->crowd = mr_crowd_of_tasks(members);
	return true;
}

static int name_waker(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	static const char *const contexts[] = {
		[MR_wake_context_task] = "thread",
		[MR_wake_context_hrtimer] = "timer",
		[MR_wake_context_timer] = "timer",
		[MR_wake_context_irq] = "interrupt",
		[MR_wake_context_softirq] = "softirq",
		[MR_wake_context_interrupt_vector] = "interrupt",
	};
	const struct waker_key *waker = key;

	(void)row;
	if (waker->crowd) {
		cells[0].text = mr_crowd_text(model, &findings->region, waker->name, waker->crowd);
		cells[1].text = "thread";
		cells[2].number = MR_NO_VALUE;
		return cells[0].text ? 0 : -ENOMEM;
	}
	if (waker->tid == MR_NO_TID) {
		cells[0].text = "(not recorded)";
		cells[1].text = "";
		cells[2].number = MR_NO_VALUE;
		return 0;
	}
	uint32_t name = waker->context == MR_wake_context_task ? waker->name : waker->source;
	cells[0].text = name ? mr_model_text(model, name) : "(no name)";
	cells[1].text = waker->context < mr_countof(contexts) ? contexts[waker->context] : "?";
	cells[2].number = waker->tid ? waker->tid : MR_NO_VALUE;
	return 0;
}

static int add_wakers(struct waits *waits)
{
	static const struct mr_finding_column columns[] = {
		{"waker", "woken by", MR_UNIT_TEXT, 0},
		{"context", "which is a", MR_UNIT_TEXT, 0},
		{"waker_tid", "tid", MR_UNIT_NUMBER, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_waker", "Blocked, by who ended it", columns,
						  mr_countof(columns), name_waker};

	if (mr_tally_merge(&waits->by_waker, sizeof(struct waker_key), widen_waker, NULL) < 0)
		return -ENOMEM;
	return mr_tally_show(&waits->by_waker, waits->model, waits->findings, waits->finding, &look,
			     waits->blocked_ns);
}

/* ---- together ----------------------------------------------------------------------------------- */

static int add_up(struct waits *waits)
{
	const struct mr_states *states = &waits->model->states;

	for (uint32_t row = 0; row < states->table.count; row++) {
		if (states->state[row] != MR_STATE_BLOCKED)
			continue;
		uint8_t kind = (uint8_t)mr_wait_kind_of(waits->model, row);
		const struct call_key call = call_of(waits->model, row);
		const struct waker_key waker = waker_of(waits->model, row);
		int64_t ns = states->duration_ns[row];

		mr_ns_add(&waits->blocked_ns, ns);
		if (mr_tally_add(&waits->by_kind, &kind, sizeof kind, ns, row) < 0 ||
		    mr_tally_add(&waits->by_call, &call, sizeof call, ns, row) < 0 ||
		    mr_tally_add(&waits->by_waker, &waker, sizeof waker, ns, row) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int analyse(struct waits *waits)
{
	if (add_up(waits) < 0)
		return -ENOMEM;
	if (waits->blocked_ns == 0)
		return 0;
	waits->finding = mr_finding_begin(waits->findings, "waits");
	if (!waits->finding)
		return -ENOMEM;
	if (mr_model_whole(waits->model)->wakeups.table.count == 0)
		return mr_finding_say(
			waits->findings, waits->finding, MR_SEVERITY_NOTE,
			"The trace shows that threads were blocked, but neither what they waited "
			"for nor who ended the wait. A wait lasts until the thread runs again.");
	return add_kinds(waits) < 0 || add_calls(waits) < 0 ? -ENOMEM : add_wakers(waits);
}

int mr_analyse_waits(const struct mr_model *model, struct mr_findings *findings)
{
	struct waits waits = {.model = model, .findings = findings};
	int result = analyse(&waits);

	mr_tally_free(&waits.by_kind);
	mr_tally_free(&waits.by_call);
	mr_tally_free(&waits.by_waker);
	return result < 0 ? mr_fail_errno(-result, "analyse the waits") : 0;
}
