/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that the simulator has run: its truth, and the model of its trace. Failures end the test.
 */
#ifndef MR_TESTS_UNIT_SIMULATED_RUN_H
#define MR_TESTS_UNIT_SIMULATED_RUN_H

#include "../simulator/simulator.h"
#include "model/model.h"

struct run {
	uint64_t seed;
	char *directory;
	struct simulation *simulation;
	const struct truth *truth;
	struct mr_model *model;
};

/* Thousands of small traces need no disk: to be called first. */
void run_prepare(void);

struct run run_start(uint64_t seed, const struct simulation_options *options);
void run_end(struct run *run);

/* All shapes in turn. */
static inline enum simulation_shape run_shape_of(uint64_t seed)
{
	return 1 + (enum simulation_shape)(seed % (SHAPE_COUNT - 1));
}

#endif
