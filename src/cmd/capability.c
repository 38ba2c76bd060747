/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/capability.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "cmd/hook_probe.h"
#include "cmd/probe.h"
#include "kernel/collector.h"
#include "launch/arena_file.h"
#include "launch/clock_samples.h"
#include "launch/library.h"

#define MIB (UINT64_C(1) << 20)

/* ---- small facts about the machine ---------------------------------------------------------- */

static bool file_first_line(const char *path, char *line, size_t capacity)
{
	mr_auto(close_file) FILE *file = fopen(path, "re");
	return file && mr_read_line(file, line, capacity);
}

static bool has_capability(unsigned number)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	return data[number / 32].effective >> number % 32 & 1;
}

static uint64_t free_bytes(const char *folder)
{
	struct statvfs space;
	return statvfs(folder, &space) == 0 ? (uint64_t)space.f_bavail * space.f_frsize : 0;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* If the dynamic linker cannot preload the library, it says so on stderr and continues. */
static void probe_library(struct mr_capability *capability)
{
	char complaint[256];
	mr_auto(free) char *path = NULL;
	if (mr_library_find(&path) < 0) {
		mr_found(capability, MR_CAPABILITY_MISSING, "%s", mr_error_text());
		mr_remedy(capability, "make install");
		return;
	}
	setenv("MILLRACE_LIBRARY", path, true);
	mr_auto(close_pipe) FILE *output =
		popen("LD_PRELOAD=\"$MILLRACE_LIBRARY\" /bin/true 2>&1", "re");
	unsetenv("MILLRACE_LIBRARY");
	if (output && mr_read_line(output, complaint, sizeof complaint)) {
		mr_found(capability, MR_CAPABILITY_MISSING, "cannot be preloaded: %s", complaint);
		mr_remedy(capability, "make install");
		return;
	}
	mr_found(capability, MR_CAPABILITY_OK, "%s", path);
}

static void probe_arena(struct mr_capability *capability)
{
	uint64_t mib = free_bytes("/dev/shm") / MIB, wanted_mib = mr_arena_default_bytes() / MIB;
	if (access("/dev/shm", W_OK) == 0 && mib >= wanted_mib) {
		mr_found(capability, MR_CAPABILITY_OK, "%" PRIu64 " MiB free in /dev/shm", mib);
		return;
	}
	mr_found(capability, MR_CAPABILITY_DEGRADED,
		 "/dev/shm does not have the %" PRIu64 " MiB that the arena needs (free: %" PRIu64
		 "); the arena goes to the trace folder, where recording an event costs more",
		 wanted_mib, mib);
	mr_remedy(capability,
		  "mount -o remount,size=%" PRIu64
		  "M /dev/shm  # in Docker: docker run --shm-size=%" PRIu64 "m",
		  2 * wanted_mib, 2 * wanted_mib);
}

static void probe_clock(struct mr_capability *capability)
{
	char source[64] = "unknown";
	file_first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
			sizeof source);
	if (mr_clock_choose() == MR_trace_clock_tsc)
		mr_found(capability, MR_CAPABILITY_OK,
			 "the processor's counter; the kernel uses %s", source);
	else
		mr_found(capability, MR_CAPABILITY_DEGRADED,
			 "CLOCK_MONOTONIC, because the processor's counter is not reliable: "
			 "recording an "
			 "event costs more; the kernel uses %s",
			 source);
}

/* Tries what `record` does first. access() is not enough: for root it permits writing where a write then fails. */
static void probe_output(struct mr_capability *capability)
{
	char folder[PATH_MAX] = ".", trial[] = ".millrace-doctor-XXXXXX";
	uint64_t mib = free_bytes(".") / MIB;
	bool writable = getcwd(folder, sizeof folder) && mkdtemp(trial) && rmdir(trial) == 0;
	if (!writable) {
		mr_found(capability, MR_CAPABILITY_MISSING, "%.200s: %s", folder, strerror(errno));
		mr_remedy(capability, "millrace record -o /tmp/NAME.mill -- PROGRAM");
	} else if (mib < 1024) {
		mr_found(capability, MR_CAPABILITY_DEGRADED,
			 "only %" PRIu64 " MiB are free in %.200s", mib, folder);
		mr_remedy(capability, "millrace record --max-size=%" PRIu64 "M -- PROGRAM",
			  mr_max(mib / 2, UINT64_C(1)));
	} else {
		mr_found(capability, MR_CAPABILITY_OK, "%" PRIu64 " MiB free in %.200s", mib,
			 folder);
	}
}

/* ---- kernel level ---------------------------------------------------------------------------- */

static bool has_kernel_privileges(void)
{
	/* CAP_SYS_ADMIN includes both. */
	return has_capability(CAP_SYS_ADMIN) ||
	       (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));
}

/* The capabilities belong to this program file: whoever may execute it has them. */
static void remedy_privileges(struct mr_capability *capability)
{
	char program[192] = "";
	bool is_known = readlink("/proc/self/exe", program, sizeof program - 1) > 0;
	mr_remedy(capability,
		  "sudo setcap cap_bpf,cap_perfmon+ep %s  # or: sudo millrace record ...",
		  is_known ? program : "millrace");
}

static void tell_programs_off(struct mr_capability *capability,
			      const struct mr_kernel_status *status)
{
	if (status->off_count == 0)
		mr_found(capability, MR_CAPABILITY_OK,
			 "scheduling, system calls, files, disks, faults, interrupts, network, "
			 "signals");
	else
		mr_found(capability, MR_CAPABILITY_DEGRADED, "cannot record %zu part%s: %s: %.150s",
			 status->off_count, status->off_count == 1 ? "" : "s", status->off[0].what,
			 status->off[0].why);
}

/* Tries what `record` does. */
static void probe_kernel(struct mr_capability *capability)
{
	struct mr_kernel *kernel;
	struct mr_kernel_status status;
	if (mr_kernel_open(&(struct mr_kernel_options){0}, &kernel) < 0) {
		mr_found(capability, MR_CAPABILITY_MISSING, "%s", mr_error_text());
	} else {
		mr_kernel_describe(kernel, &status);
		if (status.mode == MR_KERNEL_BPF)
			tell_programs_off(capability, &status);
		else
			mr_found(capability, MR_CAPABILITY_DEGRADED,
				 "records only when threads run, not why they wait: %s",
				 status.why_not_bpf);
		mr_kernel_close(kernel);
	}
	if (!has_kernel_privileges())
		remedy_privileges(capability);
}

static void probe_btf(struct mr_capability *capability)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		mr_found(capability, MR_CAPABILITY_OK, "/sys/kernel/btf/vmlinux");
	else
		mr_found(capability, MR_CAPABILITY_MISSING,
			 "/sys/kernel/btf/vmlinux: %s; needs a kernel built with "
			 "CONFIG_DEBUG_INFO_BTF",
			 strerror(errno));
}

static void probe_privileges(struct mr_capability *capability)
{
	bool bpf = has_capability(CAP_BPF), perfmon = has_capability(CAP_PERFMON);
	if (has_kernel_privileges()) {
		mr_found(capability, MR_CAPABILITY_OK, "%s",
			 bpf && perfmon ? "CAP_BPF and CAP_PERFMON" : "CAP_SYS_ADMIN");
		return;
	}
	mr_found(capability, MR_CAPABILITY_MISSING, "lacks %s%s%s", bpf ? "" : "CAP_BPF",
		 bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
	remedy_privileges(capability);
}

static void probe_perf_events(struct mr_capability *capability)
{
	char value[32];
	if (!file_first_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof value)) {
		mr_found(capability, MR_CAPABILITY_MISSING, "the kernel has no perf events");
		return;
	}
	bool allowed =
		atoi(value) <= 2 || has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
	mr_found(capability, allowed ? MR_CAPABILITY_OK : MR_CAPABILITY_MISSING,
		 "kernel.perf_event_paranoid is %s%s", value,
		 allowed ? "" : "; recording without privileges needs 2 or less");
	if (!allowed)
		mr_remedy(capability, "sudo sysctl kernel.perf_event_paranoid=2");
}

static void probe_lockdown(struct mr_capability *capability)
{
	char modes[64];
	if (!file_first_line("/sys/kernel/security/lockdown", modes, sizeof modes))
		mr_found(capability, MR_CAPABILITY_OK, "the kernel reports no lockdown");
	else if (strstr(modes, "[confidentiality]"))
		mr_found(capability, MR_CAPABILITY_MISSING,
			 "lockdown is %s: no program may read kernel memory", modes);
	else
		mr_found(capability, MR_CAPABILITY_OK, "lockdown is %s", modes);
}

/* ---- annotations, tools ---------------------------------------------------------------------- */

static void probe_annotations(struct mr_capability *capability)
{
	mr_found(capability, MR_CAPABILITY_OK, "programs annotated with millrace.h");
}

static void probe_babeltrace(struct mr_capability *capability)
{
	if (mr_program_in_path("babeltrace2")) {
		mr_found(capability, MR_CAPABILITY_OK, "installed");
		return;
	}
	mr_found(capability, MR_CAPABILITY_MISSING,
		 "not installed; optional: another program that reads the traces");
	mr_remedy(capability, "sudo apt-get install babeltrace2");
}

/* ---- the list -------------------------------------------------------------------------------- */

/* One capability, or all frameworks or runtimes of a level. */
static const struct {
	enum mr_level hooks;
	const char *name;
	const char *level;
	void (*probe)(struct mr_capability *capability);
} probes[] = {
	{0, "library", "core", probe_library},
	{0, "arena", "core", probe_arena},
	{0, "clock", "core", probe_clock},
	{0, "output", "core", probe_output},
	{0, "annotations", "dataflow", probe_annotations},
	{.hooks = MR_LEVEL_dataflow},
	{.hooks = MR_LEVEL_runtime},
	{0, "kernel", "kernel", probe_kernel},
	{0, "btf", "kernel", probe_btf},
	{0, "privileges", "kernel", probe_privileges},
	{0, "perf-events", "kernel", probe_perf_events},
	{0, "lockdown", "kernel", probe_lockdown},
	{0, "babeltrace2", "tools", probe_babeltrace},
};

const char *mr_capability_state_name(enum mr_capability_state state)
{
	static const char *const names[] = {"ok", "degraded", "missing"};
	return names[state];
}

static void visit_hooks(enum mr_level level, mr_capability_visitor *visit, void *data)
{
	for (int i = 0; i < MR_HOOKS; i++) {
		struct mr_capability capability = {.level = mr_level_name(level)};
		if (mr_hooks[i].level != level || !mr_hook_is_probed(&mr_hooks[i]))
			continue;
		mr_hook_probe_for(&mr_hooks[i], &capability);
		visit(&capability, data);
	}
}

void mr_capability_visit(mr_capability_visitor *visit, void *data)
{
	for (size_t i = 0; i < mr_countof(probes); i++) {
		struct mr_capability capability = {.name = probes[i].name,
						   .level = probes[i].level};
		if (probes[i].hooks) {
			visit_hooks(probes[i].hooks, visit, data);
			continue;
		}
		probes[i].probe(&capability);
		visit(&capability, data);
	}
}
