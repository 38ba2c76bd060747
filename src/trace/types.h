/* SPDX-License-Identifier: Apache-2.0
 *
 * Types in metadata: integer, floating_point and string as millrace uses them, and the names that
 * typealias gives to them.
 */
#ifndef MR_TRACE_TYPES_H
#define MR_TRACE_TYPES_H

#include "base/vector.h"
#include "schema/schema.h"
#include "trace/tsdl.h"

struct mr_type_alias {
	struct mr_token name;
	enum mr_type type;
	struct mr_token clock; /* clock it is mapped to; empty if none */
};

struct mr_types {
	mr_vec(struct mr_type_alias) aliases;
};

/* Takes a type, written out or by its name. */
enum mr_type mr_types_parse(const struct mr_types *types, struct mr_tsdl *tsdl);

/* Takes what follows "typealias", up to the semicolon, and adds it. */
void mr_types_parse_alias(struct mr_types *types, struct mr_tsdl *tsdl);

/* Fails unless each of our names has the same meaning in theirs. */
int mr_types_check(const struct mr_types *theirs, const struct mr_types *ours);

void mr_types_free(struct mr_types *types);

#endif
