/* SPDX-License-Identifier: Apache-2.0
 *
 * The TRACE operand of commands that read one.
 */
#ifndef MR_CMD_TRACE_ARGUMENT_H
#define MR_CMD_TRACE_ARGUMENT_H

/* The trace that the operand names, or else the newest *.mill in the current folder; completed first
 * if its recorder was killed. The path is the caller's to free. */
int mr_trace_argument(int count, char **operands, char **ret_path);

#endif
