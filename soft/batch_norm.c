/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch normalisation with the channels last. The forward pass keeps the batch's mean and variance
 * for the backward pass, as TensorFlow's CPU device does.
 */
#include "ops.h"

struct dimensions {
	int rows;
	int channels;
};

static struct dimensions dimensions_of(struct mr_call *call, const struct mr_tensor *x)
{
	int channels = x->rank > 0 ? (int)x->extents[x->rank - 1] : 0;

	if (call->attributes->channels_first)
		mr_call_fail(call, TF_UNIMPLEMENTED, "batch normalisation with channels first");
	return (struct dimensions){channels > 0 ? x->count / channels : 0, channels};
}

static void require_per_channel(struct mr_call *call, struct dimensions size,
				const struct mr_tensor *tensor)
{
	mr_call_require(call, tensor->count == size.channels,
			"batch normalisation requires one value per channel");
}

static struct mr_range columns_range(struct dimensions size)
{
	return mr_range_tasks((size.channels + MR_COLUMNS - 1) / MR_COLUMNS, 1);
}

/* Updates the running mean or the running variance. */
static void average(struct mr_call *call, const struct mr_tensor *old,
		    const struct mr_tensor *batch, const struct mr_tensor *result, float correction)
{
	mr_call_launch(call, "batch_average", mr_range_elements(batch->count), MR_BUFFER(*old),
		       MR_BUFFER(*batch), MR_BUFFER(*result),
		       MR_FLOAT(call->attributes->average_factor), MR_FLOAT(correction),
		       MR_INT(batch->count));
}

static void copy(struct mr_call *call, const struct mr_tensor *from, const struct mr_tensor *to)
{
	if (!mr_call_failed(call))
		mr_copy_on_device(call->stream, to->data, from->data,
				  sizeof(float) * (size_t)to->count, call->status);
}

/* Writes the mean and variance to normalise with to `used`, and the running ones to `known`. */
static void find_statistics(struct mr_call *call, const struct mr_tensor *x, struct dimensions size,
			    const struct mr_tensor old[2], const struct mr_tensor known[2],
			    const struct mr_tensor used[2])
{
	if (call->attributes->is_training) {
		mr_call_launch(call, "batch_statistics", columns_range(size), MR_BUFFER(*x),
			       MR_BUFFER(used[0]), MR_BUFFER(used[1]), MR_INT(size.rows),
			       MR_INT(size.channels));
		average(call, &old[0], &used[0], &known[0], 1);
		average(call, &old[1], &used[1], &known[1],
			size.rows > 1 ? size.rows / (size.rows - 1.0f) : 1);
		return;
	}
	for (int i = 0; i < 2; i++) {
		copy(call, &old[i], &known[i]);
		copy(call, &old[i], &used[i]);
	}
}

/* Inputs: x, scale, offset, mean and variance. Outputs: y, the running mean and variance, those of the
 * batch for the gradient, and one that only GPUs use. */
void mr_run_batch_norm(struct mr_call *call)
{
	const struct mr_attributes *attributes = call->attributes;
	struct mr_tensor x = mr_call_input(call, 0), scale = mr_call_input(call, 1);
	struct mr_tensor offset = mr_call_input(call, 2);
	struct mr_tensor old[2] = {mr_call_input(call, 3), mr_call_input(call, 4)};
	struct dimensions size = dimensions_of(call, &x);

	require_per_channel(call, size, &scale);
	require_per_channel(call, size, &offset);
	for (int i = 0; i < 2; i++) {
		/* They may be missing if they are replaced. */
		if (!attributes->is_training || attributes->average_factor != 1)
			require_per_channel(call, size, &old[i]);
	}
	if (TF_NumInputs(call->context) > 5)
		mr_call_fail(call, TF_UNIMPLEMENTED, "batch normalisation with another input");
	struct mr_tensor y = mr_call_output_like(call, 0, &x);
	struct mr_tensor known[2] = {mr_call_output_like(call, 1, &scale),
				     mr_call_output_like(call, 2, &scale)};
	struct mr_tensor used[2] = {mr_call_output_like(call, 3, &scale),
				    mr_call_output_like(call, 4, &scale)};
	mr_call_output(call, 5, TF_FLOAT, 1, (const int64_t[]){0});

	find_statistics(call, &x, size, old, known, used);
	mr_call_launch(call, "batch_normalise", mr_range_elements(x.count), MR_BUFFER(x),
		       MR_BUFFER(scale), MR_BUFFER(offset), MR_BUFFER(used[0]), MR_BUFFER(used[1]),
		       MR_BUFFER(y), MR_FLOAT(attributes->epsilon), MR_INT(attributes->relu),
		       MR_INT(x.count), MR_INT(size.channels));
}

void mr_run_batch_norm_gradient(struct mr_call *call)
{
	const struct mr_attributes *attributes = call->attributes;
	struct mr_tensor gradient = mr_call_input(call, 0), x = mr_call_input(call, 1);
	struct mr_tensor scale = mr_call_input(call, 2);
	struct mr_tensor mean = mr_call_input(call, 3), variance = mr_call_input(call, 4);
	struct dimensions size = dimensions_of(call, &x);
	require_per_channel(call, size, &scale);
	require_per_channel(call, size, &mean);
	require_per_channel(call, size, &variance);
	mr_call_require(call, mr_tensor_has_shape(&gradient, x.rank, x.extents),
			"a gradient's shape differs from that of its tensor");
	struct mr_tensor result = mr_call_output_like(call, 0, &x);
	struct mr_tensor scale_gradient = mr_call_output_like(call, 1, &scale);
	struct mr_tensor offset_gradient = mr_call_output_like(call, 2, &scale);

	mr_call_output(call, 3, TF_FLOAT, 1, (const int64_t[]){0});
	mr_call_output(call, 4, TF_FLOAT, 1, (const int64_t[]){0});
	mr_call_launch(call, "batch_gradient_sums", columns_range(size), MR_BUFFER(gradient),
		       MR_BUFFER(x), MR_BUFFER(mean), MR_BUFFER(variance),
		       MR_BUFFER(scale_gradient), MR_BUFFER(offset_gradient),
		       MR_FLOAT(attributes->epsilon), MR_INT(size.rows), MR_INT(size.channels));
	mr_call_launch(call, "batch_gradient", mr_range_elements(x.count), MR_BUFFER(gradient),
		       MR_BUFFER(x), MR_BUFFER(scale), MR_BUFFER(mean), MR_BUFFER(variance),
		       MR_BUFFER(scale_gradient), MR_BUFFER(offset_gradient), MR_BUFFER(result),
		       MR_FLOAT(attributes->epsilon), MR_INT(attributes->is_training),
		       MR_INT(size.rows), MR_INT(size.channels));
}
