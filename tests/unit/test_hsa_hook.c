/* SPDX-License-Identifier: Apache-2.0
 *
 * The hook of HSA behind a runtime made for the purpose: its tables in all layouts, names of device kernels from frozen
 * executables, and the limited numbers of signals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hook/hsa/hsa.h"
#include "memory_arena.h"

enum {
	VERSION_WORDS = 2,
	CORE = 125,
	OLD_EXTENSIONS = 48,
	NEW_EXTENSIONS = 75,
	MOST = 256,
	KERNELS = 3,
};

bool OnLoad(void *root, uint64_t version, uint64_t failed_count, const char *const *failed_names);
void OnUnload(void);

/* ---- the runtime ---------------------------------------------------------------------------------------- */

/* Where ROCr's headers have functions in its tables. */
enum {
	ITERATE_AGENTS = 5,
	EXECUTABLE_FREEZE = 86,
	SYMBOL_GET_INFO = 93,
	ITERATE_AGENT_SYMBOLS = 123,
	SIGNAL_CREATE = 31, /* of the extensions, of version 1 */
};

static uint64_t core[VERSION_WORDS + MOST], extensions[VERSION_WORDS + MOST];
static uint64_t *root[4] = {0, 0, core, extensions};
static uint64_t
	last_called; /* place of the function that was called last, those of the extensions from MOST */
static uint64_t made_signals;
static struct mr_hsa_signal_memory signals[20000];

/* A function for each place: they are told apart by an argument that the test gives. */
static uint64_t note_place(MR_HSA_PARAMETERS)
{
	(void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	last_called = a0;
	return a9;
}

static uint64_t create_signal(MR_HSA_PARAMETERS)
{
	(void)a1, (void)a2, (void)a3, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9;
	signals[made_signals].value = (int64_t)a0;
	*(uint64_t *)a4 = (uintptr_t)&signals[made_signals++];
	return 0;
}

static const struct {
	const char *name;
	uint64_t object;
	uint32_t argument_bytes;
} kernels[KERNELS] = {{"_Z3addPf.kd", 0x1000, 24},
		      {"__amd_rocclr_fillBufferAligned.kd", 0x2000, 56},
		      {"__amd_rocclr_copyBuffer.kd", 0x3000, 40}};
static const char *renamed; /* what is now at the address of the first */

static uint64_t iterate_agents(MR_HSA_PARAMETERS)
{
	(void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9;
	return ((uint64_t(*)(uint64_t, uint64_t))a0)(7, a1);
}

static uint64_t iterate_symbols(MR_HSA_PARAMETERS)
{
	(void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9;
	for (uint64_t i = 0; i < KERNELS; i++)
		((uint64_t(*)(uint64_t, uint64_t, uint64_t, uint64_t))a2)(a0, a1, i, a3);
	return 0;
}

static uint64_t symbol_info(MR_HSA_PARAMETERS)
{
	(void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8, (void)a9;
	const char *name = a0 == 0 && renamed ? renamed : kernels[a0].name;
	switch (a1) {
	case 0: /* kind */
		*(uint32_t *)a2 = 1;
		return 0;
	case 1: /* length of the name */
		*(uint32_t *)a2 = (uint32_t)strlen(name);
		return 0;
	case 2:
		memcpy((char *)a2, name, strlen(name)); /* without a NUL, as HSA does */
		return 0;
	case 11:
		*(uint32_t *)a2 = kernels[a0].argument_bytes;
		return 0;
	case 22:
		*(uint64_t *)a2 = kernels[a0].object;
		return 0;
	default:
		return 0x1001;
	}
}

static void make_tables(uint32_t major, uint32_t core_count, uint32_t extension_count)
{
	for (uint32_t i = 0; i < MOST; i++) {
		core[VERSION_WORDS + i] = (uintptr_t)note_place;
		extensions[VERSION_WORDS + i] = (uintptr_t)note_place;
	}
	core[0] = (uint64_t)(16 + 8 * core_count) << 32 | 2;
	extensions[0] = (uint64_t)(16 + 8 * extension_count) << 32 | major;
}

static void put(uint64_t *table, uint32_t place, mr_hsa_function *function)
{
	table[VERSION_WORDS + place] = (uintptr_t)function;
}

static int set_up(void **state)
{
	(void)state;
	test_arena_attach(64);
	test_arena->control->wanted_levels = MR_LEVEL_runtime;
	mr_hsa = NULL; /* names are defined anew */
	make_tables(1, CORE, OLD_EXTENSIONS);
	put(core, ITERATE_AGENTS, iterate_agents);
	put(core, ITERATE_AGENT_SYMBOLS, iterate_symbols);
	put(core, SYMBOL_GET_INFO, symbol_info);
	put(extensions, SIGNAL_CREATE, create_signal);
	made_signals = 0;
	renamed = NULL;
	return 0;
}

static uint64_t call(uint64_t *table, uint32_t place, uint64_t a0)
{
	return ((mr_hsa_function *)table[VERSION_WORDS + place])(a0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

/* ---- tables --------------------------------------------------------------------------------------------- */

/* All functions in order: those with bodies of their own look at their arguments. */
static const struct {
	bool has_body;
	bool is_new;
} functions[] = {
#define CALL(name)                     {false, false},
#define ABOUT(name, object)            {false, false},
#define BYTES(name, object, bytes)     {false, false},
#define OWN(name)                      {true, false},
#define HOT(name)                      {false, false},
#define CALL_NEW(name)                 {false, true},
#define ABOUT_NEW(name, object)        {false, true},
#define BYTES_NEW(name, object, bytes) {false, true},
#define OWN_NEW(name)                  {true, true},
#define EXTENSIONS
#include "hook/hsa/functions.def"
};

/* Each stub leads to what was in its place. How many there are. */
static uint32_t check_places(uint64_t *table, uint32_t count, uint32_t number, bool has_new)
{
	uint32_t replaced = 0;
	for (uint32_t place = 0; place < count; number++) {
		if (functions[number].is_new && !has_new)
			continue;
		bool is_ours = table[VERSION_WORDS + place] != (uintptr_t)note_place;
		replaced += is_ours;
		if (is_ours && !functions[number].has_body) {
			last_called = 0;
			assert_int_equal(call(table, place, 1000 + place), 0);
			assert_int_equal(last_called, 1000 + place);
		}
		place++;
	}
	return replaced;
}

static void test_old_tables(void **state)
{
	(void)state;
	make_tables(1, CORE, OLD_EXTENSIONS);
	assert_true(OnLoad(root, 1, 0, NULL));
	assert_in_range(check_places(core, CORE, 0, false), 70, 90);
	assert_int_equal(check_places(extensions, OLD_EXTENSIONS, MR_HSA_CORE_FUNCTIONS, false),
			 OLD_EXTENSIONS);
	assert_ptr_equal(extensions[VERSION_WORDS + OLD_EXTENSIONS], note_place);
	OnUnload();
}

static void test_new_tables(void **state)
{
	(void)state;
	make_tables(2, CORE, NEW_EXTENSIONS);
	assert_true(OnLoad(root, 1, 0, NULL));
	assert_true(check_places(extensions, NEW_EXTENSIONS - 5, MR_HSA_CORE_FUNCTIONS, true) > 60);
	OnUnload();
}

/* One that nobody knows stays as it is. */
static void test_unknown_tables(void **state)
{
	(void)state;
	make_tables(3, CORE, NEW_EXTENSIONS);
	assert_true(OnLoad(root, 1, 0, NULL));
	for (uint32_t i = 0; i < MOST; i++)
		assert_ptr_equal(extensions[VERSION_WORDS + i], note_place);
	make_tables(2, CORE - 1, NEW_EXTENSIONS);
	assert_true(OnLoad(root, 1, 0, NULL));
	for (uint32_t i = 0; i < MOST; i++)
		assert_ptr_equal(core[VERSION_WORDS + i], note_place);
}

/* ---- device kernels ------------------------------------------------------------------------------------- */

static const char *seen_name;

static void see_name(const struct test_event *event, void *data)
{
	const struct mr_event_def_string *string = event->payload;
	if (event->id == MR_EVENT_def_string && string->id == *(const uint32_t *)data)
		seen_name = event->text;
}

static const char *text_of(uint32_t id)
{
	seen_name = NULL;
	test_arena_visit(test_arena, see_name, &id);
	return seen_name ? seen_name : "";
}

static void check_kernel(uint64_t object, const char *name, uint8_t kind, uint32_t argument_bytes)
{
	const struct mr_hsa_kernel kernel = mr_hsa_kernel_find(object);
	assert_string_equal(text_of(kernel.name), name);
	assert_int_equal(kernel.kind, kind);
	assert_int_equal(kernel.argument_bytes, argument_bytes);
}

static void test_kernels(void **state)
{
	(void)state;
	assert_true(OnLoad(root, 1, 0, NULL));
	check_kernel(0x1000, "(device kernel)", MR_operation_kind_kernel, 0);
	call(core, EXECUTABLE_FREEZE, 5);
	check_kernel(0x1000, "_Z3addPf", MR_operation_kind_kernel, 24);
	check_kernel(0x2000, "__amd_rocclr_fillBufferAligned", MR_operation_kind_fill, 56);
	check_kernel(0x3000, "__amd_rocclr_copyBuffer", MR_operation_kind_copy_on_device, 40);
	renamed = "_Z8multiplyPf.kd";
	call(core, EXECUTABLE_FREEZE, 6);
	check_kernel(0x1000, "_Z8multiplyPf", MR_operation_kind_kernel, 24);
	OnUnload();
}

/* ---- signals -------------------------------------------------------------------------------------------- */

static void test_plain_signals(void **state)
{
	static uint64_t taken[MR_HSA_PLAIN_SIGNALS];
	(void)state;
	assert_true(OnLoad(root, 1, 0, NULL));
	for (int i = 0; i < MR_HSA_PLAIN_SIGNALS; i++) {
		assert_true(taken[i] = mr_hsa_plain_take());
		((struct mr_hsa_signal_memory *)taken[i])->end_ticks = 5;
	}
	assert_int_equal(mr_hsa_plain_take(), 0);
	mr_hsa_plain_give_back(taken, 100);
	for (int i = 0; i < 100; i++) {
		const struct mr_hsa_signal_memory *memory = (const void *)mr_hsa_plain_take();
		assert_non_null(memory);
		assert_int_equal(memory->value, 1);
		assert_int_equal(memory->end_ticks, 0);
	}
	assert_int_equal(mr_hsa_plain_take(), 0);
	assert_int_equal(made_signals, MR_HSA_PLAIN_SIGNALS);
	OnUnload();
}

static void test_watched_signals(void **state)
{
	static struct mr_hsa_signal *taken[MR_HSA_WATCHED_SIGNALS];
	(void)state;
	assert_true(OnLoad(root, 1, 0, NULL));
	for (int i = 0; i < MR_HSA_WATCHED_SIGNALS; i++)
		assert_non_null(taken[i] = mr_hsa_watched_take());
	assert_null(mr_hsa_watched_take());
	mr_hsa_watched_give_back(taken[9]);
	assert_ptr_equal(mr_hsa_watched_take(), taken[9]);
	assert_null(mr_hsa_watched_take());
	assert_int_equal(made_signals, MR_HSA_WATCHED_SIGNALS);
	OnUnload();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, test_arena_detach)
	const struct CMUnitTest tests[] = {
		TEST(test_old_tables), TEST(test_new_tables),    TEST(test_unknown_tables),
		TEST(test_kernels),    TEST(test_plain_signals), TEST(test_watched_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
