/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas that nobody can recover any more: `record` was killed, and then the folder of its trace was deleted. Such a file
 * would stay in /dev/shm until the machine is started anew.
 */
#ifndef MR_LAUNCH_LEFTOVERS_H
#define MR_LAUNCH_LEFTOVERS_H

/* Removes those of this user that nobody drains, that are older than a day, and to which the folder that they name has
 * no link. Younger ones are spared: the folder may have been moved, and can still be recovered. */
void mr_leftovers_remove(void);

#endif
