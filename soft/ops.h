/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that ops.def names, one per family of ops. Each gets a call and computes it.
 */
#pragma once

#include "call.h"

/* elementwise.c */
void mr_run_unary(struct mr_call *call);
void mr_run_binary(struct mr_call *call);
void mr_run_compare(struct mr_call *call);
void mr_run_select(struct mr_call *call);
void mr_run_add_n(struct mr_call *call);
void mr_run_bias_add(struct mr_call *call);
void mr_run_cast(struct mr_call *call);

/* arrange.c */
void mr_run_fill(struct mr_call *call);
void mr_run_zeros_like(struct mr_call *call);
void mr_run_ones_like(struct mr_call *call);
void mr_run_broadcast_to(struct mr_call *call);
void mr_run_tile(struct mr_call *call);
void mr_run_transpose(struct mr_call *call);
void mr_run_concat(struct mr_call *call);
void mr_run_slice(struct mr_call *call);
void mr_run_pad(struct mr_call *call);

/* matrix.c */
void mr_run_matmul(struct mr_call *call);

/* convolution.c */
void mr_run_convolution(struct mr_call *call);
void mr_run_convolution_input_gradient(struct mr_call *call);
void mr_run_convolution_filter_gradient(struct mr_call *call);

/* pooling.c */
void mr_run_max_pool(struct mr_call *call);
void mr_run_max_pool_gradient(struct mr_call *call);
void mr_run_average_pool(struct mr_call *call);
void mr_run_average_pool_gradient(struct mr_call *call);

/* batch_norm.c */
void mr_run_batch_norm(struct mr_call *call);
void mr_run_batch_norm_gradient(struct mr_call *call);

/* softmax.c */
void mr_run_softmax(struct mr_call *call);
void mr_run_log_softmax(struct mr_call *call);
void mr_run_cross_entropy(struct mr_call *call);
void mr_run_sparse_cross_entropy(struct mr_call *call);

/* reduction.c */
void mr_run_sum(struct mr_call *call);
void mr_run_mean(struct mr_call *call);
void mr_run_product(struct mr_call *call);
void mr_run_max(struct mr_call *call);
void mr_run_min(struct mr_call *call);
void mr_run_argument_max(struct mr_call *call);
void mr_run_argument_min(struct mr_call *call);
void mr_run_bias_gradient(struct mr_call *call);

/* variables.c */
void mr_run_assign_add(struct mr_call *call);
void mr_run_assign_subtract(struct mr_call *call);
void mr_run_gradient_descent(struct mr_call *call);
void mr_run_momentum(struct mr_call *call);
void mr_run_adam(struct mr_call *call);
