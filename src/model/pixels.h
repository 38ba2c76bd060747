/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps time to pixels: pixel i of the time [begin, end) is [begin + i span / pixels, begin + (i + 1) span / pixels),
 * without rounding.
 */
#ifndef MR_MODEL_PIXELS_H
#define MR_MODEL_PIXELS_H

#include <stdint.h>

struct mr_pixels {
	int64_t begin_ns;
	int64_t end_ns; /* after begin_ns */
	uint32_t count; /* at least 1 */
};

static inline uint64_t mr_pixels_span_ns(const struct mr_pixels *pixels)
{
	return (uint64_t)pixels->end_ns - (uint64_t)pixels->begin_ns;
}

/* The pixel of a time within. */
static inline uint32_t mr_pixel_at(const struct mr_pixels *pixels, int64_t ns)
{
	uint64_t offset_ns = (uint64_t)ns - (uint64_t)pixels->begin_ns;
	uint64_t product;

	if (!__builtin_mul_overflow(offset_ns, pixels->count, &product)) /* much faster to divide */
		return (uint32_t)(product / mr_pixels_span_ns(pixels));
	return (uint32_t)((unsigned __int128)offset_ns * pixels->count / mr_pixels_span_ns(pixels));
}

/* The first nanosecond that is not the pixel's any more. */
static inline int64_t mr_pixel_end_ns(const struct mr_pixels *pixels, uint32_t pixel)
{
	uint64_t product, up = pixels->count - 1;

	if (!__builtin_mul_overflow(mr_pixels_span_ns(pixels), pixel + UINT64_C(1), &product) &&
	    !__builtin_add_overflow(product, up, &product))
		return (int64_t)((uint64_t)pixels->begin_ns + product / pixels->count);
	unsigned __int128 scaled =
		(unsigned __int128)mr_pixels_span_ns(pixels) * (pixel + UINT64_C(1)) + up;
	return (int64_t)((uint64_t)pixels->begin_ns + (uint64_t)(scaled / pixels->count));
}

#endif
