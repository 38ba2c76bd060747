/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the program, and the graphs that TensorFlow makes of them. Each tracing of a Python function makes a
 * graph with a number of its own; calls of one Python function may thus execute many graphs:
 *
 *     @tf.function                 __inference_train_step_40       first call
 *     def train_step(x, i): ...    __inference_train_step_67       traced again, as i is another number
 *                                  __forward_train_step_94, __backward_train_step_101        for a gradient
 */
#ifndef MR_LOAD_TENSORFLOW_FUNCTIONS_H
#define MR_LOAD_TENSORFLOW_FUNCTIONS_H

#include "load/tensorflow/tensorflow.h"

/* The name that the program gave: "train_step" of "__inference_train_step_40". A name of another form stays whole. */
struct mr_slice mr_tensorflow_function(const char *graph);

/* Likewise, as a string of the definitions. -ENOMEM. */
int mr_tensorflow_intern_function(struct mr_tensorflow *tensorflow, const char *graph,
				  uint32_t *ret_function);

/* When scopes are sorted and nested: the calls of functions, and runs of sessions. -ENOMEM. */
int mr_tensorflow_add_function_calls(struct mr_tensorflow *tensorflow);

#endif
