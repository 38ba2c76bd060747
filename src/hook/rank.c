/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/rank.h"

#include <stdlib.h>
#include <string.h>

static const struct launcher {
	const char *rank, *world_size, *local_rank; /* NULL: it does not say */
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
	{"PMI_RANK", "PMI_SIZE", NULL},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

/* The number that a text begins with; MR_NO_RANK if it is none, or too large for one. */
static uint32_t read_number(const char *text)
{
	uint64_t number = 0;

	if (!text || *text < '0' || *text > '9')
		return MR_NO_RANK;
	for (; *text >= '0' && *text <= '9' && number < MR_NO_RANK; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number < MR_NO_RANK ? (uint32_t)number : MR_NO_RANK;
}

static uint32_t read_variable(const char *name)
{
	return name ? read_number(getenv(name)) : MR_NO_RANK;
}

/* Such a name alone may mean anything: the size must be there, and fit. */
static bool read_launcher(const struct launcher *launcher, struct mr_rank *rank)
{
	*rank = (struct mr_rank){read_variable(launcher->rank), read_variable(launcher->world_size),
				 read_variable(launcher->local_rank), launcher->rank};
	return rank->rank != MR_NO_RANK && rank->world_size != MR_NO_RANK &&
	       rank->rank < rank->world_size;
}

/* What follows "key": in JSON, without blanks and quotes; NULL if there is no such key. */
static const char *find_value(const char *json, const char *key)
{
	const char *at = json ? strstr(json, key) : NULL;

	return at ? at + strlen(key) + strspn(at + strlen(key), " \t\n:\"") : NULL;
}

/* {"cluster": {"chief": [...], "worker": [...]}, "task": {"type": "worker", "index": 1}} */
static bool read_task(const char *config, struct mr_rank *rank)
{
	const char *task = find_value(config, "\"task\"");
	const char *type = find_value(task, "\"type\"");
	uint32_t index = read_number(find_value(task, "\"index\""));

	if (!type || index == MR_NO_RANK)
		return false;
	bool is_chief = strncmp(type, "chief\"", 6) == 0;
	if (!is_chief && strncmp(type, "worker\"", 7) != 0)
		return false;
	*rank = (struct mr_rank){index, MR_NO_RANK, MR_NO_RANK, "TF_CONFIG"};
	rank->rank += !is_chief && find_value(config, "\"chief\"");
	return true;
}

bool mr_rank_find(struct mr_rank *ret_rank)
{
	struct mr_rank rank;
	bool is_found = false;

	for (size_t i = 0; !is_found && i < sizeof launchers / sizeof *launchers; i++)
		is_found = read_launcher(&launchers[i], &rank);
	if (!is_found)
		is_found = read_task(getenv("TF_CONFIG"), &rank);
	if (is_found)
		*ret_rank = rank;
	return is_found;
}
