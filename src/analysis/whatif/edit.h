/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user would change, as a text:
 *
 *     scale type:MatMul 0.5       all time of such operations, on threads and devices, is halved
 *     scale thread:loader 2       what these threads do takes twice as long
 *     scale code:read_frame 0.5   a function in Python, with all that it calls, takes half the time
 *     drop cause:disk             disks answer at once
 *     drop cause:lock             nobody waits for a lock
 *     drop problem:input_bound    what the problem costs takes no time
 *
 * A selector is a kind and a pattern as the shell has them (*, ?, [...]). doc/whatif.md describes all.
 */
#ifndef MR_ANALYSIS_EDIT_H
#define MR_ANALYSIS_EDIT_H

#include "analysis/whatif/replay.h"

enum mr_selector_kind {
	MR_SELECT_CAUSE,    /* as doc/causes.md calls it */
	MR_SELECT_TYPE,     /* type of operation, or family */
	MR_SELECT_NODE,     /* name of the operation */
	MR_SELECT_KERNEL,   /* device kernel, or copy: name of the device operation */
	MR_SELECT_DEVICE,   /* name */
	MR_SELECT_FUNCTION, /* of a runtime */
	MR_SELECT_CODE,     /* function in Python: what it does itself, and what it calls */
	MR_SELECT_THREAD,   /* name, or tid */
	MR_SELECT_PROCESS,  /* program, or pid */
	MR_SELECT_PROBLEM,  /* key, as doc/problems.md has it */
	MR_SELECTORS,
};

/* "type" */
const char *mr_selector_name(enum mr_selector_kind kind);

struct mr_edit {
	bool is_drop; /* else it scales */
	enum mr_selector_kind selector;
	char pattern[256];
	double factor; /* of the time */
};

/* Is the text meant to be an edit? */
bool mr_edit_is_one(const char *text);

/* -EINVAL with a cause. */
int mr_edit_parse(const char *text, struct mr_edit *ret_edit);

/* Changes what the edit says, unless it selects problems, on top of what is changed already. -ENOENT with a cause if there is nothing of that name,
 * -EINVAL if it cannot be done. */
int mr_edit_apply(const struct mr_edit *edit, const struct mr_course *course,
		  struct mr_change *change);

/* What a selector of that kind would call a piece: a string of the model; 0: nothing. A cause has no string. Of functions in
 * Python, of which several may have called each other, it is the innermost of the program's own. */
uint32_t mr_piece_name(const struct mr_model *model, const struct mr_piece *piece,
		       enum mr_selector_kind kind);

#endif
