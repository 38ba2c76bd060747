/* SPDX-License-Identifier: Apache-2.0
 *
 * What of our system calls a seccomp filter forbids.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "hook/filter.h"
#include "record/own_call.h"

#define LOAD(field)        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(i)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))
#define RETURN(action)     BPF_STMT(BPF_RET | BPF_K, action)
#define UNLESS_EQUAL(k, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, n)
#define forbids(...)                                              \
	({                                                        \
		const struct sock_filter code_[] = {__VA_ARGS__}; \
		mr_filter_forbids(code_, mr_countof(code_));      \
	})

static void test_all_or_nothing(void **state)
{
	(void)state;
	assert_int_equal(forbids(RETURN(SECCOMP_RET_ALLOW)), 0);
	assert_int_equal(forbids(RETURN(SECCOMP_RET_KILL_PROCESS)), MR_ALL_OWN_CALLS);
	assert_int_equal(forbids(RETURN(SECCOMP_RET_ERRNO | ENOSYS)), MR_ALL_OWN_CALLS);
	assert_int_equal(forbids(RETURN(SECCOMP_RET_LOG)), MR_ALL_OWN_CALLS);
	assert_int_equal(mr_filter_forbids(NULL, 0), MR_ALL_OWN_CALLS);
}

static void test_one_call(void **state)
{
	(void)state;
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_getpid, 1), RETURN(SECCOMP_RET_TRAP),
				 RETURN(SECCOMP_RET_ALLOW)),
			 mr_own_call_bit(SYS_getpid));
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_getpid, 1), RETURN(SECCOMP_RET_ALLOW),
				 RETURN(SECCOMP_RET_KILL_THREAD)),
			 MR_ALL_OWN_CALLS & ~mr_own_call_bit(SYS_getpid));
	/* A descriptor that nobody can close would stay. */
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_close, 1), RETURN(SECCOMP_RET_TRAP),
				 RETURN(SECCOMP_RET_ALLOW)),
			 mr_own_call_bit(SYS_close) | mr_own_call_bit(SYS_openat));
}

static void test_arguments(void **state)
{
	(void)state;
	/* No memory that can be executed: we need none. */
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_mmap, 3), LOAD_ARGUMENT(2),
				 BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
				 RETURN(SECCOMP_RET_TRAP), RETURN(SECCOMP_RET_ALLOW)),
			 0);
	/* The same by arithmetic. */
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_mmap, 4), LOAD_ARGUMENT(2),
				 BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE),
				 UNLESS_EQUAL(PROT_WRITE, 1), RETURN(SECCOMP_RET_TRAP),
				 RETURN(SECCOMP_RET_ALLOW)),
			 mr_own_call_bit(SYS_mmap));
	/* What depends on a descriptor is not known. */
	assert_int_equal(forbids(LOAD(nr), UNLESS_EQUAL(SYS_pread64, 3), LOAD_ARGUMENT(0),
				 UNLESS_EQUAL(3, 1), RETURN(SECCOMP_RET_TRAP),
				 RETURN(SECCOMP_RET_ALLOW)),
			 mr_own_call_bit(SYS_pread64));
}

/* The kernel kills a program whose filter divides by zero, whatever the filter would return. */
static void test_division(void **state)
{
	(void)state;
	assert_int_equal(forbids(BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN(SECCOMP_RET_ALLOW)),
			 MR_ALL_OWN_CALLS);
	assert_int_equal(forbids(LOAD(instruction_pointer), BPF_STMT(BPF_MISC | BPF_TAX, 0),
				 BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RETURN(SECCOMP_RET_ALLOW)),
			 MR_ALL_OWN_CALLS);
	assert_int_equal(forbids(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 2), RETURN(SECCOMP_RET_ALLOW)),
			 0);
}

static void test_machine(void **state)
{
	(void)state;
	/* Memory, index and accumulator. */
	assert_int_equal(forbids(BPF_STMT(BPF_LD | BPF_IMM, SECCOMP_RET_ALLOW >> 16),
				 BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 16), BPF_STMT(BPF_ST, 3),
				 BPF_STMT(BPF_LDX | BPF_MEM, 3), BPF_STMT(BPF_LD | BPF_IMM, 0),
				 BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
				 BPF_STMT(BPF_RET | BPF_A, 0)),
			 0);
	/* Jumps and memory that lead nowhere, a division by nothing: not allowed, and no harm. */
	assert_int_equal(forbids(BPF_STMT(BPF_JMP | BPF_JA, 1000), RETURN(SECCOMP_RET_ALLOW)),
			 MR_ALL_OWN_CALLS);
	assert_int_equal(forbids(BPF_STMT(BPF_LD | BPF_MEM, 1000), BPF_STMT(BPF_RET | BPF_A, 0)),
			 MR_ALL_OWN_CALLS);
	assert_int_equal(
		forbids(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), BPF_STMT(BPF_RET | BPF_A, 0)),
		MR_ALL_OWN_CALLS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_or_nothing), cmocka_unit_test(test_one_call),
		cmocka_unit_test(test_arguments),      cmocka_unit_test(test_division),
		cmocka_unit_test(test_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
