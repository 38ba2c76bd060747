/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/crowd.h"

#include <string.h>

#include "analysis/cause/waiting.h"

enum {
	IS_PROCESS = 1, /* its only thread, or its first */
	IS_CROWD = 2,
	COUNT_SHIFT = 2, /* above the bits */
};

static int find_folders(struct mr_crowds *crowds, uint32_t count)
{
	struct mr_strings folders = {0};
	mr_auto(free) uint32_t *firsts = malloc((count + 1) * sizeof *firsts);
	int result = firsts ? 0 : -ENOMEM;

	for (uint32_t file = 0; result == 0 && file < count; file++) {
		const char *path = mr_file_path(crowds->model, file);
		const char *slash = *path == '/' ? strrchr(path, '/') : NULL;
		uint32_t folder, known = mr_strings_count(&folders);

		crowds->first_in_folder[file] = file;
		if (!slash)
			continue;
		result = mr_strings_intern(&folders, path, (size_t)(slash - path) + 1, &folder);
		if (result == 0 && folder == known)
			firsts[folder] = file;
		if (result == 0)
			crowds->first_in_folder[file] = firsts[folder];
	}
	mr_strings_free(&folders);
	return result;
}

int mr_crowds_make(const struct mr_model *model, struct mr_crowds *ret_crowds)
{
	uint32_t count = (uint32_t)model->survey->definitions.files.count;
	struct mr_crowds crowds = {model, malloc((count + 1) * sizeof *crowds.first_in_folder)};
	int result = crowds.first_in_folder ? find_folders(&crowds, count) : -ENOMEM;

	if (result < 0)
		mr_crowds_free(&crowds);
	else
		*ret_crowds = crowds;
	return result;
}

void mr_crowds_free(struct mr_crowds *crowds)
{
	free(crowds->first_in_folder);
}

uint32_t mr_crowd_of_tasks(uint32_t members)
{
	return members << COUNT_SHIFT | IS_CROWD;
}

uint32_t mr_crowd_of_thread(const struct mr_model *model, uint32_t track, uint32_t members)
{
	bool is_process = model->survey->tracks.items[track].tid == mr_track_pid(model, track);

	return mr_crowd_of_tasks(members) | (is_process ? IS_PROCESS : 0);
}

const char *mr_crowd_text(const struct mr_model *model, struct mr_region *region, uint32_t name,
			  uint32_t crowd)
{
	return mr_region_print(region, "%u '%s' %s", crowd >> COUNT_SHIFT,
			       mr_model_text(model, name),
			       crowd & IS_PROCESS ? "processes" : "threads");
}

bool mr_link_widen(const void *context, void *key, uint32_t members)
{
	const struct mr_crowds *crowds = context;
	struct mr_link *link = key;

	if (link->culprit == MR_CULPRIT_THREAD) {
		/* By the kernel's name: Python numbers threads that have no name of their own. */
		uint32_t track = link->what;
		const struct mr_track *of = &crowds->model->survey->tracks.items[track];
		uint32_t name = of->kernel_name ? of->kernel_name : of->name;

		if (!name)
			return false;
		link->culprit = MR_CULPRIT_THREADS;
		link->what = name;
		link->in = mr_crowd_of_thread(crowds->model, track, members);
		return true;
	}
	if (link->culprit == MR_CULPRIT_FILE && *mr_file_path(crowds->model, link->what) == '/') {
		link->culprit = MR_CULPRIT_FOLDER;
		link->what = crowds->first_in_folder[link->what];
		link->in = members;
		return true;
	}
	return false;
}
