/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/viewport.h"

#include "base/error.h"
#include "serve/parameters.h"

static int parse_bands(const struct mr_view *view, const struct mr_request *request,
		       bool wants_series, struct mr_viewport *viewport)
{
	const char *list = mr_request_text(request, "bands");
	int64_t last = (int64_t)view->bands.list.count - 1, band;

	if (!list)
		return mr_fail(EINVAL, "bands: is not given");
	while (list) {
		int result = mr_request_next_integer(&list, "bands", 0, last, &band);

		if (result < 0)
			return result;
		if (view->bands.list.items[band].is_series != wants_series)
			return mr_fail(EINVAL, "bands: %u holds %s", (uint32_t)band,
				       wants_series ? "slices, not values" : "values, not slices");
		if (viewport->band_count == MR_VIEWPORT_BANDS)
			return mr_fail(EINVAL, "bands: there are more than %d", MR_VIEWPORT_BANDS);
		viewport->lanes[viewport->band_count] = MR_DETAIL_LANES;
		viewport->bands[viewport->band_count++] = (uint32_t)band;
	}
	return 0;
}

static int parse_lanes(const struct mr_request *request, struct mr_viewport *viewport)
{
	const char *list = mr_request_text(request, "lanes");
	uint32_t count = 0;
	int64_t lanes;

	if (!list)
		return 0;
	while (list && count < viewport->band_count) {
		int result = mr_request_next_integer(&list, "lanes", 1, MR_DETAIL_LANES, &lanes);

		if (result < 0)
			return result;
		viewport->lanes[count++] = (uint32_t)lanes;
	}
	if (list || count < viewport->band_count)
		return mr_fail(EINVAL, "lanes: there must be as many as bands");
	return 0;
}

int mr_viewport_parse(const struct mr_view *view, const struct mr_request *request,
		      bool wants_series, struct mr_viewport *ret_viewport)
{
	int64_t from_ns, to_ns, pixels;
	int result = mr_request_time(view, request, "from", &from_ns);

	if (result == 0)
		result = mr_request_time(view, request, "to", &to_ns);
	if (result == 0)
		result = mr_request_integer(request, "pixels", 1, MR_VIEWPORT_PIXELS, &pixels);
	if (result < 0)
		return result;
	if (from_ns >= to_ns)
		return mr_fail(EINVAL, "from: is not before to");
	ret_viewport->band_count = 0;
	ret_viewport->pixels = (struct mr_pixels){from_ns, to_ns, (uint32_t)pixels};
	result = parse_bands(view, request, wants_series, ret_viewport);
	return result == 0 ? parse_lanes(request, ret_viewport) : result;
}
