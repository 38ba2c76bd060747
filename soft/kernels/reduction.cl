/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions. One task per element of the result: `kept` says where its elements begin, `reduced` how
 * to walk over them, with a separate loop for the innermost side.
 */
#define REDUCE(name, type, first, step)                                                            \
	__kernel void name(TENSOR(x), TENSOR(y), struct mr_layout kept, struct mr_layout reduced,  \
			   float scale)                                                            \
	{                                                                                          \
		int task = get_global_id(0), last = reduced.rank - 1;                              \
		int inner = last < 0 ? 1 : reduced.extents[last];                                  \
		int stride = last < 0 ? 0 : reduced.strides[0][last];                              \
		__global const float *x = AT(float, x) + locate(&kept, task).at[0];                \
		type result = (first);                                                             \
                                                                                                   \
		for (int i = 0; i < reduced.count; i += inner) {                                   \
			__global const float *row = x + locate(&reduced, i).at[0];                 \
                                                                                                   \
			for (int j = 0; j < inner; j++) {                                          \
				float value = row[(long)j * stride];                               \
				result = (step);                                                   \
			}                                                                          \
		}                                                                                  \
		AT(float, y)[task] = result * scale;                                               \
	}

REDUCE(reduce_sum, double, 0, result + value)
REDUCE(reduce_product, double, 1, result * value)
REDUCE(reduce_max, float, -INFINITY, value > result || value != value ? value : result)
REDUCE(reduce_min, float, INFINITY, value < result || value != value ? value : result)

/* The first of the largest along the middle side of outer x extent x inner. */
#define ARGUMENT(name, type, better)                                                               \
	__kernel void name(TENSOR(x), TENSOR(y), int extent, int inner)                            \
	{                                                                                          \
		int task = get_global_id(0), best = 0;                                             \
		int begin = task / inner * extent * inner + task % inner;                          \
		__global const float *x = AT(float, x) + begin;                                    \
                                                                                                   \
		for (int i = 1; i < extent; i++)                                                   \
			best = x[(long)i * inner] better x[(long)best * inner] ? i : best;         \
		AT(type, y)[task] = best;                                                          \
	}

ARGUMENT(argument_max_int, int, >)
ARGUMENT(argument_max_long, long, >)
ARGUMENT(argument_min_int, int, <)
ARGUMENT(argument_min_long, long, <)

/* Sums of columns. A task handles MR_COLUMNS of them, the width of a vector. */
__kernel void column_sums(TENSOR(x), TENSOR(y), int rows, int columns)
{
	int first = get_global_id(0) * MR_COLUMNS, count = min(MR_COLUMNS, columns - first);
	__global const float *x = AT(float, x) + first;
	double sums[MR_COLUMNS] = {0};

	for (int row = 0; row < rows; row++, x += columns)
		for (int i = 0; i < count; i++)
			sums[i] += x[i];
	for (int i = 0; i < count; i++)
		AT(float, y)[first + i] = sums[i];
}
