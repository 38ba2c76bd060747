/* SPDX-License-Identifier: Apache-2.0
 *
 * Device kernels, by the address of their code: when an executable is frozen, HSA says what is in it. One that is loaded
 * later may have the address of one that is no more, and replaces it.
 *
 *     value of an entry:  name (32 bits) │ bytes of arguments (24) │ kind (8)
 */
#include "hook/hsa/hsa.h"

enum {
	SYMBOL_TYPE = 0, /* what hsa_executable_symbol_get_info() is asked */
	SYMBOL_NAME_LENGTH = 1,
	SYMBOL_NAME = 2,
	SYMBOL_ARGUMENT_BYTES = 11,
	SYMBOL_KERNEL_OBJECT = 22,
	TYPE_KERNEL = 1,
	NAME_BYTES = 4096, /* names of generated kernels can be long */
	MOST_ARGUMENT_BYTES = (1 << 24) - 1,
};

static const char of_hip[] = "__amd_rocclr_"; /* how the names of HIP's own kernels begin */

struct memo {
	uint64_t object;
	uint64_t generation;
	uint32_t changes;
	struct mr_hsa_kernel kernel;
};

static _Thread_local struct memo memo __attribute__((tls_model("initial-exec")));

static enum mr_operation_kind kind_of(const char *name)
{
	if (strncmp(name, of_hip, sizeof of_hip - 1) != 0)
		return MR_operation_kind_kernel;
	if (strncmp(name + sizeof of_hip - 1, "fill", 4) == 0)
		return MR_operation_kind_fill;
	return strncmp(name + sizeof of_hip - 1, "copy", 4) == 0 ? MR_operation_kind_copy_on_device
								 : MR_operation_kind_kernel;
}

static bool ask(uint64_t symbol, uint32_t what, void *ret_answer)
{
	return mr_hsa_is_success(mr_hsa_call_next(hsa_executable_symbol_get_info, symbol, what,
						  (uintptr_t)ret_answer));
}

static uint64_t note_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *unused)
{
	(void)executable;
	(void)agent;
	(void)unused;
	char name[NAME_BYTES];
	uint32_t type = 0, length = 0, argument_bytes = 0;
	uint64_t object = 0;
	if (!ask(symbol, SYMBOL_TYPE, &type) || type != TYPE_KERNEL ||
	    !ask(symbol, SYMBOL_KERNEL_OBJECT, &object) ||
	    !ask(symbol, SYMBOL_NAME_LENGTH, &length) || length >= sizeof name ||
	    !ask(symbol, SYMBOL_NAME, name))
		return 0;
	ask(symbol, SYMBOL_ARGUMENT_BYTES, &argument_bytes);
	name[length] = 0;
	if (length > 3 && strcmp(name + length - 3, ".kd") == 0)
		name[length - 3] = 0;
	const struct mr_handle entry = {
		.handle = (const void *)object,
		.value = (uint64_t)mr_define_string(name) << 32 |
			 (uint64_t)mr_min(argument_bytes, (uint32_t)MOST_ARGUMENT_BYTES) << 8 |
			 kind_of(name),
		.references = 1};
	mr_handle_put(&mr_hsa->kernel_map, &entry);
	return 0;
}

static uint64_t note_agent(uint64_t agent, void *executable)
{
	mr_hsa_call_next(hsa_executable_iterate_agent_symbols, *(const uint64_t *)executable, agent,
			 (uintptr_t)note_symbol);
	return 0;
}

uint64_t mr_hsa_own_hsa_executable_freeze(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	mr_hsa_begin(&call, MR_HSA_hsa_executable_freeze, 0);
	uint64_t result = mr_hsa_next[MR_HSA_hsa_executable_freeze](MR_HSA_ARGUMENTS);
	if (mr_hsa_is_success(result)) {
		mr_hsa_call_next(hsa_iterate_agents, (uintptr_t)note_agent, (uintptr_t)&a0);
		atomic_fetch_add_explicit(&mr_hsa->changes, 1, memory_order_release);
	}
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}

struct mr_hsa_kernel mr_hsa_kernel_find(uint64_t object)
{
	uint32_t changes = atomic_load_explicit(&mr_hsa->changes, memory_order_acquire);
	if (mr_likely(memo.object == object && memo.changes == changes &&
		      memo.generation == mr_this_process.generation))
		return memo.kernel;
	struct mr_handle entry;
	struct mr_hsa_kernel kernel = {.kind = MR_operation_kind_kernel};
	if (mr_handle_get(&mr_hsa->kernel_map, (const void *)object, &entry))
		kernel = (struct mr_hsa_kernel){.name = (uint32_t)(entry.value >> 32),
						.argument_bytes = (uint32_t)entry.value >> 8,
						.kind = (uint8_t)entry.value};
	else
		kernel.name = mr_define_string("(device kernel)");
	memo = (struct memo){object, mr_this_process.generation, changes, kernel};
	return kernel;
}
