/* SPDX-License-Identifier: Apache-2.0
 *
 * Records which frameworks and GPU runtimes are loaded in the process: if a trace has no events of one, the
 * report can say that it was loaded, and why there are no events.
 */
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "hook/hook.h"
#include "hook/hooks.h"
#include "record/recorder.h"

static atomic_bool is_noted[MR_HOOKS][MR_HOOK_LIBRARIES];
static atomic_bool is_told[MR_HOOKS];                     /* that it is not traced */
static atomic_bool is_taken[MR_HOOKS][MR_HOOK_VARIABLES]; /* by somebody else's path */

void mr_seen_prepare(void)
{
	for (int i = 0; i < MR_HOOKS; i++)
		for (int j = 0; j < MR_HOOK_VARIABLES; j++) {
			const struct mr_hook_variable *variable = &mr_hooks[i].variables[j];
			bool is_path = variable->name && !variable->separators;
			const char *value = is_path ? getenv(variable->name) : NULL;
			is_taken[i][j] = value && *value && strcmp(value, mr_library_path) != 0;
		}
}

static void note_taken(int hook)
{
	for (int j = 0; j < MR_HOOK_VARIABLES; j++) {
		char text[256];
		if (!atomic_exchange(&is_taken[hook][j], false))
			continue;
		snprintf(text, sizeof text, "%s, which held another library: %s is not traced",
			 mr_hooks[hook].variables[j].name, mr_hooks[hook].title);
		mr_define_event(MR_EVENT_hook_missing, NULL, 0, text);
	}
}

static void note_not_traced(int hook)
{
	if (!mr_hooks[hook].is_traced && !atomic_exchange(&is_told[hook], true))
		mr_define_event(MR_EVENT_runtime_not_traced, NULL, 0, mr_hooks[hook].title);
}

static int note_library(struct dl_phdr_info *library, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	const char *slash = strrchr(library->dlpi_name, '/');
	const char *name = slash ? slash + 1 : library->dlpi_name;
	for (int i = 0; i < MR_HOOKS; i++)
		for (int j = 0; j < MR_HOOK_LIBRARIES && mr_hooks[i].libraries[j]; j++) {
			const char *beginning = mr_hooks[i].libraries[j];
			if (strncmp(name, beginning, strlen(beginning)) != 0)
				continue;
			if (!atomic_exchange(&is_noted[i][j], true))
				mr_define_event(MR_EVENT_runtime_seen, NULL, 0, name);
			note_not_traced(i);
			note_taken(i);
		}
	return 0;
}

/* Not in a forked child: it has its parent's libraries, and perhaps the dynamic linker's lock, taken by a
 * thread that the child does not have. */
void mr_seen_note(void)
{
	if (mr_this_process.generation == 0 || mr_this_process.origin != MR_process_origin_exec)
		return;
	dl_iterate_phdr(note_library, NULL);
	mr_hooks_note_missing();
}
