/* SPDX-License-Identifier: Apache-2.0
 *
 * From the frames of a thread to the id of a site, in a few nanoseconds:
 *
 *     frame ─► frame ─► frame ...      one hash over (code, instruction) of all of them
 *       └──────────┴────────┴──► recent[hash]      what this thread found last time: nearly always
 *                                     │ not there
 *                                     ▼
 *     known: key ──► id               of the process: key is a hash over the frames from the outermost on
 *                                     │ not there
 *                                     ▼
 *     code.h reads file, name, line   and code, site are defined, each once
 *
 * A key of 64 bits stands for what it was made of. Addresses of code objects are used again when code is freed: the line
 * and the number of variables with which the code begins are part of the key, too.
 *
 * `known` is made once, never grows and never moves. A place in it is claimed by its key and gets its id later; who
 * finds it without one, because another thread is about to define it or was killed meanwhile, defines it a second time,
 * which does no harm. So there is no lock, and a fork may copy it at any instruction.
 */
#include <string.h>

#include "hook/hook.h"
#include "hook/python/python.h"
#include "record/own_call.h"
#include "record/peek.h"
#include "record/recorder.h"
#include "record/thread_room.h"

enum {
	RECENT = 64,         /* stacks that a thread remembers */
	KNOWN = 1 << 18,     /* places */
	KNOWN_MOST = 190000, /* of them taken; then sites get no ids any more */
	PROBES = 64,
};

struct known {
	_Atomic uint64_t key; /* 0: free */
	_Atomic uint32_t id;  /* 0: not yet */
};

static _Atomic(struct known *) known;
static _Atomic uint32_t known_count;

/* RECENT of them are the room of a thread. */
struct recent {
	uint64_t key;
	uint32_t id;
};
_Static_assert(RECENT * sizeof(struct recent) <= MR_ROOM_BYTES, "they fit");

/* What the thread's last event `site` said, and where it stands: a packet may be dropped, so each has its own. */
static _Thread_local struct {
	uint32_t site;
	uint32_t packets;
	uint64_t generation;
} noted;

static inline uint64_t load(uintptr_t at)
{
	uint64_t value;
	memcpy(&value, (const void *)at, sizeof value);
	return value;
}

static inline uint64_t mix(uint64_t key, uint64_t value)
{
	return (key ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Spreads the high bits, where all that was multiplied arrives. */
static inline uint64_t finish(uint64_t key)
{
	key ^= key >> 32;
	return key ? key : 1;
}

uintptr_t mr_python_frame_of(uintptr_t thread_state)
{
	const struct mr_python_layout *layout = &mr_own_python.python.layout;
	uintptr_t frame = load(thread_state + layout->thread_frame);
	return layout->frame_is_indirect && frame ? load(frame + layout->indirect_frame) : frame;
}

/* Frames between calls from C have no code (3.13 and later). */
static inline bool has_code(uintptr_t code)
{
	return code != 0 && code != mr_own_python.none;
}

static inline uint64_t value_of(const struct mr_python_layout *layout, uintptr_t code,
				uint64_t instruction)
{
	return code * 3 + (instruction << 20 | instruction >> 44) +
	       load(code + layout->code_first_line) * 5;
}

/* ---- what the process knows --------------------------------------------------------------------- */

/* NULL if there is no memory. */
static struct known *known_places(void)
{
	struct known *places = atomic_load_explicit(&known, memory_order_acquire);
	if (mr_likely(places != NULL))
		return places;
	places = mr_own_map(KNOWN * sizeof *places);
	if (places) /* after mlockall(MCL_FUTURE) it would count as locked, although little of it is used */
		mr_own_call(SYS_munlock, places, KNOWN * sizeof *places);
	struct known *other = NULL;
	if (places && !atomic_compare_exchange_strong(&known, &other, places)) {
		mr_own_unmap(places, KNOWN * sizeof *places);
		return other;
	}
	return places;
}

/* The place of a key, claimed if it is new; NULL if there is no room. */
static struct known *place_of(uint64_t key)
{
	struct known *places = known_places();
	for (uint64_t i = 0; places && i < PROBES; i++) {
		struct known *place = &places[(key + i) % KNOWN];
		uint64_t there = atomic_load_explicit(&place->key, memory_order_relaxed);
		if (there == 0) {
			if (atomic_load_explicit(&known_count, memory_order_relaxed) >= KNOWN_MOST)
				return NULL;
			if (atomic_compare_exchange_strong(&place->key, &there, key)) {
				atomic_fetch_add_explicit(&known_count, 1, memory_order_relaxed);
				return place;
			}
		}
		if (there == key)
			return place;
	}
	return NULL;
}

static uint32_t id_at(const struct known *place)
{
	return atomic_load_explicit(&place->id, memory_order_acquire);
}

static uint32_t set_id(struct known *place, uint32_t id)
{
	atomic_store_explicit(&place->id, id, memory_order_release);
	return id;
}

static uint32_t define_code(const struct mr_python_code *code)
{
	struct mr_event_def_code event = {.file = mr_define_string(code->file),
					  .name = mr_define_string(code->name),
					  .first_line = code->first_line};
	uint64_t key = mix(mix(mix(1, event.file), event.name), event.first_line);
	struct known *place = place_of(finish(key));
	if (!place)
		return 0;
	if (id_at(place))
		return id_at(place);
	event.id = mr_definition_take();
	return mr_define_event(MR_EVENT_def_code, &event, sizeof event, NULL)
		       ? set_id(place, event.id)
		       : 0;
}

static uint32_t define_site(uint32_t code, uint32_t line, uint32_t parent)
{
	struct known *place = place_of(finish(mix(mix(mix(2, code), line), parent)));
	if (!place)
		return 0;
	if (id_at(place))
		return id_at(place);
	const struct mr_event_def_site event = {
		.id = mr_definition_take(), .code = code, .line = line, .parent = parent};
	return mr_define_event(MR_EVENT_def_site, &event, sizeof event, NULL)
		       ? set_id(place, event.id)
		       : 0;
}

/* ---- functions that somebody looks for ------------------------------------------------------------ */

static struct mr_python_watched *watched_functions;

void mr_python_watch(struct mr_python_watched *watched)
{
	if (watched->is_watched)
		return;
	watched->is_watched = true;
	watched->next = watched_functions;
	watched_functions = watched;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void look_for_watched(uintptr_t address, const struct mr_python_code *code)
{
	const char *dot = strrchr(code->name, '.');
	for (struct mr_python_watched *each = watched_functions; each; each = each->next)
		if (strcmp(dot ? dot + 1 : code->name, each->name) == 0 &&
		    ends_with(code->file, each->file))
			atomic_store_explicit(&each->code, address, memory_order_relaxed);
}

/* ---- sites ---------------------------------------------------------------------------------------- */

/* Reads a frame that was never seen; `parent` if it has no code. */
static uint32_t read_site(const struct mr_python_frame *frame, uint32_t parent)
{
	struct mr_peek peek = {0};
	const struct mr_python_reader reader = mr_own_reader(&peek);
	const struct mr_python *python = &mr_own_python.python;
	struct mr_python_code code;
	if (!mr_python_is_code(python, &reader, frame->code) ||
	    !mr_python_code_read(python, &reader, frame, &code) || code.is_shim)
		return parent;
	look_for_watched(frame->code, &code);
	uint32_t id = define_code(&code);
	return id ? define_site(id, code.line, parent) : 0;
}

/* ---- a thread's stack --------------------------------------------------------------------------- */

/* The site of frames that are given from the innermost on. */
static uint32_t find_site(const struct mr_python_frame *frames, size_t count)
{
	const struct mr_python_layout *layout = &mr_own_python.python.layout;
	uint64_t key = 3;
	uint32_t site = 0;
	while (count-- > 0) {
		const struct mr_python_frame *frame = &frames[count];
		key = mix(key, value_of(layout, frame->code, frame->instruction));
		struct known *place = place_of(finish(key));
		uint32_t id = place ? id_at(place) : 0;
		if (!id) {
			id = read_site(frame, site);
			if (place && id)
				set_id(place, id);
		}
		site = id;
	}
	return site;
}

static uint32_t find_again(uintptr_t frame, uint64_t key, struct recent *ret_recent)
{
	const struct mr_python_layout *layout = &mr_own_python.python.layout;
	struct mr_python_frame frames[MR_PYTHON_FRAMES];
	size_t count = 0;
	for (; frame && count < MR_PYTHON_FRAMES; frame = load(frame + layout->frame_previous)) {
		frames[count] = (struct mr_python_frame){
			.code = mr_python_untagged(load(frame + layout->frame_code)),
			.instruction = load(frame + layout->frame_instruction)};
		count += has_code(frames[count].code);
	}
	uint32_t site = find_site(frames, count);
	*ret_recent = (struct recent){.key = site ? key : 0, .id = site};
	return site;
}

static uint32_t site_of(uintptr_t innermost)
{
	const struct mr_python_layout *layout = &mr_own_python.python.layout;
	const uint32_t code_at = layout->frame_code, instruction_at = layout->frame_instruction;
	const uint32_t previous_at = layout->frame_previous;
	uint64_t key = 4;
	uintptr_t frame = innermost;
	for (int left = MR_PYTHON_FRAMES; frame && left > 0; frame = load(frame + previous_at)) {
		uintptr_t code = mr_python_untagged(load(frame + code_at));
		if (!has_code(code))
			continue;
		key = mix(key, value_of(layout, code, load(frame + instruction_at)));
		left--;
	}
	key = finish(key);
	struct recent unknown = {0}, *room = mr_thread_room(MR_ROOM_python);
	struct recent *recent = mr_likely(room != NULL) ? &room[key % RECENT] : &unknown;
	return mr_likely(recent->key == key) ? recent->id : find_again(innermost, key, recent);
}

uintptr_t mr_python_own_frame(void)
{
	const struct mr_own_python *own = &mr_own_python;
	uint8_t state = atomic_load_explicit(&own->state, memory_order_acquire);
	if (state == MR_PYTHON_NONE || (state == MR_PYTHON_FOUND && !mr_python_check()))
		return 0;
	if (mr_unlikely(load(own->python.runtime + own->python.layout.runtime_finalizing)))
		return 0;
	uintptr_t thread_state = (uintptr_t)own->own_thread_state();
	return thread_state && mr_python_may_look(thread_state) ? mr_python_frame_of(thread_state)
								: 0;
}

uint32_t mr_python_site(void)
{
	uintptr_t frame = mr_python_own_frame();
	return frame ? site_of(frame) : 0;
}

void mr_python_note_site(void)
{
	uint32_t site = mr_python_site();
	const uint32_t packets = mr_self.writers[0].packets;
	const uint64_t generation = mr_this_process.generation;
	if (mr_likely(site == noted.site) &&
	    (site == 0 || (packets == noted.packets && generation == noted.generation)))
		return;
	mr_emit(site, .site = site);
	noted.site = site;
	noted.packets = mr_self.writers[0].packets;
	noted.generation = mr_this_process.generation;
}
