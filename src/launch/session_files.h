/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that a recording, its recovery and its snapshots agree on.
 */
#ifndef MR_LAUNCH_SESSION_FILES_H
#define MR_LAUNCH_SESSION_FILES_H

#define MR_ARENA_LINK       "arena"            /* link to the arena; there while recording */
#define MR_RESERVE_FILE     ".reserve"         /* space for the last writes on a full disk */
#define MR_SNAPSHOT_REQUEST "snapshot.request" /* made by `millrace snapshot`, removed when done */

#endif
