/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity watcher: empty functions of TensorFlow, designed to be replaced, which the executor calls before and
 * after each node with its name, device and inputs. That costs some microseconds per node, so it is on only while there
 * is something new: until it has met nothing new for a second, or each node could have run several times. About
 * messages, collectives and iterators it records nothing that TraceMe does not.
 *
 *     Activity   0 title: string    32 category: int    40 attributes: absl::flat_hash_map<string, string>
 *
 *     map        2.15         ctrl, slots, size, capacity         slot i is full if ctrl[i] ≥ 0;
 *                2.18, 2.19   ctrl, slots, capacity, size         a slot is two strings: key, value
 *                2.21         capacity, size << 17 | seed, ctrl, slots
 *
 * This layout is internal to TensorFlow and may change. So the kernel checks memory before it is read, and returns an
 * error where a read would crash, and what is read must look like text; otherwise the watcher is switched off.
 */
#include "hook/tensorflow/tensorflow.h"
#include "record/peek.h"

enum {
	LEVEL_OFF = 0,
	LEVEL_NODES = 2,
	QUIET_SECONDS = 1,
	QUIET_ROUNDS = 4,   /* so often can all that is known have come again */
	QUIET_LEAST = 5000, /* activities: some come much more often than others */
	CAPACITY_MAX = 255,
	KEY_ROOM = 32,
	VALUE_MAX = 16 << 20, /* beyond belief */
	TEXT_ROOM = MR_TEXT_MAX - 1,
	TEXTS_MAX = 1 << 16, /* different ones; further ones are not written */
};

/* What is kept, in this order: the map's differs from one activity of a node to the next. Inputs come last, as
 * there may be too many. What differs from step to step is left out, so that the text comes again. */
static const char *const kept_keys[] = {
	"node_name",
	"op",
	"device",
	"inputs",
};

struct activity {
	struct mr_cxx_string title;
	uint64_t category;
	uint64_t map[4];
};

struct attribute {
	struct mr_cxx_string key;
	struct mr_cxx_string value;
};

extern _Atomic int watcher_level
	MR_STAND_IN("_ZN10tensorflow16activity_watcher12tfw_internal15g_watcher_levelE");
_Atomic int watcher_level = LEVEL_OFF;

static _Atomic int64_t last_news_ns;
static _Atomic uint32_t seen_since_news; /* activities */
static _Atomic uint32_t text_count;
static atomic_bool is_lost;

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void mr_watcher_wake(void)
{
	if (atomic_load_explicit(&is_lost, memory_order_relaxed))
		return;
	atomic_store_explicit(&last_news_ns, now_ns(), memory_order_relaxed);
	atomic_store_explicit(&seen_since_news, 0, memory_order_seq_cst);
	atomic_store_explicit(&watcher_level, LEVEL_NODES, memory_order_seq_cst);
}

bool mr_watcher_is_lost(void)
{
	return atomic_load_explicit(&is_lost, memory_order_relaxed);
}

static void give_up(void)
{
	atomic_store_explicit(&is_lost, true, memory_order_relaxed);
	atomic_store_explicit(&watcher_level, LEVEL_OFF, memory_order_relaxed);
}

/* ---- reading what may not be what it seems ---------------------------------------------------------- */

struct text {
	char room[TEXT_ROOM];
	size_t length;
};

/* Cut if there is no room for it all: at the end of an input. */
static bool append(struct text *text, struct mr_peek *pages, const struct mr_cxx_string *string)
{
	char *at = text->room + text->length;
	size_t length = mr_min(string->length, TEXT_ROOM - 1 - text->length);
	if (string->length > VALUE_MAX || !mr_peek_copy(pages, at, string->data, length) ||
	    memchr(at, 0, length))
		return false;
	if (length < string->length) {
		const char *last = memrchr(at, ';', length);
		length = last ? (size_t)(last - at) : 0;
	}
	text->length += length;
	text->room[text->length++] = '\n';
	return true;
}

static bool append_value(struct text *text, struct mr_peek *pages, const char *key,
			 const struct mr_cxx_string *value)
{
	size_t key_length = strlen(key);
	if (key_length + 2 > TEXT_ROOM - text->length)
		return true;
	memcpy(text->room + text->length, key, key_length);
	text->length += key_length;
	text->room[text->length++] = '=';
	return append(text, pages, value);
}

/* What is kept of an activity's map. */
struct kept {
	struct mr_cxx_string values[mr_countof(kept_keys)];
	bool is_there[mr_countof(kept_keys)];
	uint64_t run;
};

static bool read_run(struct mr_peek *pages, const struct mr_cxx_string *value, uint64_t *ret_run)
{
	char digits[24] = "";
	if (value->length >= sizeof digits ||
	    !mr_peek_copy(pages, digits, value->data, value->length))
		return false;
	bool is_negative = digits[0] == '-';
	uint64_t run = 0;
	for (const char *at = digits + is_negative; *at >= '0' && *at <= '9'; at++)
		run = run * 10 + (uint64_t)(*at - '0');
	*ret_run = is_negative ? -run : run;
	return true;
}

static bool keep(struct kept *kept, struct mr_peek *pages, const struct attribute *attribute)
{
	char key[KEY_ROOM] = "";
	if (attribute->key.length >= sizeof key ||
	    !mr_peek_copy(pages, key, attribute->key.data, attribute->key.length))
		return false;
	if (strcmp(key, "step_id") == 0)
		return read_run(pages, &attribute->value, &kept->run);
	for (size_t i = 0; i < mr_countof(kept_keys); i++)
		if (strcmp(key, kept_keys[i]) == 0) {
			kept->values[i] = attribute->value;
			kept->is_there[i] = true;
		}
	return true;
}

static bool read_map(struct kept *ret_kept, struct mr_peek *pages, const uint64_t words[4])
{
	bool capacity_first = words[0] < 4096;
	uint64_t capacity = capacity_first ? words[0] : mr_max(words[2], words[3]);
	const void *control = (const void *)words[capacity_first ? 2 : 0];
	const struct attribute *slots = (const struct attribute *)words[capacity_first ? 3 : 1];
	int8_t full[CAPACITY_MAX];

	*ret_kept = (struct kept){0};
	/* A map of one keeps it in place of the pointers: no node has so few attributes. */
	if (capacity < 2 || capacity > CAPACITY_MAX ||
	    !mr_peek_copy(pages, full, control, capacity))
		return false;
	for (uint64_t i = 0; i < capacity; i++) {
		struct attribute attribute;
		if (full[i] >= 0 &&
		    (!mr_peek_copy(pages, &attribute, &slots[i], sizeof attribute) ||
		     !keep(ret_kept, pages, &attribute)))
			return false;
	}
	return true;
}

/* False if it is not what it should be; no text if it is of no node. */
static bool read_activity(const struct activity *seen, struct text *ret_text, uint64_t *ret_run)
{
	static const char executor[] = "ExecutorState::Process\n";
	struct mr_peek pages = {.count = 0};
	struct activity activity;
	struct kept kept;

	ret_text->length = 0;
	if (!mr_peek_is_possible() || !mr_peek_copy(&pages, &activity, seen, sizeof activity) ||
	    !append(ret_text, &pages, &activity.title))
		return false;
	if (ret_text->length != strlen(executor) ||
	    memcmp(ret_text->room, executor, strlen(executor)) != 0) {
		ret_text->length = 0;
		return true;
	}
	if (!read_map(&kept, &pages, activity.map) || !kept.is_there[0])
		return false;
	for (size_t i = 0; i < mr_countof(kept_keys); i++)
		if (kept.is_there[i] &&
		    !append_value(ret_text, &pages, kept_keys[i], &kept.values[i]))
			return false;
	*ret_run = kept.run;
	return true;
}

static void write_activity(const struct activity *seen)
{
	struct text text;
	uint64_t run = 0;
	if (!read_activity(seen, &text, &run))
		return give_up();
	if (text.length == 0)
		return;
	uint32_t known = mr_find_text(text.room, text.length);
	if (!known) {
		if (atomic_fetch_add_explicit(&text_count, 1, memory_order_relaxed) >= TEXTS_MAX)
			return;
		mr_watcher_wake();
		known = mr_define_text(text.room, text.length);
	}
	mr_emit(activity, .text = known, .run = run);
}

/* ---- in front of the empty functions ----------------------------------------------------------------- */

/* A std::unique_ptr is passed by the address of a copy. Any id but 0 will do. */
uint64_t mr_watcher_begin(struct activity *const *activity) MR_STAND_IN(
	"_ZN10tensorflow16activity_watcher12tfw_internal19RecordActivityStartESt10unique_ptrINS0_"
	"8ActivityESt14default_deleteIS3_EE");
void mr_watcher_end(uint64_t id)
	MR_STAND_IN("_ZN10tensorflow16activity_watcher12tfw_internal17RecordActivityEndEm");

static bool is_quiet(void)
{
	uint32_t texts = mr_min(atomic_load_explicit(&text_count, memory_order_relaxed),
				(uint32_t)TEXTS_MAX);
	uint32_t seen = atomic_fetch_add_explicit(&seen_since_news, 1, memory_order_seq_cst);
	int64_t news_ns = atomic_load_explicit(&last_news_ns, memory_order_relaxed);

	return seen > QUIET_ROUNDS * texts + QUIET_LEAST ||
	       now_ns() - news_ns > QUIET_SECONDS * INT64_C(1000000000);
}

/* Another thread may have news just now, and have found the watcher awake. */
static void sleep_unless_news(void)
{
	atomic_store_explicit(&watcher_level, LEVEL_OFF, memory_order_seq_cst);
	if (!is_quiet() && !mr_watcher_is_lost())
		atomic_store_explicit(&watcher_level, LEVEL_NODES, memory_order_seq_cst);
}

/* It is looked at first: it may be news, after a long time in which TensorFlow prepared the function. */
uint64_t mr_watcher_begin(struct activity *const *activity)
{
	if (mr_level_is_on(MR_LEVEL_dataflow))
		write_activity(*activity);
	if (is_quiet())
		sleep_unless_news();
	return 1;
}

void mr_watcher_end(uint64_t id)
{
	(void)id;
}
