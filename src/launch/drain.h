/* SPDX-License-Identifier: Apache-2.0
 *
 * The drain: takes packets out of the arena and appends them to the stream files.
 *
 *     arena slot FULL ──────────────► append, free
 *     arena slot FILLING, owner dead ► mark its open intervals unfinished, append, free
 *     disk full ────────────────────► recording is switched off; slots are still freed, so nothing waits
 *
 * One thread runs it: `record`, or a later command that recovers the trace of a killed `record`. Owners
 * may write into their slots at any time, even if they seem to be dead or switched off. The drain
 * therefore copies a packet first, and checks, completes and writes only the copy.
 */
#ifndef MR_LAUNCH_DRAIN_H
#define MR_LAUNCH_DRAIN_H

#include "launch/arena_file.h"
#include "launch/processes.h"
#include "launch/streams.h"

struct mr_drain_candidate {
	uint64_t begin_ticks;
	uint32_t slot;
};

/* A packet and what its owner keeps beside it. */
struct mr_drain_copy {
	uint32_t content_bytes;
	uint32_t open_count; /* of `open` */
	uint32_t owner_packet;
	bool owner_ended;
	uint64_t end_ticks;
	uint64_t discarded_events;
	struct mr_open_interval open[MR_OPEN_INTERVALS];
	struct mr_packet *packet; /* has room for MR_ARENA_PACKET_BYTES */
};

enum {
	MR_DRAIN_LOSS_REASONS = MR_loss_reason_device_waits + 1 /* of enum mr_loss_reason */
};

struct mr_drain {
	struct mr_arena_file *file;                     /* borrowed */
	struct mr_streams *streams;                     /* borrowed */
	struct mr_processes *processes;                 /* borrowed */
	uint32_t own_process;                           /* the recorder's number among them */
	uint64_t lost_packets;                          /* could not be written */
	uint64_t lost_with_packets;                     /* events in these ... */
	uint64_t definitions_lost_with_packets;         /* ... and definitions */
	uint64_t lost_by_kernel[MR_DRAIN_LOSS_REASONS]; /* of the kernel level */
	bool is_recovery;                               /* packets may be in the files already */
	mr_vec(struct mr_drain_candidate) candidates; /* scratch of a pass, or of mr_drain_list() */
	char *stop_reason; /* why recording was switched off; NULL: it was not */
	struct mr_drain_copy copy;
};

/* The three are borrowed. */
int mr_drain_init(struct mr_drain *drain, struct mr_arena_file *file, struct mr_streams *streams,
		  struct mr_processes *processes);

/* Takes all full packets, and everything of processes that have died. Returns how many packets. */
uint32_t mr_drain_pass(struct mr_drain *drain);

/* Appends a packet to the stream files; where that fails, recording is stopped, for all that follow. It
 * is the caller's own, not one of the arena. */
int mr_drain_append(struct mr_drain *drain, struct mr_packet *packet, uint32_t content_bytes,
		    uint64_t end_ticks, uint64_t discarded_events, bool owner_ended);

/* Copies what is committed of a slot's packet into drain->copy; false if that is no packet. */
bool mr_drain_copy_packet(struct mr_drain *drain, uint32_t slot);

/* Lists in drain->candidates, in order of time, the slots whose packets are not in the files yet. */
void mr_drain_list(struct mr_drain *drain);

/* Takes what is left, also half-full packets of processes that are still alive. Recording must have
 * been switched off. */
void mr_drain_finish(struct mr_drain *drain);

/* Switches recording off in all processes, for the reason given by the error chain. */
void mr_drain_stop(struct mr_drain *drain);

/* What could not be recorded so far, in all processes and in the kernel, by enum mr_loss_reason. */
void mr_drain_losses(const struct mr_drain *drain, uint64_t ret_lost[MR_DRAIN_LOSS_REASONS]);

/* Events of processes for which there was no entry in the arena. */
uint64_t mr_drain_refused_events(const struct mr_drain *drain);

/* Definitions that are missing from the trace. */
uint64_t mr_drain_lost_definitions(const struct mr_drain *drain);

/* Of all these, events. */
uint64_t mr_drain_lost_events(const struct mr_drain *drain);

void mr_drain_fini(struct mr_drain *drain);

#endif
