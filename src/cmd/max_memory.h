/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory a command may use to read a trace, whoever wrote it: as much as --max-memory says; by default two
 * gigabytes and 64 times the size of the files, but no more than three quarters of the machine's memory or of what the
 * cgroup allows.
 */
#ifndef MR_CMD_MAX_MEMORY_H
#define MR_CMD_MAX_MEMORY_H

#include <stdint.h>

#include "cmd/options.h"

extern uint64_t mr_max_memory_given; /* 0: not */

/* For the table of options of each command that reads traces. */
#define MR_MAX_MEMORY_OPTION                                                       \
	MR_SIZE(0, "max-memory", &mr_max_memory_given, "SIZE",                     \
		"refuse a trace that needs more memory; the default is 2G and 64 " \
		"times the size of the trace")

/* Limits the process, which is going to read this. */
void mr_max_memory_set(const char *path);

#endif
