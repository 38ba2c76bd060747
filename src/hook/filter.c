/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "base/macros.h"
#include "record/own_call.h"

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

enum {
	ARGUMENTS = 6,
	CELLS = BPF_MEMWORDS,
};

#define ANY UINT64_C(0x616e79) /* an argument that is not always the same */

/* One of our calls. A call that we make in several ways has several rows. */
struct call {
	enum mr_own_call_number which;
	long number;
	uint64_t arguments[ARGUMENTS];
};

/* The sixth argument of the last two rows is an offset; in the others it is the mark. */
#define CALL(name, ...)                         \
	{                                       \
		MR_OWN_CALL_##name, SYS_##name, \
		{                               \
			__VA_ARGS__             \
		}                               \
	}
#define ANY_ARGUMENTS ANY, ANY, ANY, ANY, ANY, MR_OWN_MARK
static const struct call calls[] = {
	CALL(close, ANY_ARGUMENTS),
	CALL(faccessat2, ANY, ANY, R_OK, AT_EACCESS, ANY, MR_OWN_MARK),
	CALL(faccessat2, ANY, ANY, R_OK | W_OK, AT_EACCESS, ANY, MR_OWN_MARK),
	CALL(faccessat2, ANY, ANY, X_OK, AT_EACCESS, ANY, MR_OWN_MARK),
	CALL(fgetxattr, ANY_ARGUMENTS),
	CALL(fstat, ANY_ARGUMENTS),
	CALL(getpid, ANY_ARGUMENTS),
	CALL(getppid, ANY_ARGUMENTS),
	CALL(getresgid, ANY_ARGUMENTS),
	CALL(getresuid, ANY_ARGUMENTS),
	CALL(gettid, ANY_ARGUMENTS),
	CALL(madvise, ANY, ANY, MADV_WIPEONFORK, ANY, ANY, MR_OWN_MARK),
	CALL(madvise, ANY, ANY, MADV_DONTDUMP, ANY, ANY, MR_OWN_MARK),
	CALL(madvise, ANY, ANY, MADV_POPULATE_WRITE, ANY, ANY, MR_OWN_MARK),
	CALL(munlock, ANY_ARGUMENTS),
	CALL(munmap, ANY_ARGUMENTS),
	CALL(newfstatat, ANY, ANY, ANY, 0, ANY, MR_OWN_MARK),
	CALL(openat, ANY, ANY, O_RDONLY | O_CLOEXEC, 0, ANY, MR_OWN_MARK),
	CALL(openat, ANY, ANY, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, ANY, MR_OWN_MARK),
	CALL(openat, ANY, ANY, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, ANY, MR_OWN_MARK),
	CALL(prctl, PR_GET_NAME, ANY, ANY, ANY, ANY, MR_OWN_MARK),
	CALL(pread64, ANY_ARGUMENTS),
	CALL(prlimit64, 0, ANY, 0, ANY, ANY, MR_OWN_MARK),
	CALL(readlinkat, ANY_ARGUMENTS),
	CALL(rt_sigprocmask, (uint64_t)-1, ANY, 0, 8, ANY, MR_OWN_MARK),
	CALL(sched_yield, ANY_ARGUMENTS),
	CALL(sigaltstack, 0, ANY, ANY, ANY, ANY, MR_OWN_MARK),
	CALL(symlinkat, ANY_ARGUMENTS),
	CALL(mmap, ANY, ANY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
	     MR_OWN_MARK),
	CALL(mmap, ANY, ANY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
	     (uint64_t)-1, MR_OWN_MARK),
	CALL(mmap, ANY, ANY, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, (uint64_t)-1, MR_OWN_MARK),
	CALL(mmap, ANY, ANY, PROT_READ, MAP_SHARED, ANY, ANY),
	CALL(mmap, ANY, ANY, PROT_READ | PROT_WRITE, MAP_SHARED, ANY, ANY),
};

struct value {
	uint32_t number;
	bool is_known;
};

/* The filter's machine: accumulator, index, memory. */
struct machine {
	struct value a;
	struct value x;
	struct value cells[CELLS];
};

static struct value known(uint32_t number)
{
	return (struct value){.number = number, .is_known = true};
}

/* What stands at an offset of struct seccomp_data. */
static struct value load(const struct call *call, uint32_t offset)
{
	const uint32_t first = offsetof(struct seccomp_data, args);
	if (offset == offsetof(struct seccomp_data, nr))
		return known((uint32_t)call->number);
	if (offset == offsetof(struct seccomp_data, arch))
		return known(OWN_ARCHITECTURE);
	if (offset < first || offset >= sizeof(struct seccomp_data))
		return (struct value){0};
	uint64_t argument = call->arguments[(offset - first) / sizeof(uint64_t)];
	bool is_high = (offset - first) % sizeof(uint64_t) != 0;
	return (struct value){.number = (uint32_t)(is_high ? argument >> 32 : argument),
			      .is_known = argument != ANY};
}

static struct value compute(uint16_t operation, struct value a, struct value b)
{
	struct value result = {.is_known = a.is_known && b.is_known};
	if (!result.is_known)
		return result;
	switch (operation) {
	case BPF_ADD:
		return known(a.number + b.number);
	case BPF_SUB:
		return known(a.number - b.number);
	case BPF_MUL:
		return known(a.number * b.number);
	case BPF_DIV:
		return known(a.number / b.number);
	case BPF_AND:
		return known(a.number & b.number);
	case BPF_OR:
		return known(a.number | b.number);
	case BPF_XOR:
		return known(a.number ^ b.number);
	case BPF_LSH:
		return b.number < 32 ? known(a.number << b.number) : (struct value){0};
	case BPF_RSH:
		return b.number < 32 ? known(a.number >> b.number) : (struct value){0};
	case BPF_NEG:
		return known(-a.number);
	default:
		return (struct value){0};
	}
}

/* Whether a jump's condition holds; the values are known. */
static bool holds(uint16_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b; /* BPF_JSET */
	}
}

static struct value loaded(const struct machine *machine, const struct call *call,
			   const struct sock_filter *instruction)
{
	switch (BPF_MODE(instruction->code)) {
	case BPF_ABS:
		return load(call, instruction->k);
	case BPF_IMM:
		return known(instruction->k);
	case BPF_LEN:
		return known(sizeof(struct seccomp_data));
	case BPF_MEM:
		return instruction->k < CELLS ? machine->cells[instruction->k] : (struct value){0};
	default:
		return (struct value){0};
	}
}

/* Everything but jumps and returns. */
static void step(struct machine *machine, const struct call *call,
		 const struct sock_filter *instruction)
{
	const uint16_t code = instruction->code;
	const struct value operand = BPF_SRC(code) == BPF_X ? machine->x : known(instruction->k);
	switch (BPF_CLASS(code)) {
	case BPF_LD:
		machine->a = loaded(machine, call, instruction);
		break;
	case BPF_LDX:
		machine->x = loaded(machine, call, instruction);
		break;
	case BPF_ST:
	case BPF_STX:
		if (instruction->k < CELLS)
			machine->cells[instruction->k] =
				BPF_CLASS(code) == BPF_ST ? machine->a : machine->x;
		break;
	case BPF_ALU:
		machine->a = compute(BPF_OP(code), machine->a,
				     BPF_OP(code) == BPF_NEG ? known(0) : operand);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		break;
	default:
		break;
	}
}

/* A filter that divides by zero ends there, as if it had returned 0: the program is killed. */
static bool may_divide_by_zero(const struct sock_filter *instruction, struct value divisor)
{
	return BPF_CLASS(instruction->code) == BPF_ALU && BPF_OP(instruction->code) == BPF_DIV &&
	       (!divisor.is_known || divisor.number == 0);
}

/* Jumps lead forward only, so it ends. */
static bool is_allowed(const struct sock_filter *code, size_t count, const struct call *call)
{
	struct machine machine = {.a = known(0), .x = known(0)};
	for (size_t at = 0; at < count; at++) {
		const struct sock_filter *instruction = &code[at];
		const struct value operand =
			BPF_SRC(instruction->code) == BPF_X ? machine.x : known(instruction->k);
		if (BPF_CLASS(instruction->code) == BPF_RET) {
			const struct value action = BPF_RVAL(instruction->code) == BPF_A
							    ? machine.a
							    : known(instruction->k);
			return action.is_known &&
			       (action.number & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
		}
		if (may_divide_by_zero(instruction, operand))
			return false;
		if (BPF_CLASS(instruction->code) != BPF_JMP) {
			step(&machine, call, instruction);
			continue;
		}
		if (BPF_OP(instruction->code) == BPF_JA) {
			at += instruction->k;
			continue;
		}
		if (!machine.a.is_known || !operand.is_known)
			return false;
		at += holds(BPF_OP(instruction->code), machine.a.number, operand.number)
			      ? instruction->jt
			      : instruction->jf;
	}
	return false;
}

uint32_t mr_filter_forbids(const struct sock_filter *code, size_t count)
{
	uint32_t seen = 0, forbidden = 0;
	for (size_t i = 0; i < mr_countof(calls); i++) {
		const uint32_t bit = UINT32_C(1) << calls[i].which;
		seen |= bit;
		forbidden |= is_allowed(code, count, &calls[i]) ? 0 : bit;
	}
	if (forbidden & mr_own_call_bit(SYS_close)) /* what cannot be closed must not be opened */
		forbidden |= mr_own_call_bit(SYS_openat);
	return forbidden | (MR_ALL_OWN_CALLS & ~seen); /* of a call without a row we know nothing */
}
