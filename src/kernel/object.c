/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/object.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/halves.h"
#include "kernel/permission.h"
#include "kernel/sections.h"
#include "kernel/syscalls.h"
#include "kernel/types.h"

static const unsigned char object_bytes[] __attribute__((aligned(8))) = {
#include <millrace_bpf.inc>
};

enum {
	LOG_BYTES = 16 << 10,
};

/* What is determined before loading. */
struct plan {
	const struct mr_kernel_options *options;
	const struct mr_rings *rings;
	uint32_t table_parts; /* kernel/sizes.h */
	struct mr_kernel_types *types;
	uint64_t address_mask;
};

/* "sched_switch" of a program in section "tp_btf/sched_switch"; NULL for other kinds. */
static const char *tracepoint_of(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	return strncmp(section, "tp_btf/", 7) == 0 ? section + 7 : NULL;
}

int mr_object_switch_off(struct mr_object *object, const struct mr_feature *feature,
			 const char *why)
{
	size_t index = (size_t)(feature - mr_features);
	if (feature->need == MR_FEATURE_INDISPENSABLE)
		return mr_fail(ENOTSUP, "the kernel cannot record %s: %s", feature->name, why);
	if (object->is_off[index])
		return 0;
	object->is_off[index] = true;
	struct mr_kernel_off off = {.what = feature->name,
				    .why = mr_region_print(&object->texts, "%s", why)};
	if (!off.why || mr_vec_push(&object->off, off) < 0)
		return mr_fail(ENOMEM, "no memory for a list");
	return 0;
}

static int check_tracepoint(struct mr_object *object, struct plan *plan,
			    const struct bpf_program *program)
{
	const char *tracepoint = tracepoint_of(program);
	int arguments =
		tracepoint ? mr_kernel_types_tracepoint_arguments(plan->types, tracepoint) : 0;
	char why[160];
	if (arguments < 0)
		snprintf(why, sizeof why, "the kernel has no tracepoint %s", tracepoint);
	else if (tracepoint && strcmp(tracepoint, "io_uring_complete") == 0 && arguments != 3)
		snprintf(why, sizeof why, "the kernel's tracepoint %s has other arguments",
			 tracepoint);
	else
		return 0;
	return mr_object_switch_off(object, mr_feature_of(program), why);
}

static int check_tracepoints(struct mr_object *object, struct plan *plan)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, object->object)
	{
		int result = check_tracepoint(object, plan, program);
		if (result < 0)
			return result;
	}
	return 0;
}

static bool is_wanted(const struct mr_object *object, const struct plan *plan,
		      const struct bpf_program *program)
{
	const struct mr_feature *feature = mr_feature_of(program);
	if (feature->need == MR_FEATURE_FOR_ALL_CALLS &&
	    plan->options->syscalls > MR_KERNEL_SYSCALLS_ALL)
		return false;
	return !object->is_off[feature - mr_features];
}

static void fill_settings(const struct plan *plan, struct mr_bpf_settings *settings)
{
	const struct mr_kernel_types *types = plan->types;
	const struct mr_kernel_options *options = plan->options;
	bool is_auto = options->syscalls == MR_KERNEL_SYSCALLS_AUTO;
	*settings = (struct mr_bpf_settings){
		.record_blocked_calls = options->syscalls == MR_KERNEL_SYSCALLS_BLOCKING,
		.calls_limit = is_auto ? MR_KERNEL_CALLS_MAX * MR_KERNEL_CALLS_WINDOW_MS / 1000 : 0,
		.calls_window_ns = MR_KERNEL_CALLS_WINDOW_MS * UINT64_C(1000000),
		.no_arguments = options->no_arguments,
		.guards = options->user != 0,
		.user = options->user,
		.group = options->group,
		.address_mask = plan->address_mask,
		.has_cast = mr_kernel_types_function(types, "bpf_rdonly_cast") != 0,
		.has_switch_state = mr_kernel_types_tracepoint_arguments(types, "sched_switch") > 3,
		.type_of_task_struct = mr_kernel_types_struct(types, "task_struct"),
		.type_of_file = mr_kernel_types_struct(types, "file"),
		.type_of_sock = mr_kernel_types_struct(types, "sock"),
		.type_of_socket = mr_kernel_types_struct(types, "socket"),
		.type_of_unix_sock = mr_kernel_types_struct(types, "unix_sock"),
		.yield_number = (uint32_t)mr_syscall_number("sched_yield"),
	};
	for (uint32_t i = 0; i < MR_BPF_SYSCALLS; i++)
		settings->syscall_kinds[i] = mr_syscall_kind(i);
}

/* Those that take most of the memory. */
static int size_tables(struct bpf_object *half, uint32_t parts)
{
	static const char *const tables[] = {"files", "requests", "names"};
	int result = 0;
	for (size_t i = 0; i < mr_countof(tables) && result == 0; i++) {
		struct bpf_map *table = bpf_object__find_map_by_name(half, tables[i]);
		result = bpf_map__set_max_entries(table, bpf_map__max_entries(table) / parts);
	}
	return result;
}

/* One of the object's halves, or the only one. */
static int prepare(const struct mr_object *object, struct bpf_object *half, const struct plan *plan)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, half)
		bpf_program__set_autoload(program, is_wanted(object, plan, program));
	struct bpf_map *events = bpf_object__find_map_by_name(half, "event_rings");
	struct bpf_map *definitions = bpf_object__find_map_by_name(half, "definition_rings");
	struct bpf_map *settings = bpf_object__find_map_by_name(half, ".rodata.settings");
	struct mr_bpf_settings values;
	fill_settings(plan, &values);
	int result = bpf_map__set_initial_value(settings, &values, sizeof values);
	if (result == 0)
		result = size_tables(half, plan->table_parts);
	if (result == 0)
		result = bpf_map__reuse_fd(events, plan->rings->events.fd);
	if (result == 0)
		result = bpf_map__reuse_fd(definitions, plan->rings->definitions.fd);
	return result < 0 ? mr_fail_errno(-result, "cannot prepare the BPF programs") : 0;
}

/* The last line of a verifier's log that gives a reason: the lines after it are statistics. */
static void reason_of(char *log, char *ret_why, size_t bytes)
{
	const char *found = "the verifier rejects it";
	char *rest = NULL;
	for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "processed ", 10) != 0 && line[0] != ';')
			found = line;
	snprintf(ret_why, bytes, "the kernel's verifier: %s", found);
}

struct log {
	struct bpf_program *program;
	char *text;
};

static void give_logs(struct bpf_object *object, struct log *logs, char *memory)
{
	struct bpf_program *program;
	size_t i = 0;
	bpf_object__for_each_program(program, object)
	{
		logs[i] = (struct log){.program = program, .text = memory + i * LOG_BYTES};
		bpf_program__set_log_buf(program, logs[i].text, LOG_BYTES);
		i++;
	}
}

/* Tries to load the features that are not off. 1: a feature had to be switched off, try again. */
static int try_load(struct mr_object *object, struct plan *plan)
{
	struct bpf_program *program;
	size_t count = 0;
	bpf_object__for_each_program(program, object->object) count++;
	mr_auto(free) char *memory = calloc(count, LOG_BYTES);
	mr_auto(free) struct log *logs = calloc(count, sizeof *logs);
	if (!memory || !logs)
		return mr_fail(ENOMEM, "no memory for the verifier's log");
	give_logs(object->object, logs, memory);
	int result = prepare(object, object->object, plan);
	if (result < 0)
		return result;
	int loaded = bpf_object__load(object->object);
	if (loaded == 0)
		return 0;
	/* Only a rejected program has a log. */
	for (size_t i = 0; i < count; i++) {
		char why[256];
		if (logs[i].text[0] == 0)
			continue;
		reason_of(logs[i].text, why, sizeof why);
		result = mr_object_switch_off(object, mr_feature_of(logs[i].program), why);
		return result < 0 ? result : 1;
	}
	return mr_permission_explain(-loaded, "load the BPF programs");
}

/* In place of the one that is open, if any. */
static int open_again(const struct plan *plan, struct bpf_object **object)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "millrace",
		    .btf_custom_path = mr_kernel_types_path(plan->types));
	bpf_object__close(mr_take(*object));
	*object = bpf_object__open_mem(object_bytes, sizeof object_bytes, &options);
	return *object ? 0 : mr_fail_errno(errno, "cannot open the BPF programs");
}

/* Loads all features. If that fails, only the first half is open. */
static int try_halves(struct mr_object *object, const struct plan *plan)
{
	int result = open_again(plan, &object->second_half);
	if (result == 0)
		result = prepare(object, object->object, plan);
	if (result == 0)
		result = prepare(object, object->second_half, plan);
	if (result == 0)
		result = mr_halves_load(object->object, object->second_half);
	if (result < 0)
		bpf_object__close(mr_take(object->second_half));
	return result;
}

static int map_shared(struct mr_object *object)
{
	int fd = bpf_object__find_map_fd_by_name(object->object, ".bss");
	void *shared =
		mmap(NULL, sizeof *object->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return mr_fail_errno(errno, "cannot map the memory of the BPF programs");
	object->shared = shared;
	return 0;
}

/* As two halves; where these fail, as one, without what the verifier refuses. */
static int load_programs(struct mr_object *object, struct plan *plan)
{
	int loaded = 1, result = 0;
	if (mr_halves_are_faster()) {
		loaded = try_halves(object, plan);
		if (loaded != 0) /* one that failed cannot be loaded again */
			result = open_again(plan, &object->object);
	}
	while (result == 0 && loaded != 0) {
		loaded = try_load(object, plan);
		if (loaded < 0)
			result = loaded;
		else if (loaded == 1)
			result = open_again(plan, &object->object);
	}
	return result;
}

static int load(struct mr_object *object, struct plan *plan)
{
	int result = open_again(plan, &object->object);
	if (result == 0)
		result = mr_kernel_types_read(plan->types, object->object);
	if (result == 0)
		result = check_tracepoints(object, plan);
	if (result == 0)
		result = load_programs(object, plan);
	if (result == 0)
		result = map_shared(object);
	return result;
}

static int be_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

int mr_object_load(const struct mr_kernel_options *options, const struct mr_rings *rings,
		   uint32_t table_parts, struct mr_object *ret_object)
{
	struct mr_object object = {.cpu_count = rings->events.cpu_count};
	libbpf_set_print(be_silent);
	struct plan plan = {.options = options, .rings = rings, .table_parts = table_parts};
	struct mr_sections sections = {{0}};
	(void)!getrandom(&plan.address_mask, sizeof plan.address_mask, 0);
	int result = mr_kernel_types_new(&plan.types);
	if (result == 0)
		result = mr_sections_begin(plan.types, &sections);
	if (result == 0)
		result = load(&object, &plan);
	mr_sections_end(&sections);
	mr_kernel_types_free(plan.types);
	if (result < 0)
		mr_object_close(&object);
	else
		*ret_object = object;
	return result;
}

void mr_object_close(struct mr_object *object)
{
	mr_object_detach(object);
	while (object->visit_count > 0)
		close(object->visits[--object->visit_count]);
	bpf_link__destroy(object->visitor);
	if (object->shared)
		munmap(object->shared, sizeof *object->shared);
	bpf_object__close(object->object);
	bpf_object__close(object->second_half);
	mr_vec_free(&object->off);
	mr_region_free(&object->texts);
	*object = (struct mr_object){0};
}
