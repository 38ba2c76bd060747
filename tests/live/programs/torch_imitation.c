/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that looks like PyTorch to the hook: it has observers, and operators that ask for them, as C would write what
 * C++ does on x86-64. What it has in common with PyTorch is what the hook relies on; the variants differ from it in one
 * thing each:
 *
 *     (none)            as PyTorch
 *     -DSWAPPED         observers stand in the answer in another order than expected
 *     -DSHORT_NAMES     names are returned as (length, text): in C the length is what the function returns
 *     -DDISABLED=N      the first N questions come while the thread has observers disabled
 *
 * play() executes three operators, one nested in another. A destructor executes one more, when the library is closed or the
 * program ends.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef DISABLED
#define DISABLED 0
#endif

enum {
	OBSERVERS = 64,
	FUNCTION = 0,
	SCOPES = 10
};

struct observer {
	void *(*begin)(void **ret_context, const void *function);
	void (*end)(const void *function, void *context);
	double probability;
	bool is_of_scope[SCOPES];
	bool needs[3];
};

struct entry {
	struct observer observer;
	uint64_t handle;
};

static struct entry entries[OBSERVERS];
static int entry_count;
static uint64_t last_handle;
static int asked;

/* A word of it is the number by which autograd knows it. */
struct function {
	void *table;
	const char *name;
	int64_t number;
};

struct answer {
	struct {
		void *first, *second;
	} pairs[4];
	uint64_t count;
	bool is_there;
};

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct observer observer)
{
	entries[entry_count++] = (struct entry){observer, ++last_handle};
	return last_handle;
}

void _ZN2at14removeCallbackEm(uint64_t handle)
{
	for (int i = 0; i < entry_count; i++)
		if (entries[i].handle == handle)
			entries[i] = entries[--entry_count];
}

#ifdef SHORT_NAMES
size_t _ZNK2at14RecordFunction4nameEv(const struct function *function)
{
	return strlen(function->name);
}
#else
const char *_ZNK2at14RecordFunction4nameEv(const struct function *function)
{
	return function->name;
}
#endif

/* Autograd's counter. */
uint64_t _ZN2at15sequence_number4peekEv(void)
{
	return 0;
}

bool _ZN2at23isRecordFunctionEnabledEv(void)
{
	return asked >= DISABLED;
}

struct answer _ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE(uint8_t scope)
{
	struct answer answer = {.is_there = false};
	if (asked++ < DISABLED)
		return answer;
	for (int i = 0; i < entry_count; i++) {
		if (!entries[i].observer.is_of_scope[scope])
			continue;
#ifdef SWAPPED
		answer.pairs[answer.count].first = (void *)entries[i].observer.end;
		answer.pairs[answer.count].second = (void *)entries[i].observer.begin;
#else
		answer.pairs[answer.count].first = (void *)entries[i].observer.begin;
		answer.pairs[answer.count].second = (void *)entries[i].observer.end;
#endif
		answer.count++;
		answer.is_there = true;
	}
	return answer;
}

/* By its name, as the hook stands in front of it. */
struct answer ask(uint8_t scope) __asm__("_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE");

static void operate(const char *name, int64_t number, void (*inside)(void))
{
	struct function function = {.table = &entries, .name = name, .number = number};
	struct answer answer = ask(FUNCTION);
	void *context = NULL;
	for (uint64_t i = 0; i < answer.count; i++)
		((void *(*)(void **, const void *))answer.pairs[i].first)(&context, &function);
	if (inside)
		inside();
	for (uint64_t i = answer.count; i-- > 0;)
		((void (*)(const void *, void *))answer.pairs[i].second)(&function, context);
}

static void nested(void)
{
	operate("aten::addmm", 6, NULL);
}

void play(void)
{
	operate("aten::linear", 5, nested);
	operate("aten::relu", 7, NULL);
	/* Two copies in a process do not mix: each is asked by its own operators. */
	puts(asked < 3 ? "another library was asked" : "played");
	fflush(stdout);
}

__attribute__((destructor)) static void leave(void)
{
	operate("aten::zero_", 9, NULL);
}
