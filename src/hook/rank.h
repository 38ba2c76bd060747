/* SPDX-License-Identifier: Apache-2.0
 *
 * Which part of a job a process is, as who started the job says in the environment:
 *
 *     RANK, WORLD_SIZE, LOCAL_RANK                               torchrun and what is like it
 *     OMPI_COMM_WORLD_RANK, ..._SIZE, ..._LOCAL_RANK             Open MPI
 *     PMI_RANK, PMI_SIZE                                         MPICH, Intel MPI
 *     SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID                  srun
 *     TF_CONFIG                                                  TensorFlow: the task; a chief comes before workers
 *
 * The first that says it counts.
 */
#ifndef MR_HOOK_RANK_H
#define MR_HOOK_RANK_H

#include <stdbool.h>
#include <stdint.h>

#define MR_NO_RANK UINT32_MAX

struct mr_rank {
	uint32_t rank;
	uint32_t world_size; /* MR_NO_RANK: not known; so is the next */
	uint32_t local_rank; /* on its host */
	const char *source;  /* the variable */
};

/* False if the environment does not say. */
bool mr_rank_find(struct mr_rank *ret_rank);

#endif
