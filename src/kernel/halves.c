/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/halves.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/thread.h"

bool mr_halves_are_faster(void)
{
	cpu_set_t cpus;
	/* It fails where there are more CPUs than the set has room for. */
	return sched_getaffinity(0, sizeof cpus, &cpus) < 0 || CPU_COUNT(&cpus) > 1;
}

/* ---- programs ----------------------------------------------------------------------------------------- */

/* Both halves take about the same time: these are the programs that the verifier takes longest for. */
static const char *const of_second[] = {"on_switch",       "on_sys_enter",      "on_sys_exit",
					"on_uring_submit", "on_block_complete", "on_socket_send",
					"on_wakeup_new"};

static bool is_of_second(const struct bpf_program *program)
{
	for (size_t i = 0; i < mr_countof(of_second); i++)
		if (strcmp(of_second[i], bpf_program__name(program)) == 0)
			return true;
	return false;
}

static void split(struct bpf_object *object, bool is_second)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		if (is_of_second(program) != is_second)
			bpf_program__set_autoload(program, false);
	}
}

/* ---- common maps -------------------------------------------------------------------------------------- */

/* Returns the descriptor of the types that the object's maps refer to. The object itself loads them once more. */
static int load_types(const struct bpf_object *object, struct btf **ret_types)
{
	uint32_t bytes = 0;
	const void *raw = btf__raw_data(bpf_object__btf(object), &bytes);
	*ret_types = raw ? btf__new(raw, bytes) : NULL;
	if (!*ret_types)
		return -ENOMEM;
	int result = btf__load_into_kernel(*ret_types);
	return result < 0 ? result : btf__fd(*ret_types);
}

/* Returns its descriptor. */
static int make_map(const struct bpf_map *map, int types_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));
	if (bpf_map__btf_key_type_id(map)) {
		options.btf_fd = (uint32_t)types_fd;
		options.btf_key_type_id = bpf_map__btf_key_type_id(map);
		options.btf_value_type_id = bpf_map__btf_value_type_id(map);
	}
	int fd = bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
				bpf_map__value_size(map), bpf_map__max_entries(map), &options);
	return fd < 0 ? -errno : fd;
}

static int share_map(struct bpf_map *map, struct bpf_object *second, int types_fd)
{
	bool is_constant = bpf_map__map_flags(map) & BPF_F_RDONLY_PROG;
	if (is_constant || bpf_map__fd(map) >= 0)
		return 0;
	struct bpf_map *same = bpf_object__find_map_by_name(second, bpf_map__name(map));
	mr_auto(close_fd) int fd = make_map(map, types_fd);
	if (fd < 0)
		return fd;
	int result = same ? bpf_map__reuse_fd(map, fd) : -ENOENT;
	return result < 0 ? result : bpf_map__reuse_fd(same, fd);
}

static int share_maps(struct bpf_object *first, struct bpf_object *second)
{
	struct btf *types = NULL;
	int types_fd = load_types(first, &types);
	int result = mr_min(types_fd, 0);
	struct bpf_map *map;
	bpf_object__for_each_map(map, first)
	{
		if (result == 0)
			result = share_map(map, second, types_fd);
	}
	btf__free(types);
	return result;
}

/* ---- loading ------------------------------------------------------------------------------------------ */

struct half {
	struct bpf_object *object;
	int result;
};

static void *load(void *data)
{
	struct half *half = data;
	half->result = bpf_object__load(half->object);
	return NULL;
}

int mr_halves_load(struct bpf_object *first, struct bpf_object *second)
{
	int result = share_maps(first, second);
	if (result < 0)
		return result;
	split(first, false);
	split(second, true);
	struct half own = {.object = first}, other = {.object = second};
	pthread_t thread;
	bool is_running = mr_thread_start(load, &other, &thread);
	load(&own);
	if (is_running)
		pthread_join(thread, NULL);
	else
		load(&other);
	return own.result < 0 ? own.result : other.result;
}
