/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym(): who asks for a function of HIP or roctx by its name, as Python's ctypes does, gets the one that stands in front of
 * it, if the answer would be HIP's or roctx's own. All other questions go to the C library, or to another that is behind us.
 *
 * The C library finds out by its return address who asks, which matters for RTLD_DEFAULT and RTLD_NEXT. So it is jumped to,
 * not called: that takes a few lines of assembly. A library that stands between us and theirs asks with RTLD_NEXT for what is
 * behind it, and is left alone, unless there is nothing: ours is not to be found then.
 */
#include <dlfcn.h>

#include "hook/hip/hip.h"
#include "hook/hook.h"
#include "hook/roctx/roctx.h"
#include "hook/symbols.h"

typedef void *lookup_function(void *handle, const char *name);

/* Where to jump; NULL: here is the answer. */
struct way {
	lookup_function *next;
	void *answer;
};

static lookup_function *find_next(void)
{
	static _Atomic(lookup_function *) known;
	lookup_function *next = atomic_load_explicit(&known, memory_order_relaxed);
	if (mr_unlikely(!next)) {
		next = (lookup_function *)mr_symbol_find_behind("dlsym");
		atomic_store_explicit(&known, next, memory_order_relaxed);
	}
	return next;
}

typedef void *stub_function(const char *name, void *found);

static stub_function *stub_function_of(const char *name)
{
	return strncmp(name, "hip", 3) == 0     ? mr_hip_stub_of
	       : strncmp(name, "roctx", 5) == 0 ? mr_roctx_stub_of
						: NULL;
}

struct way mr_lookup(void *handle, const char *name);

struct way mr_lookup(void *handle, const char *name)
{
	struct way way = {.next = find_next()};
	stub_function *stub_of = name ? stub_function_of(name) : NULL;
	if (!way.next || mr_likely(!stub_of))
		return way;
	if (handle == RTLD_NEXT)
		return mr_symbol_find(name) ? way
					    : (struct way){.answer = way.next(RTLD_NEXT, name)};
	mr_hook_start();
	void *found = mr_arena ? way.next(handle, name) : NULL;
	void *stub = found ? stub_of(name, found) : NULL;
	if (found && !stub)
		return (struct way){
			.answer = way.next(RTLD_NEXT, name)}; /* not there, as dlerror() says */
	return stub == found ? way : (struct way){.answer = stub};
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	sub $24, %rsp\n"
	"	.cfi_adjust_cfa_offset 24\n"
	"	mov %rdi, (%rsp)\n"
	"	mov %rsi, 8(%rsp)\n"
	"	call mr_lookup\n"
	"	mov (%rsp), %rdi\n"
	"	mov 8(%rsp), %rsi\n"
	"	add $24, %rsp\n"
	"	.cfi_adjust_cfa_offset -24\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	jmp *%rax\n"
	"1:	mov %rdx, %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size dlsym, .-dlsym\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n"
	".cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	stp x29, x30, [sp, #-32]!\n"
	"	.cfi_adjust_cfa_offset 32\n"
	"	.cfi_offset x29, -32\n"
	"	.cfi_offset x30, -24\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl mr_lookup\n"
	"	mov x16, x0\n"
	"	mov x17, x1\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	.cfi_adjust_cfa_offset -32\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	mov x0, x17\n"
	"	ret\n"
	".cfi_endproc\n"
	".size dlsym, .-dlsym\n"
	".popsection\n");
#endif
