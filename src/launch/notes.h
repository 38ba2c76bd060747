/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that could not attach to the arena: out of memory, descriptors or rights, they cannot say so in the arena
 * itself. Instead a link beside it stands for each, which takes neither memory nor a descriptor to make:
 *
 *     /dev/shm/millrace-arena-0123456789abcdef.PID ─► "REASON PROGRAM"      (hook/init.c makes it)
 */
#ifndef MR_LAUNCH_NOTES_H
#define MR_LAUNCH_NOTES_H

/* Lists those of the arena at PATH as untraced processes, and removes the links. This process must be attached to it. */
void mr_notes_collect(const char *arena_path);

#endif
