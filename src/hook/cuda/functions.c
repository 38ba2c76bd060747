/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of CUDA by the numbers that CUPTI gives them. Their names come from CUPTI, so that new functions need no
 * change here; functions.def says of some what they do.
 */
#include "hook/cuda/cuda.h"

#include "record/own_call.h"

enum {
	TITLES_BYTES = 128 << 10, /* of all functions: 40 KB in CUDA 13 */
};

struct described {
	const char *title;
	struct mr_cuda_function function;
};

static const struct described described[] = {
#define CUDA(title, what, ...) {#title, {.role = MR_CUDA_##what, ##__VA_ARGS__}},
#include "hook/cuda/functions.def"
#undef CUDA
};

struct mr_cuda_function (*mr_cuda_all_functions)[MR_CUPTI_CALLBACKS];
struct mr_cuda_function mr_cuda_unknown_function;

static bool ends_with(const char *name, size_t length, const char *ending)
{
	size_t bytes = strlen(ending);
	return length > bytes && memcmp(name + length - bytes, ending, bytes) == 0;
}

static bool is_version(const char *text)
{
	if (strncmp(text, "_v", 2) != 0 || !text[2])
		return false;
	for (text += 2; *text; text++)
		if (*text < '0' || *text > '9')
			return false;
	return true;
}

/* cudaMemcpyAsync_ptsz_v7000, cuMemcpyHtoD_v2_ptds: the name as programs know it, and whose default stream it uses. */
static bool shorten(char *name)
{
	size_t length;
	bool is_per_thread = false, is_shorter = true;
	while (is_shorter) {
		char *last = strrchr(name, '_');
		length = strlen(name);
		is_shorter = last && last != name &&
			     (is_version(last) || ends_with(name, length, "_ptsz") ||
			      ends_with(name, length, "_ptds"));
		if (is_shorter) {
			is_per_thread |= !is_version(last);
			*last = 0;
		}
	}
	return is_per_thread;
}

/* `titles` holds the names; its end moves. */
static void learn(struct mr_cuda_function *function, const char *name, char **titles,
		  const char *limit)
{
	char *title = *titles;
	if (strlen(name) >= (size_t)(limit - title))
		return;
	strcpy(title, name);
	bool is_per_thread = shorten(title);
	for (size_t i = 0; i < mr_countof(described); i++)
		if (strcmp(described[i].title, title) == 0)
			*function = described[i].function;
	function->is_per_thread = is_per_thread;
	function->title = title;
	*titles += strlen(title) + 1;
}

bool mr_cuda_learn_functions(void)
{
	if (mr_cuda_all_functions)
		return true;
	struct mr_cuda_function(*all)[MR_CUPTI_CALLBACKS] = mr_own_map(3 * sizeof *all);
	char *titles = mr_own_map(TITLES_BYTES), *end = titles;
	if (!all || !titles)
		return false;
	for (int domain = MR_CUPTI_DRIVER; domain <= MR_CUPTI_RUNTIME; domain++)
		for (uint32_t number = 1; number < MR_CUPTI_CALLBACKS; number++) {
			const char *name = NULL;
			if (mr_cupti.cuptiGetCallbackName(domain, number, &name) ==
				    MR_CUPTI_SUCCESS &&
			    name)
				learn(&all[domain][number], name, &end, titles + TITLES_BYTES);
		}
	mr_cuda_all_functions = all;
	return true;
}
