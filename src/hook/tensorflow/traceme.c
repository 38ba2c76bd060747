/* SPDX-License-Identifier: Apache-2.0
 *
 * TraceMe: the tracing built into TensorFlow (and JAX). Each event is a text, name#key=value,...#, and two times.
 * Repeated texts are interned; numbers among the values, which are mostly ids of steps, are first removed from the
 * text, so that the rest repeats:
 *
 *     ExecutorState::Process#id=-1376120864709153107,iter_num=0,_ct=2,_c=11378968526339344915#
 *     ExecutorState::Process#id=%,iter_num=%,_ct=%,_c=%#           -1376120864709153107, 0, 2, 11378968526339344915
 *
 * The events arrive on the thread on which they end, children before parents.
 *
 * The program may use TensorFlow's profiler itself. Then it gets its events as well: the hook passes them on to the
 * original recorder between Start() and Stop(). That recorder considers itself off, because its level variable is
 * millrace's; so Start() and Stop() here also do what the originals would do.
 */
#include "hook/tensorflow/tensorflow.h"

#include "hook/hook.h"
#include "hook/python/python.h"
#include "hook/symbols.h"

enum {
	LEVEL_OFF = -1,
	LEVEL_ALL = 3,       /* cheap operations and shapes of tensors included */
	TEXT_ROOM = 1024,    /* longer ones are written as they are */
	TEXTS_MAX = 1 << 16, /* different ones; further ones are written as they are */
	NUMBERS_MAX = 4,
	DIGITS_THAT_FIT = 19, /* in 64 bits, whatever they are */
};

struct traceme_event {
	struct mr_cxx_string name;
	int64_t start;
	int64_t end;
};

/* What TraceMeRecorder::Stop() returns, a std::vector: passed on, never looked into. */
struct traceme_events {
	void *pointers[3];
};

/* Above this level nothing is recorded. TensorFlow reads it before each event. */
extern _Atomic int trace_level MR_STAND_IN("_ZN3tsl8profiler8internal13g_trace_levelE");
_Atomic int trace_level = LEVEL_OFF;

/* Whether annotations made in Python count (2.20 and later). */
extern atomic_bool python_annotations MR_STAND_IN("_ZN3xla8profiler15traceme_enabledE");
atomic_bool python_annotations;

atomic_bool mr_tensorflow_is_traced;
static atomic_bool was_traced;
static _Atomic uint32_t text_count;

typedef void record_function(struct traceme_event *event);
static _Atomic(record_function *) original_record; /* NULL: the program does not profile */
static _Atomic int profile_level = LEVEL_OFF;      /* what it wants */

static int wanted_level(void)
{
	int own = mr_level_is_on(MR_LEVEL_dataflow) ? LEVEL_ALL : LEVEL_OFF;
	int other = atomic_load(&profile_level);
	return mr_max(own, other);
}

/* Several threads may set it at once: whoever stored what is no longer wanted sees that and stores again. */
static void set_trace_level(void)
{
	int level;
	do {
		level = wanted_level();
		atomic_store(&trace_level, level);
		atomic_thread_fence(memory_order_seq_cst);
	} while (level != wanted_level());
}

void mr_tensorflow_switch(void)
{
	bool is_on;
	do {
		is_on = mr_level_is_on(MR_LEVEL_dataflow);
		atomic_store(&mr_tensorflow_is_traced, is_on);
		atomic_store(&python_annotations, is_on);
		set_trace_level();
	} while (is_on != mr_level_is_on(MR_LEVEL_dataflow));
	if (!is_on)
		return;
	atomic_store_explicit(&was_traced, true, memory_order_relaxed);
	mr_watcher_wake();
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* A text without its numbers: the event's own if there are none. */
struct text {
	const char *at;
	size_t length;
	uint64_t numbers[NUMBERS_MAX];
	uint32_t number_count;
	char room[TEXT_ROOM];
};

static bool is_digit(const char *at, const char *end)
{
	return at < end && *at >= '0' && *at <= '9';
}

/* A number from `at` on that fills the whole value; returns where it ends, or NULL. */
static const char *read_number(const char *at, const char *end, uint64_t *ret_number)
{
	bool is_negative = at < end && *at == '-';
	const char *first = at + is_negative;
	uint64_t number = 0;
	for (at = first; is_digit(at, end) && at < first + DIGITS_THAT_FIT; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	for (; is_digit(at, end); at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return NULL;
	if (at == first || at == end || (*at != ',' && *at != '#') ||
	    (is_negative && number > (uint64_t)INT64_MAX + 1))
		return NULL;
	*ret_number = is_negative ? -number : number;
	return at;
}

static void append(struct text *text, const char *from, const char *to)
{
	memcpy(text->room + text->length, from, (size_t)(to - from));
	text->length += (size_t)(to - from);
}

/* Takes the numbers out of the metadata; false if there are too many, or a value looks as if one had been taken
 * out. */
static bool take_numbers(struct text *text, const struct mr_cxx_string *from)
{
	const char *end = from->data + from->length;
	const char *rest = from->data;
	const char *value = memchr(rest, '#', from->length);
	while (value && (value = memchr(value, '=', (size_t)(end - value))) != NULL) {
		uint64_t number;
		const char *behind = read_number(++value, end, &number);
		if (value < end && *value == '%')
			return false;
		if (!behind)
			continue;
		if (text->number_count == NUMBERS_MAX)
			return false;
		text->numbers[text->number_count++] = number;
		append(text, rest, value);
		text->room[text->length++] = '%';
		value = rest = behind;
	}
	if (text->number_count == 0) {
		text->at = from->data;
		text->length = from->length;
		return true;
	}
	append(text, rest, end);
	text->at = text->room;
	return true;
}

static inline bool begins_with(const char *text, size_t length, const char *beginning)
{
	return length >= strlen(beginning) && memcmp(text, beginning, strlen(beginning)) == 0;
}

/* The id of a text, or 0 if it shall not be interned. What repeats a dataset counts in the names of its iterators, so
 * there is always a new one: they are no nodes, and the watcher has nothing to say of them. */
static uint32_t intern(const char *text, size_t length)
{
	uint32_t id = mr_find_text(text, length);
	if (mr_likely(id != 0))
		return id;
	if (atomic_fetch_add_explicit(&text_count, 1, memory_order_relaxed) >= TEXTS_MAX)
		return 0;
	if (!begins_with(text, length, "Iterator::"))
		mr_watcher_wake();
	return mr_define_text(text, length);
}

/* More than half of all events, one after every node: which nodes follow it, and how many of them are ready. The
 * graph and the events of the nodes themselves say as much. */
static inline bool is_superfluous(const struct mr_cxx_string *name)
{
	return begins_with(name->data, name->length, "ExecutorPropagateOutputs#") ||
	       begins_with(name->data, name->length, "ExecutorState::ScheduleReady#");
}

static void write_interned(const struct traceme_event *event, uint32_t text)
{
	mr_emit(traceme, .text = text, .start = event->start, .end = event->end);
}

/* One that is not known as it is: new, or with numbers. */
static void write_new(const struct traceme_event *event)
{
	const struct mr_cxx_string *name = &event->name;
	struct text text;
	text.length = 0;
	text.number_count = 0;
	memset(text.numbers, 0, sizeof text.numbers);
	uint32_t id = name->length <= TEXT_ROOM && take_numbers(&text, name)
			      ? intern(text.at, text.length)
			      : 0;

	if (mr_unlikely(id == 0))
		mr_emit_text(traceme_text, name->data, .start = event->start, .end = event->end);
	else if (text.number_count == 0)
		write_interned(event, id);
	else
		mr_emit(traceme_numbers, .text = id, .start = event->start, .end = event->end,
			.first = text.numbers[0], .second = text.numbers[1],
			.third = text.numbers[2], .fourth = text.numbers[3]);
}

/* Most have no numbers and have come before. One that has '%' where others have numbers is told without any, which is
 * what it has. */
static void write_event(const struct traceme_event *event)
{
	const struct mr_cxx_string *name = &event->name;

	if (is_superfluous(name))
		return;
	mr_python_note();
	uint32_t id = name->length <= TEXT_ROOM ? mr_find_text(name->data, name->length) : 0;
	if (mr_likely(id != 0))
		write_interned(event, id);
	else
		write_new(event);
}

/* ---- in front of TraceMeRecorder ----------------------------------------------------------------- */

void mr_traceme_record(struct traceme_event *event)
	MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE");

void mr_traceme_record(struct traceme_event *event)
{
	if (mr_tensorflow_is_on())
		write_event(event);
	record_function *original = atomic_load_explicit(&original_record, memory_order_acquire);
	if (mr_unlikely(original != NULL))
		original(event);
}

/* True if the program's own profiler begins: it does not while it is at it. */
static bool start_profile(int level)
{
	record_function *record = (record_function *)mr_symbol_find(
		"_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE");
	record_function *none = NULL;
	if (!record || !atomic_compare_exchange_strong(&original_record, &none, record))
		return false;
	atomic_store(&profile_level, mr_max(level, 0));
	set_trace_level();
	return true;
}

static bool end_profile(void)
{
	atomic_store(&profile_level, LEVEL_OFF);
	bool was_on = atomic_exchange(&original_record, NULL) != NULL;
	set_trace_level();
	return was_on;
}

/* 2.16 and later: static functions. */
bool mr_traceme_start(int level) MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder5StartEi");
bool mr_traceme_start_filtered(int level, uint64_t filter)
	MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder5StartEim");
struct traceme_events mr_traceme_stop(void) MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder4StopEv");

bool mr_traceme_start(int level)
{
	void (*clear)(void) =
		(void (*)(void))mr_symbol_find("_ZN3tsl8profiler15TraceMeRecorder5ClearEv");
	bool has_started = start_profile(level);
	if (has_started && clear)
		clear(); /* of what was still being recorded when the last one ended */
	return has_started;
}

bool mr_traceme_start_filtered(int level, uint64_t filter)
{
	(void)filter; /* it spares events of memory; ours wants them */
	return mr_traceme_start(level);
}

struct traceme_events mr_traceme_stop(void)
{
	struct traceme_events (*consume)(void) = (struct traceme_events(*)(void))mr_symbol_find(
		"_ZN3tsl8profiler15TraceMeRecorder7ConsumeEv");
	return end_profile() && consume ? consume() : (struct traceme_events){0};
}

/* 2.15: members of the one recorder. */
bool mr_traceme_start_member(void *recorder, int level)
	MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder14StartRecordingEi");
struct traceme_events mr_traceme_stop_member(void *recorder)
	MR_STAND_IN("_ZN3tsl8profiler15TraceMeRecorder13StopRecordingEv");

bool mr_traceme_start_member(void *recorder, int level)
{
	void (*clear)(void *) =
		(void (*)(void *))mr_symbol_find("_ZN3tsl8profiler15TraceMeRecorder5ClearEv");
	bool has_started = start_profile(level);
	if (has_started && clear)
		clear(recorder);
	return has_started;
}

struct traceme_events mr_traceme_stop_member(void *recorder)
{
	struct traceme_events (*consume)(void *) = (struct traceme_events(*)(void *))mr_symbol_find(
		"_ZN3tsl8profiler15TraceMeRecorder7ConsumeEv");
	return end_profile() && consume ? consume(recorder) : (struct traceme_events){0};
}

/* ---- what is missing ----------------------------------------------------------------------------- */

/* One way of saying the same in different versions is enough. */
static const struct {
	const char *names[3];
	const char *loss;
} needed[] = {
	{{"_ZN3tsl8profiler8internal13g_trace_levelE"},
	 "TraceMe's level: nothing of TensorFlow is traced"},
	{{"_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE"},
	 "TraceMeRecorder::Record: nothing of TensorFlow is traced"},
	{{"_ZN3tsl8profiler15TraceMeRecorder5StartEi", "_ZN3tsl8profiler15TraceMeRecorder5StartEim",
	  "_ZN3tsl8profiler15TraceMeRecorder14StartRecordingEi"},
	 "TraceMeRecorder::Start: the program's own profile may be empty"},
	{{"_ZN10tensorflow16activity_watcher12tfw_internal19RecordActivityStartESt10unique_ptrINS0_"
	  "8ActivityESt14default_deleteIS3_EE"},
	 "RecordActivityStart: devices and edges of nodes are not known"},
	{{"_ZN3tsl4port13AlignedMallocEmi", "_ZN3tsl4port13AlignedMallocEmSt11align_val_t"},
	 "AlignedMalloc: memory of the CPU is not traced"},
	{{"TFE_Execute"}, "TFE_Execute: devices of eager operations are not known"},
};

static bool has_any(const char *const names[3])
{
	for (int i = 0; i < 3 && names[i]; i++)
		if (mr_symbol_find(names[i]))
			return true;
	return false;
}

static void note_missing(void)
{
	static atomic_bool noted;
	if (!atomic_load_explicit(&was_traced, memory_order_relaxed) ||
	    !mr_symbol_find("TF_Version") || atomic_exchange(&noted, true))
		return;
	for (size_t i = 0; i < mr_countof(needed); i++)
		if (!has_any(needed[i].names))
			mr_define_event(MR_EVENT_hook_missing, NULL, 0, needed[i].loss);
	/* Before 2.20 a variable of Python decides, which is the program's own. */
	if (mr_symbol_find("PyInit__pywrap_traceme") &&
	    !mr_symbol_find("_ZN3xla8profiler15traceme_enabledE"))
		mr_define_event(MR_EVENT_hook_missing, NULL, 0,
				"traceme_enabled: annotations made in Python are traced only "
				"while the program's own profiler runs");
	if (!mr_executor_is_seen())
		mr_define_event(MR_EVENT_hook_missing, NULL, 0,
				"EagerExecutor::RunItem: when asynchronous eager operations are "
				"executed is not known");
	if (mr_watcher_is_lost())
		mr_define_event(MR_EVENT_hook_missing, NULL, 0,
				"activities, which look different: devices and edges of nodes are "
				"not known");
}

const struct mr_hook_functions mr_tensorflow_functions = {
	.start = mr_tensorflow_switch,
	.note_missing = note_missing,
};
