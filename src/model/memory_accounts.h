/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of allocations, and the accounts in which they are counted.
 */
#ifndef MR_MODEL_MEMORY_ACCOUNTS_H
#define MR_MODEL_MEMORY_ACCOUNTS_H

#include "model/model.h"

/* Identifies an allocation while it is live, without padding. A runtime's frees record only the handle. */
struct mr_memory_key {
	uint64_t address;
	uint32_t process;
	uint32_t teller;
	uint32_t device;    /* of a framework's */
	uint32_t allocator; /* likewise */
};

/* Of the piece at an address, in the names of the row's teller. */
struct mr_memory_key mr_memory_key(const struct mr_model *model, uint32_t row, uint64_t address);

/* What live bytes are counted of: the memory of one process on one device, by one teller. */
struct mr_memory_account {
	uint32_t process;
	uint32_t device; /* of that process; 0: the host, or not known */
	uint32_t teller;
};

/* Accounts have numbers, from 0: those of no device first. */
uint32_t mr_memory_account_count(const struct mr_model *model);
uint32_t mr_memory_account_of(const struct mr_model *model, uint32_t row);
struct mr_memory_account mr_memory_account(const struct mr_model *model, uint32_t number);

#endif
