/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns records of the rings into events of the schema. Picks the smallest event that can hold a record, and
 * defines files, texts and system calls when they first occur.
 *
 * The BPF programs number files. One CPU may use a number before another CPU's ring delivers the description of
 * that file. So an id is reserved when a number first occurs, and defined when the description arrives.
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
	mr_vec(uint32_t) file_ids; /* by the BPF programs' number; 0: not seen yet */
	mr_vec(struct mr_encoder_source) sources;
	uint64_t files; /* described so far */
	uint64_t calls; /* complete system calls so far, without the few that have wide results */
	uint64_t defined_syscalls[(1 << 16) / 64];
	uint64_t lost[MR_BPF_CPUS]; /* per CPU, as reported so far */
};

/* A zeroed encoder is ready for use. */
void mr_encoder_put(struct mr_encoder *encoder, struct mr_kernel_stream *stream,
		    const struct mr_record *record);

/* Reports how many records a CPU has lost since the beginning. */
void mr_encoder_put_loss(struct mr_encoder *encoder, struct mr_kernel_stream *stream, uint64_t ns,
			 uint64_t lost);

void mr_encoder_free(struct mr_encoder *encoder);

#endif
