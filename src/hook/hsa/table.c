/* SPDX-License-Identifier: Apache-2.0
 *
 * HSA's tables: ROCr calls OnLoad() of each library in HSA_TOOLS_LIB when it starts, and OnUnload() when it is shut down.
 *
 *     root ─► core        { version, functions ... }
 *          └► extensions  { version, functions ... }
 *
 * A version's second number is the table's size. Of the extensions there are two layouts: that of ROCm 5.2, and that of
 * ROCm 6 and later. With any other the hook stays out, and the trace says so.
 */
#include "hook/hook.h"
#include "hook/hsa/hsa.h"
#include "record/own_call.h"

enum {
	OLD_EXTENSIONS_MAJOR = 1,
	OLD_EXTENSIONS_BYTES = 400,
	NEW_EXTENSIONS_MAJOR = 2,
};

struct version {
	uint32_t major;
	uint32_t bytes;
	uint32_t step;
	uint32_t reserved;
};

struct table {
	struct version version;
	mr_hsa_function *functions[];
};

struct root {
	struct version version;
	struct table *core;
	struct table *extensions;
};

mr_hsa_function *mr_hsa_next[MR_HSA_FUNCTIONS];
uint32_t mr_hsa_names[MR_HSA_FUNCTIONS];
struct mr_hsa_state *mr_hsa;
_Thread_local struct mr_hsa_caller *mr_hsa_caller __attribute__((tls_model("initial-exec")));
_Thread_local uint32_t mr_hsa_depth __attribute__((tls_model("initial-exec")));

static atomic_bool is_loaded;         /* OnLoad() was called */
static atomic_bool is_layout_unknown; /* it found a table that we do not know */

/* ---- what stands in front of most functions -------------------------------------------------------- */

/* They keep nothing but the interval, in which the function's name stands; one function ends all, lest each be long. */
static __attribute__((noinline)) void end_call(const struct mr_interval *interval, int64_t result)
{
	mr_hsa_leave(
		mr_call_end(interval, runtime_call, .function = interval->what, .result = result));
}

static __attribute__((noinline)) void
end_call_about(const struct mr_interval *interval, int64_t result, uint64_t object, uint64_t bytes)
{
	mr_hsa_leave(mr_call_end(interval, runtime_call_on, .function = interval->what,
				 .result = result, .object = object, .bytes = bytes));
}

#define STUB(name, end, ...)                                                    \
	static uint64_t stub_##name(MR_HSA_PARAMETERS)                          \
	{                                                                       \
		struct mr_interval interval;                                    \
		if (!mr_level_is_on(MR_LEVEL_runtime))                          \
			return mr_hsa_next[MR_HSA_##name](MR_HSA_ARGUMENTS);    \
		mr_hsa_enter(&interval, MR_HSA_##name, 0);                      \
		uint64_t result = mr_hsa_next[MR_HSA_##name](MR_HSA_ARGUMENTS); \
		end(&interval, (int32_t)result __VA_OPT__(, ) __VA_ARGS__);     \
		return result;                                                  \
	}

#define CALL(name)                   STUB(name, end_call)
#define ABOUT(name, object_)         STUB(name, end_call_about, a##object_, 0)
#define BYTES(name, object_, bytes_) STUB(name, end_call_about, a##object_, a##bytes_)
#define OWN(name)
#define HOT(name)
#define CALL_NEW(name)                 CALL(name)
#define ABOUT_NEW(name, object)        ABOUT(name, object)
#define BYTES_NEW(name, object, bytes) BYTES(name, object, bytes)
#define OWN_NEW(name)
#define EXTENSIONS
#include "hook/hsa/functions.def"
#undef CALL
#undef ABOUT
#undef BYTES
#undef OWN

/* ---- the tables -------------------------------------------------------------------------------------- */

/* A function, and what stands in front of it: NULL if nothing. */
struct entry {
	const char *name;
	mr_hsa_function *stub;
	bool is_new;
};

#undef CALL_NEW
#undef ABOUT_NEW
#undef BYTES_NEW
#undef OWN_NEW
#undef HOT
static const struct entry entries[MR_HSA_FUNCTIONS] = {
#define CALL(name)                     {#name, stub_##name, false},
#define ABOUT(name, object)            {#name, stub_##name, false},
#define BYTES(name, object, bytes)     {#name, stub_##name, false},
#define OWN(name)                      {#name, mr_hsa_own_##name, false},
#define HOT(name)                      {#name, NULL, false},
#define CALL_NEW(name)                 {#name, stub_##name, true},
#define ABOUT_NEW(name, object)        {#name, stub_##name, true},
#define BYTES_NEW(name, object, bytes) {#name, stub_##name, true},
#define OWN_NEW(name)                  {#name, mr_hsa_own_##name, true},
#include "hook/hsa/functions.def"
};

/* Notes what a table holds from `number` on, and puts our own in front, if `is_replaced`. An entry that is ours already,
 * after a second start, stays. */
static void take_table(struct table *table, uint32_t number, uint32_t end, bool has_new,
		       bool is_replaced)
{
	uint32_t count =
		(uint32_t)((table->version.bytes - sizeof table->version) / sizeof(void *));
	for (uint32_t place = 0; number < end && place < count; number++) {
		if (entries[number].is_new && !has_new)
			continue;
		mr_hsa_function **function = &table->functions[place++];
		if (!is_replaced && *function != entries[number].stub)
			mr_hsa_next[number] = *function;
		else if (is_replaced && *function && entries[number].stub)
			*function = entries[number].stub;
	}
}

/* False if the tables are not as we know them. */
static bool is_known(const struct root *root)
{
	const struct version *core = &root->core->version;
	const struct version *extensions = &root->extensions->version;
	size_t core_bytes = sizeof *core + MR_HSA_CORE_FUNCTIONS * sizeof(void *);
	return core->bytes >= core_bytes && (extensions->major == NEW_EXTENSIONS_MAJOR ||
					     (extensions->major == OLD_EXTENSIONS_MAJOR &&
					      extensions->bytes == OLD_EXTENSIONS_BYTES));
}

static bool prepare(void)
{
	if (mr_hsa)
		return true;
	struct mr_hsa_state *state = mr_own_map(sizeof *state);
	if (!state || mr_own_call(SYS_madvise, state, sizeof *state, MADV_WIPEONFORK) != 0)
		return false;
	for (int i = 0; i < MR_HSA_FUNCTIONS; i++)
		mr_hsa_names[i] = mr_define_string(entries[i].name);
	mr_hsa = state;
	return true;
}

/* ---- as ROCr knows them -------------------------------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(struct root *root, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

static bool is_wanted(void)
{
	return mr_arena && mr_arena->control->wanted_levels & MR_LEVEL_runtime;
}

/* In a process that is not traced, or not at this level, the tables stay as they are. */
bool OnLoad(struct root *root, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	(void)runtime_version;
	(void)failed_count;
	(void)failed_names;
	atomic_store(&is_loaded, true);
	mr_hook_start();
	if (!is_wanted() || !root || !root->core || !root->extensions)
		return true;
	if (!is_known(root)) {
		atomic_store(&is_layout_unknown, true);
		return true;
	}
	if (!prepare())
		return true;
	bool has_new = root->extensions->version.major == NEW_EXTENSIONS_MAJOR;
	for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
		take_table(root->core, 0, MR_HSA_CORE_FUNCTIONS, has_new, is_replaced);
		take_table(root->extensions, MR_HSA_CORE_FUNCTIONS, MR_HSA_FUNCTIONS, has_new,
			   is_replaced);
	}
	mr_hsa_call_next(hsa_amd_profiling_async_copy_enable, true);
	return true;
}

/* HSA is shut down: its objects are no more, and may be made anew at the same addresses. */
void OnUnload(void)
{
	if (!mr_hsa)
		return;
	mr_hsa_harvest_all();
	mr_hsa_clocks_close();
	mr_hsa_write_unfinished();
	mr_hsa_signals_destroy();
	mr_hsa_forget_all();
}

static void note_missing(const char *what)
{
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, what);
}

void mr_hsa_note_missing(void)
{
	static atomic_bool is_absence_noted;
	if (atomic_exchange(&is_layout_unknown, false))
		note_missing("HSA's table of functions, which has an unknown version: HSA and "
			     "what HIP gives to devices are not traced");
	if (mr_hsa_lacks_gpu() && !atomic_exchange(&is_absence_noted, true))
		note_missing("a GPU: HSA has found none");
}

bool mr_hsa_is_loaded(void)
{
	return atomic_load(&is_loaded);
}
