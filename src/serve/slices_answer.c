/* SPDX-License-Identifier: Apache-2.0
 *
 * slices: what to draw for some bands, from the level of detail. Little endian, everything aligned to 8 bytes:
 *
 *     u32 magic "MRV1", parts, label_bytes, 0
 *     for each lane that has slices:
 *         u32 band, lane, count, 0
 *         f64 start[count], end[count]    of the first slice of a pixel, of the one that ends last
 *         u32 row[count]                  the longest
 *         u32 slices[count]               how many
 *         u32 label[count]                of the longest
 *         u32 shade[count]                permille of start to end that they cover; of the path: its track
 *     JSON {"calls": {"17": "finish"}}: texts of the labels of slices wide enough to bear one
 */
#include "serve/endpoints.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "serve/viewport.h"
#include "timeline/labels.h"

#define MAGIC 0x3156524du

enum {
	LABEL_PIXELS = 24, /* narrower slices bear no text */
	WHOLE = 1000,
};

struct label_key {
	uint32_t table; /* enum mr_sliced */
	uint32_t label;
};

struct writer {
	struct mr_view *view;
	const struct mr_viewport *viewport;
	FILE *file;
	uint32_t part_count;
	struct mr_strings labels;       /* struct label_key, of those that are sent as text */
	struct mr_detail_pixels pixels; /* of a band, by lane */
	/* Room for a lane, by pixel. */
	double *times;
	uint32_t *words;
};

static uint32_t shade_of(const struct writer *writer, enum mr_sliced table,
			 const struct mr_detail_pixel *pixel)
{
	int64_t span_ns = pixel->end_ns - pixel->start_ns;

	if (mr_sliced[table].is_shaded_by_track)
		return writer->view->path.segments.items[pixel->longest].track;
	if (pixel->count == 1 || span_ns <= 0)
		return WHOLE;
	return (uint32_t)mr_min(mr_permille(pixel->busy_ns, span_ns), WHOLE + INT64_C(0));
}

static int note_label(struct writer *writer, enum mr_sliced table, uint32_t label,
		      const struct mr_detail_pixel *pixel)
{
	const struct mr_pixels *pixels = &writer->viewport->pixels;
	const struct label_key key = {table, label};
	uint32_t number;

	if ((double)(pixel->end_ns - pixel->start_ns) * pixels->count <
	    LABEL_PIXELS * (double)mr_pixels_span_ns(pixels))
		return 0;
	return mr_strings_intern(&writer->labels, &key, sizeof key, &number);
}

/* The column of the lane's `pixels` that `value`, made of `pixel`, is of. */
#define WRITE_COLUMN(room, value)                                         \
	do {                                                              \
		for (uint32_t i = 0; i < count; i++) {                    \
			const struct mr_detail_pixel *pixel = &pixels[i]; \
			(room)[i] = (value);                              \
		}                                                         \
		fwrite((room), sizeof *(room), count, writer->file);      \
	} while (0)

static int write_lane(struct writer *writer, uint32_t band, const struct mr_detail_pixel *pixels,
		      uint32_t count)
{
	enum mr_sliced table = writer->view->bands.list.items[band].table;
	const uint32_t head[] = {band, pixels->lane, count, 0};
	int64_t origin_ns = writer->view->origin_ns;
	int result = 0;

	fwrite(head, sizeof head, 1, writer->file);
	WRITE_COLUMN(writer->times, (double)(pixel->start_ns - origin_ns));
	WRITE_COLUMN(writer->times, (double)(pixel->end_ns - origin_ns));
	WRITE_COLUMN(writer->words, pixel->longest);
	WRITE_COLUMN(writer->words, pixel->count);
	WRITE_COLUMN(writer->words, mr_label_of(writer->view, table, pixel->longest));
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = note_label(writer, table, writer->words[i], &pixels[i]);
	WRITE_COLUMN(writer->words, shade_of(writer, table, pixel));
	writer->part_count++;
	return result;
}

static int write_lanes(struct writer *writer, uint32_t band)
{
	const struct mr_detail_pixels *pixels = &writer->pixels;
	int result = 0;

	for (size_t first = 0, next; result == 0 && first < pixels->count; first = next) {
		for (next = first + 1; next < pixels->count; next++)
			if (pixels->items[next].lane != pixels->items[first].lane)
				break;
		result = write_lane(writer, band, &pixels->items[first], (uint32_t)(next - first));
	}
	return result;
}

static int write_band(struct writer *writer, uint32_t number, uint32_t lanes)
{
	const struct mr_band *band = &writer->view->bands.list.items[number];
	const struct mr_slices *slices = mr_view_slices(writer->view, band->table);
	const struct mr_pixels *pixels = &writer->viewport->pixels;

	if (!slices)
		return -ENOMEM;
	const struct mr_detail_view of = {band->group, 0, pixels->begin_ns, pixels->end_ns,
					  pixels->count};
	int result = mr_detail_query_lanes(slices->detail, &of, lanes, &writer->pixels);
	return result < 0 ? mr_fail_errno(-result, "look at the slices")
			  : write_lanes(writer, number);
}

/* Labels are looked through once for each table: they are few. */
static void write_labels_of(const struct writer *writer, enum mr_sliced table, struct mr_json *json)
{
	uint32_t count = mr_strings_count(&writer->labels);
	bool is_begun = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct label_key *key = (const void *)mr_strings_text(&writer->labels, i);
		char number[16], buffer[MR_LABEL_BYTES];

		if (key->table != table)
			continue;
		if (!is_begun)
			mr_json_begin_object(json, mr_sliced_name(table));
		is_begun = true;
		snprintf(number, sizeof number, "%" PRIu32, key->label);
		mr_json_string(json, number,
			       mr_label_text(writer->view, table, key->label, buffer));
	}
	if (is_begun)
		mr_json_end_object(json);
}

static int write_labels(const struct writer *writer)
{
	struct mr_json json;

	mr_json_start(&json, writer->file, MR_JSON_ONE_LINE);
	mr_json_begin_object(&json, NULL);
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		write_labels_of(writer, table, &json);
	mr_json_end_object(&json);
	return mr_json_finish(&json);
}

static int write_all(struct writer *writer)
{
	uint32_t head[] = {MAGIC, 0, 0, 0};
	int result = 0;

	fwrite(head, sizeof head, 1, writer->file);
	for (uint32_t i = 0; result == 0 && i < writer->viewport->band_count; i++)
		result = write_band(writer, writer->viewport->bands[i], writer->viewport->lanes[i]);
	if (result < 0)
		return result;
	off_t labels_at = ftello(writer->file);
	result = write_labels(writer);
	off_t end = ftello(writer->file);
	head[1] = writer->part_count;
	head[2] = (uint32_t)(end - labels_at);
	if (fseeko(writer->file, 0, SEEK_SET) != 0)
		return mr_fail_errno(errno, "write an answer");
	fwrite(head, sizeof head, 1, writer->file);
	if (fseeko(writer->file, end, SEEK_SET) != 0)
		return mr_fail_errno(errno, "write an answer");
	return result;
}

int mr_answer_slices(struct mr_view *view, const struct mr_request *request,
		     struct mr_answer *answer)
{
	struct mr_viewport viewport;
	int result = mr_viewport_parse(view, request, false, &viewport);

	if (result < 0)
		return result;
	size_t room = viewport.pixels.count;
	mr_auto(free) double *times = malloc(room * sizeof *times);
	mr_auto(free) uint32_t *words = malloc(room * sizeof *words);
	struct writer writer = {
		.view = view,
		.viewport = &viewport,
		.file = answer->body,
		.times = times,
		.words = words,
	};
	result = times && words ? write_all(&writer) : mr_fail_errno(ENOMEM, "look at the slices");
	mr_vec_free(&writer.pixels);
	mr_strings_free(&writer.labels);
	answer->type = MR_TYPE_BINARY;
	return result;
}
