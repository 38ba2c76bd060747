/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of TraceMe texts: name#key=value,key=value#, with % for values that the event carries as numbers.
 *
 *     Relu:_FusedMatMul#shape=(float[32,64];float[64,128])#          an operation: node, type, shapes
 *     ExecutorState::Process#id=%,iter_num=%,_ct=%,_c=%#             a scope of run `id`, key `_c`
 *     Iterator::Root::Prefetch#id=%,parent_id=%,buffer_limit=%#      an iterator: key `id`, stage Root::Prefetch
 *     train#epoch_num=%,step_num=%#                                  a step
 *
 * An operation is recognised by its form: its type is an identifier after a single colon. Texts that were recorded
 * unchanged contain their numbers.
 */
#ifndef MR_LOAD_TENSORFLOW_TRACEME_H
#define MR_LOAD_TENSORFLOW_TRACEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mr_traceme_kind {
	MR_TRACEME_NOT_READ, /* the text has not been looked at */
	MR_TRACEME_OPERATION,
	MR_TRACEME_SCOPE,
	MR_TRACEME_STEP,
};

enum {
	MR_TRACEME_NUMBERS = 4,
	MR_TRACEME_NONE = UINT8_MAX, /* no number */
};

/* A text as understood. Places are those of the event's numbers. */
struct mr_traceme {
	uint8_t kind; /* enum mr_traceme_kind */
	uint8_t run;
	uint8_t key;
	uint8_t parent_key;
	uint8_t step;
	uint8_t parallelism;  /* of an iterator */
	uint8_t buffer_limit; /* likewise */
	uint8_t buffered;     /* likewise */
	uint8_t is_autotuned; /* likewise: 0, 1, or MR_NO_TRUTH */
	bool is_iterator;
	uint32_t path;    /* string: of an iterator, without the indices of its parts */
	uint32_t name;    /* string: of the node, or the scope */
	uint32_t type;    /* string: of an operation */
	uint32_t detail;  /* string: shapes of an operation; else the metadata */
	uint32_t channel; /* string: what a message goes through; 0: it is none */
	bool is_receive;
};

/* A part of a text. */
struct mr_slice {
	const char *at;
	size_t length;
};

/* Kind and places; the slices say which parts are name, type, detail and channel. */
struct mr_traceme_parts {
	struct mr_slice name;
	struct mr_slice type;
	struct mr_slice detail;
	struct mr_slice channel;
	struct mr_slice numbers[MR_TRACEME_NUMBERS]; /* in place of the event's, if it has none */
};
void mr_traceme_read(const char *text, struct mr_traceme *ret_meaning,
		     struct mr_traceme_parts *ret_parts);

/* The path of an iterator: "Root::FlatMap::Range" of "Iterator::Root::FlatMap[0]::Range". The buffer is as long as the
 * name; returns the length. */
size_t mr_traceme_path(struct mr_slice name, char *buffer);

/* The value of KEY in the metadata of a text; empty if it is not there. */
struct mr_slice mr_traceme_value(const char *text, const char *key);

/* A whole number; 0 if it is none, or too large. A negative one as its two's complement. */
uint64_t mr_slice_number(struct mr_slice slice);

static inline bool mr_slice_is(struct mr_slice slice, const char *text)
{
	size_t i = 0;
	while (i < slice.length && text[i] == slice.at[i] && text[i])
		i++;
	return i == slice.length && !text[i];
}

#endif
