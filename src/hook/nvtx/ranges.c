/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges and marks of NVTX. Each beginning and each end is an event; src/load/nvtx joins them, by depth or number.
 */
#include "hook/nvtx/nvtx.h"
#include "hook/python/python.h"
#include "record/recorder.h"
#include "record/steps.h"
#include "record/thread_room.h"

/* How many ranges of each domain are open on a thread. A forked child goes on with its parent's. */
struct depths {
	uint32_t of_domain[MR_NVTX_DOMAINS + 1];
};
_Static_assert(sizeof(struct depths) <= MR_ROOM_BYTES, "it fits");

static _Atomic uint64_t last_range;

/* ---- what ranges and marks have in common ---------------------------------------------------------------------- */

struct what {
	uint64_t name; /* as mr_nvtx_text() says */
	uint32_t category;
	uint64_t payload;
	uint8_t payload_kind; /* enum mr_payload_kind */
};

static void read_payload(const struct mr_nvtx_attributes *attributes, struct what *what)
{
	double real = attributes->payload_type == MR_NVTX_PAYLOAD_FLOAT
			      ? (double)attributes->payload.short_real
			      : attributes->payload.real;
	switch (attributes->payload_type) {
	case MR_NVTX_PAYLOAD_UNSIGNED_64:
	case MR_NVTX_PAYLOAD_UNSIGNED_32:
		what->payload_kind = MR_payload_kind_natural;
		what->payload = attributes->payload_type == MR_NVTX_PAYLOAD_UNSIGNED_32
					? attributes->payload.unsigned_32
					: attributes->payload.unsigned_64;
		break;
	case MR_NVTX_PAYLOAD_SIGNED_64:
	case MR_NVTX_PAYLOAD_SIGNED_32:
		what->payload_kind = MR_payload_kind_integer;
		what->payload = attributes->payload_type == MR_NVTX_PAYLOAD_SIGNED_32
					? (uint64_t)attributes->payload.signed_32
					: attributes->payload.unsigned_64;
		break;
	case MR_NVTX_PAYLOAD_DOUBLE:
	case MR_NVTX_PAYLOAD_FLOAT:
		what->payload_kind = MR_payload_kind_real;
		memcpy(&what->payload, &real, sizeof real);
		break;
	default: /* none, or one that may be a pointer */
		break;
	}
}

static uint64_t read_message(const struct mr_nvtx_attributes *attributes)
{
	switch (attributes->message_type) {
	case MR_NVTX_MESSAGE_ASCII:
		return mr_nvtx_text(attributes->message.ascii);
	case MR_NVTX_MESSAGE_UNICODE:
		return mr_nvtx_wide_text(attributes->message.unicode);
	case MR_NVTX_MESSAGE_REGISTERED:
		return (uintptr_t)attributes->message.registered;
	default:
		return 0;
	}
}

/* A program that was compiled with a smaller struct has no members beyond. */
static struct what read_attributes(const struct mr_nvtx_domain *domain,
				   const struct mr_nvtx_attributes *attributes)
{
	struct what what = {0};
	if (!attributes || attributes->size < sizeof *attributes)
		return what;
	what.name = read_message(attributes);
	what.category = mr_nvtx_category(domain, attributes->category);
	read_payload(attributes, &what);
	return what;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Are names needed at all? They are also where ranges are steps. */
static bool is_wanted(void)
{
	return mr_level_is_on(MR_LEVEL_dataflow) || mr_steps_matter();
}

static void begin(const struct mr_nvtx_domain *domain, const struct what *what, uint64_t range,
		  uint32_t depth)
{
	if (what->name & MR_NVTX_IS_STEP)
		mr_steps_note_range();
	if (!mr_level_is_on(MR_LEVEL_dataflow))
		return;
	mr_python_note();
	mr_emit(nvtx_begin, .name = (uint32_t)what->name, .domain = mr_nvtx_domain_name(domain),
		.category = what->category, .payload = what->payload, .range = range,
		.depth = depth, .payload_kind = what->payload_kind);
}

static void end(const struct mr_nvtx_domain *domain, uint64_t range, uint32_t depth)
{
	if (mr_level_is_on(MR_LEVEL_dataflow))
		mr_emit(nvtx_end, .domain = mr_nvtx_domain_name(domain), .range = range,
			.depth = depth);
}

static void mark(const struct mr_nvtx_domain *domain, const struct what *what)
{
	mr_python_note();
	mr_emit(nvtx_mark, .name = (uint32_t)what->name, .domain = mr_nvtx_domain_name(domain),
		.category = what->category, .payload = what->payload,
		.payload_kind = what->payload_kind);
}

static uint64_t start_range(const struct mr_nvtx_domain *domain, const struct what *what)
{
	uint64_t range = atomic_fetch_add_explicit(&last_range, 1, memory_order_relaxed) + 1;
	begin(domain, what, range, 0);
	return range;
}

static int push(const struct mr_nvtx_domain *domain, const struct what *what)
{
	struct depths *depths = mr_thread_room(MR_ROOM_nvtx);
	if (!depths)
		return MR_NVTX_NOT_TRACKED;
	uint32_t *depth = &depths->of_domain[mr_nvtx_domain_number(domain)];
	begin(domain, what, 0, *depth);
	return (int)(*depth)++;
}

static int pop(const struct mr_nvtx_domain *domain)
{
	struct depths *depths = mr_thread_room(MR_ROOM_nvtx);
	uint32_t *depth = depths ? &depths->of_domain[mr_nvtx_domain_number(domain)] : NULL;
	if (!depth || *depth == 0) /* nothing was pushed */
		return MR_NVTX_NOT_TRACKED;
	end(domain, 0, --*depth);
	return (int)*depth;
}

/* ---- for others ------------------------------------------------------------------------------------------------- */

static struct what what_of(const char *text)
{
	return (struct what){.name = is_wanted() ? mr_nvtx_text(text) : 0};
}

void mr_nvtx_mark(const struct mr_nvtx_domain *domain, const char *text)
{
	const struct what what = what_of(text);
	if (mr_level_is_on(MR_LEVEL_dataflow))
		mark(domain, &what);
}

int mr_nvtx_push(const struct mr_nvtx_domain *domain, const char *text)
{
	const struct what what = what_of(text);
	return push(domain, &what);
}

int mr_nvtx_pop(const struct mr_nvtx_domain *domain)
{
	return pop(domain);
}

void mr_nvtx_start(const struct mr_nvtx_domain *domain, const char *text, uint64_t range)
{
	const struct what what = what_of(text);
	begin(domain, &what, range, 0);
}

void mr_nvtx_stop(const struct mr_nvtx_domain *domain, uint64_t range)
{
	end(domain, range, 0);
}

/* ---- CORE ------------------------------------------------------------------------------------------------------ */

#define OF_ATTRIBUTES(domain)                                                                      \
	const struct what what = is_wanted() ? read_attributes(domain, attributes) : (struct what) \
	{                                                                                          \
		0                                                                                  \
	}
#define OF_TEXT(function) const struct what what = {.name = is_wanted() ? function(text) : 0}

static void mark_attributes(const struct mr_nvtx_domain *domain,
			    const struct mr_nvtx_attributes *attributes)
{
	if (!mr_level_is_on(MR_LEVEL_dataflow))
		return;
	const struct what what = read_attributes(domain, attributes);
	mark(domain, &what);
}

static void core_mark(const struct mr_nvtx_attributes *attributes)
{
	mark_attributes(NULL, attributes);
}

static void core_mark_text(const char *text)
{
	mr_nvtx_mark(NULL, text);
}

static void core_mark_wide(const wchar_t *text)
{
	const struct what what = {.name = mr_nvtx_wide_text(text)};
	if (mr_level_is_on(MR_LEVEL_dataflow))
		mark(NULL, &what);
}

static uint64_t core_start(const struct mr_nvtx_attributes *attributes)
{
	OF_ATTRIBUTES(NULL);
	return start_range(NULL, &what);
}

static uint64_t core_start_text(const char *text)
{
	OF_TEXT(mr_nvtx_text);
	return start_range(NULL, &what);
}

static uint64_t core_start_wide(const wchar_t *text)
{
	OF_TEXT(mr_nvtx_wide_text);
	return start_range(NULL, &what);
}

static void core_end(uint64_t range)
{
	end(NULL, range, 0);
}

static int core_push(const struct mr_nvtx_attributes *attributes)
{
	OF_ATTRIBUTES(NULL);
	return push(NULL, &what);
}

static int core_push_text(const char *text)
{
	return mr_nvtx_push(NULL, text);
}

static int core_push_wide(const wchar_t *text)
{
	OF_TEXT(mr_nvtx_wide_text);
	return push(NULL, &what);
}

static int core_pop(void)
{
	return pop(NULL);
}

/* ---- CORE2 ----------------------------------------------------------------------------------------------------- */

static uint64_t domain_start(const struct mr_nvtx_domain *domain,
			     const struct mr_nvtx_attributes *attributes)
{
	OF_ATTRIBUTES(domain);
	return start_range(domain, &what);
}

static void domain_end(const struct mr_nvtx_domain *domain, uint64_t range)
{
	end(domain, range, 0);
}

static int domain_push(const struct mr_nvtx_domain *domain,
		       const struct mr_nvtx_attributes *attributes)
{
	OF_ATTRIBUTES(domain);
	return push(domain, &what);
}

/* A resource is known to nobody but the program. It wants a handle that is not NULL. */
static const void *create_resource(const struct mr_nvtx_domain *domain, const void *attributes)
{
	(void)domain;
	return attributes;
}

static void destroy_resource(const void *resource)
{
	(void)resource;
}

static void initialize(const void *unused)
{
	(void)unused;
}

#define ROW(module, place, function)                                    \
	{                                                               \
		MR_NVTX_##module, place, (mr_nvtx_function *)(function) \
	}
const struct mr_nvtx_row mr_nvtx_range_rows[] = {
	ROW(CORE, 1, core_mark),        ROW(CORE, 2, core_mark_text),
	ROW(CORE, 3, core_mark_wide),   ROW(CORE, 4, core_start),
	ROW(CORE, 5, core_start_text),  ROW(CORE, 6, core_start_wide),
	ROW(CORE, 7, core_end),         ROW(CORE, 8, core_push),
	ROW(CORE, 9, core_push_text),   ROW(CORE, 10, core_push_wide),
	ROW(CORE, 11, core_pop),        ROW(CORE2, 1, mark_attributes),
	ROW(CORE2, 2, domain_start),    ROW(CORE2, 3, domain_end),
	ROW(CORE2, 4, domain_push),     ROW(CORE2, 5, pop),
	ROW(CORE2, 6, create_resource), ROW(CORE2, 7, destroy_resource),
	ROW(CORE2, 15, initialize),     {0},
};
