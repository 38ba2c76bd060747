/* SPDX-License-Identifier: Apache-2.0
 *
 * The TRACE operand of commands that read one.
 */
#ifndef MR_CMD_TRACE_ARGUMENT_H
#define MR_CMD_TRACE_ARGUMENT_H

/* The trace that the operand names, or the newest *.mill in the current folder. If its recorder was
 * killed, this completes the trace first. The caller frees the path. */
int mr_trace_argument(int count, char **operands, char **ret_path);

#endif
