/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "load/load.h"
#include "trace_writer.h"

void run_prepare(void)
{
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
}

struct run run_start(uint64_t seed, const struct simulation_options *options)
{
	struct run run = {.seed = seed, .directory = directory_make()};

	run.simulation = simulate(seed, options, run.directory);
	run.truth = simulation_truth(run.simulation);
	if (mr_model_load(run.directory, &run.model) < 0)
		fail_msg("seed %u: %s", (unsigned)seed, mr_error_text());
	return run;
}

void run_end(struct run *run)
{
	mr_model_free(run->model);
	simulation_free(run->simulation);
	directory_remove(run->directory);
}
