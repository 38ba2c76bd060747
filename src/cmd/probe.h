/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the probes of `millrace doctor`: functions that report a result, and helpers that query the machine.
 */
#ifndef MR_CMD_PROBE_H
#define MR_CMD_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/macros.h"
#include "cmd/capability.h"

/* Sets the state and its reason. */
void mr_found(struct mr_capability *capability, enum mr_capability_state state, const char *format,
	      ...) mr_printf_format(3, 4);

/* Sets the command that fixes it. */
void mr_remedy(struct mr_capability *capability, const char *format, ...) mr_printf_format(2, 3);

/* The next line of a file or of a command's output, without its end; false when there is none. */
bool mr_read_line(FILE *file, char *line, size_t capacity);

bool mr_program_in_path(const char *name);

#endif
