/* SPDX-License-Identifier: Apache-2.0
 *
 * What the page shows: some bands, a window of time, and the width in pixels. The request is
 *
 *     ?bands=3,4,7&from=NS&to=NS&pixels=P        times relative to the view's origin
 *     &lanes=1,6,256                             how many lanes of each band; all if not given
 */
#ifndef MR_SERVE_VIEWPORT_H
#define MR_SERVE_VIEWPORT_H

#include "model/pixels.h"
#include "serve/request.h"
#include "timeline/view.h"

enum {
	MR_VIEWPORT_BANDS = 256,
	MR_VIEWPORT_PIXELS = 8192,
};

struct mr_viewport {
	struct mr_pixels pixels; /* on the trace clock */
	uint32_t band_count;
	uint32_t bands[MR_VIEWPORT_BANDS];
	uint32_t lanes[MR_VIEWPORT_BANDS]; /* of each the first so many */
};

/* Either all bands are series or none is. -EINVAL with a cause. */
int mr_viewport_parse(const struct mr_view *view, const struct mr_request *request,
		      bool wants_series, struct mr_viewport *ret_viewport);

#endif
