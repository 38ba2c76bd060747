/* SPDX-License-Identifier: Apache-2.0
 *
 * A small trace that holds one of everything, for the tests of the model and of the commands
 * (tests/golden/small.mill was written by it). Times are chosen so that they can be checked by hand:
 * the user clock ticks twice per nanosecond of CLOCK_MONOTONIC, the device's clock is 0.5 s behind it.
 *
 *     seconds        1.0  1.1  1.2  1.3  1.4  1.5  1.6      2.9  3.0
 *     100/100 main    │  ├──────── conv ───────┤              ├─── load, unfinished
 *                     │  .   ├─load─┤ ├call┤   .
 *                     │ ├──────────── step 7 ──────┤
 *     100/101 worker  │  ├─── load ─────┤
 *                     │            ├─── conv ────────┤      overlaps
 *     queue0          │                 ├kernel┤
 *     200/200 child   │     ├─ save ─┤├─ load ─┤             forked: load is the parent's node
 */
#ifndef MR_TESTS_UNIT_SMALL_TRACE_H
#define MR_TESTS_UNIT_SMALL_TRACE_H

/* A fresh directory with it and its manifest; to be removed by directory_remove(). */
char *small_trace_make(void);

/* Fills a directory that has a ctf/ folder, without a manifest. */
void small_trace_write(const char *directory);

/* The manifest that belongs to it. */
extern const char small_trace_manifest[];

#endif
