/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of the rings → events of the schema. Picks the narrowest event that holds a record, and defines
 * files, texts and system calls when they are first met.
 *
 * The kernel numbers files; a number may be used on one CPU before another CPU's ring tells which file that is.
 * So an id is taken at the first sight of a number, and defined when the description comes.
 */
#ifndef MR_KERNEL_ENCODE_H
#define MR_KERNEL_ENCODE_H

#include "base/vector.h"
#include "kernel/packets.h"
#include "kernel/records.h"

struct mr_encoder_source {
	uint64_t source;
	uint32_t context;
	uint32_t string; /* id */
};

struct mr_encoder {
	mr_vec(uint32_t) file_ids; /* by the kernel's number; 0: not met yet */
	mr_vec(struct mr_encoder_source) sources;
	uint64_t files; /* described so far */
	uint64_t mask;  /* hides addresses of the kernel that serve as names */
	uint64_t defined_syscalls[(1 << 16) / 64];
	uint64_t lost[MR_BPF_CPUS]; /* of each CPU, as told so far */
};

/* A zeroed encoder is ready for use. */
void mr_encoder_put(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
		    const struct mr_record *record);

/* Tells how many records a CPU has lost from the beginning. */
void mr_encoder_put_loss(struct mr_encoder *encoder, struct mr_kernel_stream *stream, uint64_t ns,
			 uint64_t lost);

void mr_encoder_free(struct mr_encoder *encoder);

#endif
