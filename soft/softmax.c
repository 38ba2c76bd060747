/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax over the last dimension, and the cross entropies of classification with their gradients.
 */
#include "ops.h"

static void run_softmax(struct mr_call *call, const char *kernel)
{
	struct mr_tensor logits = mr_call_input(call, 0);
	struct mr_tensor y = mr_call_output_like(call, 0, &logits);
	int classes = logits.rank > 0 ? (int)logits.extents[logits.rank - 1] : 0;

	if (logits.count == 0)
		return;
	mr_call_launch(call, kernel, mr_range_tasks(logits.count / classes, 1), MR_BUFFER(logits),
		       MR_BUFFER(y), MR_INT(classes));
}

void mr_run_softmax(struct mr_call *call)
{
	run_softmax(call, "softmax");
}

void mr_run_log_softmax(struct mr_call *call)
{
	run_softmax(call, "log_softmax");
}

void mr_run_cross_entropy(struct mr_call *call)
{
	struct mr_tensor logits = mr_call_input(call, 0), labels = mr_call_input(call, 1);
	int64_t rows =
		logits.extents[0] > labels.extents[0] ? logits.extents[0] : labels.extents[0];
	int64_t classes = logits.extents[1];

	if (logits.rank != 2 || labels.rank != 2 || labels.extents[1] != classes)
		mr_call_fail(
			call, TF_UNIMPLEMENTED,
			"cross entropy of logits and labels with different numbers of classes");
	struct mr_tensor loss = mr_call_output(call, 0, TF_FLOAT, 1, &rows);
	struct mr_tensor gradient =
		mr_call_output(call, 1, TF_FLOAT, 2, (const int64_t[]){rows, classes});
	mr_call_launch(call, "cross_entropy", mr_range_tasks((int)rows, 1), MR_BUFFER(logits),
		       MR_BUFFER(labels), MR_BUFFER(loss), MR_BUFFER(gradient),
		       MR_INT(logits.extents[0] == 1 ? 0 : classes),
		       MR_INT(labels.extents[0] == 1 ? 0 : classes), MR_INT(classes));
}

void mr_run_sparse_cross_entropy(struct mr_call *call)
{
	struct mr_tensor logits = mr_call_input(call, 0), labels = mr_call_input(call, 1);

	if (logits.rank != 2 || labels.rank != 1 || labels.extents[0] != logits.extents[0])
		mr_call_fail(call, TF_INVALID_ARGUMENT,
			     "cross entropy requires one label per row of logits");
	struct mr_tensor loss = mr_call_output(call, 0, TF_FLOAT, 1, logits.extents);
	struct mr_tensor gradient = mr_call_output_like(call, 1, &logits);
	mr_call_launch(call, "sparse_cross_entropy", mr_range_tasks(loss.count, 1),
		       MR_BUFFER(logits), MR_BUFFER(labels), MR_BUFFER(loss), MR_BUFFER(gradient),
		       MR_INT(labels.type == TF_INT64), MR_INT(logits.extents[1]));
}
