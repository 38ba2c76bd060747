/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions: texts, nodes, devices ... that events refer to by id. Each process has a separate stream for
 * them, whose packets are never dropped. A definition is committed before its id is returned.
 *
 * Ids of all kinds come from one counter, which a forked child inherits: ids below its first_definition
 * are its parent's. So a child may use everything its parent has defined.
 *
 * Texts are interned. Lookups take no lock:
 *
 *     table ──► [ . │ ● │ . │ ● │ ... ]     open addressing, a power of two, at most half full
 *                     │       └──► text { id, bytes, hash, "..." }     never moved, never freed
 *                     └──► text
 *
 * Insertion holds the definition lock. Its steps leave the table valid at every instruction, because a
 * fork may copy it at any of them. Memory comes directly from mmap: the program's allocator may itself
 * be traced. The lock is in the page that children find empty.
 */
#include "record/own_call.h"
#include "record/recorder.h"

enum {
	FIRST_TABLE_SLOTS = 1024,
	TEXT_BLOCK_BYTES = 256 << 10,
};

struct text {
	uint32_t id;
	uint32_t bytes;
	uint64_t hash;
	char value[];
};

struct table {
	uint64_t mask;
	uint64_t used;
	_Atomic(struct text *) slots[];
};

static _Atomic(struct table *) table;
static char *text_block;
static size_t text_block_left;
static _Atomic uint32_t next_id = 1;

uint32_t mr_definition_next(void)
{
	return atomic_load_explicit(&next_id, memory_order_relaxed);
}

uint32_t mr_definition_take(void)
{
	return atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
}

/* Releases the lock if this thread has it, but a handler has jumped out of what needed it. False: it is needed still. */
static bool release_if_left(void)
{
	uintptr_t own = (uintptr_t)&mr_self;
	if (atomic_load_explicit(&mr_this_process.definition_lock, memory_order_relaxed) != own)
		return true;
	if (!mr_stack_is_left(mr_self.definition_mark))
		return false;
	mr_count_loss(MR_loss_reason_definition, 1);
	/* Unless a handler has done so meanwhile; then somebody else may have it by now. */
	atomic_compare_exchange_strong_explicit(&mr_this_process.definition_lock, &own, 0,
						memory_order_release, memory_order_relaxed);
	return true;
}

/* Whatever a handler finds in definition_mark, it leaves there: it may have interrupted this very function. So the mark is the
 * holder's whenever this thread is the holder. */
static bool lock(uintptr_t *ret_outer)
{
	const uintptr_t outer = mr_self.definition_mark;
	if (release_if_left()) {
		mr_stack_mark(&mr_self.definition_mark);
		mr_signal_fence();
		if (mr_lock(&mr_this_process.definition_lock)) {
			mr_writer_repair(&mr_this_process.definitions);
			*ret_outer = outer;
			return true;
		}
		mr_self.definition_mark = outer;
	}
	mr_count_loss(MR_loss_reason_definition, 1);
	return false;
}

static void unlock(uintptr_t outer)
{
	mr_unlock(&mr_this_process.definition_lock);
	mr_signal_fence();
	mr_self.definition_mark = outer;
}

/* If there is no memory, returns NULL and counts the definition that needed it as lost. */
static void *get_memory(size_t bytes)
{
	void *memory = mr_own_map(bytes);
	if (!memory)
		mr_count_loss(MR_loss_reason_definition, 1);
	return memory;
}

/* In a child that was forked meanwhile, returns false and saves nothing. */
static bool save(const struct mr_writer *writer, uint64_t generation)
{
	if (mr_this_process.generation != generation)
		return false;
	struct mr_writer moving = *writer;
	moving.is_moving = true;
	mr_this_process.definitions = moving;
	mr_signal_fence();
	mr_this_process.definitions.is_moving = false;
	return true;
}

/* Gets a packet with room for `bytes` more for a copy of the writer, which is out of date from then on. */
static bool make_room(struct mr_writer *copy, size_t bytes)
{
	uint32_t tid = mr_this_process.pid;
	if (mr_writer_has_room(copy, bytes))
		return true;
	mr_this_process.definitions.is_moving = true;
	mr_signal_fence();
	return mr_writer_has_packet(copy)
		       ? mr_writer_next_packet(copy, MR_PACKET_DEFINITIONS, tid, 0)
		       : mr_writer_claim(copy, MR_PACKET_DEFINITIONS, tid, 0);
}

/* Writes one definition; the caller holds the lock. Works on a copy of the writer: a signal handler may
 * fork, and the child that returns here finds the process's page empty. */
static bool put(uint8_t event, const void *payload, size_t bytes, const char *text)
{
	const uint64_t generation = mr_this_process.generation;
	struct mr_writer copy = mr_this_process.definitions;
	struct mr_writer *writer = &copy;
	mr_signal_fence();
	if (mr_this_process.generation == 0)
		return false;
	size_t text_length = text ? mr_text_length(text, MR_TEXT_MAX - 1) : 0;
	size_t text_bytes = text ? text_length + 1 : 0;
	size_t need = MR_EXTENDED_HEADER_BYTES + bytes + text_bytes;
	if (!make_room(writer, need)) {
		mr_count_loss(MR_loss_reason_definition, 1);
		save(writer, generation);
		return false;
	}
	uint64_t ticks;
	uint8_t *at = mr_writer_put_header(writer, event, &ticks);
	memcpy(at, payload, bytes);
	if (text) {
		memcpy(at + bytes, text, text_length);
		at[bytes + text_length] = 0;
	}
	writer->cursor = at + bytes + text_bytes;
	if (!save(writer, generation))
		return false;
	atomic_store_explicit(&writer->slot->progress,
			      mr_slot_progress((uint32_t)(writer->cursor - writer->packet), 0),
			      memory_order_release);
	return true;
}

static bool is_attached(void)
{
	return mr_arena && !mr_clock_is_forbidden &&
	       (mr_this_process.generation != 0 || mr_process_restart());
}

bool mr_define_event(uint8_t event, const void *payload, size_t bytes, const char *text)
{
	uintptr_t outer;
	if (!is_attached() || !lock(&outer))
		return false;
	bool written = put(event, payload, bytes, text);
	unlock(outer);
	return written;
}

/* Defines something whose struct begins with its id: returns the id. */
static uint32_t define(uint8_t event, void *payload, size_t bytes)
{
	uintptr_t outer;
	if (!is_attached() || !lock(&outer))
		return 0;
	uint32_t id = mr_definition_take();
	memcpy(payload, &id, sizeof id);
	bool written = put(event, payload, bytes, NULL);
	unlock(outer);
	return written ? id : 0;
}

uint32_t mr_define_graph(uint32_t name)
{
	struct mr_event_def_graph graph = {.name = name};
	return define(MR_EVENT_def_graph, &graph, sizeof graph);
}

uint32_t mr_define_node(uint32_t graph, uint32_t name, uint32_t type, uint32_t device)
{
	struct mr_event_def_node node = {
		.graph = graph, .name = name, .type = type, .device = device};
	return define(MR_EVENT_def_node, &node, sizeof node);
}

void mr_define_edge(const struct mr_event_def_edge *edge)
{
	mr_define_event(MR_EVENT_def_edge, edge, sizeof *edge, NULL);
}

uint32_t mr_define_device(uint32_t name, uint32_t clock, enum mr_device_kind kind)
{
	struct mr_event_def_device device = {.name = name, .clock = clock, .kind = (uint8_t)kind};
	return define(MR_EVENT_def_device, &device, sizeof device);
}

void mr_define_device_identity(uint32_t device, const char *identity)
{
	const struct mr_event_def_device_identity said = {.device = device};
	mr_define_event(MR_EVENT_def_device_identity, &said, sizeof said, identity);
}

void mr_define_device_memory(uint32_t device, uint64_t bytes)
{
	const struct mr_event_def_device_memory said = {.device = device, .bytes = bytes};
	mr_define_event(MR_EVENT_def_device_memory, &said, sizeof said, NULL);
}

uint32_t mr_define_queue(uint32_t device, uint32_t name, enum mr_queue_order order, bool is_untimed)
{
	struct mr_event_def_queue queue = {
		.device = device, .name = name, .order = (uint8_t)order, .is_untimed = is_untimed};
	return define(MR_EVENT_def_queue, &queue, sizeof queue);
}

uint32_t mr_define_clock(uint32_t name, uint64_t ticks_per_second)
{
	while (mr_definition_next() < MR_FIRST_CLOCK_ID) /* lower ones are taken */
		mr_definition_take();
	struct mr_event_def_clock clock = {.name = name, .ticks_per_second = ticks_per_second};
	return define(MR_EVENT_def_clock, &clock, sizeof clock);
}

/* ---- texts ------------------------------------------------------------------------------------- */

static uint64_t word_at(const char *text)
{
	uint64_t word;
	memcpy(&word, text, sizeof word);
	return word;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hooks look up a text for every event, so it is hashed sixteen bytes at a time (the last ones may overlap); only
 * the shortest texts are hashed byte by byte. */
static uint64_t hash_of(const char *text, size_t bytes)
{
	const uint64_t one = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xd1b54a32d192ed03);
	uint64_t hash = bytes ^ one;
	size_t at = 0;
	for (; at + 16 < bytes; at += 16)
		hash = mix(word_at(text + at) ^ one, word_at(text + at + 8) ^ hash);
	if (bytes >= 8)
		return mix(word_at(text + bytes - 8) ^ other,
			   word_at(text + (bytes < 16 ? 0 : bytes - 16)) ^ hash);
	for (; at < bytes; at++)
		hash = (hash ^ (uint8_t)text[at]) * one;
	return mix(hash, other);
}

/* The text, or NULL, and the slot that holds it, or the empty slot where it belongs. Without the lock, another text may be
 * in that slot by the time this returns. */
static struct text *find(struct table *in, const char *text, size_t bytes, uint64_t hash,
			 _Atomic(struct text *) **ret_slot)
{
	for (uint64_t i = hash & in->mask;; i = (i + 1) & in->mask) {
		struct text *found = atomic_load_explicit(&in->slots[i], memory_order_acquire);
		if (!found || (found->hash == hash && found->bytes == bytes &&
			       memcmp(found->value, text, bytes) == 0)) {
			*ret_slot = &in->slots[i];
			return found;
		}
	}
}

/* The table, with room for one more; NULL if there is no memory. */
static struct table *grown_table(void)
{
	struct table *old = atomic_load_explicit(&table, memory_order_relaxed);
	if (old && old->used * 2 <= old->mask)
		return old;
	uint64_t slots = old ? (old->mask + 1) * 2 : FIRST_TABLE_SLOTS;
	struct table *larger = get_memory(sizeof *larger + slots * sizeof larger->slots[0]);
	if (!larger)
		return NULL;
	larger->mask = slots - 1;
	for (uint64_t i = 0; old && i <= old->mask; i++) {
		struct text *moved = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
		if (!moved)
			continue;
		_Atomic(struct text *) *slot;
		find(larger, moved->value, moved->bytes, moved->hash, &slot);
		atomic_store_explicit(slot, moved, memory_order_relaxed);
		larger->used++;
	}
	/* The old table is not freed: another thread may be searching it. All old tables together are no
	 * larger than the new one. */
	atomic_store_explicit(&table, larger, memory_order_release);
	return larger;
}

static size_t room_of_text(size_t bytes)
{
	return mr_align_up(sizeof(struct text) + bytes + 1, sizeof(uint64_t));
}

static struct text *new_text(const char *value, size_t bytes, uint64_t hash)
{
	size_t need = room_of_text(bytes);
	if (need > text_block_left) {
		char *block = get_memory(TEXT_BLOCK_BYTES);
		if (!block)
			return NULL;
		text_block_left = 0; /* in this order: a fork in between loses only a block */
		text_block = block;
		text_block_left = TEXT_BLOCK_BYTES;
	}
	text_block_left -= need;
	struct text *text = (struct text *)(text_block + text_block_left);
	text->bytes = (uint32_t)bytes;
	text->hash = hash;
	memcpy(text->value, value, bytes);
	text->value[bytes] = 0;
	return text;
}

/* Frees the memory of a text that could not be defined. The text is not the last one if a handler forked and this
 * child has since defined others. */
static void give_back(const struct text *text)
{
	if ((const char *)text == text_block + text_block_left)
		text_block_left += room_of_text(text->bytes);
}

static uint32_t insert(const char *value, size_t bytes, uint64_t hash)
{
	struct table *into = grown_table();
	if (!into)
		return 0;
	_Atomic(struct text *) *slot;
	struct text *text = find(into, value, bytes, hash, &slot);
	if (text)
		return text->id; /* another thread was faster */
	text = new_text(value, bytes, hash);
	if (!text)
		return 0;
	text->id = mr_definition_take();
	const struct mr_event_def_string event = {.id = text->id};
	if (!put(MR_EVENT_def_string, &event, sizeof event, text->value)) {
		give_back(text);
		return 0;
	}
	into->used++;
	atomic_store_explicit(slot, text, memory_order_release);
	return text->id;
}

static uint32_t look_up(const char *text, size_t bytes, uint64_t hash)
{
	struct table *in = atomic_load_explicit(&table, memory_order_acquire);
	_Atomic(struct text *) *slot;
	struct text *known = in ? find(in, text, bytes, hash, &slot) : NULL;
	return known ? known->id : 0;
}

uint32_t mr_find_text(const char *text, size_t bytes)
{
	return is_attached() ? look_up(text, bytes, hash_of(text, bytes)) : 0;
}

uint32_t mr_define_text(const char *text, size_t bytes)
{
	if (!is_attached())
		return 0;
	bytes = mr_min(bytes, (size_t)MR_TEXT_MAX - 1);
	uint64_t hash = hash_of(text, bytes);
	uint32_t known = look_up(text, bytes, hash);
	uintptr_t outer;
	if (known || !lock(&outer))
		return known;
	uint32_t id = insert(text, bytes, hash);
	unlock(outer);
	return id;
}

uint32_t mr_define_string(const char *text)
{
	return text ? mr_define_text(text, mr_text_length(text, MR_TEXT_MAX - 1)) : 0;
}
