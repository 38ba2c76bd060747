/* SPDX-License-Identifier: Apache-2.0
 *
 * Batch normalisation over all dimensions except the last, the channels. In the sums a task handles
 * MR_COLUMNS channels, as in column_sums().
 */
__kernel void batch_statistics(TENSOR(x), TENSOR(mean), TENSOR(variance), int rows, int channels)
{
	int first = get_global_id(0) * MR_COLUMNS, count = min(MR_COLUMNS, channels - first);
	__global const float *x = AT(float, x) + first;
	__global float *mean = AT(float, mean) + first, *variance = AT(float, variance) + first;
	double means[MR_COLUMNS] = {0}, squares[MR_COLUMNS] = {0};

	for (int row = 0; row < rows; row++)
		for (int i = 0; i < count; i++)
			means[i] += x[(long)row * channels + i];
	for (int i = 0; i < count; i++)
		means[i] /= rows;
	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < count; i++) {
			double difference = x[(long)row * channels + i] - means[i];
			squares[i] += difference * difference;
		}
	}
	for (int i = 0; i < count; i++) {
		mean[i] = means[i];
		variance[i] = squares[i] / rows;
	}
}

/* Updates the moving average over batches; that of the variance uses Bessel's correction. A factor
 * of 1 means that there is no old value, not even memory for it. */
__kernel void batch_average(TENSOR(old), TENSOR(batch), TENSOR(result), float factor,
			    float correction, int channels)
{
	int i = get_global_id(0);

	if (i < channels) {
		float value = AT(float, batch)[i] * correction;

		if (factor != 1)
			value = (1 - factor) * AT(float, old)[i] + factor * value;
		AT(float, result)[i] = value;
	}
}

__kernel void batch_normalise(TENSOR(x), TENSOR(scale), TENSOR(offset), TENSOR(mean),
			      TENSOR(variance), TENSOR(y), float epsilon, int relu, int count,
			      int channels)
{
	int i = get_global_id(0), c = i % channels;

	if (i < count) {
		float factor = AT(float, scale)[c] / sqrt(AT(float, variance)[c] + epsilon);
		float centred = AT(float, x)[i] - AT(float, mean)[c];
		float result = centred * factor + AT(float, offset)[c];

		AT(float, y)[i] = relu && result < 0 ? 0 : result;
	}
}

__kernel void batch_gradient_sums(TENSOR(gradient), TENSOR(x), TENSOR(mean), TENSOR(variance),
				  TENSOR(scale_gradient), TENSOR(offset_gradient), float epsilon,
				  int rows, int channels)
{
	int first = get_global_id(0) * MR_COLUMNS, count = min(MR_COLUMNS, channels - first);
	__global const float *gradient = AT(float, gradient) + first, *x = AT(float, x) + first;
	__global const float *mean = AT(float, mean) + first;
	__global const float *variance = AT(float, variance) + first;
	double sums[MR_COLUMNS] = {0}, products[MR_COLUMNS] = {0};

	for (int row = 0; row < rows; row++, gradient += channels, x += channels) {
		for (int i = 0; i < count; i++) {
			sums[i] += gradient[i];
			products[i] += gradient[i] * (x[i] - mean[i]);
		}
	}
	for (int i = 0; i < count; i++) {
		AT(float, offset_gradient)[first + i] = sums[i];
		AT(float, scale_gradient)[first + i] = products[i] / sqrt(variance[i] + epsilon);
	}
}

/* In training, mean and variance also depend on x. */
__kernel void batch_gradient(TENSOR(gradient), TENSOR(x), TENSOR(scale), TENSOR(mean),
			     TENSOR(variance), TENSOR(scale_gradient), TENSOR(offset_gradient),
			     TENSOR(result), float epsilon, int is_training, int rows, int channels)
{
	int i = get_global_id(0), c = i % channels;

	if (i < rows * channels) {
		float inverse = 1.0f / sqrt(AT(float, variance)[c] + epsilon);
		float change = AT(float, gradient)[i];

		if (is_training) {
			float normal = (AT(float, x)[i] - AT(float, mean)[c]) * inverse;
			float share = normal * AT(float, scale_gradient)[c];

			change -= (AT(float, offset_gradient)[c] + share) / rows;
		}
		AT(float, result)[i] = change * AT(float, scale)[c] * inverse;
	}
}
