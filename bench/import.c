/* SPDX-License-Identifier: Apache-2.0
 *
 *     bench_import FILE
 *
 * Loads another tool's trace into the model. Prints the CPU seconds it took, and the peak memory of the
 * whole process in bytes.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "load/load.h"

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argument_count, char **arguments)
{
	struct mr_model *model;
	struct rusage usage;

	if (argument_count != 2) {
		fprintf(stderr, "usage: bench_import FILE\n");
		return 2;
	}
	double start = cpu_seconds();
	if (mr_model_load(arguments[1], &model) < 0) {
		fprintf(stderr, "bench_import: %s\n", mr_error_text());
		return 1;
	}
	double end = cpu_seconds();
	getrusage(RUSAGE_SELF, &usage);
	printf("%.9f %ld\n", end - start, 1024 * usage.ru_maxrss);
	mr_model_free(model);
	return 0;
}
