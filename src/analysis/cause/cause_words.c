/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes in words.
 */
#include "analysis/cause/cause.h"

#include <string.h>

#include "analysis/cause/crowd.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "base/format.h"

enum {
	NAME_WIDTH = 60, /* longer names lose their middle in sentences */
};

const char *mr_cause_name(enum mr_cause_kind kind)
{
	static const char *const names[MR_CAUSE_COUNT] = {
		[MR_CAUSE_DEVICE] = "device",
		[MR_CAUSE_DEPENDENCY] = "dependency",
		[MR_CAUSE_DEVICE_BUSY] = "device busy",
		[MR_CAUSE_DISPATCH] = "dispatch",
		[MR_CAUSE_DEVICE_UNKNOWN] = "device unknown",
		[MR_CAUSE_UNLAUNCHED] = "unlaunched",
		[MR_CAUSE_NO_MORE_WORK] = "no more work",
		[MR_CAUSE_LAUNCH] = "launch",
		[MR_CAUSE_CALL] = "call",
		[MR_CAUSE_SYNC] = "sync",
		[MR_CAUSE_CPU] = "cpu",
		[MR_CAUSE_INTERRUPT] = "interrupt",
		[MR_CAUSE_THROTTLED] = "throttled",
		[MR_CAUSE_PREEMPTED] = "preempted",
		[MR_CAUSE_WAKE_UP] = "wake-up",
		[MR_CAUSE_DISK] = "disk",
		[MR_CAUSE_LOCK] = "lock",
		[MR_CAUSE_GIL] = "gil",
		[MR_CAUSE_HAND_OVER] = "hand-over",
		[MR_CAUSE_NETWORK] = "network",
		[MR_CAUSE_SLEEP] = "sleep",
		[MR_CAUSE_IPC] = "ipc",
		[MR_CAUSE_CHILD] = "child",
		[MR_CAUSE_SIGNAL] = "signal",
		[MR_CAUSE_POLL] = "poll",
		[MR_CAUSE_STOPPED] = "stopped",
		[MR_CAUSE_OTHER] = "other",
		[MR_CAUSE_UNKNOWN] = "unknown",
		[MR_CAUSE_UNTRACED] = "untraced",
	};

	return names[kind];
}

const char *mr_name_text(struct mr_region *region, const char *name)
{
	char brief[4 * NAME_WIDTH + 4];

	mr_text_fit(brief, name, NAME_WIDTH);
	return mr_region_print(region, "%s", brief);
}

const char *mr_line_text(const struct mr_model *model, struct mr_region *region, uint32_t site)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	char text[MR_STACK_BYTES];

	mr_sites_line(&definitions->sites, &definitions->strings, site, text, sizeof text);
	return mr_region_print(region, "%s", text);
}

const char *mr_line_of_link(const struct mr_model *model, struct mr_region *region,
			    struct mr_link link)
{
	return link.culprit == MR_CULPRIT_LINE ? mr_line_text(model, region, link.what) : NULL;
}

const char *mr_thread_text(const struct mr_model *model, struct mr_region *region, uint32_t track)
{
	const struct mr_track *thread = &model->survey->tracks.items[track];
	const char *name = mr_model_text(model, thread->name);

	if (strncmp(name, "thread ", strlen("thread ")) == 0)
		return name;
	if (!*name)
		return mr_region_print(region, "thread %u", thread->tid);
	return mr_region_print(region, "thread %u '%s'", thread->tid, name);
}

static const char *name_task(const struct mr_model *model, struct mr_region *region, uint32_t tid,
			     uint32_t name)
{
	if (tid == 0)
		return "an idle CPU";
	if (!name)
		return mr_region_print(region, "thread %u of another process", tid);
	if (mr_is_recorder(model, name))
		return MR_RECORDER_TEXT;
	if (tid == MR_NO_TID)
		return mr_region_print(region, "'%s' threads of other processes",
				       mr_model_text(model, name));
	return mr_region_print(region, "thread %u '%s' of another process", tid,
			       mr_model_text(model, name));
}

static const char *name_in(const struct mr_model *model, struct mr_region *region, const char *what,
			   uint32_t track)
{
	const char *thread = mr_thread_text(model, region, track);

	return thread ? mr_region_print(region, "%s (%s)", what, thread) : NULL;
}

static const char *name_node(const struct mr_model *model, uint32_t node)
{
	return mr_model_text(model, model->survey->definitions.nodes.items[node].name);
}

static const char *name_folder(const struct mr_model *model, struct mr_region *region,
			       uint32_t file, uint32_t count)
{
	const char *path = mr_file_path(model, file);
	const char *slash = strrchr(path, '/');

	return mr_region_print(region, "%u files in %.*s", count,
			       (int)mr_max(slash - path, (ptrdiff_t)1), path);
}

/* What a thread did while others waited for it: "running Decode". */
static const char *tell_deed(const struct mr_model *model, struct mr_region *region,
			     struct mr_link link)
{
	const char *what = "";

	if (link.culprit == MR_CULPRIT_NODE)
		what = name_node(model, link.what);
	else if (link.culprit == MR_CULPRIT_CALL || link.culprit == MR_CULPRIT_FUNCTION)
		what = mr_model_text(model, link.what);
	else if (link.culprit == MR_CULPRIT_LINE)
		what = mr_line_text(model, region, link.what);
	if (!what)
		return NULL;
	switch (link.kind) {
	case MR_CAUSE_CPU:
		return mr_region_print(region, *what ? "running %s" : "running", what);
	case MR_CAUSE_CALL:
		return mr_region_print(region, *what ? "in %s" : "in a runtime call", what);
	case MR_CAUSE_SLEEP:
		return "asleep";
	case MR_CAUSE_UNTRACED:
		return mr_region_print(region, *what ? "untraced in %s" : "untraced", what);
	}
	return "doing something unknown";
}

/* And what it did meanwhile, if the link says that. */
static const char *name_thread(const struct mr_model *model, struct mr_region *region,
			       struct mr_link link)
{
	const char *thread = mr_thread_text(model, region, link.what);

	if (!thread || !link.in)
		return thread;
	return mr_region_print(region, "%s, %s", thread,
			       tell_deed(model, region, mr_link_bare(link.in)));
}

/* A line that a thread runs; where others wait for it, the thread comes first. */
static const char *name_line(const struct mr_model *model, struct mr_region *region,
			     struct mr_link link)
{
	const char *line = mr_line_text(model, region, link.what);
	const char *thread = mr_thread_text(model, region, link.in);

	if (!line || !thread)
		return NULL;
	return link.kind == MR_CAUSE_CPU ? mr_region_print(region, "%s (%s)", line, thread)
					 : mr_region_print(region, "%s, running %s", thread, line);
}

const char *mr_link_culprit(const struct mr_model *model, struct mr_region *region,
			    struct mr_link link)
{
	switch (link.culprit) {
	case MR_CULPRIT_OPERATION:
		return mr_region_print(region, "%s (%s)", mr_model_text(model, link.what),
				       mr_device_name(model, link.in));
	case MR_CULPRIT_UNNAMED:
		return mr_region_print(region, "%s (%s)",
				       mr_enum_value_name("operation_kind", link.what),
				       mr_device_name(model, link.in));
	case MR_CULPRIT_FUNCTION:
		return mr_model_text(model, link.what);
	case MR_CULPRIT_SOURCE:
		return mr_model_text(model, link.what);
	case MR_CULPRIT_NODE:
		return name_in(model, region, name_node(model, link.what), link.in);
	case MR_CULPRIT_CALL:
		return name_in(model, region, mr_model_text(model, link.what), link.in);
	case MR_CULPRIT_LINE:
		return name_line(model, region, link);
	case MR_CULPRIT_THREAD:
		return name_thread(model, region, link);
	case MR_CULPRIT_THREADS:
		return mr_crowd_text(model, region, link.what, link.in);
	case MR_CULPRIT_TASK:
		return name_task(model, region, link.what, link.in);
	case MR_CULPRIT_FILE:
		return mr_file_path(model, link.what);
	case MR_CULPRIT_FOLDER:
		return name_folder(model, region, link.what, link.in);
	case MR_CULPRIT_INTERRUPT:
		return mr_region_print(region, "%s %s", mr_interrupt_kind_name(link.in),
				       mr_interrupt_text(region, link.in, link.what));
	}
	return "";
}

const char *mr_chain_culprit(const struct mr_model *model, struct mr_region *region,
			     const struct mr_chains *chains, uint32_t headline)
{
	struct mr_link link = *mr_chain_link(chains, headline);
	const char *culprit = mr_link_culprit(model, region, link);

	if (!culprit || link.next == MR_NO_CHAIN)
		return culprit;
	const char *deed =
		tell_deed(model, region, *mr_chain_link(chains, mr_chain_root(chains, headline)));
	return deed ? mr_region_print(region, "%s, %s", culprit, deed) : NULL;
}

const char *mr_chain_text(const struct mr_model *model, struct mr_region *region,
			  const struct mr_chains *chains, uint32_t chain)
{
	const char *text = "";

	while (text && chain != MR_NO_CHAIN) {
		struct mr_link link = *mr_chain_link(chains, chain);
		const char *culprit = mr_link_culprit(model, region, link);

		text = culprit ? mr_region_print(region, "%s%s%s%s%s%s", text, *text ? " > " : "",
						 mr_cause_name(link.kind), *culprit ? " (" : "",
						 culprit, *culprit ? ")" : "")
			       : NULL;
		chain = link.next;
	}
	return text;
}

const char *mr_cause_noun(enum mr_cause_kind kind)
{
	static const char *const nouns[MR_CAUSE_COUNT] = {
		[MR_CAUSE_DEVICE] = "on devices",
		[MR_CAUSE_DEPENDENCY] = "for other operations",
		[MR_CAUSE_DEVICE_BUSY] = "behind other operations",
		[MR_CAUSE_DISPATCH] = "dispatch",
		[MR_CAUSE_DEVICE_UNKNOWN] = "of ready work that did not start",
		[MR_CAUSE_UNLAUNCHED] = "before work whose launch is not in the trace",
		[MR_CAUSE_NO_MORE_WORK] = "without work",
		[MR_CAUSE_LAUNCH] = "in launches",
		[MR_CAUSE_CALL] = "in runtime calls",
		[MR_CAUSE_SYNC] = "returning from waits",
		[MR_CAUSE_CPU] = "of work on CPUs",
		[MR_CAUSE_INTERRUPT] = "in interrupts",
		[MR_CAUSE_THROTTLED] = "throttled",
		[MR_CAUSE_PREEMPTED] = "waiting for a CPU",
		[MR_CAUSE_WAKE_UP] = "waking up",
		[MR_CAUSE_DISK] = "waiting for disks",
		[MR_CAUSE_LOCK] = "at locks",
		[MR_CAUSE_GIL] = "at the interpreter's lock (GIL)",
		[MR_CAUSE_HAND_OVER] = "waiting for another thread",
		[MR_CAUSE_NETWORK] = "on the network",
		[MR_CAUSE_SLEEP] = "asleep",
		[MR_CAUSE_IPC] = "at pipes and other channels",
		[MR_CAUSE_CHILD] = "waiting for children",
		[MR_CAUSE_SIGNAL] = "asleep until signals came",
		[MR_CAUSE_POLL] = "in poll",
		[MR_CAUSE_STOPPED] = "stopped",
		[MR_CAUSE_OTHER] = "otherwise blocked",
		[MR_CAUSE_UNKNOWN] = "blocked for an unknown reason",
		[MR_CAUSE_UNTRACED] = "that nothing recorded explains",
	};

	return nouns[kind];
}

/* ---- sentences ---------------------------------------------------------------------------------- */

/* $w: the thread, $c: the culprit; what stands in brackets is left out without one. */
static const char *const clauses[MR_CAUSE_COUNT] = {
	[MR_CAUSE_DEVICE] = "$c ran",
	[MR_CAUSE_DEPENDENCY] = "it had to wait for $c",
	[MR_CAUSE_DEVICE_BUSY] = "another device was busy with $c",
	[MR_CAUSE_DISPATCH] = "ready work took its usual time to start (dispatch)",
	[MR_CAUSE_DEVICE_UNKNOWN] = "ready work did not start, which nothing in the trace explains",
	[MR_CAUSE_UNLAUNCHED] = "$c had not started, and its launch is not in the trace",
	[MR_CAUSE_NO_MORE_WORK] = "there was no more work",
	[MR_CAUSE_LAUNCH] = "$w was launching the next operation ($c)",
	[MR_CAUSE_CALL] = "$w was in $c",
	[MR_CAUSE_SYNC] = "$w was returning from $c",
	[MR_CAUSE_CPU] = "$w was running[ $c]",
	[MR_CAUSE_INTERRUPT] = "$w was interrupted by $c",
	[MR_CAUSE_THROTTLED] = "$w had used up its group's share of the CPUs",
	[MR_CAUSE_PREEMPTED] = "$w waited for a CPU[ that $c had]",
	[MR_CAUSE_WAKE_UP] = "$w had been woken and did not run yet",
	[MR_CAUSE_DISK] = "$w waited for the disk[ ($c)]",
	[MR_CAUSE_LOCK] = "$w waited at a lock[ for $c]",
	[MR_CAUSE_GIL] = "$w waited for the interpreter's lock (GIL)[, which $c had]",
	[MR_CAUSE_HAND_OVER] = "$w waited[ for $c]",
	[MR_CAUSE_NETWORK] = "$w waited on the network[ for $c]",
	[MR_CAUSE_SLEEP] = "$w was asleep",
	[MR_CAUSE_IPC] = "$w waited at a pipe or other channel[ for $c]",
	[MR_CAUSE_CHILD] = "$w waited for its child[, $c]",
	[MR_CAUSE_SIGNAL] = "$w was asleep until $c sent it a signal or ended the process",
	[MR_CAUSE_POLL] = "$w waited in poll[ for $c]",
	[MR_CAUSE_STOPPED] = "$w was stopped",
	[MR_CAUSE_OTHER] = "$w was blocked[ ($c)]",
	[MR_CAUSE_UNKNOWN] = "$w was blocked, for an unknown reason",
	[MR_CAUSE_UNTRACED] = "$w did something that was not recorded[, in $c]",
};

static char *expand(const char *clause, const char *who, const char *culprit)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	bool is_left_out = false;

	if (!to)
		return NULL;
	for (; *clause; clause++) {
		if (*clause == '[' || *clause == ']') {
			is_left_out = *clause == '[' && !*culprit;
		} else if (!is_left_out && *clause == '$') {
			fputs(*++clause == 'w' ? who : culprit, to);
		} else if (!is_left_out) {
			fputc(*clause, to);
		}
	}
	return fclose(to) == 0 ? text : NULL;
}

/* The culprit as it is called in a sentence that names its thread. */
static const char *name_briefly(const struct mr_model *model, struct mr_region *region,
				struct mr_link link)
{
	switch (link.culprit) {
	case MR_CULPRIT_NODE:
		return mr_name_text(region, name_node(model, link.what));
	case MR_CULPRIT_CALL:
		return mr_model_text(model, link.what);
	case MR_CULPRIT_OPERATION: {
		const char *name = mr_name_text(region, mr_model_text(model, link.what));

		return name ? mr_region_print(region, "%s of %s", name,
					      mr_device_name(model, link.in))
			    : NULL;
	}
	case MR_CULPRIT_LINE:
		if (link.kind == MR_CAUSE_CPU)
			return mr_line_text(model, region, link.what);
		break;
	case MR_CULPRIT_THREAD:
		if (link.kind == MR_CAUSE_CPU)
			return "";
	}
	return mr_link_culprit(model, region, link);
}

/* Causes whose culprit is the thread that they are about. */
static bool is_its_own(uint16_t kind)
{
	return kind == MR_CAUSE_CPU || kind == MR_CAUSE_SLEEP || kind == MR_CAUSE_UNTRACED;
}

const char *mr_chain_clause(const struct mr_model *model, struct mr_region *region,
			    const struct mr_chains *chains, uint32_t headline, uint32_t thread)
{
	struct mr_link link = *mr_chain_link(chains, headline);
	const char *who = "a thread", *culprit = name_briefly(model, region, link);

	if (link.culprit == MR_CULPRIT_THREADS && is_its_own(link.kind)) {
		who = culprit ? mr_region_print(region, "one of %s", culprit) : NULL;
		culprit = "";
	} else if (culprit && link.next != MR_NO_CHAIN) {
		const char *deed = tell_deed(
			model, region, *mr_chain_link(chains, mr_chain_root(chains, headline)));

		culprit = deed ? mr_region_print(region, "%s, which was %s", culprit, deed) : NULL;
	} else if (thread != MR_NO_TRACK) {
		who = mr_thread_text(model, region, thread);
	}
	mr_auto(free) char *text = who && culprit ? expand(clauses[link.kind], who, culprit) : NULL;
	return text ? mr_region_print(region, "%s", text) : NULL;
}
