/* SPDX-License-Identifier: Apache-2.0
 *
 * Agents (CPUs and GPUs), their memory pools, and their clock. HSA translates the times of devices to a clock of its own,
 * which it can be asked for; so all devices of a process have the same clock, each with its own samples.
 */
#include <stdio.h>

#include "hook/hsa/hsa.h"
#include "record/own_call.h"

enum {
	SYSTEM_TIMESTAMP = 2, /* what hsa_system_get_info() is asked ... */
	SYSTEM_TIMESTAMP_FREQUENCY = 3,
	AGENT_NAME = 0, /* ... and hsa_agent_get_info() */
	AGENT_DEVICE = 17,
	AGENT_BUS_ADDRESS = 0xa006,
	AGENT_PRODUCT_NAME = 0xa009,
	AGENT_BUS_DOMAIN = 0xa00f,
	DEVICE_CPU = 0, /* ... and its answer */
	DEVICE_GPU = 1,
	NS_PER_SECOND = 1000000000,
};

/* ---- the clock --------------------------------------------------------------------------------------- */

static uint64_t frequency; /* 0: not yet known */

uint64_t mr_hsa_to_ns(uint64_t time)
{
	if (mr_unlikely(frequency == 0) &&
	    (!mr_hsa_is_success(mr_hsa_call_next(hsa_system_get_info, SYSTEM_TIMESTAMP_FREQUENCY,
						 (uintptr_t)&frequency)) ||
	     frequency == 0))
		frequency = NS_PER_SECOND;
	if (mr_likely(frequency == NS_PER_SECOND))
		return time;
	return time / frequency * NS_PER_SECOND + time % frequency * NS_PER_SECOND / frequency;
}

static bool read_timer(void *device, uint64_t *ret_ns)
{
	(void)device;
	uint64_t time = 0;
	if (!mr_hsa_is_success(
		    mr_hsa_call_next(hsa_system_get_info, SYSTEM_TIMESTAMP, (uintptr_t)&time)))
		return false;
	*ret_ns = mr_hsa_to_ns(time);
	return true;
}

void mr_hsa_clocks_close(void)
{
	struct mr_hsa_device *device = atomic_load_explicit(&mr_hsa->devices, memory_order_acquire);
	for (; device; device = device->next)
		mr_device_clock_close(&device->clock);
}

/* ---- devices ----------------------------------------------------------------------------------------- */

static uint32_t ask_number(uint64_t agent, uint32_t what)
{
	uint32_t number = 0;
	if (!mr_hsa_is_success(
		    mr_hsa_call_next(hsa_agent_get_info, agent, what, (uintptr_t)&number)))
		return 0;
	return number;
}

static void define_identity(const struct mr_hsa_device *device)
{
	char identity[32];
	uint32_t address = ask_number(device->agent, AGENT_BUS_ADDRESS);
	uint32_t domain = ask_number(device->agent, AGENT_BUS_DOMAIN);
	if (device->is_cpu || !address)
		return;
	snprintf(identity, sizeof identity, "pci %04x:%02x:%02x.%x", domain & 0xffff,
		 address >> 8 & 0xff, address >> 3 & 0x1f, address & 7);
	mr_define_device_identity(device->id, identity);
}

static uint64_t note_pool(uint64_t pool, struct mr_hsa_device *device)
{
	const struct mr_handle entry = {
		.handle = (const void *)pool, .owner = device, .references = 1};
	mr_handle_put(&mr_hsa->pool_map, &entry);
	return 0;
}

/* The lock of making devices is held. */
static struct mr_hsa_device *new_device(uint64_t agent)
{
	char name[128] = "";
	struct mr_hsa_device *device = mr_own_map(sizeof *device);
	if (!device)
		return NULL;
	uint32_t kind = ask_number(agent, AGENT_DEVICE);
	device->agent = agent;
	device->is_cpu = kind == DEVICE_CPU;
	if (!mr_hsa_is_success(mr_hsa_call_next(hsa_agent_get_info, agent, AGENT_PRODUCT_NAME,
						(uintptr_t)name)) ||
	    !name[0])
		mr_hsa_call_next(hsa_agent_get_info, agent, AGENT_NAME, (uintptr_t)name);
	name[sizeof name - 1] = 0;
	uint32_t name_id = mr_define_string(name[0] ? name : "agent");
	mr_device_clock_open(&device->clock, name_id, read_timer, device);
	device->id = mr_define_device(name_id, device->clock.id,
				      device->is_cpu       ? MR_device_kind_cpu
				      : kind == DEVICE_GPU ? MR_device_kind_gpu
							   : MR_device_kind_accelerator);
	define_identity(device);
	mr_device_clock_poll(&device->clock, 0);
	const struct mr_handle entry = {
		.handle = (const void *)agent, .owner = device, .references = 1};
	mr_handle_put(&mr_hsa->device_map, &entry);
	device->next = atomic_load_explicit(&mr_hsa->devices, memory_order_relaxed);
	atomic_store_explicit(&mr_hsa->devices, device, memory_order_release);
	mr_hsa_call_next(hsa_amd_agent_iterate_memory_pools, agent, (uintptr_t)note_pool,
			 (uintptr_t)device);
	return device;
}

struct mr_hsa_device *mr_hsa_device_find(uint64_t agent)
{
	struct mr_handle entry = {0};
	if (!agent || mr_handle_get(&mr_hsa->device_map, (const void *)agent, &entry))
		return entry.owner;
	if (!mr_lock(&mr_hsa->lock))
		return NULL;
	struct mr_hsa_device *device =
		mr_handle_get(&mr_hsa->device_map, (const void *)agent, &entry) ? entry.owner
										: new_device(agent);
	mr_unlock(&mr_hsa->lock);
	return device;
}

static uint64_t find_agent(uint64_t agent, void *unused)
{
	(void)unused;
	mr_hsa_device_find(agent);
	return 0;
}

/* ---- whether there is a GPU ---------------------------------------------------------------------------- */

enum {
	NOT_ASKED,
	NONE,
	SOME,
};

static _Atomic int gpus;

static uint64_t note_gpu(uint64_t agent, void *unused)
{
	(void)unused;
	if (ask_number(agent, AGENT_DEVICE) == DEVICE_GPU)
		atomic_store_explicit(&gpus, SOME, memory_order_relaxed);
	return 0;
}

/* Whoever wants to use a device asks this first. */
uint64_t mr_hsa_own_hsa_iterate_agents(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	int not_asked = NOT_ASKED;
	mr_hsa_begin(&call, MR_HSA_hsa_iterate_agents, 0);
	uint64_t result = mr_hsa_next[MR_HSA_hsa_iterate_agents](MR_HSA_ARGUMENTS);
	if (atomic_compare_exchange_strong(&gpus, &not_asked, NONE))
		mr_hsa_call_next(hsa_iterate_agents, (uintptr_t)note_gpu);
	mr_hsa_end(&call, (int32_t)result);
	return result;
}

bool mr_hsa_lacks_gpu(void)
{
	return atomic_load_explicit(&gpus, memory_order_relaxed) == NONE;
}

/* ---- memory pools ---------------------------------------------------------------------------------------- */

/* Pools are known when their agents are. */
struct mr_hsa_device *mr_hsa_device_of_pool(uint64_t pool)
{
	struct mr_handle entry = {0};
	if (mr_handle_get(&mr_hsa->pool_map, (const void *)pool, &entry))
		return entry.owner;
	mr_hsa_call_next(hsa_iterate_agents, (uintptr_t)find_agent);
	mr_handle_get(&mr_hsa->pool_map, (const void *)pool, &entry);
	return entry.owner;
}
