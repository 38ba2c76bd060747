/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the metadata of a trace: the subset of the CTF 1.8 language (TSDL) that schema/metadata.c
 * writes, in this or another version of millrace. Blanks, comments and the order of blocks may vary;
 * events, fields and enumerations may differ from ours. The parser rejects what it does not
 * understand, and names the line. It also rejects a packet or event header that differs from ours in
 * any token.
 */
#ifndef MR_TRACE_METADATA_H
#define MR_TRACE_METADATA_H

#include <stddef.h>

#include "schema/metadata.h"
#include "schema/packet.h"
#include "trace/layout.h"

enum {
	MR_STREAM_CLASSES = MR_STREAM_KERNEL + 1
};

struct mr_trace_metadata {
	struct mr_metadata identity; /* its texts are owned */
	struct mr_layout layouts[MR_STREAM_CLASSES][256];
};

int mr_trace_metadata_parse(const char *text, size_t length,
			    struct mr_trace_metadata **ret_metadata);
void mr_trace_metadata_free(struct mr_trace_metadata *metadata);

#endif
