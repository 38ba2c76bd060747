/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the observers of observer.c into PyTorch and takes them out again. They cost time even if they return at once. So
 * they are there only while the level is on, or steps are counted. PyTorch asks for the observers before each operator:
 * that question is where the hook looks whether that has changed.
 *
 *     at::RecordFunction ──asks──► mr_torch_ask() ──► the original of the asking library ──► answer: begin, end, ...
 *                                       └─ the first time: are our functions in the answer, side by side?
 *
 * The observers are passed by value, as a C++ struct whose layout no symbol tells. So they are proved before anyone calls
 * them: PyTorch's answer, given to nobody yet, must contain the two functions of the scope that it was asked for, one after
 * the other. Otherwise they are removed, and nothing of this PyTorch is traced.
 *
 * A process may contain PyTorch twice, for instance linked statically into another library. Each asks its own original.
 * The first is traced.
 */
#include "hook/hook.h"
#include "hook/torch/torch.h"
#include "record/peek.h"
#include "record/steps.h"

#define ADD_OBSERVER    "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define REMOVE_OBSERVER "_ZN2at14removeCallbackEm"
#define NAME_OF         "_ZNK2at14RecordFunction4nameEv"
#define ASK             "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"
#define IS_ENABLED      "_ZN2at23isRecordFunctionEnabledEv"

enum {
	SCOPES = 10,
	CALLERS = 16,      /* libraries that ask; further ones are looked up each time */
	ANSWER_WORDS = 64, /* more than it has */
	FAR_WORDS = 16,    /* and where one of these points to */
};

/* ---- the observers -------------------------------------------------------------------------------- */

/* An observer that begins returns a std::unique_ptr, in memory: its address comes before the arguments (x86-64), or in a
 * register of its own (aarch64). Ours returns none. */
#define OF_SCOPES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#if defined(__x86_64__)
typedef void *begin_function(void **ret_context, const void *function);
#define DEFINE_BEGIN(scope)                                                  \
	static void *begin_##scope(void **ret_context, const void *function) \
	{                                                                    \
		mr_torch_begin(function, (enum mr_torch_scope)scope);        \
		*ret_context = NULL;                                         \
		return ret_context;                                          \
	}
#elif defined(__aarch64__)
typedef void begin_function(const void *function);
#define DEFINE_BEGIN(scope)                                                                    \
	begin_function begin_##scope __asm__("mr_torch_begin_" #scope)                         \
		__attribute__((visibility("hidden")));                                         \
	__asm__(".text\n.p2align 2\n.hidden mr_torch_begin_" #scope                            \
		"\n.globl mr_torch_begin_" #scope "\n.type mr_torch_begin_" #scope             \
		", %function\nmr_torch_begin_" #scope ":\n\tstr xzr, [x8]\n\tmov w1, #" #scope \
		"\n\tb mr_torch_begin\n");
#endif
OF_SCOPES(DEFINE_BEGIN)
#undef DEFINE_BEGIN

/* Of an observer that only wants PyTorch to keep the tensors of operators where tensors.c finds them. */
#if defined(__x86_64__)
static void *begin_nothing(void **ret_context, const void *function)
{
	(void)function;
	*ret_context = NULL;
	return ret_context;
}
#elif defined(__aarch64__)
begin_function begin_nothing __asm__("mr_torch_begin_nothing")
	__attribute__((visibility("hidden")));
__asm__(".text\n.p2align 2\n.hidden mr_torch_begin_nothing\n.globl mr_torch_begin_nothing\n"
	".type mr_torch_begin_nothing, %function\nmr_torch_begin_nothing:\n\tstr xzr, "
	"[x8]\n\tret\n");
#endif

static void end_nothing(const void *function, void *context)
{
	(void)function;
	(void)context;
}

static begin_function *const begins[SCOPES] = {
#define NAME_BEGIN(scope) begin_##scope,
	OF_SCOPES(NAME_BEGIN)
#undef NAME_BEGIN
};

/* at::RecordFunctionCallback, passed by value. A version that has more at its end finds zeros there. */
struct observer {
	begin_function *begin;
	void (*end)(const void *function, void *context);
	double probability;
	bool is_of_scope[SCOPES];
	bool needs_inputs, needs_outputs, needs_ids;
	char more[24];
};
_Static_assert(offsetof(struct observer, more) == 37, "as in PyTorch");

static struct {
	atomic_bool is_busy;     /* some thread switches */
	atomic_bool is_on;       /* what was done last */
	atomic_bool was_on;      /* ever */
	atomic_bool is_settled;  /* nothing is switched any more */
	atomic_bool is_refused;  /* because the observers were not found in the answer */
	atomic_bool has_tensors; /* there is one more, which wants tensors */
	uint64_t handles[SCOPES];
	uint64_t tensors_handle;
} observers;

/* ---- proof ----------------------------------------------------------------------------------------- */

/* Asks into a buffer: std::optional<at::StepCallbacks> is returned in memory. */
static void ask_into(uint64_t *buffer, void *ask, uint64_t scope)
{
#if defined(__x86_64__)
	((void *(*)(void *, uint8_t))ask)(buffer, (uint8_t)scope);
#elif defined(__aarch64__)
	register uint64_t *result __asm__("x8") = buffer;
	register uint64_t argument __asm__("x0") = scope;
	__asm__ volatile("blr %2"
			 : "+r"(result), "+r"(argument)
			 : "r"(ask)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4",
			   "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
			   "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
#endif
}

static bool has_pair(const uint64_t *words, size_t count, int scope)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (words[i] == (uintptr_t)begins[scope] && words[i + 1] == (uintptr_t)mr_torch_end)
			return true;
	return false;
}

/* Few observers stand in the answer itself, more elsewhere. */
static bool are_in_answer(void *ask)
{
	uint64_t words[ANSWER_WORDS] = {0}, far[FAR_WORDS];
	struct mr_peek peek = {0};
	ask_into(words, ask, MR_torch_scope_function);
	if (has_pair(words, ANSWER_WORDS, MR_torch_scope_function))
		return true;
	for (size_t i = 0; i < ANSWER_WORDS; i++)
		if (words[i] && words[i] % sizeof *words == 0 &&
		    mr_peek_copy(&peek, far, (const void *)words[i], sizeof far) &&
		    has_pair(far, FAR_WORDS, MR_torch_scope_function))
			return true;
	return false;
}

/* ---- switching ------------------------------------------------------------------------------------- */

static void remove_observers(const void *ask)
{
	void (*remove)(uint64_t) = (void (*)(uint64_t))mr_symbol_find_beside(ask, REMOVE_OBSERVER);
	for (int i = 0; i < SCOPES; i++)
		remove(observers.handles[i]);
}

static void add_all(uint64_t (*add)(struct observer))
{
	for (int i = 0; i < SCOPES; i++) {
		struct observer observer = {
			.begin = begins[i], .end = mr_torch_end, .probability = 1.0};
		observer.is_of_scope[i] = true;
		observers.handles[i] = add(observer);
	}
}

static void add_observers(void *ask)
{
	uint64_t (*add)(struct observer) =
		(uint64_t(*)(struct observer))mr_symbol_find_beside(ask, ADD_OBSERVER);
	mr_torch_name_function *name =
		(mr_torch_name_function *)mr_symbol_find_beside(ask, NAME_OF);
	if (!add || !name || !mr_symbol_find_beside(ask, REMOVE_OBSERVER)) {
		atomic_store(&observers.is_settled, true);
		return;
	}
	mr_torch_set_name_function(name);
	add_all(add);
	if (!atomic_load(&observers.was_on) && !are_in_answer(ask)) {
		remove_observers(ask);
		atomic_store(&observers.is_refused, true);
		atomic_store(&observers.is_settled, true);
		return;
	}
	atomic_store(&observers.was_on, true);
}

static void switch_tensors(const void *ask, bool is_wanted)
{
	struct observer observer = {.begin = begin_nothing,
				    .end = end_nothing,
				    .probability = 1.0,
				    .needs_inputs = true,
				    .needs_outputs = true};
	if (is_wanted == atomic_load(&observers.has_tensors) || atomic_load(&observers.is_settled))
		return;
	observer.is_of_scope[MR_torch_scope_function] = true;
	observer.is_of_scope[MR_torch_scope_backward_function] = true;
	if (is_wanted)
		observers.tensors_handle = ((uint64_t(*)(struct observer))mr_symbol_find_beside(
			ask, ADD_OBSERVER))(observer);
	else
		((void (*)(uint64_t))mr_symbol_find_beside(ask, REMOVE_OBSERVER))(
			observers.tensors_handle);
	atomic_store(&observers.has_tensors, is_wanted);
}

static bool are_wanted(void)
{
	return mr_level_is_on(MR_LEVEL_dataflow) || mr_steps_matter();
}

static bool are_tensors_wanted(void)
{
	return mr_level_is_on(MR_LEVEL_dataflow) && mr_torch_tensors_are_due();
}

/* Is what is wanted not what there is? */
static bool is_to_switch(void)
{
	return are_wanted() != atomic_load_explicit(&observers.is_on, memory_order_relaxed) ||
	       are_tensors_wanted() !=
		       atomic_load_explicit(&observers.has_tensors, memory_order_relaxed);
}

/* A thread can have observers disabled for a while. Then the answer is empty, and proves nothing. */
static bool can_prove(const void *ask)
{
	bool (*is_enabled)(void) = (bool (*)(void))mr_symbol_find_beside(ask, IS_ENABLED);
	return atomic_load(&observers.was_on) || !is_enabled || is_enabled();
}

__attribute__((noinline, cold)) static void switch_observers(void *ask)
{
	if (atomic_load(&observers.is_settled) || atomic_exchange(&observers.is_busy, true))
		return;
	bool is_wanted = are_wanted();
	if (is_wanted != atomic_load(&observers.is_on) && (!is_wanted || can_prove(ask))) {
		if (is_wanted)
			add_observers(ask);
		else
			remove_observers(ask);
		atomic_store(&observers.is_on, is_wanted);
	}
	switch_tensors(ask, atomic_load(&observers.is_on) && are_tensors_wanted());
	atomic_store(&observers.is_busy, false);
}

/* ---- who asks -------------------------------------------------------------------------------------- */

/* A library that asks, and whom it would have reached without us. Complete before `count` says so. */
static struct {
	atomic_bool is_busy; /* some thread adds one */
	_Atomic uint32_t count;
	struct caller {
		uintptr_t first;
		uintptr_t bytes;
		void *original;
	} items[CALLERS];
} callers;

static _Atomic(void *) traced; /* the original of the PyTorch that is traced */
static atomic_bool is_twice;

__attribute__((noinline, cold)) static void *find_original(uintptr_t address)
{
	struct caller caller = {0};
	caller.original =
		mr_symbol_find_in((const void *)address, ASK, &caller.first, &caller.bytes);
	if (!caller.original)
		caller.original = mr_symbol_find(ASK);
	void *none = NULL;
	if (!atomic_compare_exchange_strong(&traced, &none, caller.original) &&
	    none != caller.original)
		atomic_store(&is_twice, true);
	if (atomic_exchange_explicit(&callers.is_busy, true, memory_order_acquire))
		return caller.original;
	uint32_t count = atomic_load_explicit(&callers.count, memory_order_relaxed);
	if (count < CALLERS && caller.bytes) {
		callers.items[count] = caller;
		atomic_store_explicit(&callers.count, count + 1, memory_order_release);
	}
	atomic_store_explicit(&callers.is_busy, false, memory_order_release);
	return caller.original;
}

/* Where the question of a caller goes on. */
void *mr_torch_before_ask(uintptr_t address) __attribute__((visibility("hidden")));

void *mr_torch_before_ask(uintptr_t address)
{
	uint32_t count = atomic_load_explicit(&callers.count, memory_order_acquire), i = 0;
	while (i < count && address - callers.items[i].first >= callers.items[i].bytes)
		i++;
	void *original = mr_likely(i < count) ? callers.items[i].original : find_original(address);
	if (mr_unlikely(is_to_switch()) &&
	    original == atomic_load_explicit(&traced, memory_order_relaxed))
		switch_observers(original);
	return original;
}

#if defined(__x86_64__)
void *mr_torch_ask(void *ret_answer, uint8_t scope) MR_STAND_IN(ASK);

void *mr_torch_ask(void *ret_answer, uint8_t scope)
{
	void *original = mr_torch_before_ask((uintptr_t)__builtin_return_address(0));
	return ((void *(*)(void *, uint8_t))original)(ret_answer, scope);
}
#elif defined(__aarch64__)
/* x8 says where the answer goes. */
__asm__(".text\n.p2align 2\n.globl " ASK "\n.type " ASK ", %function\n" ASK ":\n"
	"\tstp x29, x30, [sp, #-32]!\n\tmov x29, sp\n\tstp x0, x8, [sp, #16]\n"
	"\tmov x0, x30\n\tbl mr_torch_before_ask\n\tmov x16, x0\n"
	"\tldp x0, x8, [sp, #16]\n\tldp x29, x30, [sp], #32\n\tbr x16\n");
#endif

/* ---- what is missing ------------------------------------------------------------------------------- */

static void say_missing(const char *what)
{
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, what);
}

static void note_missing(void)
{
	static atomic_bool noted;
	if (!mr_symbol_find(NAME_OF) || atomic_exchange(&noted, true))
		return;
	if (atomic_load(&observers.is_refused))
		say_missing("at::RecordFunctionCallback, which is not as expected in this version: "
			    "nothing of PyTorch is traced");
	else if (!mr_symbol_find(ASK) || !mr_symbol_find(ADD_OBSERVER))
		say_missing("addGlobalCallback, or what belongs to it: nothing of PyTorch is "
			    "traced");
	if (atomic_load(&is_twice))
		say_missing("a second PyTorch in the same process: only the first is traced");
	if (atomic_load(&observers.was_on) && !mr_torch_knows_sequence())
		say_missing("autograd's sequence numbers: which forward operator a backward "
			    "function belongs to is not known");
}

/* PyTorch's own list of observers may be gone from now on. */
static void end(void)
{
	atomic_store(&observers.is_settled, true);
}

const struct mr_hook_functions mr_torch_functions = {
	.start = mr_torch_watch_modules, .end = end, .note_missing = note_missing};
