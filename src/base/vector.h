/* SPDX-License-Identifier: Apache-2.0
 *
 * Growable arrays of plain values.
 *
 *     mr_vec(struct mr_span) spans = {0};
 *     if (mr_vec_push(&spans, span) < 0) return -ENOMEM;      // spans.items[0 .. spans.count)
 *     mr_vec_free(&spans);
 *
 * A zeroed vector is empty and valid. Items move when the vector grows: keep indices, not pointers.
 */
#ifndef MR_BASE_VECTOR_H
#define MR_BASE_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define mr_vec(type)             \
	struct {                 \
		type *items;     \
		size_t count;    \
		size_t capacity; \
	}

/* Makes room for `wanted` items in all; 0 or -ENOMEM. */
#define mr_vec_reserve(vector, wanted)                                        \
	mr_vec_grow((void **)&(vector)->items, &(vector)->capacity, (wanted), \
		    sizeof *(vector)->items)

/* Appends one value; 0 or -ENOMEM. */
#define mr_vec_push(vector, value)                                              \
	({                                                                      \
		int push_result_ = mr_vec_reserve(vector, (vector)->count + 1); \
		if (push_result_ == 0)                                          \
			(vector)->items[(vector)->count++] = (value);           \
		push_result_;                                                   \
	})

#define mr_vec_free(vector)                               \
	do {                                              \
		free((vector)->items);                    \
		(vector)->items = NULL;                   \
		(vector)->count = (vector)->capacity = 0; \
	} while (0)

static inline int mr_vec_grow(void **items, size_t *capacity, size_t wanted, size_t item_bytes)
{
	if (wanted <= *capacity)
		return 0;
	size_t larger = *capacity ? *capacity + *capacity / 2 : 16;
	if (larger < wanted)
		larger = wanted;
	if (larger > SIZE_MAX / item_bytes)
		return -ENOMEM;
	void *moved = realloc(*items, larger * item_bytes);
	if (!moved)
		return -ENOMEM;
	*items = moved;
	*capacity = larger;
	return 0;
}

#endif
