/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/cause.h"

#include "analysis/device_time.h"

struct mr_link mr_link_of_operation(const struct mr_model *model, enum mr_cause_kind kind,
				    uint32_t row)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t device = mr_operation_device(model, row);

	if (operations->name[row])
		return mr_link_make(kind, MR_CULPRIT_OPERATION, operations->name[row], device);
	return mr_link_make(kind, MR_CULPRIT_UNNAMED, operations->kind[row], device);
}

int mr_chain_intern(struct mr_chains *chains, struct mr_link link, uint32_t *ret_chain)
{
	return mr_strings_intern(&chains->links, &link, sizeof link, ret_chain);
}

void mr_chains_free(struct mr_chains *chains)
{
	mr_strings_free(&chains->links);
}

uint32_t mr_chain_root(const struct mr_chains *chains, uint32_t chain)
{
	while (mr_chain_link(chains, chain)->next != MR_NO_CHAIN)
		chain = mr_chain_link(chains, chain)->next;
	return chain;
}

/* Waiting for another thread, which says what it waited for. */
static bool is_exchange(uint16_t kind)
{
	switch (kind) {
	case MR_CAUSE_LOCK:
	case MR_CAUSE_GIL:
	case MR_CAUSE_HAND_OVER:
	case MR_CAUSE_IPC:
	case MR_CAUSE_CHILD:
	case MR_CAUSE_SIGNAL:
	case MR_CAUSE_POLL:
	case MR_CAUSE_NETWORK:
		return true;
	}
	return false;
}

bool mr_cause_is_plain(uint16_t kind)
{
	switch (kind) {
	case MR_CAUSE_CPU:
	case MR_CAUSE_SLEEP:
	case MR_CAUSE_CALL:
	case MR_CAUSE_UNTRACED:
	case MR_CAUSE_UNKNOWN:
		return true;
	}
	return false;
}

uint32_t mr_chain_headline(const struct mr_chains *chains, uint32_t chain)
{
	uint32_t root = mr_chain_root(chains, chain), headline = root;

	if (!mr_cause_is_plain(mr_chain_link(chains, root)->kind))
		return root;
	for (; chain != root; chain = mr_chain_link(chains, chain)->next)
		if (is_exchange(mr_chain_link(chains, chain)->kind))
			headline = chain;
	return headline;
}

bool mr_chain_is_explained(const struct mr_chains *chains, uint32_t chain)
{
	switch (mr_chain_link(chains, mr_chain_headline(chains, chain))->kind) {
	case MR_CAUSE_UNKNOWN:
	case MR_CAUSE_UNTRACED:
	case MR_CAUSE_UNLAUNCHED:
	case MR_CAUSE_DEVICE_UNKNOWN:
		return false;
	}
	return true;
}
