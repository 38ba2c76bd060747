/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax and its cross entropies: one task per row of logits.
 */

/* The largest element of a row, and the sum of exp(element - largest). */
struct normaliser {
	float largest;
	float sum;
};

struct normaliser normalise(__global const float *logits, int classes)
{
	float largest = -INFINITY;
	double sum = 0;

	for (int i = 0; i < classes; i++)
		largest = fmax(largest, logits[i]);
	for (int i = 0; i < classes; i++)
		sum += exp(logits[i] - largest);

	struct normaliser result = {largest, sum};
	return result;
}

__kernel void softmax(TENSOR(logits), TENSOR(y), int classes)
{
	__global const float *logits = AT(float, logits) + (long)get_global_id(0) * classes;
	__global float *y = AT(float, y) + (long)get_global_id(0) * classes;
	struct normaliser n = normalise(logits, classes);

	for (int i = 0; i < classes; i++)
		y[i] = exp(logits[i] - n.largest) / n.sum;
}

__kernel void log_softmax(TENSOR(logits), TENSOR(y), int classes)
{
	__global const float *logits = AT(float, logits) + (long)get_global_id(0) * classes;
	__global float *y = AT(float, y) + (long)get_global_id(0) * classes;
	struct normaliser n = normalise(logits, classes);

	for (int i = 0; i < classes; i++)
		y[i] = logits[i] - n.largest - log(n.sum);
}

/* Labels are rows of probabilities; labels or logits may have a single row for all. */
__kernel void cross_entropy(TENSOR(logits), TENSOR(labels), TENSOR(loss), TENSOR(gradient),
			    int logits_stride, int labels_stride, int classes)
{
	int task = get_global_id(0);
	__global const float *logits = AT(float, logits) + (long)task * logits_stride;
	__global const float *labels = AT(float, labels) + (long)task * labels_stride;
	__global float *gradient = AT(float, gradient) + (long)task * classes;
	struct normaliser n = normalise(logits, classes);
	double loss = 0;

	for (int i = 0; i < classes; i++) {
		float shifted = logits[i] - n.largest;

		loss += labels[i] * (log(n.sum) - shifted);
		gradient[i] = exp(shifted) / n.sum - labels[i];
	}
	AT(float, loss)[task] = loss;
}

/* Labels are class numbers; an invalid one gives NaN, as on GPUs. */
__kernel void sparse_cross_entropy(TENSOR(logits), TENSOR(labels), TENSOR(loss), TENSOR(gradient),
				   int wide_labels, int classes)
{
	int task = get_global_id(0);
	__global const float *logits = AT(float, logits) + (long)task * classes;
	__global float *gradient = AT(float, gradient) + (long)task * classes;
	long label = wide_labels ? AT(long, labels)[task] : AT(int, labels)[task];
	bool valid = label >= 0 && label < classes;
	struct normaliser n = normalise(logits, classes);

	AT(float, loss)[task] = valid ? log(n.sum) - (logits[label] - n.largest) : NAN;
	for (int i = 0; i < classes; i++)
		gradient[i] = valid ? exp(logits[i] - n.largest) / n.sum - (i == label) : NAN;
}
