/* SPDX-License-Identifier: Apache-2.0
 *
 * TF_SessionRun: how programs of TensorFlow 1 execute a part of their graph. TensorFlow's own tracing records what is
 * executed; this file counts steps.
 */
#include "hook/tensorflow/tensorflow.h"
#include "record/steps.h"

/* Every run is a step, whatever it requests: TensorFlow's records about a run do not say that either, and a step must
 * have the same number here as in a trace of the whole program. */
enum {
	KEY_OF_ALL_RUNS = 1
};

typedef void run_function(void *session, const void *options, const void *inputs,
			  void *const *input_values, int input_count, const void *outputs,
			  void **output_values, int output_count, const void *const *targets,
			  int target_count, void *metadata, void *status);

__attribute__((visibility("default"))) run_function TF_SessionRun;

void TF_SessionRun(void *session, const void *options, const void *inputs,
		   void *const *input_values, int input_count, const void *outputs,
		   void **output_values, int output_count, const void *const *targets,
		   int target_count, void *metadata, void *status)
{
	if (mr_steps_matter()) {
		mr_steps_count(KEY_OF_ALL_RUNS);
		mr_tensorflow_is_on(); /* its switches follow before it begins */
	}
	MR_ORIGINAL(TF_SessionRun, "TF_SessionRun")
	(session, options, inputs, input_values, input_count, outputs, output_values, output_count,
	 targets, target_count, metadata, status);
}
