/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's own file descriptors: for each process alive, for each CPU, and for each program in the kernel. The
 * program gets the limit and the standard streams that record was started with.
 */
#ifndef MR_LAUNCH_DESCRIPTORS_H
#define MR_LAUNCH_DESCRIPTORS_H

#include <sys/resource.h>

/* Files opened in place of a closed standard stream would receive what is printed there. The program still finds it
 * closed. */
void mr_descriptors_hold_standard_streams(void);

/* Allows record as many as possible. Returns the limit before that, which is the program's. */
struct rlimit mr_descriptors_raise_limit(void);

/* Fails unless enough are left for what every recording needs: stream files, processes. */
int mr_descriptors_check(void);

#endif
