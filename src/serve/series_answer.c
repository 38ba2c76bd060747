/* SPDX-License-Identifier: Apache-2.0
 *
 * series: the values of some bands. Little endian, everything aligned to 8 bytes:
 *
 *     u32 magic "MRS1", parts, 0, 0
 *     for each band:
 *         u32 band, 0, count, 0
 *         f64 time[count], low[count], high[count], last[count]      the first holds when the window begins,
 *                                                                    unless nothing is known before
 */
#include "serve/endpoints.h"

#include "base/error.h"
#include "serve/viewport.h"

#define MAGIC 0x3153524du

struct writer {
	const struct mr_view *view;
	FILE *file;
	struct mr_series_pixel *pixels;
	double *column;
};

#define WRITE_COLUMN(value)                                                          \
	do {                                                                         \
		for (uint32_t i = 0; i < count; i++) {                               \
			const struct mr_series_pixel *pixel = &writer->pixels[i];    \
			writer->column[i] = (value);                                 \
		}                                                                    \
		fwrite(writer->column, sizeof *writer->column, count, writer->file); \
	} while (0)

static void write_part(const struct writer *writer, uint32_t band, uint32_t count)
{
	const uint32_t head[] = {band, 0, count, 0};

	fwrite(head, sizeof head, 1, writer->file);
	WRITE_COLUMN((double)(pixel->time_ns - writer->view->origin_ns));
	WRITE_COLUMN(pixel->low);
	WRITE_COLUMN(pixel->high);
	WRITE_COLUMN(pixel->last);
}

int mr_answer_series(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	struct mr_viewport viewport;
	int result = mr_viewport_parse(view, request, true, &viewport);

	if (result < 0)
		return result;
	size_t room = (size_t)viewport.pixels.count + 1;
	mr_auto(free) struct mr_series_pixel *pixels = malloc(room * sizeof *pixels);
	mr_auto(free) double *column = malloc(room * sizeof *column);
	const struct writer writer = {view, answer->body, pixels, column};
	const uint32_t head[] = {MAGIC, viewport.band_count, 0, 0};
	if (!pixels || !column)
		return mr_fail_errno(ENOMEM, "look at the values");
	answer->type = MR_TYPE_BINARY;
	fwrite(head, sizeof head, 1, answer->body);
	for (uint32_t i = 0; i < viewport.band_count; i++) {
		uint32_t band = viewport.bands[i];
		const struct mr_series *series =
			mr_view_series(view, view->bands.list.items[band].group);

		if (!series)
			return -ENOMEM;
		write_part(&writer, band, mr_series_query(series, &viewport.pixels, pixels));
	}
	return 0;
}
