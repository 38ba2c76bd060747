/* SPDX-License-Identifier: Apache-2.0
 *
 * The mark of system calls that millrace makes inside a traced program. It stands where the sixth argument of a
 * call would be, which none of these calls has: the kernel level sees it there and leaves the call out, since it is
 * none of the program's. (An anonymous mmap() has a sixth argument that is not looked at, if it is a multiple of
 * the page size.)
 *
 * Included by BPF programs, so nothing is used here.
 */
#ifndef MR_RECORD_OWN_MARK_H
#define MR_RECORD_OWN_MARK_H

#define MR_OWN_MARK 0x6d696c6c72610000 /* "millra", and zeroes */

#endif
