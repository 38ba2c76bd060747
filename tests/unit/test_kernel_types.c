/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's types as record reads them, against what libbpf reads from the same file; and damaged files.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kernel/raw_types.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

static void test_all_types_of_the_kernel(void **state)
{
	(void)state;
	struct btf *expected = btf__parse(KERNEL_TYPES, NULL);
	struct mr_raw_types types;
	if (!expected)
		skip(); /* this kernel does not describe its types */
	assert_int_equal(mr_raw_types_open(KERNEL_TYPES, &types), 0);
	assert_int_equal(types.count, btf__type_cnt(expected));
	for (uint32_t i = 1; i < types.count; i++) {
		const struct btf_type *type = mr_raw_type(&types, i);
		const struct btf_type *same = btf__type_by_id(expected, i);
		if (memcmp(type, same, sizeof *type) != 0 ||
		    strcmp(mr_raw_type_name(&types, type->name_off),
			   btf__name_by_offset(expected, same->name_off)) != 0)
			fail_msg("type %u differs", i);
	}
	assert_null(mr_raw_type(&types, types.count));
	mr_raw_types_close(&types);
	btf__free(expected);
}

/* One type of each kind, and one more after them all. */
static struct btf *one_of_each(void)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, 0);
	btf__add_float(btf, "float", 4);
	btf__add_ptr(btf, number);
	btf__add_array(btf, number, number, 7);
	btf__add_struct(btf, "pair", 8);
	btf__add_field(btf, "first", number, 0, 0);
	btf__add_field(btf, "second", number, 32, 0);
	btf__add_union(btf, "either", 4);
	btf__add_field(btf, "only", number, 0, 0);
	btf__add_enum(btf, "colour", 4);
	btf__add_enum_value(btf, "red", 1);
	btf__add_enum_value(btf, "green", 2);
	btf__add_enum64(btf, "wide", 8, false);
	btf__add_enum64_value(btf, "far", UINT64_C(1) << 40);
	btf__add_fwd(btf, "later", BTF_FWD_STRUCT);
	btf__add_typedef(btf, "number", number);
	btf__add_volatile(btf, number);
	btf__add_const(btf, number);
	btf__add_restrict(btf, number);
	btf__add_type_tag(btf, "user", number);
	int prototype = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "argument", number);
	btf__add_func(btf, "function", BTF_FUNC_GLOBAL, prototype);
	btf__add_var(btf, "variable", BTF_VAR_STATIC, number);
	btf__add_datasec(btf, ".data", 4);
	btf__add_decl_tag(btf, "tag", number, -1);
	btf__add_int(btf, "last", 8, 0);
	return btf;
}

/* Returns what opening a file of these bytes gives. */
static int open_bytes(const void *bytes, size_t count, struct mr_raw_types *ret_types)
{
	char path[] = "/tmp/millrace-types-XXXXXX";
	int fd = mkstemp(path);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
	int result = mr_raw_types_open(path, ret_types);
	unlink(path);
	return result;
}

static void test_each_kind(void **state)
{
	(void)state;
	struct btf *btf = one_of_each();
	uint32_t bytes = 0;
	const void *raw = btf__raw_data(btf, &bytes);
	struct mr_raw_types types;
	assert_int_equal(open_bytes(raw, bytes, &types), 0);
	assert_int_equal(types.count, btf__type_cnt(btf));
	const struct btf_type *last = mr_raw_type(&types, types.count - 1);
	assert_string_equal(mr_raw_type_name(&types, last->name_off), "last");
	assert_string_equal(mr_raw_type_name(&types, UINT32_MAX), "");
	mr_raw_types_close(&types);
	btf__free(btf);
}

/* Cut anywhere, or with any byte changed, it is refused, or read within its bounds (which sanitizers watch). */
static void test_damage(void **state)
{
	(void)state;
	struct btf *btf = one_of_each();
	uint32_t bytes = 0;
	const void *raw = btf__raw_data(btf, &bytes);
	struct mr_raw_types types;
	uint8_t *copy = malloc(bytes);
	for (uint32_t i = 0; i < bytes; i++) {
		assert_true(open_bytes(raw, i, &types) < 0);
		memcpy(copy, raw, bytes);
		copy[i] ^= 0xff;
		if (open_bytes(copy, bytes, &types) < 0)
			continue;
		for (uint32_t k = 1; k < types.count; k++)
			assert_true(strlen(mr_raw_type_name(
					    &types, mr_raw_type(&types, k)->name_off)) < bytes);
		mr_raw_types_close(&types);
	}
	assert_int_equal(mr_raw_types_open("/nowhere/at/all", &types), -ENOENT);
	free(copy);
	btf__free(btf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_types_of_the_kernel),
		cmocka_unit_test(test_each_kind),
		cmocka_unit_test(test_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
