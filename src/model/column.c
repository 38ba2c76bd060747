/* SPDX-License-Identifier: Apache-2.0 */
#include "model/column.h"

#include <string.h>

#include "model/survey.h"
#include "model/table.h"

/* Names of the model's own enumerations. */
#define VALUE(prefix, name)         \
	{                           \
#name, prefix##name \
	}

static const struct mr_enum_value row_flags[] = {
	VALUE(MR_ROW_, UNFINISHED), VALUE(MR_ROW_, OVERLAPS),     VALUE(MR_ROW_, UNTIMED),
	VALUE(MR_ROW_, BLOCKED),    VALUE(MR_ROW_, VIOLATED),     VALUE(MR_ROW_, CUT),
	VALUE(MR_ROW_, BY_ORDER),   VALUE(MR_ROW_, ASYNCHRONOUS),
};

static const struct mr_enum_value memory_tellers[] = {
	VALUE(MR_MEMORY_, FRAMEWORK),
	VALUE(MR_MEMORY_, RUNTIME),
};

static const struct mr_enum_value step_origins[] = {
	VALUE(MR_STEP_, MARKED),
	VALUE(MR_STEP_, CALLED),
	VALUE(MR_STEP_, INFERRED),
	VALUE(MR_STEP_, TAKEN),
};

static const struct mr_enum_value input_kinds[] = {
	VALUE(MR_INPUT_, REQUEST),
	VALUE(MR_INPUT_, PRODUCE),
	VALUE(MR_INPUT_, CALL),
	VALUE(MR_INPUT_, FUNCTION),
};

static const struct mr_enum_value purposes[] = {
	VALUE(MR_PURPOSE_, OTHER),       VALUE(MR_PURPOSE_, INPUT),  VALUE(MR_PURPOSE_, STAGE),
	VALUE(MR_PURPOSE_, BEGIN_INPUT), VALUE(MR_PURPOSE_, PYTHON), VALUE(MR_PURPOSE_, WRITE),
	VALUE(MR_PURPOSE_, COMMUNICATE),
};

static const struct mr_enum_value sample_origins[] = {
	VALUE(MR_SAMPLE_, EVENT),
	VALUE(MR_SAMPLE_, OUTSIDE),
};

static const struct mr_enum_value call_roles[] = {
	VALUE(MR_CALL_, PLAIN),
	VALUE(MR_CALL_, LAUNCH),
	VALUE(MR_CALL_, WAIT),
};

static const struct mr_enum_value thread_states[] = {
	VALUE(MR_STATE_, RUN),
	VALUE(MR_STATE_, RUNNABLE),
	VALUE(MR_STATE_, BLOCKED),
	VALUE(MR_STATE_, UNKNOWN),
};

static const struct mr_enum_value state_reasons[] = {
	VALUE(MR_REASON_, NONE),          VALUE(MR_REASON_, NEW),
	VALUE(MR_REASON_, WOKEN),         VALUE(MR_REASON_, PREEMPTED),
	VALUE(MR_REASON_, YIELDED),       VALUE(MR_REASON_, THROTTLED),
	VALUE(MR_REASON_, INTERRUPTIBLE), VALUE(MR_REASON_, UNINTERRUPTIBLE),
	VALUE(MR_REASON_, DISK),          VALUE(MR_REASON_, STOPPED),
	VALUE(MR_REASON_, NOT_TOLD),      VALUE(MR_REASON_, LOST),
	VALUE(MR_REASON_, NOT_RECORDED),
};

static const struct mr_enum_value exchanges[] = {
	VALUE(MR_EXCHANGE_, UNKNOWN),
	VALUE(MR_EXCHANGE_, LOCK),
	VALUE(MR_EXCHANGE_, HAND_OVER),
	VALUE(MR_EXCHANGE_, GIL),
};

static const struct mr_enum_value track_kinds[] = {
	VALUE(MR_TRACK_, THREAD),
	VALUE(MR_TRACK_, QUEUE),
	VALUE(MR_TRACK_, CPU),
};

static const struct mr_enum_value thread_roles[] = {
	VALUE(MR_ROLE_, NONE),     VALUE(MR_ROLE_, MAIN),     VALUE(MR_ROLE_, INPUT),
	VALUE(MR_ROLE_, LOADER),   VALUE(MR_ROLE_, AUTOGRAD), VALUE(MR_ROLE_, INTER_OP),
	VALUE(MR_ROLE_, INTRA_OP), VALUE(MR_ROLE_, POLLER),
};

static const struct mr_enum_value process_ends[] = {
	{"NOT_SEEN", MR_PROCESS_END_NOT_SEEN},
	VALUE(MR_PROCESS_, EXIT),
	VALUE(MR_PROCESS_, EXEC),
};

_Static_assert(mr_countof(purposes) == MR_PURPOSE_COUNT, "a purpose has no name");
_Static_assert(mr_countof(thread_states) == MR_STATE_COUNT, "a state has no name");
_Static_assert(mr_countof(state_reasons) == MR_REASON_COUNT, "a reason has no name");
_Static_assert(mr_countof(thread_roles) == MR_ROLE_COUNT, "a role has no name");
_Static_assert(mr_countof(exchanges) == MR_EXCHANGE_COUNT, "an exchange has no name");

static const struct mr_enum_desc enumerations[] = {
	{"row_flags", row_flags, mr_countof(row_flags)},
	{"memory_teller", memory_tellers, mr_countof(memory_tellers)},
	{"step_origin", step_origins, mr_countof(step_origins)},
	{"input_kind", input_kinds, mr_countof(input_kinds)},
	{"purpose", purposes, mr_countof(purposes)},
	{"sample_origin", sample_origins, mr_countof(sample_origins)},
	{"call_role", call_roles, mr_countof(call_roles)},
	{"thread_state", thread_states, mr_countof(thread_states)},
	{"state_reason", state_reasons, mr_countof(state_reasons)},
	{"exchange", exchanges, mr_countof(exchanges)},
	{"track_kind", track_kinds, mr_countof(track_kinds)},
	{"thread_role", thread_roles, mr_countof(thread_roles)},
	{"process_end", process_ends, mr_countof(process_ends)},
};

const struct mr_enum_desc *mr_enum_find(const char *name)
{
	for (size_t i = 0; i < mr_countof(enumerations); i++)
		if (strcmp(enumerations[i].name, name) == 0)
			return &enumerations[i];
	for (const struct mr_enum_desc *desc = mr_enum_table; desc->name; desc++)
		if (strcmp(desc->name, name) == 0)
			return desc;
	return NULL;
}
