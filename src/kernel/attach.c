/* SPDX-License-Identifier: Apache-2.0
 *
 * Attaching the programs of a loaded object, and what is done with them from then on. Only attaching needs privileges.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/object.h"

/* ---- attaching ---------------------------------------------------------------------------------------- */

static int keep(struct mr_object *object, const struct bpf_program *program, struct bpf_link *link)
{
	if (!link)
		return -errno;
	struct mr_object_link kept = {.link = link,
				      .is_of_calls = mr_feature_of(program)->need ==
						     MR_FEATURE_FOR_ALL_CALLS};
	int result = mr_vec_push(&object->links, kept);
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
			fd < 0 ? -errno
			       : keep(object, program, bpf_program__attach_perf_event(program, fd));
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
	return keep(object, program, bpf_program__attach_trace(program));
}

static int attach_half(struct mr_object *object, const struct bpf_object *half)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, half)
	{
		if (!bpf_program__autoload(program) ||
		    strcmp(bpf_program__name(program), MR_VISITOR) == 0)
			continue;
		int result = attach(object, program);
		if (result == 0)
			continue;
		char why[160];
		snprintf(why, sizeof why, "cannot attach %s: %s", bpf_program__name(program),
			 strerror(-result));
		result = mr_object_switch_off(object, mr_feature_of(program), why);
		if (result < 0)
			return result;
	}
	return 0;
}

static int prepare_visits(struct mr_object *object)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(object->object, MR_VISITOR);
	object->visitor = bpf_program__attach_iter(program, NULL);
	while (object->visitor && object->visit_count < MR_OBJECT_VISITS) {
		int fd = bpf_iter_create(bpf_link__fd(object->visitor));
		if (fd < 0)
			break;
		object->visits[object->visit_count++] = fd;
	}
	return object->visit_count == MR_OBJECT_VISITS
		       ? 0
		       : mr_fail_errno(errno, "cannot list the tasks of the machine");
}

int mr_object_attach(struct mr_object *object)
{
	int result = attach_half(object, object->object);
	if (result == 0 && object->second_half)
		result = attach_half(object, object->second_half);
	return result < 0 ? result : prepare_visits(object);
}

/* ---- once it is attached ------------------------------------------------------------------------------ */

int mr_object_visit_tasks(struct mr_object *object)
{
	if (object->visit_count == 0)
		return mr_fail(ENOENT, "cannot list the tasks of the machine again");
	mr_auto(close_fd) int fd = object->visits[--object->visit_count];
	char unused[64];
	ssize_t got;
	while ((got = read(fd, unused, sizeof unused)) > 0)
		;
	return got < 0 ? mr_fail_errno(errno, "cannot list the tasks of the machine") : 0;
}

void mr_object_end_calls(struct mr_object *object)
{
	__atomic_store_n(&object->shared->are_calls_ending, 1, __ATOMIC_SEQ_CST);
	mr_object_visit_tasks(object);
	for (size_t i = 0; i < object->links.count; i++)
		if (object->links.items[i].is_of_calls)
			bpf_link__destroy(mr_take(object->links.items[i].link));
}

void mr_object_detach(struct mr_object *object)
{
	for (size_t i = 0; i < object->links.count; i++)
		bpf_link__destroy(object->links.items[i].link);
	mr_vec_free(&object->links);
}

/* Read from where it needs no privilege. */
static uint64_t misses_of(const struct bpf_program *program)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", bpf_program__fd(program));
	mr_auto(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	text[mr_max(bytes, (ssize_t)0)] = 0;
	const char *at = strstr(text, "recursion_misses:");
	return at ? strtoull(at + strlen("recursion_misses:"), NULL, 10) : 0;
}

static uint64_t count_nested(const struct bpf_object *half)
{
	uint64_t nested = 0;
	struct bpf_program *program;
	bpf_object__for_each_program(program, half)
	{
		if (bpf_program__fd(program) >= 0)
			nested += misses_of(program);
	}
	return nested;
}

uint64_t mr_object_nested(const struct mr_object *object)
{
	return count_nested(object->object) +
	       (object->second_half ? count_nested(object->second_half) : 0);
}
