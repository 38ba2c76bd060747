/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a dispatch, one work item after the other. Items that meet at barriers have stacks of their own: at a barrier one
 * continues with the next item, and comes back when all have arrived.
 *
 *     scheduler ──► item 0 ─ barrier ─┐   switch: the saved registers go onto the stack,
 *         ▲                           │   and the stack pointer to the item
 *         ├───────────────────────────┘
 *         └──────► item 1 ...
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"

enum {
	STACK_BYTES = 32 << 10,
};

/* A work item. */
struct item {
	const struct soft_kernel *kernel;
	const hsa_kernel_dispatch_packet_t *packet;
	uint32_t local[3];
	uint32_t group[3];
	void *stack_pointer;
	void **scheduler; /* where the scheduler's stack pointer is; NULL: there are no barriers */
	bool is_done;
};

static _Thread_local struct item *current;
static _Thread_local char *stacks; /* kept for the next group */
static _Thread_local uint32_t stack_count;

/* Saves what a function must preserve, stores the stack pointer, and continues on another stack. */
void soft_switch(void **ret_stack_pointer, void *stack_pointer)
	__attribute__((visibility("hidden")));

#if defined __x86_64__
enum {
	SAVED_WORDS = 6,
	FRAME_WORDS = 8, /* with the address to return to, and one that keeps the stack aligned */
};
__asm__(".text\n"
	".globl soft_switch\n"
	".hidden soft_switch\n"
	".type soft_switch, @function\n"
	"soft_switch:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	".size soft_switch, . - soft_switch\n");
#else
#error "AMD's packages for Debian exist for x86-64"
#endif

/* ---- what translated kernels call ---- */

SOFT_EXPORT uint32_t soft_amd_item(uint32_t dimension);
SOFT_EXPORT uint32_t soft_amd_group(uint32_t dimension);
SOFT_EXPORT const void *soft_amd_packet(void);
SOFT_EXPORT const void *soft_amd_arguments(void);
SOFT_EXPORT void soft_amd_barrier(void);

uint32_t soft_amd_item(uint32_t dimension)
{
	return current->local[dimension];
}

uint32_t soft_amd_group(uint32_t dimension)
{
	return current->group[dimension];
}

const void *soft_amd_packet(void)
{
	return current->packet;
}

const void *soft_amd_arguments(void)
{
	return current->packet->kernarg_address;
}

void soft_amd_barrier(void)
{
	if (current->scheduler)
		soft_switch(&current->stack_pointer, *current->scheduler);
}

/* ---- groups ---- */

static void run_current(void)
{
	current->kernel->run(current->packet->kernarg_address);
	current->is_done = true;
	soft_amd_barrier();
}

static bool make_stacks(uint32_t count)
{
	if (count <= stack_count)
		return true;
	if (stacks)
		munmap(stacks, (size_t)stack_count * STACK_BYTES);
	stack_count = 0;
	stacks = mmap(NULL, (size_t)count * STACK_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		stacks = NULL;
	stack_count = stacks ? count : 0;
	return stacks;
}

static void *first_frame(uint32_t number)
{
	void **top = (void **)(stacks + (size_t)(number + 1) * STACK_BYTES - 64);
	top[-1] = NULL;
	top[SAVED_WORDS - FRAME_WORDS] = (void *)run_current;
	return top - FRAME_WORDS;
}

static void run_with_barriers(const struct item *first, const uint32_t *size)
{
	uint32_t count = size[0] * size[1] * size[2], left = count;
	void *scheduler;
	struct item *items = calloc(count, sizeof *items);
	if (!items || !make_stacks(count)) {
		free(items);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		items[i] = *first;
		items[i].local[0] = i % size[0];
		items[i].local[1] = i / size[0] % size[1];
		items[i].local[2] = i / size[0] / size[1];
		items[i].scheduler = &scheduler;
		items[i].stack_pointer = first_frame(i);
	}
	while (left > 0)
		for (uint32_t i = 0; i < count; i++) {
			if (items[i].is_done)
				continue;
			current = &items[i];
			soft_switch(&scheduler, items[i].stack_pointer);
			left -= items[i].is_done;
		}
	free(items);
}

static void run_group(struct item *item, const uint32_t *size)
{
	if (item->kernel->has_barrier) {
		run_with_barriers(item, size);
		return;
	}
	current = item;
	for (item->local[2] = 0; item->local[2] < size[2]; item->local[2]++)
		for (item->local[1] = 0; item->local[1] < size[1]; item->local[1]++)
			for (item->local[0] = 0; item->local[0] < size[0]; item->local[0]++)
				item->kernel->run(item->packet->kernarg_address);
}

/* A dimension that is not given is 1. */
static uint32_t at_least_one(uint32_t size)
{
	return size > 0 ? size : 1;
}

void soft_run_items(const struct soft_kernel *kernel, const hsa_kernel_dispatch_packet_t *packet)
{
	const uint32_t grid[3] = {at_least_one(packet->grid_size_x),
				  at_least_one(packet->grid_size_y),
				  at_least_one(packet->grid_size_z)};
	const uint32_t group[3] = {at_least_one(packet->workgroup_size_x),
				   at_least_one(packet->workgroup_size_y),
				   at_least_one(packet->workgroup_size_z)};
	uint64_t groups[3], count = 1;
	for (int i = 0; i < 3; i++) {
		groups[i] = ((uint64_t)grid[i] + group[i] - 1) / group[i];
		count *= groups[i];
	}
	for (uint64_t number = 0; number < count; number++) {
		struct item item = {.kernel = kernel, .packet = packet};
		uint64_t rest = number;
		uint32_t size[3];
		for (int i = 0; i < 3; i++) {
			item.group[i] = (uint32_t)(rest % groups[i]);
			rest /= groups[i];
			uint32_t left =
				grid[i] - item.group[i] * group[i]; /* the last may be smaller */
			size[i] = left < group[i] ? left : group[i];
		}
		run_group(&item, size);
	}
	current = NULL;
}
