/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a function is still running that was interrupted by a signal handler, or whether the program has jumped out
 * of it: by siglongjmp() in the handler, say. A function leaves a mark of where its frame is:
 *
 *     higher      ┌─────────────────────┐
 *     addresses   │ main                │
 *        ▲        │ loop, sigsetjmp     │ ◄─ the position now is here, or above the mark: it was left
 *        │        │ function that marks │ ◄─ mark
 *        │        │ frame of the signal │
 *        ▼        │ handler             │ ◄─ the position now is here, below: it is still running
 *                 └─────────────────────┘
 *
 * Positions can be compared on one stack only. A handler may have another (sigaltstack), which the kernel knows, and a
 * coroutine has its own: memory between the two that is not there shows that. Where neither can be asked, or in doubt,
 * the function is taken for running.
 */
#ifndef MR_RECORD_STACK_H
#define MR_RECORD_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Stores where the caller's frame is, in one instruction. */
static inline void mr_stack_mark(uintptr_t *ret_mark)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %0" : "=m"(*ret_mark));
#elif defined(__aarch64__)
	uintptr_t position;
	__asm__ volatile("mov %0, sp" : "=r"(position));
	*ret_mark = position;
#endif
}

/* Whether the caller was called after the function that made the mark was left. */
bool mr_stack_is_left(uintptr_t mark);

#endif
