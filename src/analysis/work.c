/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/work.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shapes.h"
#include "base/macros.h"

/* ---- arithmetic that knows when it has no room ---------------------------------------------------------- */

static bool multiply(uint64_t *product, uint64_t factor)
{
	return !__builtin_mul_overflow(*product, factor, product);
}

static bool add(uint64_t *sum, uint64_t count, uint64_t element_bytes)
{
	return multiply(&count, element_bytes) && !__builtin_add_overflow(*sum, count, sum);
}

static enum mr_precision precision_of(const struct mr_tensor *tensor)
{
	bool is_float = memmem(tensor->type, tensor->type_length, "float", 5) != NULL ||
			memmem(tensor->type, tensor->type_length, "half", 4) != NULL;

	if (!is_float)
		return MR_PRECISION_OTHER;
	return tensor->element_bytes == 1   ? MR_PRECISION_8
	       : tensor->element_bytes == 2 ? MR_PRECISION_16
	       : tensor->element_bytes == 4 ? MR_PRECISION_32
					    : MR_PRECISION_OTHER;
}

/* ---- formulas ------------------------------------------------------------------------------------------------ */

/* (..., m, k) times (..., k, n). */
static bool work_of_matrices(const char *shapes, uint32_t first, struct mr_work *work)
{
	struct mr_tensor a, b;

	if (!mr_shapes_tensor(shapes, first, &a) || !mr_shapes_tensor(shapes, first + 1, &b) ||
	    a.rank < 2 || a.rank > 3 || b.rank != a.rank || (a.rank == 3 && a.dims[0] != b.dims[0]))
		return false;
	uint64_t m = a.dims[a.rank - 2], k = a.dims[a.rank - 1], n = b.dims[b.rank - 1];
	uint64_t output = a.rank == 3 ? a.dims[0] : 1;
	if (b.dims[b.rank - 2] != k || !multiply(&output, m) || !multiply(&output, n))
		return false;
	work->flops = 2;
	work->precision = precision_of(&a);
	return multiply(&work->flops, output) && multiply(&work->flops, k) &&
	       add(&work->bytes, a.count, a.element_bytes) &&
	       add(&work->bytes, b.count, b.element_bytes) &&
	       add(&work->bytes, output, mr_max(a.element_bytes, 2u));
}

/* The numbers of a value such as "[1, 2]"; the last stands for those that are missing. */
static bool read_list(const char *text, uint64_t *numbers, uint32_t count)
{
	uint32_t read = 0;

	if (!text || *text != '[')
		return false;
	for (text++; read < count && *text && !strchr("];)", *text);) {
		char *end;

		numbers[read] = strtoull(text, &end, 10);
		if (end == text || *text == '-')
			return false;
		read++;
		text = end + strspn(end, ", ");
	}
	for (uint32_t i = read; read > 0 && i < count; i++)
		numbers[i] = numbers[read - 1];
	return read > 0;
}

/* (batch, channels, space ...) with (outputs, channels of a group, space ...). */
static bool work_of_convolution(const char *shapes, uint32_t first, struct mr_work *work)
{
	enum {
		PADDING,
		STRIDE,
		DILATION
	};
	struct mr_tensor input, filter;
	uint64_t lists[3][MR_RANK_MAX] = {0};

	if (!mr_shapes_tensor(shapes, 0, &input) || !mr_shapes_tensor(shapes, 1, &filter) ||
	    input.rank < 3 || filter.rank != input.rank)
		return false;
	for (uint32_t i = 0; i < 3; i++)
		if (!read_list(mr_shapes_value(shapes, first + i), lists[i], input.rank - 2))
			return false;
	uint64_t output = input.dims[0], inner = filter.dims[1];
	if (!multiply(&output, filter.dims[0]))
		return false;
	for (uint32_t i = 0; i + 2 < input.rank; i++) {
		uint64_t kernel = filter.dims[i + 2], padded = input.dims[i + 2], reach;

		if (kernel == 0 || lists[STRIDE][i] == 0 || lists[PADDING][i] > UINT32_MAX ||
		    padded > UINT32_MAX ||
		    __builtin_mul_overflow(lists[DILATION][i], kernel - 1, &reach))
			return false;
		padded += 2 * lists[PADDING][i];
		if (reach >= padded || !multiply(&inner, kernel) ||
		    !multiply(&output, (padded - reach - 1) / lists[STRIDE][i] + 1))
			return false;
	}
	work->flops = 2;
	work->precision = precision_of(&input);
	return multiply(&work->flops, output) && multiply(&work->flops, inner) &&
	       add(&work->bytes, input.count, input.element_bytes) &&
	       add(&work->bytes, filter.count, filter.element_bytes) &&
	       add(&work->bytes, output, input.element_bytes);
}

/* Each gradient is as much work as the way there: every element of the output with every one of a filter. */
static bool work_of_convolution_back(const char *shapes, uint32_t first, struct mr_work *work)
{
	struct mr_tensor gradient, input, filter;
	const char *wanted = mr_shapes_value(shapes, first);

	if (!wanted || !mr_shapes_tensor(shapes, 0, &gradient) ||
	    !mr_shapes_tensor(shapes, 1, &input) || !mr_shapes_tensor(shapes, 2, &filter) ||
	    filter.rank < 3 || filter.dims[0] == 0)
		return false;
	bool of_input = strncmp(wanted, "[True", 5) == 0;
	const char *second = strchr(wanted, ',');
	bool of_filter = second && strncmp(second + strspn(second, ", "), "True", 4) == 0;
	work->flops = 2 * (uint64_t)(of_input + of_filter);
	work->precision = precision_of(&gradient);
	return multiply(&work->flops, gradient.count) &&
	       multiply(&work->flops, filter.count / filter.dims[0]) &&
	       add(&work->bytes, gradient.count, gradient.element_bytes) &&
	       add(&work->bytes, input.count, input.element_bytes) &&
	       add(&work->bytes, filter.count, filter.element_bytes) &&
	       (!of_input || add(&work->bytes, input.count, input.element_bytes)) &&
	       (!of_filter || add(&work->bytes, filter.count, filter.element_bytes));
}

/* Two products of matrices for each head; of a causal one only the half below the diagonal. */
static bool work_of_attention(const char *shapes, uint32_t first, struct mr_work *work)
{
	struct mr_tensor query, key, value;
	const char *causal = mr_shapes_value(shapes, first);

	if (!causal || !mr_shapes_tensor(shapes, 0, &query) || !mr_shapes_tensor(shapes, 1, &key) ||
	    !mr_shapes_tensor(shapes, 2, &value) || query.rank != 4 || key.rank != 4)
		return false;
	bool is_causal = strncmp(causal, "True", 4) == 0;
	if (is_causal && query.dims[1] != key.dims[1])
		return false;
	work->flops = is_causal ? 2 : 4;
	work->precision = precision_of(&query);
	return multiply(&work->flops, query.count) && multiply(&work->flops, key.dims[1]) &&
	       add(&work->bytes, query.count, 2 * (uint64_t)query.element_bytes) &&
	       add(&work->bytes, key.count, key.element_bytes) &&
	       add(&work->bytes, value.count, value.element_bytes);
}

static bool work_of_stream(const char *shapes, uint32_t first, struct mr_work *work)
{
	struct mr_tensor tensor, largest = {0};

	for (uint32_t i = first; i < 8; i++) {
		if (!mr_shapes_tensor(shapes, i, &tensor))
			continue;
		if (!add(&work->bytes, tensor.count, tensor.element_bytes))
			return false;
		if (tensor.count > largest.count)
			largest = tensor;
	}
	work->precision = largest.count ? precision_of(&largest) : MR_PRECISION_OTHER;
	return largest.count > 0 && add(&work->bytes, largest.count, largest.element_bytes);
}

bool mr_work_of(const char *operation, const char *shapes, struct mr_work *ret_work)
{
	static const struct {
		const char *name;
		bool (*formula)(const char *shapes, uint32_t first, struct mr_work *work);
		uint32_t first;
	} formulas[] = {
#define MR_FORMULA(name, formula, first) {name, work_of_##formula, first},
#include "analysis/formulas.def"
#undef MR_FORMULA
	};
	struct mr_work work = {0};

	for (size_t i = 0; i < mr_countof(formulas); i++)
		if (strcmp(operation, formulas[i].name) == 0) {
			if (!formulas[i].formula(shapes, formulas[i].first, &work))
				return false;
			*ret_work = work;
			return work.flops > 0 || work.bytes > 0;
		}
	return false;
}

/* ---- limits --------------------------------------------------------------------------------------------------- */

const struct mr_device_limit *mr_device_limit_of(const char *device)
{
	static const struct mr_device_limit limits[] = {
#define MR_DEVICE_LIMIT(name, vector_32, matrix_32, matrix_16, matrix_8, gigabytes) \
	{name, vector_32, matrix_32, matrix_16, matrix_8, gigabytes},
#include "analysis/device_limits.def"
#undef MR_DEVICE_LIMIT
	};

	for (size_t i = 0; i < mr_countof(limits); i++)
		if (strstr(device, limits[i].name))
			return &limits[i];
	return NULL;
}
