/* SPDX-License-Identifier: Apache-2.0
 *
 * Names decide: kept is what has a name that occurs among the strings of the programs' own types, and a few names
 * besides. Some strangers are kept by chance, which does no harm.
 */
#include "kernel/types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "base/region.h"
#include "base/vector.h"
#include "kernel/raw_types.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define TRACEPOINT   "btf_trace_"

enum {
	SLOTS = 1 << 13, /* of the table of names: several times what is in it */
	NAMES_MAX = SLOTS / 2,
	MEMBERS_MAX = 512,
};

/* A name that is wanted, and the numbers of the first types that the kernel calls so; 0: none. */
struct name {
	const char *text;
	uint32_t structure;
	uint32_t typedefinition;
	uint32_t function;
};

struct mr_kernel_types {
	struct mr_raw_types raw;
	int fd; /* of the small file */
	char path[32];
	struct mr_region texts;
	uint32_t name_count;
	struct name names[SLOTS];
	mr_vec(uint32_t) structures; /* all that are wanted */
	/* While the small file is made: */
	struct btf *small;
	int *copies; /* by number in the kernel: number in the small file; 0: not copied */
};

/* ---- names -------------------------------------------------------------------------------------------- */

/* The slot of a name, or the free one where it belongs. */
static uint32_t slot_of(const struct mr_kernel_types *types, const char *text)
{
	uint32_t hash = 2166136261u;
	for (const char *at = text; *at; at++)
		hash = (hash ^ (uint8_t)*at) * 16777619u;
	hash ^= hash >> 15;
	for (;; hash++) {
		const char *there = types->names[hash % SLOTS].text;
		if (!there || strcmp(there, text) == 0)
			return hash % SLOTS;
	}
}

static int want(struct mr_kernel_types *types, const char *text)
{
	struct name *name = &types->names[slot_of(types, text)];
	if (name->text)
		return 0;
	if (types->name_count++ >= NAMES_MAX)
		return -E2BIG;
	name->text = mr_region_print(&types->texts, "%s", text);
	return name->text ? 0 : -ENOMEM;
}

static const struct name *find(const struct mr_kernel_types *types, const char *text)
{
	return &types->names[slot_of(types, text)];
}

static bool is_wanted(const struct mr_kernel_types *types, const char *text)
{
	return find(types, text)->text != NULL;
}

/* What the section of a program is attached to: "sched_switch" of "tp_btf/sched_switch". */
static int want_target(struct mr_kernel_types *types, const char *section)
{
	const char *target = strchr(section, '/');
	char name[128];
	if (!target)
		return 0;
	snprintf(name, sizeof name, TRACEPOINT "%s", target + 1);
	int result = want(types, name);
	snprintf(name, sizeof name, "bpf_iter_%s", target + 1);
	return result < 0 ? result : want(types, name);
}

static int want_all(struct mr_kernel_types *types, const struct bpf_object *object)
{
	const struct btf *own = bpf_object__btf(object);
	uint32_t bytes = 0;
	const void *raw = own ? btf__raw_data(own, &bytes) : NULL;
	if (!raw)
		return -ENOMEM;
	const struct btf_header *head = raw;
	const char *at = (const char *)raw + head->hdr_len + head->str_off;
	const char *end = at + head->str_len;
	int result = want(types, "bpf_rdonly_cast");
	for (at++; at < end && result == 0; at += strlen(at) + 1)
		if (!strpbrk(at, " \t;(")) /* lines of source text are there, too */
			result = want(types, at);
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		if (result == 0)
			result = want_target(types, bpf_program__section_name(program));
	}
	return result;
}

/* ---- the pass over the kernel's types ------------------------------------------------------------------ */

static void note(uint32_t *number, uint32_t found)
{
	if (*number == 0)
		*number = found;
}

static int look_at(struct mr_kernel_types *types, uint32_t number)
{
	const struct btf_type *type = types->raw.by_number[number];
	uint32_t kind = btf_kind(type);
	bool is_structure = kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
	if (!is_structure && kind != BTF_KIND_TYPEDEF && kind != BTF_KIND_FUNC)
		return 0;
	const char *text = mr_raw_type_name(&types->raw, type->name_off);
	if (kind == BTF_KIND_FUNC && strncmp(text, "bpf_", 4) != 0)
		return 0; /* half of all types are functions */
	struct name *name = *text ? &types->names[slot_of(types, text)] : NULL;
	if (!name || !name->text)
		return 0;
	if (kind == BTF_KIND_TYPEDEF)
		note(&name->typedefinition, number);
	if (kind == BTF_KIND_FUNC)
		note(&name->function, number);
	if (!is_structure)
		return 0;
	note(&name->structure, number);
	return mr_vec_push(&types->structures, number);
}

/* ---- the small file ------------------------------------------------------------------------------------ */

static int copy(struct mr_kernel_types *types, uint32_t number);

struct member {
	const char *name;
	int type;
	uint32_t bit_offset, bits;
};

/* Its members of whose names the programs speak, and those without a name, in which there may be some. */
static int copy_members(struct mr_kernel_types *types, const struct btf_type *type,
			struct member *ret)
{
	const struct btf_member *members = btf_members(type);
	int count = 0;
	for (uint32_t i = 0; i < btf_vlen(type) && count < MEMBERS_MAX; i++) {
		const char *name = mr_raw_type_name(&types->raw, members[i].name_off);
		if (*name && !is_wanted(types, name))
			continue;
		int copied = copy(types, members[i].type);
		if (copied < 0)
			return copied;
		ret[count++] = (struct member){.name = *name ? name : NULL,
					       .type = copied,
					       .bit_offset = btf_member_bit_offset(type, i),
					       .bits = btf_member_bitfield_size(type, i)};
	}
	return count;
}

static int copy_structure(struct mr_kernel_types *types, const struct btf_type *type)
{
	mr_auto(free) struct member *members = calloc(MEMBERS_MAX, sizeof *members);
	int count = members ? copy_members(types, type, members) : -ENOMEM;
	if (count < 0)
		return count;
	const char *name = mr_raw_type_name(&types->raw, type->name_off);
	int number = btf_is_struct(type) ? btf__add_struct(types->small, name, type->size)
					 : btf__add_union(types->small, name, type->size);
	int result = mr_min(number, 0);
	for (int i = 0; i < count && result == 0; i++)
		result = btf__add_field(types->small, members[i].name, members[i].type,
					members[i].bit_offset, members[i].bits);
	return result < 0 ? result : number;
}

static int copy_array(struct mr_kernel_types *types, const struct btf_type *type)
{
	const struct btf_array *array = btf_array(type);
	int index = copy(types, array->index_type);
	int element = index < 0 ? index : copy(types, array->type);
	return element < 0 ? element
			   : btf__add_array(types->small, index, element, (int)array->nelems);
}

/* Pointers are not followed: the programs say at each step what they expect. */
static int copy_anew(struct mr_kernel_types *types, const struct btf_type *type)
{
	const char *name = mr_raw_type_name(&types->raw, type->name_off);
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return btf__add_int(types->small, name, type->size, btf_int_encoding(type));
	case BTF_KIND_FLOAT:
		return btf__add_float(types->small, name, type->size);
	case BTF_KIND_ENUM:
		return btf__add_enum(types->small, name, type->size);
	case BTF_KIND_ENUM64:
		return btf__add_enum64(types->small, name, type->size, btf_kflag(type));
	case BTF_KIND_ARRAY:
		return copy_array(types, type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_structure(types, type);
	case BTF_KIND_PTR:
		return btf__add_ptr(types->small, 0);
	default: /* a typedef, or a qualifier */
		return copy(types, type->type);
	}
}

/* Returns its number in the small file. */
static int copy(struct mr_kernel_types *types, uint32_t number)
{
	const struct btf_type *type = number ? mr_raw_type(&types->raw, number) : NULL;
	if (!type)
		return -EINVAL;
	if (types->copies[number] == 0) {
		int copied = copy_anew(types, type);
		if (copied < 0)
			return copied;
		types->copies[number] = copied;
	}
	return types->copies[number];
}

static int copy_all(struct mr_kernel_types *types)
{
	types->small = btf__new_empty();
	types->copies = calloc(types->raw.count, sizeof *types->copies);
	if (!types->small || !types->copies)
		return -ENOMEM;
	for (size_t i = 0; i < types->structures.count; i++) {
		int result = copy(types, types->structures.items[i]);
		if (result < 0)
			return result;
	}
	return 0;
}

static int write_small(const struct mr_kernel_types *types)
{
	uint32_t bytes = 0;
	const void *raw = btf__raw_data(types->small, &bytes);
	if (!raw)
		return -ENOMEM;
	ssize_t written = pwrite(types->fd, raw, bytes, 0);
	return written == (ssize_t)bytes ? 0 : -EIO;
}

/* ---- for the caller ----------------------------------------------------------------------------------- */

int mr_kernel_types_new(struct mr_kernel_types **ret_types)
{
	struct mr_kernel_types *types = calloc(1, sizeof *types);
	if (!types)
		return mr_fail(ENOMEM, "no memory for the kernel's types");
	types->fd = memfd_create("millrace-types", MFD_CLOEXEC);
	if (types->fd < 0) {
		free(types);
		return mr_fail_errno(errno, "cannot make a file in memory");
	}
	snprintf(types->path, sizeof types->path, "/proc/self/fd/%d", types->fd);
	*ret_types = types;
	return 0;
}

const char *mr_kernel_types_path(const struct mr_kernel_types *types)
{
	return types->path;
}

int mr_kernel_types_read(struct mr_kernel_types *types, const struct bpf_object *object)
{
	if (mr_raw_types_open(KERNEL_TYPES, &types->raw) < 0)
		return mr_fail(ENOTSUP, "the kernel does not describe its types: there is no "
					"usable " KERNEL_TYPES " (CONFIG_DEBUG_INFO_BTF)");
	int result = want_all(types, object);
	for (uint32_t i = 1; i < types->raw.count && result == 0; i++)
		result = look_at(types, i);
	if (result == 0)
		result = copy_all(types);
	if (result == 0)
		result = write_small(types);
	btf__free(mr_take(types->small));
	free(mr_take(types->copies));
	return result < 0 ? mr_fail_errno(-result, "cannot read the kernel's types") : 0;
}

uint32_t mr_kernel_types_struct(const struct mr_kernel_types *types, const char *name)
{
	return find(types, name)->structure;
}

uint32_t mr_kernel_types_function(const struct mr_kernel_types *types, const char *name)
{
	return find(types, name)->function;
}

uint32_t mr_kernel_types_tracepoint(const struct mr_kernel_types *types, const char *tracepoint)
{
	char name[128];
	snprintf(name, sizeof name, TRACEPOINT "%s", tracepoint);
	return find(types, name)->typedefinition;
}

/* A pointer to a function whose first argument is the probe's own. */
int mr_kernel_types_tracepoint_arguments(const struct mr_kernel_types *types,
					 const char *tracepoint)
{
	uint32_t number = mr_kernel_types_tracepoint(types, tracepoint);
	const struct btf_type *type = number ? mr_raw_type(&types->raw, number) : NULL;
	for (int i = 0; i < 2 && type; i++)
		type = mr_raw_type(&types->raw, type->type);
	return type && btf_kind(type) == BTF_KIND_FUNC_PROTO ? btf_vlen(type) - 1 : -1;
}

void mr_kernel_types_free(struct mr_kernel_types *types)
{
	if (!types)
		return;
	mr_raw_types_close(&types->raw);
	mr_vec_free(&types->structures);
	mr_region_free(&types->texts);
	close(types->fd);
	free(types);
}
