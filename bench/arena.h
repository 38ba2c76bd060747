/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena in private memory, for measurements of the library itself: a thread frees full packets without writing them.
 */
#ifndef BENCH_ARENA_H
#define BENCH_ARENA_H

#include <stdbool.h>
#include <stdint.h>

/* Attaches the process, with these levels on (enum mr_level). */
bool bench_arena_start(uint32_t levels);

/* Ends the thread: how many events were lost. */
uint64_t bench_arena_end(void);

/* Bytes of all packets that were freed. */
uint64_t bench_arena_bytes(void);

#endif
