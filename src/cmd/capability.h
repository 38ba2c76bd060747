/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be traced on this machine. There is one probe per capability. It reports what it found, why
 * that is not enough, and the command that fixes it.
 */
#ifndef MR_CMD_CAPABILITY_H
#define MR_CMD_CAPABILITY_H

enum mr_capability_state {
	MR_CAPABILITY_OK,
	MR_CAPABILITY_DEGRADED, /* works, but slower, with less room or less exactly */
	MR_CAPABILITY_MISSING,
};

struct mr_capability {
	const char *name;
	const char
		*level; /* "core": recording needs it; "dataflow", "runtime", "kernel", "tools" */
	enum mr_capability_state state;
	char reason[320]; /* what was found; one line */
	char remedy[320]; /* a command to type; empty when there is none */
};

/* "ok", "degraded", "missing" */
const char *mr_capability_state_name(enum mr_capability_state state);

typedef void mr_capability_visitor(const struct mr_capability *capability, void *data);

/* Runs the probes one after the other, by level. Some start short-lived programs. */
void mr_capability_visit(mr_capability_visitor *visit, void *data);

#endif
