/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/halves.h"
#include "kernel/permission.h"
#include "kernel/syscalls.h"

static const unsigned char object_bytes[] __attribute__((aligned(8))) = {
#include <millrace_bpf.inc>
};

enum {
	FEATURE_PROGRAMS = 6,
	LOG_BYTES = 16 << 10,
};

#define VISITOR "on_each_task"

enum need {
	INDISPENSABLE,
	OPTIONAL,
	FOR_ALL_CALLS, /* only if the user wants all system calls */
};

/* Programs that are useful only together. */
static const struct feature {
	const char *name;
	enum need need;
	const char *programs[FEATURE_PROGRAMS];
} features[] = {
	{"scheduling", INDISPENSABLE, {"on_switch", "on_waking", "on_wakeup", "on_migrate"}},
	{"life of tasks",
	 INDISPENSABLE,
	 {"on_fork", "on_wakeup_new", "on_exec", "on_exit", "on_free", VISITOR}},
	{"names of threads", OPTIONAL, {"on_rename"}},
	{"system calls", FOR_ALL_CALLS, {"on_sys_enter", "on_sys_exit"}},
	{"irqs", OPTIONAL, {"on_irq_entry", "on_irq_exit"}},
	{"softirqs", OPTIONAL, {"on_softirq_entry", "on_softirq_exit"}},
	{"hrtimers", OPTIONAL, {"on_hrtimer_entry", "on_hrtimer_exit"}},
	{"timers", OPTIONAL, {"on_timer_entry", "on_timer_exit"}},
	{"local timer interrupts", OPTIONAL, {"on_local_timer_entry", "on_local_timer_exit"}},
	{"reschedule interrupts", OPTIONAL, {"on_reschedule_entry", "on_reschedule_exit"}},
	{"function call interrupts", OPTIONAL, {"on_call_function_entry", "on_call_function_exit"}},
	{"single function call interrupts",
	 OPTIONAL,
	 {"on_call_function_single_entry", "on_call_function_single_exit"}},
	{"irq work interrupts", OPTIONAL, {"on_irq_work_entry", "on_irq_work_exit"}},
	{"disk requests", OPTIONAL, {"on_block_start", "on_block_issue", "on_block_complete"}},
	{"major faults", OPTIONAL, {"on_major_fault"}},
	{"durations of major faults", OPTIONAL, {"on_user_fault", "on_kernel_fault"}},
	{"bytes of sockets", OPTIONAL, {"on_socket_send", "on_socket_receive"}},
	{"signals", OPTIONAL, {"on_signal_sent", "on_signal_delivered"}},
	{"io_uring submissions", OPTIONAL, {"on_uring_submit"}},
	{"io_uring completions", OPTIONAL, {"on_uring_complete"}},
};

/* What is determined before loading. */
struct plan {
	const struct mr_kernel_options *options;
	const struct mr_rings *rings;
	struct btf *kernel_types; /* NULL: not looked at, as reading them takes a while */
	bool is_off[mr_countof(features)];
};

static const struct feature *feature_of(const struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	for (size_t i = 0; i < mr_countof(features); i++)
		for (size_t k = 0; k < FEATURE_PROGRAMS && features[i].programs[k]; k++)
			if (strcmp(features[i].programs[k], name) == 0)
				return &features[i];
	return NULL;
}

/* "sched_switch" of a program in section "tp_btf/sched_switch"; NULL for other kinds. */
static const char *tracepoint_of(const struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	return strncmp(section, "tp_btf/", 7) == 0 ? section + 7 : NULL;
}

/* How many arguments a tracepoint has; -1: the kernel has no such tracepoint. */
static int tracepoint_arguments(const struct btf *types, const char *tracepoint)
{
	char name[128];
	snprintf(name, sizeof name, "btf_trace_%s", tracepoint);
	int id = btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	const struct btf_type *pointer = btf__type_by_id(types, btf__type_by_id(types, id)->type);
	const struct btf_type *prototype = btf__type_by_id(types, pointer->type);
	return btf_vlen(prototype) - 1; /* without the probe's own argument */
}

/* Switches a feature off; fails if it is indispensable. */
static int switch_off(struct mr_object *object, struct plan *plan, const struct feature *feature,
		      const char *why)
{
	size_t index = (size_t)(feature - features);
	if (feature->need == INDISPENSABLE)
		return mr_fail(ENOTSUP, "the kernel cannot record %s: %s", feature->name, why);
	if (plan->is_off[index])
		return 0;
	plan->is_off[index] = true;
	struct mr_kernel_off off = {.what = feature->name,
				    .why = mr_region_print(&object->texts, "%s", why)};
	if (!off.why || mr_vec_push(&object->off, off) < 0)
		return mr_fail(ENOMEM, "no memory for a list");
	return 0;
}

/* ---- loading -------------------------------------------------------------------------------------- */

/* Forgets what was switched off. */
static void reset_off(struct mr_object *object, struct plan *plan)
{
	memset(plan->is_off, 0, sizeof plan->is_off);
	object->off.count = 0;
}

static int check_tracepoint(struct mr_object *object, struct plan *plan,
			    const struct bpf_program *program)
{
	const char *tracepoint = tracepoint_of(program);
	int arguments = tracepoint ? tracepoint_arguments(plan->kernel_types, tracepoint) : 0;
	char why[160];
	if (arguments < 0)
		snprintf(why, sizeof why, "the kernel has no tracepoint %s", tracepoint);
	else if (tracepoint && strcmp(tracepoint, "io_uring_complete") == 0 && arguments != 3)
		snprintf(why, sizeof why, "the kernel's tracepoint %s has other arguments",
			 tracepoint);
	else
		return 0;
	return switch_off(object, plan, feature_of(program), why);
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

static bool is_wanted(const struct plan *plan, const struct bpf_program *program)
{
	const struct feature *feature = feature_of(program);
	if (feature->need == FOR_ALL_CALLS && plan->options->syscalls > MR_KERNEL_SYSCALLS_ALL)
		return false;
	return !plan->is_off[feature - features];
}

static void fill_settings(const struct plan *plan, struct mr_bpf_settings *settings)
{
	const struct btf *types = plan->kernel_types;
	bool is_auto = plan->options->syscalls == MR_KERNEL_SYSCALLS_AUTO;
	*settings = (struct mr_bpf_settings){
		.record_blocked_calls = plan->options->syscalls == MR_KERNEL_SYSCALLS_BLOCKING,
		.calls_limit = is_auto ? MR_KERNEL_CALLS_MAX * MR_KERNEL_CALLS_WINDOW_MS / 1000 : 0,
		.calls_window_ns = MR_KERNEL_CALLS_WINDOW_MS * UINT64_C(1000000),
		.no_arguments = plan->options->no_arguments,
		.has_cast = !types ||
			    btf__find_by_name_kind(types, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0,
		.has_switch_state = !types || tracepoint_arguments(types, "sched_switch") > 3,
		.yield_number = (uint32_t)mr_syscall_number("sched_yield"),
	};
	for (uint32_t i = 0; i < MR_BPF_SYSCALLS; i++)
		settings->syscall_kinds[i] = mr_syscall_kind(i);
}

static int prepare(struct bpf_object *object, const struct plan *plan)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, is_wanted(plan, program));
	struct bpf_map *events = bpf_object__find_map_by_name(object, "event_rings");
	struct bpf_map *definitions = bpf_object__find_map_by_name(object, "definition_rings");
	struct bpf_map *settings = bpf_object__find_map_by_name(object, ".rodata.settings");
	struct mr_bpf_settings values;
	fill_settings(plan, &values);
	int result = bpf_map__set_initial_value(settings, &values, sizeof values);
	if (result == 0)
		result = bpf_map__reuse_fd(events, plan->rings->events_fd);
	if (result == 0)
		result = bpf_map__reuse_fd(definitions, plan->rings->definitions_fd);
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
	int result = prepare(object->object, plan);
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
		result = switch_off(object, plan, feature_of(logs[i].program), why);
		return result < 0 ? result : 1;
	}
	return mr_permission_explain(-loaded, "load the BPF programs");
}

/* In place of the one that is open, if any. */
static int open_again(struct bpf_object **object)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "millrace");
	bpf_object__close(mr_take(*object));
	*object = bpf_object__open_mem(object_bytes, sizeof object_bytes, &options);
	return *object ? 0 : mr_fail_errno(errno, "cannot open the BPF programs");
}

/* Loads all features. If that fails, only the first half is open. */
static int try_halves(struct mr_object *object, const struct plan *plan)
{
	int result = open_again(&object->second_half);
	if (result == 0)
		result = prepare(object->object, plan);
	if (result == 0)
		result = prepare(object->second_half, plan);
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

/* Finds out what the kernel lacks. */
static int look_at_kernel(struct mr_object *object, struct plan *plan)
{
	plan->kernel_types = btf__load_vmlinux_btf();
	if (!plan->kernel_types)
		return mr_fail(ENOTSUP, "the kernel does not describe its types: there is no "
					"/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)");
	return check_tracepoints(object, plan);
}

/* At first as if the kernel had everything, which today's have: what it lacks makes the verifier refuse. */
static int load(struct mr_object *object, struct plan *plan)
{
	int result = open_again(&object->object);
	int loaded = 1;
	if (result == 0)
		loaded = mr_halves_are_faster() ? try_halves(object, plan) : try_load(object, plan);
	if (result == 0 && loaded != 0) {
		reset_off(object, plan);
		result = open_again(&object->object); /* one that failed cannot be loaded again */
		if (result == 0)
			result = look_at_kernel(object, plan);
	}
	while (result == 0 && loaded != 0) {
		loaded = try_load(object, plan);
		if (loaded < 0)
			result = loaded;
		else if (loaded == 1)
			result = open_again(&object->object);
	}
	if (result == 0)
		result = map_shared(object);
	if (result == 0)
		object->tasks_fd = bpf_object__find_map_fd_by_name(object->object, "tasks");
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
		   struct mr_object *ret_object)
{
	struct mr_object object = {.cpu_count = rings->cpu_count};
	libbpf_set_print(be_silent);
	struct plan plan = {.options = options, .rings = rings};
	int result = load(&object, &plan);
	btf__free(plan.kernel_types);
	if (result < 0)
		mr_object_close(&object);
	else
		*ret_object = object;
	return result;
}

/* ---- attaching ------------------------------------------------------------------------------------ */

static int keep(struct mr_object *object, struct bpf_link *link)
{
	if (!link)
		return -errno;
	int result = mr_vec_push(&object->links, link);
	if (result < 0)
		bpf_link__destroy(link);
	return result;
}

/* On each CPU, an event for every major fault. */
static int attach_to_faults(struct mr_object *object, const struct bpf_program *program)
{
	struct perf_event_attr faults = {.type = PERF_TYPE_SOFTWARE,
					 .size = sizeof faults,
					 .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					 .sample_period = 1,
					 .sample_type = PERF_SAMPLE_ADDR};
	int attached = 0;
	for (uint32_t cpu = 0; cpu < object->cpu_count; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &faults, -1, (int)cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue; /* offline */
		int result =
			fd < 0 ? -errno : keep(object, bpf_program__attach_perf_event(program, fd));
		if (result < 0) {
			if (fd >= 0)
				close(fd);
			return result;
		}
		attached++;
	}
	return attached > 0 ? 0 : -ENODEV;
}

static int attach(struct mr_object *object, struct bpf_program *program)
{
	if (strcmp(bpf_program__section_name(program), "perf_event") == 0)
		return attach_to_faults(object, program);
	return keep(object, bpf_program__attach(program));
}

static int attach_half(struct mr_object *object, struct plan *plan, const struct bpf_object *half)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, half)
	{
		if (!bpf_program__autoload(program) ||
		    strcmp(bpf_program__name(program), VISITOR) == 0)
			continue;
		int result = attach(object, program);
		if (result == 0)
			continue;
		char why[160];
		snprintf(why, sizeof why, "cannot attach %s: %s", bpf_program__name(program),
			 strerror(-result));
		result = switch_off(object, plan, feature_of(program), why);
		if (result < 0)
			return result;
	}
	return 0;
}

int mr_object_attach(struct mr_object *object)
{
	struct plan plan = {0};
	int result = attach_half(object, &plan, object->object);
	if (result == 0 && object->second_half)
		result = attach_half(object, &plan, object->second_half);
	return result;
}

int mr_object_visit_tasks(struct mr_object *object)
{
	const struct bpf_program *visitor =
		bpf_object__find_program_by_name(object->object, VISITOR);
	struct bpf_link *link = bpf_program__attach_iter(visitor, NULL);
	mr_auto(close_fd) int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	int result = 0;
	char unused[64];
	ssize_t got = -1;
	while (fd >= 0 && (got = read(fd, unused, sizeof unused)) > 0)
		;
	if (fd < 0 || got < 0)
		result = mr_fail_errno(errno, "cannot list the tasks of the machine");
	bpf_link__destroy(link);
	return result;
}

void mr_object_detach(struct mr_object *object)
{
	for (size_t i = 0; i < object->links.count; i++)
		bpf_link__destroy(object->links.items[i]);
	mr_vec_free(&object->links);
}

static uint64_t count_nested(const struct bpf_object *half)
{
	uint64_t nested = 0;
	struct bpf_program *program;
	bpf_object__for_each_program(program, half)
	{
		struct bpf_prog_info info = {0};
		uint32_t bytes = sizeof info;
		int fd = bpf_program__fd(program);
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0)
			nested += info.recursion_misses;
	}
	return nested;
}

uint64_t mr_object_nested(const struct mr_object *object)
{
	return count_nested(object->object) +
	       (object->second_half ? count_nested(object->second_half) : 0);
}

void mr_object_close(struct mr_object *object)
{
	mr_object_detach(object);
	if (object->shared)
		munmap(object->shared, sizeof *object->shared);
	bpf_object__close(object->object);
	bpf_object__close(object->second_half);
	mr_vec_free(&object->off);
	mr_region_free(&object->texts);
	*object = (struct mr_object){0};
}
