/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int mr_request_table(const struct mr_request *request, enum mr_sliced *ret_table)
{
	const char *name = mr_request_text(request, "table");

	if (!name)
		return mr_fail(EINVAL, "table: is not given");
	return mr_sliced_find(name, ret_table) ? 0
					       : mr_fail(EINVAL, "table: there is no '%s'", name);
}

int mr_request_label(const struct mr_request *request, uint32_t *ret_label)
{
	int64_t label;
	int result = mr_request_integer(request, "label", 0, UINT32_MAX, &label);

	if (result == 0)
		*ret_label = (uint32_t)label;
	return result;
}

/* No sum of two times overflows, see clock/clock.h. */
int mr_request_time(const struct mr_view *view, const struct mr_request *request, const char *name,
		    int64_t *ret_ns)
{
	int64_t ns;
	int result = mr_request_integer(request, name, -MR_CLOCK_MAX_NS, MR_CLOCK_MAX_NS, &ns);

	if (result == 0)
		*ret_ns = view->origin_ns + ns;
	return result;
}

int mr_request_window(const struct mr_view *view, const struct mr_request *request,
		      struct mr_window *ret_window)
{
	struct mr_window window = {INT64_MIN, INT64_MAX};

	if (mr_request_has(request, "from") || mr_request_has(request, "to")) {
		int result = mr_request_time(view, request, "from", &window.first_ns);

		if (result == 0)
			result = mr_request_time(view, request, "to", &window.last_ns);
		if (result < 0)
			return result;
	}
	if (window.first_ns >= window.last_ns)
		return mr_fail(EINVAL, "from: is not before to");
	*ret_window = window;
	return 0;
}

int mr_request_scope(const struct mr_request *request, enum mr_scope *ret_scope)
{
	const char *scope = mr_request_text(request, "scope");
	bool is_steps = scope && strcmp(scope, "steps") == 0;

	if (scope && !is_steps && strcmp(scope, "whole") != 0)
		return mr_fail(EINVAL, "scope: neither 'steps' nor 'whole'");
	*ret_scope = is_steps ? MR_SCOPE_STEPS : MR_SCOPE_WHOLE;
	return 0;
}

int mr_request_tracks(const struct mr_request *request, uint32_t count, bool **ret_tracks)
{
	const char *list = mr_request_text(request, "tracks");
	mr_auto(free) bool *tracks = NULL;
	int64_t track;

	if (!list)
		return 0;
	tracks = calloc(count + 1, sizeof *tracks);
	if (!tracks)
		return mr_fail_errno(ENOMEM, "choose tracks");
	while (list) {
		int result =
			mr_request_next_integer(&list, "tracks", 0, (int64_t)count - 1, &track);

		if (result < 0)
			return result;
		tracks[track] = true;
	}
	*ret_tracks = mr_take(tracks);
	return 0;
}
