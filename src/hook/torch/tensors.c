/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors that operators take and make: who made what another takes is the graph as it was executed. RecordFunction has
 * them while an observer wants them (ask.c), which costs time: so that is for the first operators of each so many.
 *
 *     RecordFunction       ... | inputs: first, count | ... | outputs: first, end, room | ...
 *     value                payload, tag; 1: the payload is a tensor, some other: a list, which has a vector of values
 *     tensor               virtual functions | counts | storage | ... | n | 5 sizes | 5 strides | offset | elements | type
 *
 * No version says where these stand. They are looked for, by tables of virtual functions, which are exported, and by numbers
 * that must agree with each other; all memory is read such that it cannot fault until they are found.
 */
#include <stdio.h>

#include "hook/shared/names.h"
#include "hook/symbols.h"
#include "hook/torch/torch.h"
#include "record/peek.h"

enum {
	DUE_OF = 1 << 18, /* of so many outermost operators of the process, */
	DUE_COUNT = 4096, /* these have their tensors recorded */
	WORDS = 48,       /* of a RecordFunction are looked at */
	VALUES_MAX = 64,  /* of an operator, and tensors of a list */
	TAG_TENSOR = 1,
	TAGS = 64,
	AGREEMENTS = 3, /* in a row prove a place */
	TRIES_MAX = 1 << 12,
	TENSOR_WORDS = 24,
	FIRST_SIZES = 6, /* where the number of dimensions may stand */
	LAST_SIZES = 10,
	INLINE_SIZES = 5,
	OFFSET_AT = 11, /* behind the number of dimensions */
	ELEMENTS_AT = 12,
	TYPE_AT = 13,
	TABLE_HEAD_BYTES = 16, /* a table of virtual functions begins behind its own head */
	SHAPE_BYTES = 160,
	DIMENSIONS_MAX = 16, /* that a text shows */
};

struct value {
	uint64_t payload;
	uint32_t tag;
	uint32_t unused;
};

/* Where something stands; found when it is not 0. */
struct place {
	_Atomic int32_t word;
	int32_t candidate;
	uint32_t agreements;
};

static struct {
	_Atomic uint64_t outermost; /* operators so far; not exact where threads count at once */
	atomic_bool is_given_up;
	atomic_bool is_busy; /* some thread looks for places */
	_Atomic uint64_t tensor_table, storage_table;
	struct place inputs, outputs, storage, sizes;
	_Atomic uint32_t list_tag; /* 0: not known */
	uint32_t tries;            /* to find inputs and outputs */
	_Atomic uint32_t lessons;  /* values that were looked at to learn the rest */
} known;

/* ---- when ------------------------------------------------------------------------------------------ */

void mr_torch_count_outermost(void)
{
	uint64_t count = atomic_load_explicit(&known.outermost, memory_order_relaxed);
	atomic_store_explicit(&known.outermost, count + 1, memory_order_relaxed);
}

bool mr_torch_tensors_are_due(void)
{
	return atomic_load_explicit(&known.outermost, memory_order_relaxed) % DUE_OF < DUE_COUNT &&
	       !atomic_load_explicit(&known.is_given_up, memory_order_relaxed);
}

/* ---- places ---------------------------------------------------------------------------------------- */

static int32_t word_of(struct place *place)
{
	return atomic_load_explicit(&place->word, memory_order_relaxed);
}

/* What was found this time; 0: nothing, which proves nothing. */
static void agree(struct place *place, int32_t found)
{
	if (found == 0)
		return;
	place->agreements = found == place->candidate ? place->agreements + 1 : 1;
	place->candidate = found;
	if (place->agreements >= AGREEMENTS)
		atomic_store_explicit(&place->word, found, memory_order_relaxed);
}

static bool find_tables(void)
{
	uintptr_t tensors = (uintptr_t)mr_symbol_find("_ZTVN3c1010TensorImplE");
	uintptr_t storages = (uintptr_t)mr_symbol_find("_ZTVN3c1011StorageImplE");
	if (!tensors || !storages) {
		atomic_store(&known.is_given_up, true);
		return false;
	}
	atomic_store(&known.storage_table, storages + TABLE_HEAD_BYTES);
	atomic_store(&known.tensor_table, tensors + TABLE_HEAD_BYTES);
	return true;
}

/* Whether an object has that table of virtual functions, at an address that may be none. */
static bool peek_is(struct mr_peek *peek, uint64_t at, const _Atomic uint64_t *table)
{
	uint64_t first;
	return at % sizeof first == 0 && at > UINT16_MAX &&
	       mr_peek_copy(peek, &first, (const void *)(uintptr_t)at, sizeof first) &&
	       first == atomic_load_explicit(table, memory_order_relaxed);
}

static bool has_sizes_at(const uint64_t *words, int32_t at)
{
	uint64_t elements = 1;
	if (words[at] < 2 || words[at] > INLINE_SIZES)
		return false;
	for (uint64_t i = 0; i < words[at]; i++)
		if (__builtin_mul_overflow(elements, words[(uint64_t)at + 1 + i], &elements))
			return false;
	return elements > 1 && elements == words[at + ELEMENTS_AT] &&
	       (uint16_t)words[at + TYPE_AT] < TAGS;
}

/* By a tensor: where its storage and its sizes stand. */
static void learn_tensor(struct mr_peek *peek, uint64_t at)
{
	uint64_t words[TENSOR_WORDS];
	int32_t storage = 0, sizes = 0;
	if (!mr_peek_copy(peek, words, (const void *)(uintptr_t)at, sizeof words))
		return;
	for (int32_t i = 1; i < FIRST_SIZES && !storage; i++)
		if (peek_is(peek, words[i], &known.storage_table))
			storage = i;
	for (int32_t i = FIRST_SIZES; i <= LAST_SIZES && !sizes; i++)
		if (has_sizes_at(words, i))
			sizes = i;
	agree(&known.storage, storage);
	agree(&known.sizes, sizes);
}

/* Values that may be none; true if one of them is a tensor. */
static bool are_values(struct mr_peek *peek, uint64_t first, uint64_t count)
{
	struct value value;
	bool has_tensor = false;
	if (first % sizeof first != 0 || first <= UINT16_MAX || count == 0 || count > VALUES_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const void *at = (const void *)(uintptr_t)(first + i * sizeof value);
		if (!mr_peek_copy(peek, &value, at, sizeof value) || value.tag >= TAGS)
			return false;
		has_tensor |= value.tag == TAG_TENSOR &&
			      peek_is(peek, value.payload, &known.tensor_table);
	}
	return has_tensor;
}

/* By a value that is no tensor: a list of tensors begins like a tensor, up to the storage. */
static void learn_list(struct mr_peek *peek, const struct value *value)
{
	uint64_t vector[2];
	int32_t skip = word_of(&known.storage);
	if (skip == 0 || value->tag == 0 || value->tag >= TAGS || value->payload <= UINT16_MAX ||
	    value->payload % sizeof *vector != 0 ||
	    !mr_peek_copy(peek, vector, (const uint64_t *)(uintptr_t)value->payload + skip,
			  sizeof vector) ||
	    vector[1] <= vector[0] || (vector[1] - vector[0]) % sizeof *value != 0 ||
	    !are_values(peek, vector[0], (vector[1] - vector[0]) / sizeof *value))
		return;
	atomic_store_explicit(&known.list_tag, value->tag, memory_order_relaxed);
}

static bool has_all(void)
{
	return word_of(&known.storage) && word_of(&known.sizes) &&
	       atomic_load_explicit(&known.list_tag, memory_order_relaxed);
}

/* What tensors look like, by a value of an operator. */
__attribute__((noinline, cold)) static void learn(const struct value *value)
{
	struct mr_peek peek = {0};
	if (known.lessons >= TRIES_MAX ||
	    atomic_exchange_explicit(&known.is_busy, true, memory_order_acquire))
		return;
	known.lessons++;
	if (value->tag == TAG_TENSOR && peek_is(&peek, value->payload, &known.tensor_table))
		learn_tensor(&peek, value->payload);
	else if (value->tag != TAG_TENSOR)
		learn_list(&peek, value);
	atomic_store_explicit(&known.is_busy, false, memory_order_release);
}

/* The number of values that begin at a word of the object; 0: none do. */
static uint64_t count_at(const uint64_t *words, int32_t word, bool is_vector)
{
	if (!is_vector)
		return words[word + 1];
	uint64_t bytes = words[word + 1] - words[word];
	return words[word + 1] > words[word] && bytes % sizeof(struct value) == 0 &&
			       words[word + 2] >= words[word + 1]
		       ? bytes / sizeof(struct value)
		       : 0;
}

/* Looks for the place of inputs or outputs in an object on the stack. */
__attribute__((noinline, cold)) static void search(struct place *place, const uint64_t *words,
						   bool is_vector)
{
	struct mr_peek peek = {0};
	int32_t found = 0;
	if (atomic_exchange_explicit(&known.is_busy, true, memory_order_acquire))
		return;
	if (atomic_load(&known.tensor_table) || find_tables())
		for (int32_t i = 1; i + 2 < WORDS && !found; i++)
			if (are_values(&peek, words[i], count_at(words, i, is_vector)))
				found = i;
	agree(place, found);
	if (++known.tries > TRIES_MAX)
		atomic_store_explicit(&known.is_given_up, true, memory_order_relaxed);
	atomic_store_explicit(&known.is_busy, false, memory_order_release);
}

/* ---- tensors --------------------------------------------------------------------------------------- */

static const char *name_of_type(uint64_t word, uint32_t *ret_bytes)
{
	/* c10::ScalarType */
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{"uint8", 1},     {"int8", 1},      {"int16", 2},       {"int32", 4},
		{"int64", 8},     {"float16", 2},   {"float32", 4},     {"float64", 8},
		{"complex32", 4}, {"complex64", 8}, {"complex128", 16}, {"bool", 1},
		{"qint8", 1},     {"quint8", 1},    {"qint32", 4},      {"bfloat16", 2},
	};
	uint16_t number = (uint16_t)word;
	*ret_bytes = number < mr_countof(types) ? types[number].bytes : 0;
	return number < mr_countof(types) ? types[number].name : "?";
}

/* "float32[8,16]", as analyses read it; 0: not known. */
static uint32_t shape_of(const uint64_t *words, int32_t sizes)
{
	char text[SHAPE_BYTES];
	uint32_t bytes;
	uint64_t count = words[sizes];
	const uint64_t *size = count > INLINE_SIZES ? (const uint64_t *)(uintptr_t)words[sizes + 1]
						    : &words[sizes + 1];
	if (count > DIMENSIONS_MAX)
		return 0;
	int length =
		snprintf(text, sizeof text, "%s[", name_of_type(words[sizes + TYPE_AT], &bytes));
	for (uint64_t i = 0; i < count && length < SHAPE_BYTES; i++)
		length += snprintf(text + length, sizeof text - (size_t)length, "%s%llu",
				   i ? "," : "", (unsigned long long)size[i]);
	if (length + 2 > SHAPE_BYTES)
		return 0;
	text[length] = ']';
	text[length + 1] = 0;
	return mr_name_of(text);
}

static const uint64_t *tensor_of(const struct value *value)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)value->payload;
	return value->tag == TAG_TENSOR && words &&
			       words[0] == atomic_load_explicit(&known.tensor_table,
								memory_order_relaxed)
		       ? words
		       : NULL;
}

static void note_tensor(const struct value *value, bool is_output)
{
	const uint64_t *words = tensor_of(value);
	int32_t storage = word_of(&known.storage), sizes = word_of(&known.sizes);
	if (!words || storage == 0 || !words[storage])
		return;
	/* A storage begins like a tensor, and goes on with the address of its memory. */
	uint64_t memory = ((const uint64_t *)(uintptr_t)words[storage])[storage];
	mr_emit(torch_tensor, .tensor = (uintptr_t)words, .memory = memory,
		.shape = sizes ? shape_of(words, sizes) : 0, .is_output = is_output);
}

/* The tensors of a list; NULL if it is none. */
static const struct value *list_of(const struct value *value, uint64_t *ret_count)
{
	uint32_t tag = atomic_load_explicit(&known.list_tag, memory_order_relaxed);
	int32_t skip = word_of(&known.storage);
	if (tag == 0 || value->tag != tag || !value->payload || skip == 0)
		return NULL;
	const uint64_t *vector = (const uint64_t *)(uintptr_t)value->payload + skip;
	*ret_count = mr_min((vector[1] - vector[0]) / sizeof *value, (uint64_t)VALUES_MAX);
	return (const struct value *)(uintptr_t)vector[0];
}

static void note_values(const struct value *values, uint64_t count, bool is_output)
{
	for (uint64_t i = 0; i < mr_min(count, (uint64_t)VALUES_MAX); i++) {
		uint64_t more = 0;
		if (mr_unlikely(!has_all()))
			learn(&values[i]);
		const struct value *list = list_of(&values[i], &more);
		note_tensor(&values[i], is_output);
		for (uint64_t j = 0; j < more; j++)
			note_tensor(&list[j], is_output);
	}
}

static void note(struct place *place, const void *function, bool is_output)
{
	const uint64_t *words = function;
	int32_t word = word_of(place);
	if (mr_unlikely(word == 0)) {
		search(place, words, is_output);
		word = word_of(place);
	}
	if (word && words[word])
		note_values((const struct value *)(uintptr_t)words[word],
			    count_at(words, word, is_output), is_output);
}

void mr_torch_note_inputs(const void *function)
{
	if (!atomic_load_explicit(&known.is_given_up, memory_order_relaxed))
		note(&known.inputs, function, false);
}

void mr_torch_note_outputs(const void *function)
{
	if (!atomic_load_explicit(&known.is_given_up, memory_order_relaxed))
		note(&known.outputs, function, true);
}

/* ---- bytes ----------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct value *value)
{
	const uint64_t *words = tensor_of(value);
	int32_t sizes = word_of(&known.sizes);
	uint32_t bytes = 0;
	if (!words || sizes == 0)
		return 0;
	name_of_type(words[sizes + TYPE_AT], &bytes);
	return words[sizes + ELEMENTS_AT] * bytes;
}

uint64_t mr_torch_input_bytes(const void *function)
{
	const uint64_t *words = function;
	int32_t word = word_of(&known.inputs);
	uint64_t bytes = 0;
	if (word == 0 || !words[word])
		return 0;
	const struct value *values = (const struct value *)(uintptr_t)words[word];
	for (uint64_t i = 0; i < mr_min(words[word + 1], (uint64_t)VALUES_MAX); i++)
		bytes += bytes_of(&values[i]);
	return bytes;
}
