/* SPDX-License-Identifier: Apache-2.0
 *
 * TF_SessionRun: how programs of TensorFlow 1 execute a part of their graph. What is executed is told by TensorFlow's
 * own tracing; here steps are counted.
 */
#include "hook/tensorflow/tensorflow.h"
#include "record/steps.h"

/* TF_Output */
struct output {
	void *operation;
	int index;
};

typedef void run_function(void *session, const void *options, const struct output *inputs,
			  void *const *input_values, int input_count, const struct output *outputs,
			  void **output_values, int output_count, const void *const *targets,
			  int target_count, void *metadata, void *status);

/* A step is a run with the same outputs and targets. */
static void count_step(const struct output *outputs, int output_count, const void *const *targets,
		       int target_count)
{
	uint64_t key = 0;
	for (int i = 0; i < output_count; i++)
		key = key * 31 + (uintptr_t)outputs[i].operation + (unsigned int)outputs[i].index;
	for (int i = 0; i < target_count; i++)
		key = key * 31 + (uintptr_t)targets[i];
	mr_steps_count(key);
}

__attribute__((visibility("default"))) run_function TF_SessionRun;

void TF_SessionRun(void *session, const void *options, const struct output *inputs,
		   void *const *input_values, int input_count, const struct output *outputs,
		   void **output_values, int output_count, const void *const *targets,
		   int target_count, void *metadata, void *status)
{
	if (mr_steps_matter()) {
		count_step(outputs, output_count, targets, target_count);
		mr_tensorflow_is_on(); /* its switches follow before it begins */
	}
	MR_ORIGINAL(TF_SessionRun, "TF_SessionRun")
	(session, options, inputs, input_values, input_count, outputs, output_values, output_count,
	 targets, target_count, metadata, status);
}
