/* SPDX-License-Identifier: Apache-2.0
 *
 * Which part of the model asks for an operator. Modules call each other through one function of torch.nn.Module, whose
 * frames have the module as their first argument:
 *
 *     frames      conv2d < Conv2d.forward < _call_impl(conv2) < Bottleneck.forward < _call_impl(layer3[1]) < ...
 *     modules                                          └───────────────────────────────────┴───────────
 *     path        layer3.1.conv2                   by the dictionaries _modules, from the outermost one on
 *
 * What a thread found last time is found again by a hash over the modules: their addresses, classes and the words beside
 * them that lead to their dictionaries, as addresses are used again.
 */
#include <stdio.h>
#include <string.h>

#include "hook/python/object.h"
#include "hook/python/python.h"
#include "hook/torch/torch.h"
#include "record/peek.h"
#include "record/thread_room.h"

enum {
	RECENT = 128,
	MODULES_MAX = 32,  /* in each other; those further out are left out */
	FRAMES_MAX = 128,  /* looked at, from the innermost on */
	DEPTH_MAX = 4,     /* of containers that are not called themselves */
	VISITS_MAX = 4096, /* modules looked at to find one */
	PATH_BYTES = 256,
	PART_BYTES = 64,
	TYPE_NAME = 24, /* in a class: pointer to its name */
	WORD = 8,
};

/* RECENT of them are the room of a thread. */
struct recent {
	uint64_t key;
	uint32_t path; /* string */
};
_Static_assert(RECENT * sizeof(struct recent) <= MR_ROOM_BYTES, "they fit");

static struct mr_python_watched calls[] = {
	{.name = "_wrapped_call_impl", .file = "torch/nn/modules/module.py"},
	{.name = "_call_impl", .file = "torch/nn/modules/module.py"}, /* before 2.1 the only one */
};

/* What the thread's last event said, and where it stands. */
static _Thread_local struct {
	uint32_t path;
	uint32_t packets;
	uint64_t generation;
} noted;

void mr_torch_watch_modules(void)
{
	for (size_t i = 0; i < mr_countof(calls); i++)
		mr_python_watch(&calls[i]);
}

static inline uint64_t load(uintptr_t at)
{
	uint64_t value;
	memcpy(&value, (const void *)at, sizeof value);
	return value;
}

/* ---- from modules to a path, once ------------------------------------------------------------------ */

struct search {
	const struct mr_python *python;
	struct mr_python_reader reader;
	uint32_t visits;
};

/* Appends the names that lead from a module to one inside it. */
static bool find_inside(struct search *search, uintptr_t module, uintptr_t wanted, int depth,
			char *path, size_t length)
{
	struct mr_python_items items;
	uintptr_t key, value;
	uintptr_t modules =
		mr_python_attribute(search->python, &search->reader, module, "_modules");
	if (!modules || depth == 0 ||
	    !mr_python_items_find(search->python, &search->reader, modules, &items))
		return false;
	for (uint32_t i = 0; i < items.count && search->visits++ < VISITS_MAX; i++) {
		char part[PART_BYTES];
		if (!mr_python_item_read(&search->reader, &items, i, &key, &value))
			return false;
		if (!key || !value || length + PART_BYTES + 2 >= PATH_BYTES ||
		    !mr_python_text_read(search->python, &search->reader, key, part, sizeof part))
			continue;
		int more = snprintf(path + length, PATH_BYTES - length, "%s%s", length ? "." : "",
				    part);
		if (value == wanted ||
		    find_inside(search, value, wanted, depth - 1, path, length + (size_t)more))
			return true;
		path[length] = 0;
	}
	return false;
}

/* The name of its class, without the modules of Python around it. */
static void append_class(struct search *search, uintptr_t module, char *path, size_t length)
{
	uintptr_t type, at;
	char name[PART_BYTES] = "?";
	if (mr_python_read(&search->reader, &type, module + MR_PYTHON_OBJECT_TYPE, sizeof type) &&
	    mr_python_read(&search->reader, &at, type + TYPE_NAME, sizeof at) &&
	    mr_peek_text(search->reader.context, (const char *)at, sizeof name))
		snprintf(name, sizeof name, "%s", (const char *)at);
	const char *dot = strrchr(name, '.');
	snprintf(path + length, PATH_BYTES - length, "%s%s", length ? "." : "",
		 dot ? dot + 1 : name);
}

/* Modules from the innermost on. Of the outermost one only its class is known, and only if there is no other. */
__attribute__((noinline, cold)) static uint32_t find_path(const uintptr_t *modules, size_t count)
{
	struct mr_peek peek = {0};
	struct search search = {.python = &mr_own_python.python, .reader = mr_own_reader(&peek)};
	char path[PATH_BYTES] = "";
	for (size_t i = count - 1; i-- > 0;) {
		size_t length = strlen(path);
		search.visits = 0;
		if (!find_inside(&search, modules[i + 1], modules[i], DEPTH_MAX, path, length))
			append_class(&search, modules[i], path, length);
	}
	if (!*path)
		append_class(&search, modules[0], path, 0);
	return mr_define_string(path);
}

/* ---- at each operator ------------------------------------------------------------------------------ */

static uint32_t own_path(uintptr_t code)
{
	const struct mr_python_layout *layout = &mr_own_python.python.layout;
	/* Where an object has a pointer to its dictionary, or NULL. */
	const uintptr_t beside = layout->attributes == MR_PYTHON_ATTRIBUTES_PLAIN
					 ? 2 * WORD
					 : (uintptr_t)(-3 * WORD);
	uintptr_t modules[MODULES_MAX], frame = mr_python_own_frame();
	uint64_t key = 1;
	size_t count = 0;
	for (int left = FRAMES_MAX; frame && left > 0 && count < MODULES_MAX; left--) {
		if (mr_python_untagged(load(frame + layout->frame_code)) == code) {
			uintptr_t self = mr_python_untagged(load(frame + layout->frame_locals));
			if (!self)
				return 0;
			modules[count++] = self;
			key = (key ^ (self + load(self + MR_PYTHON_OBJECT_TYPE) * 3 +
				      load(self + beside) * 5)) *
			      UINT64_C(0x9e3779b97f4a7c15);
		}
		frame = load(frame + layout->frame_previous);
	}
	if (count == 0)
		return 0;
	key ^= key >> 32;
	struct recent none = {0}, *room = mr_thread_room(MR_ROOM_modules);
	struct recent *recent = room ? &room[key % RECENT] : &none;
	if (mr_unlikely(recent->key != key))
		*recent = (struct recent){key, find_path(modules, count)};
	return recent->path;
}

void mr_torch_note_module(void)
{
	uintptr_t code = atomic_load_explicit(&calls[0].code, memory_order_relaxed);
	if (!code)
		code = atomic_load_explicit(&calls[1].code, memory_order_relaxed);
	if (!code)
		return;
	uint32_t path = own_path(code);
	const uint32_t packets = mr_self.writers[0].packets;
	const uint64_t generation = mr_this_process.generation;
	if (mr_likely(path == noted.path) &&
	    (path == 0 || (packets == noted.packets && generation == noted.generation)))
		return;
	mr_emit(torch_module, .path = path);
	noted.path = path;
	noted.packets = mr_self.writers[0].packets;
	noted.generation = mr_this_process.generation;
}
