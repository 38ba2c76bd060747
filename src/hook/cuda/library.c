/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libcupti: the one that is loaded already; else, beside the libcudart of the process, where NVIDIA's packages for
 * Python have it, or a toolkit; else wherever the dynamic linker looks, and where toolkits are installed. A second one of
 * another version would be another subscriber, so what the process has comes first.
 *
 *     .../nvidia/cuda_runtime/lib/libcudart.so.12      ─► .../nvidia/cuda_cupti/lib/libcupti.so.12
 *     .../nvidia/cu13/lib/libcudart.so.13              ─► .../nvidia/cu13/lib/libcupti.so.13
 *     /usr/local/cuda/lib64/libcudart.so.12            ─► /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "hook/cuda/cupti.h"

struct mr_cupti mr_cupti;

const struct mr_cupti_layout mr_cupti_kernel = {.length = 160,
						.start = 16,
						.end = 24,
						.device = 40,
						.context = 44,
						.stream = 48,
						.correlation = 92,
						.name = 104,
						.registers = 6,
						.static_bytes = 76,
						.dynamic_bytes = 80,
						.graph_node = 144,
						.graph = 156};
const struct mr_cupti_layout mr_cupti_copy = {.length = 76,
					      .start = 16,
					      .end = 24,
					      .device = 32,
					      .context = 36,
					      .stream = 40,
					      .correlation = 44,
					      .bytes = 8,
					      .copy_kind = 4,
					      .source_kind = 5,
					      .target_kind = 6,
					      .graph_node = 64,
					      .graph = 72};
const struct mr_cupti_layout mr_cupti_peer_copy = {.length = 84,
						   .start = 16,
						   .end = 24,
						   .device = 32,
						   .context = 36,
						   .stream = 40,
						   .correlation = 60,
						   .bytes = 8,
						   .copy_kind = 4,
						   .source_kind = 5,
						   .target_kind = 6,
						   .target_device = 52,
						   .graph_node = 72,
						   .graph = 80};
const struct mr_cupti_layout mr_cupti_fill = {.length = 76,
					      .start = 16,
					      .end = 24,
					      .device = 32,
					      .context = 36,
					      .stream = 40,
					      .correlation = 44,
					      .bytes = 8,
					      .memory_kind = 50,
					      .graph_node = 64,
					      .graph = 72};
const struct mr_cupti_layout mr_cupti_synchronisation = {.length = 40,
							 .what = 4,
							 .start = 8,
							 .end = 16,
							 .correlation = 24,
							 .context = 28,
							 .stream = 32,
							 .event = 36};
const struct mr_cupti_layout mr_cupti_overhead = {
	.length = 40, .what = 4, .object = 8, .thread = 16, .start = 24, .end = 32};
const struct mr_cupti_layout mr_cupti_newer_overhead = {.length = 56,
							.what = 4,
							.object = 8,
							.thread = 16,
							.start = 24,
							.end = 32,
							.correlation = 40};
const struct mr_cupti_layout mr_cupti_external = {
	.length = 24, .what = 4, .number = 8, .correlation = 16};
const struct mr_cupti_layout mr_cupti_memory = {.length = 120,
						.what = 4,
						.memory_kind = 8,
						.correlation = 12,
						.address = 16,
						.bytes = 24,
						.time = 32,
						.device = 52,
						.pool = 88};

/* Files of the process whose names begin so. */
struct search {
	const char *beginning;
	char found[PATH_MAX];
};

static int look_at(struct dl_phdr_info *library, size_t bytes, void *data)
{
	(void)bytes;
	struct search *search = data;
	const char *slash = strrchr(library->dlpi_name, '/');
	const char *name = slash ? slash + 1 : library->dlpi_name;
	if (strncmp(name, search->beginning, strlen(search->beginning)) != 0 ||
	    strlen(library->dlpi_name) >= sizeof search->found)
		return 0;
	strcpy(search->found, library->dlpi_name);
	return 1;
}

static bool find_loaded(const char *beginning, char *ret_path)
{
	struct search search = {.beginning = beginning};
	if (!dl_iterate_phdr(look_at, &search))
		return false;
	strcpy(ret_path, search.found);
	return true;
}

static void *open_beside_runtime(void)
{
	static const char *const places[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/"};
	char runtime[PATH_MAX], path[PATH_MAX + 64];
	void *library = NULL;
	if (!find_loaded("libcudart.so.", runtime))
		return NULL;
	char *slash = strrchr(runtime, '/');
	const char *version = strstr(slash ? slash : runtime, ".so.") + strlen(".so.");
	const char *number = strncmp(version, "11", 2) == 0 ? "11.8" : version;
	int length = (int)strcspn(number, strncmp(version, "11", 2) == 0 ? "" : ".");
	for (size_t i = 0; slash && !library && i < mr_countof(places); i++) {
		snprintf(path, sizeof path, "%.*s/%slibcupti.so.%.*s", (int)(slash - runtime),
			 runtime, places[i], length, number);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

static void *open_library(void)
{
	static const char *const names[] = {"libcupti.so.13",
					    "libcupti.so.12",
					    "libcupti.so.11.8",
					    "libcupti.so.11.7",
					    "libcupti.so",
					    "/usr/local/cuda/lib64/libcupti.so",
					    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
	char loaded[PATH_MAX];
	void *library = NULL;
	if (find_loaded("libcupti.so", loaded))
		library = dlopen(loaded, RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = open_beside_runtime();
	for (size_t i = 0; !library && i < mr_countof(names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

bool mr_cupti_load(void)
{
	static bool is_loaded;
	bool is_complete = true;
	void *library = is_loaded ? NULL : open_library();
	if (!library)
		return is_loaded;
#define FIND(name, parameters)                            \
	*(void **)&mr_cupti.name = dlsym(library, #name); \
	is_complete = is_complete && mr_cupti.name != NULL;
	MR_CUPTI_FUNCTIONS(FIND)
#undef FIND
#define FIND(name, parameters) *(void **)&mr_cupti.name = dlsym(library, #name);
	MR_CUPTI_NEWER(FIND)
#undef FIND
	is_loaded = is_complete;
	return is_complete;
}
