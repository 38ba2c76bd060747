/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices when the program confines itself, before it is: it installs a seccomp filter, or enters the strict mode. From
 * then on the library makes only system calls that are allowed for sure (mr_forbidden_calls in record/own_call.h).
 *
 *     prctl(PR_SET_SECCOMP, ...) ─────┐
 *     syscall(SYS_seccomp, ...) ──────┼─► read the filter ─► forbid ourselves ─► the real call ─► it failed: take it back
 *     syscall(SYS_prctl, ...) ────────┘
 *
 * A filter is inherited by children and by the programs they execute. The library stays out of programs that must do
 * without some of our calls (exec.c), so a process always begins with all of them allowed, or with a filter that `record`
 * has, too. What the C library executes itself, as system() does, gets the environment of this process: there we empty
 * MILLRACE_ARENA, without which the library does nothing. A filter may belong to one thread alone; we treat it as the
 * whole process's.
 *
 * Not noticed: a program that makes the system call with its own instructions.
 */
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "hook/filter.h"
#include "hook/hook.h"
#include "record/own_call.h"
#include "record/peek.h"
#include "record/recorder.h"

typedef long system_call(long number, long first, long second, long third, long fourth, long fifth,
			 long sixth);
typedef int prctl_function(int option, unsigned long first, unsigned long second,
			   unsigned long third, unsigned long fourth);

/* These three are for the assembler code below. */
#pragma GCC visibility push(hidden)
system_call mr_confining_call;
system_call mr_first_call;
extern _Atomic(system_call *) mr_next_syscall;
#pragma GCC visibility pop

_Atomic(system_call *) mr_next_syscall = mr_first_call;
static _Atomic(prctl_function *) next_prctl;

/* Where MILLRACE_ARENA stood when the program began: in memory that belongs to the environment, and can be written. */
static char *arena_value;

static void find_next(void)
{
	atomic_store(&mr_next_syscall, (system_call *)dlsym(RTLD_NEXT, "syscall"));
	atomic_store(&next_prctl, (prctl_function *)dlsym(RTLD_NEXT, "prctl"));
}

void mr_confinement_prepare(char *arena_path)
{
	arena_value = arena_path;
	find_next();
}

/* Somebody's constructor runs before ours. */
long mr_first_call(long number, long first, long second, long third, long fourth, long fifth,
		   long sixth)
{
	find_next();
	return atomic_load(&mr_next_syscall)(number, first, second, third, fourth, fifth, sixth);
}

/* What a filter would not allow. Nothing, if the kernel will refuse it as unreadable. */
static uint32_t forbidden_by(const struct sock_fprog *filter)
{
	struct mr_peek peek = {.count = 0};
	struct sock_fprog copy;
	if (!mr_peek_is_possible())
		return MR_ALL_OWN_CALLS;
	if (!mr_peek_copy(&peek, &copy, filter, sizeof copy) || copy.len > MR_FILTER_MOST ||
	    !mr_peek_bytes(&peek, copy.filter, copy.len * sizeof *copy.filter))
		return 0;
	return mr_filter_forbids(copy.filter, copy.len);
}

/* The value of MILLRACE_ARENA, if the program has left it where it was. */
static char *find_arena_value(void)
{
	struct mr_peek peek = {.count = 0};
	for (char **entry = environ; entry && mr_peek_bytes(&peek, entry, sizeof *entry) && *entry;
	     entry++)
		if (arena_value && *entry == arena_value - strlen("MILLRACE_ARENA="))
			return arena_value;
	return NULL;
}

/* What the program is about to forbid itself, and what was forbidden before. */
struct attempt {
	uint32_t calls;
	uint32_t calls_before;
	bool is_clock; /* reading it kills the program, too */
	char *emptied; /* the value of MILLRACE_ARENA, if it was not empty */
};

static struct attempt strict_mode(void)
{
	return (struct attempt){.calls = MR_ALL_OWN_CALLS, .is_clock = true};
}

static struct attempt attempt_by_prctl(long option, unsigned long mode, unsigned long filter)
{
	if (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV)
		return strict_mode(); /* programs executed later cannot read the clock, either */
	if (option == PR_SET_SECCOMP && mode == SECCOMP_MODE_STRICT)
		return strict_mode();
	if (option == PR_SET_SECCOMP && mode == SECCOMP_MODE_FILTER)
		return (struct attempt){.calls = forbidden_by((const struct sock_fprog *)filter)};
	return (struct attempt){0};
}

static struct attempt attempt_by_seccomp(unsigned long operation, unsigned long filter)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return strict_mode();
	if (operation == SECCOMP_SET_MODE_FILTER)
		return (struct attempt){.calls = forbidden_by((const struct sock_fprog *)filter)};
	return (struct attempt){0};
}

static void forbid(struct attempt *attempt)
{
	if (!attempt->calls)
		return;
	mr_hook_start();
	char *value = find_arena_value();
	if (value && *value == '/') {
		attempt->emptied = value;
		*value = 0;
	}
	attempt->calls_before = atomic_fetch_or(&mr_forbidden_calls, attempt->calls);
	if (attempt->is_clock)
		mr_clock_forbid(true);
}

/* If the attempt failed, the program is as free as before, unless another thread has confined it meanwhile. */
static void conclude(const struct attempt *attempt, long result)
{
	uint32_t expected = attempt->calls_before | attempt->calls;
	if (result >= 0 || !attempt->calls)
		return;
	atomic_compare_exchange_strong(&mr_forbidden_calls, &expected, attempt->calls_before);
	if (attempt->is_clock)
		mr_clock_forbid(false);
	if (attempt->emptied)
		*attempt->emptied = '/';
}

/* ---- the wrappers ------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT int prctl(int option, ...)
{
	va_list rest;
	va_start(rest,
		 option); /* all four, whether they are there or not, as the C library does it */
	unsigned long first = va_arg(rest, unsigned long), second = va_arg(rest, unsigned long),
		      third = va_arg(rest, unsigned long), fourth = va_arg(rest, unsigned long);
	va_end(rest);
	struct attempt attempt = attempt_by_prctl(option, first, second);
	forbid(&attempt);
	if (!atomic_load_explicit(&next_prctl, memory_order_relaxed))
		find_next();
	int result = atomic_load_explicit(&next_prctl, memory_order_relaxed)(option, first, second,
									     third, fourth);
	conclude(&attempt, result);
	return result;
}

/* syscall() of a call that may confine the program. */
__attribute__((used)) long mr_confining_call(long number, long first, long second, long third,
					     long fourth, long fifth, long sixth)
{
	struct attempt attempt =
		number == SYS_seccomp
			? attempt_by_seccomp((unsigned int)first, (unsigned long)third)
			: attempt_by_prctl((int)first, (unsigned long)second, (unsigned long)third);
	forbid(&attempt);
	long result = atomic_load_explicit(&mr_next_syscall, memory_order_relaxed)(
		number, first, second, third, fourth, fifth, sixth);
	conclude(&attempt, result);
	return result;
}

/* All other calls pass as if we were not there: no frame, no register changed. A child that returns from a raw clone
 * on its parent's stack finds it as it was. */
#define TEXT_OF(number) TEXT(number)
#define TEXT(number)    #number
__asm__(".pushsection .text\n"
	".globl syscall\n"
	".type syscall, %function\n"
	"syscall:\n"
	".cfi_startproc\n"
#if defined(__x86_64__)
	"endbr64\n"
	"cmpq $" TEXT_OF(SYS_seccomp) ", %rdi\n"
				      "je mr_confining_call\n"
				      "cmpq $" TEXT_OF(SYS_prctl) ", %rdi\n"
								  "je mr_confining_call\n"
								  "jmpq *mr_next_syscall(%rip)\n"
#elif defined(__aarch64__)
	"hint #34\n" /* bti c */
	"cmp x0, #" TEXT_OF(
		SYS_seccomp) "\n"
			     "b.eq mr_confining_call\n"
			     "cmp x0, #" TEXT_OF(
				     SYS_prctl) "\n"
						"b.eq mr_confining_call\n"
						"adrp x16, mr_next_syscall\n"
						"ldr x16, [x16, #:lo12:mr_next_syscall]\n"
						"br x16\n"
#endif
								  ".cfi_endproc\n"
								  ".size syscall, . - syscall\n"
								  ".popsection\n");
