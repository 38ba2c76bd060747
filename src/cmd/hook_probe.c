/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/hook_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mapping.h"
#include "cmd/probe.h"

enum {
	PLACE_BYTES = 160, /* of a path that is shown */
};

bool mr_hook_is_probed(const struct mr_hook *hook)
{
	return hook->probe.package || hook->probe.library;
}

/* Millrace recognises it but has no hooks for it. `where` is empty if it is not installed. */
static void say_not_traced(const struct mr_hook *hook, const char *where,
			   struct mr_capability *capability)
{
	const char *instead = *where ? hook->probe.instead : NULL;
	mr_found(capability, MR_CAPABILITY_MISSING,
		 "%s%sthis version of millrace does not trace %s%s%s",
		 *where ? where : "not installed", *where ? ", but " : "; ", hook->title,
		 instead ? "; " : "", instead ? instead : "");
	if (*where && hook->probe.remedy)
		mr_remedy(capability, "%s", hook->probe.remedy);
}

static void say_not_installed(const struct mr_hook *hook, const char *sentence,
			      struct mr_capability *capability)
{
	mr_found(capability, MR_CAPABILITY_MISSING, "%s", sentence);
	if (hook->probe.remedy)
		mr_remedy(capability, "%s", hook->probe.remedy);
}

/* ---- packages of Python ------------------------------------------------------------------------------ */

struct package {
	char name[64];
	char version[64]; /* "?" if it is not known */
	char folder[PLACE_BYTES];
};

/* Asks Python where it would import each package of the table from, without importing it: lines "NAME VERSION FOLDER".
 * Asks only once, because Python is slow to start. */
static const char *python_packages(void)
{
	static const char script[] =
		"import importlib.metadata as metadata, importlib.util as util, os, sys\n"
		"try:\n"
		"    owners = metadata.packages_distributions()\n"
		"except AttributeError:\n"
		"    owners = {}\n"
		"for name in sys.argv[1:]:\n"
		"    spec = util.find_spec(name)\n"
		"    if not spec or not spec.origin:\n"
		"        continue\n"
		"    try:\n"
		"        version = metadata.version(owners.get(name, [name])[0])\n"
		"    except metadata.PackageNotFoundError:\n"
		"        version = None\n"
		"    print(name, version or \"?\", os.path.dirname(spec.origin))\n";
	static char packages[4096];
	static bool is_asked;
	char command[2048];
	if (is_asked)
		return packages;
	is_asked = true;
	int length = snprintf(command, sizeof command, "python3 -c '%s'", script);
	for (int i = 0; i < MR_HOOKS; i++)
		if (mr_hooks[i].probe.package)
			length += snprintf(command + length, sizeof command - (size_t)length, " %s",
					   mr_hooks[i].probe.package);
	snprintf(command + length, sizeof command - (size_t)length, " 2>/dev/null");
	mr_auto(close_pipe) FILE *output = popen(command, "re");
	size_t bytes = output ? fread(packages, 1, sizeof packages - 1, output) : 0;
	packages[bytes] = '\0';
	return packages;
}

static bool find_package(const char *name, struct package *ret_package)
{
	for (const char *line = python_packages(); *line;) {
		size_t length = strcspn(line, "\n");
		if (sscanf(line, "%63s %63s %159[^\n]", ret_package->name, ret_package->version,
			   ret_package->folder) == 3 &&
		    strcmp(ret_package->name, name) == 0)
			return true;
		line += length + (line[length] == '\n');
	}
	return false;
}

/* Major and minor only: "2.15" and "2.15.3" are equal. False if the text is not a version. */
static bool read_version(const char *text, unsigned int *ret_number)
{
	unsigned int major, minor;
	if (sscanf(text, "%u.%u", &major, &minor) != 2)
		return false;
	*ret_number = major << 16 | minor;
	return true;
}

static bool is_tested(const struct mr_hook_probe *probe, const char *version)
{
	unsigned int number, first, last;
	return read_version(version, &number) && read_version(probe->first_tested, &first) &&
	       read_version(probe->last_tested, &last) && number >= first && number <= last;
}

static void probe_package(const struct mr_hook *hook, struct mr_capability *capability)
{
	const struct mr_hook_probe *probe = &hook->probe;
	struct package package;
	char where[256] = "";
	if (!mr_program_in_path("python3")) {
		mr_found(capability, MR_CAPABILITY_MISSING, "python3 is not installed");
		return;
	}
	bool is_installed = find_package(probe->package, &package);
	if (is_installed)
		snprintf(where, sizeof where, "version %s in %s", package.version, package.folder);
	if (!hook->is_traced) {
		say_not_traced(hook, where, capability);
	} else if (!is_installed) {
		say_not_installed(hook, "not installed for python3", capability);
	} else if (is_tested(probe, package.version)) {
		mr_found(capability, MR_CAPABILITY_OK, "%s", where);
	} else {
		mr_found(
			capability, MR_CAPABILITY_DEGRADED,
			"%s is not tested: millrace is tested with %s to %s, and traces what other "
			"versions have in common with these",
			where, probe->first_tested, probe->last_tested);
		mr_remedy(capability, "%s", probe->remedy);
	}
}

/* ---- shared libraries --------------------------------------------------------------------------------- */

/* The library that the dynamic linker would find, according to its cache. */
static bool find_library(const char *name, char *path, size_t capacity)
{
	char line[512], file[64];
	snprintf(file, sizeof file, "%s.so", name);
	mr_auto(close_pipe) FILE *cache =
		popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>&1", "re");
	while (cache && mr_read_line(cache, line, sizeof line)) {
		const char *target = strstr(line, " => ");
		if (!target || !strstr(line, file))
			continue;
		snprintf(path, capacity, "%s", target + strlen(" => "));
		return true;
	}
	return false;
}

static bool contains(const char *library, const char *text)
{
	mr_auto(mapping) struct mr_mapping mapping = {0};
	return mr_mapping_open(AT_FDCWD, library, &mapping) == 0 &&
	       memmem(mapping.bytes, mapping.size, text, strlen(text) + 1);
}

/* Names of the files through which drivers register with a loader. */
static void list_drivers(const char *folder, const char *wanted, char *names, size_t capacity)
{
	DIR *files = opendir(folder);
	size_t length = 0;
	names[0] = '\0';
	for (struct dirent *entry; files && (entry = readdir(files)) && length < capacity;) {
		const char *ending = strrchr(entry->d_name, '.');
		if (ending && strcmp(ending, wanted) == 0)
			length += (size_t)snprintf(names + length, capacity - length, "%s%s",
						   length ? ", " : "", entry->d_name);
	}
	if (files)
		closedir(files);
}

/* The library is installed and can be traced. */
static void probe_drivers(const struct mr_hook_probe *probe, const char *path,
			  struct mr_capability *capability)
{
	char drivers[100];
	const char *own = getenv(probe->driver_variable);
	const char *folder = own ? own : probe->driver_folder;
	list_drivers(folder, probe->driver_ending, drivers, sizeof drivers);
	if (drivers[0]) {
		mr_found(capability, MR_CAPABILITY_OK, "%s with %s", path, drivers);
		return;
	}
	mr_found(capability, MR_CAPABILITY_MISSING, "%s has no driver: no %s file in %.60s", path,
		 probe->driver_ending, folder);
	mr_remedy(capability, "%s", probe->driver_remedy);
}

static bool find_helper(const struct mr_hook_probe *probe, char *path, size_t capacity)
{
	if (find_library(probe->helper, path, capacity))
		return true;
	for (const char *folder = probe->helper_folders; *folder;) {
		int length = (int)strcspn(folder, ":");
		snprintf(path, capacity, "%.*s/%s.so", length, folder, probe->helper);
		if (access(path, R_OK) == 0)
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* The library is installed, and another one is needed to trace it. */
static void probe_helper(const struct mr_hook_probe *probe, const char *path,
			 struct mr_capability *capability)
{
	char helper[PLACE_BYTES / 2];
	if (find_helper(probe, helper, sizeof helper)) {
		mr_found(capability, MR_CAPABILITY_OK, "%s with %s", path, helper);
		return;
	}
	mr_found(capability, MR_CAPABILITY_DEGRADED, "%s without %s: %s", path, probe->helper,
		 probe->helper_lack);
	mr_remedy(capability, "%s", probe->helper_remedy);
}

static void probe_library(const struct mr_hook *hook, struct mr_capability *capability)
{
	const struct mr_hook_probe *probe = &hook->probe;
	char path[PLACE_BYTES] = "";
	bool is_installed = find_library(probe->library, path, sizeof path);
	if (!hook->is_traced) {
		say_not_traced(hook, path, capability);
	} else if (!is_installed) {
		say_not_installed(hook, "not installed", capability);
	} else if (probe->needed_text && !contains(path, probe->needed_text)) {
		mr_found(capability, MR_CAPABILITY_MISSING, "%s is too old: %s", path, probe->lack);
		mr_remedy(capability, "%s", probe->remedy);
	} else if (probe->driver_ending) {
		probe_drivers(probe, path, capability);
	} else if (probe->helper) {
		probe_helper(probe, path, capability);
	} else {
		mr_found(capability, MR_CAPABILITY_OK, "%s", path);
	}
}

void mr_hook_probe_for(const struct mr_hook *hook, struct mr_capability *capability)
{
	bool is_package = hook->probe.package != NULL;
	capability->name = is_package ? hook->probe.package : hook->probe.library;
	(is_package ? probe_package : probe_library)(hook, capability);
}
