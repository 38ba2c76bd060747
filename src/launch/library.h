/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds libmillrace.so: beside the program (in a build tree), or where `make install` put it.
 */
#ifndef MR_LAUNCH_LIBRARY_H
#define MR_LAUNCH_LIBRARY_H

/* -ENOENT with a cause if it is not there; -EINVAL if its path cannot stand in LD_PRELOAD. */
int mr_library_find(char **ret_path);

#endif
