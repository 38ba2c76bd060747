/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/capability.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "base/mapping.h"
#include "kernel/collector.h"
#include "launch/arena_file.h"
#include "launch/clock_samples.h"
#include "launch/library.h"

#define MIB (UINT64_C(1) << 20)

static void found(struct mr_capability *capability, enum mr_capability_state state,
		  const char *format, ...) mr_printf_format(3, 4);
static void remedy(struct mr_capability *capability, const char *format, ...)
	mr_printf_format(2, 3);
static void probe_framework(struct mr_capability *capability);
static void list_names(void probe(struct mr_capability *), char *names, size_t capacity);

static void found(struct mr_capability *capability, enum mr_capability_state state,
		  const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(capability->reason, sizeof capability->reason, format, arguments);
	va_end(arguments);
	capability->state = state;
}

static void remedy(struct mr_capability *capability, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(capability->remedy, sizeof capability->remedy, format, arguments);
	va_end(arguments);
}

/* ---- small questions about the machine ------------------------------------------------------- */

/* First line of a file or of a command's output, without its end; false when there is none. */
static bool read_line(FILE *file, char *line, size_t capacity)
{
	if (!fgets(line, (int)capacity, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static bool file_first_line(const char *path, char *line, size_t capacity)
{
	mr_auto(close_file) FILE *file = fopen(path, "re");
	return file && read_line(file, line, capacity);
}

static bool program_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];
	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
		if (access(candidate, X_OK) == 0)
			return true;
	}
	return false;
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

/* The dynamic linker complains on stderr when it cannot preload, and goes on. */
static void probe_library(struct mr_capability *capability)
{
	char complaint[256];
	mr_auto(free) char *path = NULL;
	if (mr_library_find(&path) < 0) {
		found(capability, MR_CAPABILITY_MISSING, "%s", mr_error_text());
		remedy(capability, "make install");
		return;
	}
	setenv("MILLRACE_LIBRARY", path, true);
	mr_auto(close_pipe) FILE *output =
		popen("LD_PRELOAD=\"$MILLRACE_LIBRARY\" /bin/true 2>&1", "re");
	unsetenv("MILLRACE_LIBRARY");
	if (output && read_line(output, complaint, sizeof complaint)) {
		found(capability, MR_CAPABILITY_MISSING, "cannot be preloaded: %s", complaint);
		remedy(capability, "make install");
		return;
	}
	found(capability, MR_CAPABILITY_OK, "%s", path);
}

static void probe_arena(struct mr_capability *capability)
{
	uint64_t mib = free_bytes("/dev/shm") / MIB, wanted_mib = mr_arena_default_bytes() / MIB;
	if (access("/dev/shm", W_OK) == 0 && mib >= wanted_mib) {
		found(capability, MR_CAPABILITY_OK, "%" PRIu64 " MiB free in /dev/shm", mib);
		return;
	}
	found(capability, MR_CAPABILITY_DEGRADED,
	      "/dev/shm has not the %" PRIu64 " MiB to hold the arena (free: %" PRIu64
	      "); it goes to the trace folder, where events cost more",
	      wanted_mib, mib);
	remedy(capability,
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
		found(capability, MR_CAPABILITY_OK, "processor's counter; kernel uses %s", source);
	else
		found(capability, MR_CAPABILITY_DEGRADED,
		      "CLOCK_MONOTONIC, as the processor's counter cannot be trusted: events cost "
		      "more; kernel uses %s",
		      source);
}

/* Tries what `record` does first. Asking access() is not enough: root may write to what cannot be.
 */
static void probe_output(struct mr_capability *capability)
{
	char folder[PATH_MAX] = ".", trial[] = ".millrace-doctor-XXXXXX";
	uint64_t mib = free_bytes(".") / MIB;
	bool writable = getcwd(folder, sizeof folder) && mkdtemp(trial) && rmdir(trial) == 0;
	if (!writable) {
		found(capability, MR_CAPABILITY_MISSING, "%.200s: %s", folder, strerror(errno));
		remedy(capability, "millrace record -o /tmp/NAME.mill -- PROGRAM");
	} else if (mib < 1024) {
		found(capability, MR_CAPABILITY_DEGRADED, "only %" PRIu64 " MiB are free in %.200s",
		      mib, folder);
		remedy(capability, "millrace record --max-size=%" PRIu64 "M -- PROGRAM",
		       mr_max(mib / 2, UINT64_C(1)));
	} else {
		found(capability, MR_CAPABILITY_OK, "%" PRIu64 " MiB free in %.200s", mib, folder);
	}
}

/* ---- kernel level ---------------------------------------------------------------------------- */

static bool has_kernel_privileges(void)
{
	/* CAP_SYS_ADMIN includes both. */
	return has_capability(CAP_SYS_ADMIN) ||
	       (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));
}

/* Only for this program file, and for whoever may execute it. */
static void remedy_privileges(struct mr_capability *capability)
{
	char program[192] = "";
	bool is_known = readlink("/proc/self/exe", program, sizeof program - 1) > 0;
	remedy(capability, "sudo setcap cap_bpf,cap_perfmon+ep %s  # or: sudo millrace record ...",
	       is_known ? program : "millrace");
}

static void tell_programs_off(struct mr_capability *capability,
			      const struct mr_kernel_status *status)
{
	if (status->off_count == 0)
		found(capability, MR_CAPABILITY_OK,
		      "scheduling, system calls, files, disks, faults, interrupts, network, "
		      "signals");
	else
		found(capability, MR_CAPABILITY_DEGRADED,
		      "%zu part%s cannot be recorded: %s: %.150s", status->off_count,
		      status->off_count == 1 ? "" : "s", status->off[0].what, status->off[0].why);
}

/* Tries what `record` does. */
static void probe_kernel(struct mr_capability *capability)
{
	struct mr_kernel *kernel;
	struct mr_kernel_status status;
	if (mr_kernel_open(&(struct mr_kernel_options){0}, &kernel) < 0) {
		found(capability, MR_CAPABILITY_MISSING, "%s", mr_error_text());
	} else {
		mr_kernel_describe(kernel, &status);
		if (status.mode == MR_KERNEL_BPF)
			tell_programs_off(capability, &status);
		else
			found(capability, MR_CAPABILITY_DEGRADED,
			      "only when threads run, not why they wait: %s", status.why_not_bpf);
		mr_kernel_close(kernel);
	}
	if (!has_kernel_privileges())
		remedy_privileges(capability);
}

static void probe_btf(struct mr_capability *capability)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		found(capability, MR_CAPABILITY_OK, "/sys/kernel/btf/vmlinux");
	else
		found(capability, MR_CAPABILITY_MISSING,
		      "/sys/kernel/btf/vmlinux: %s; needs a kernel built with "
		      "CONFIG_DEBUG_INFO_BTF",
		      strerror(errno));
}

static void probe_privileges(struct mr_capability *capability)
{
	bool bpf = has_capability(CAP_BPF), perfmon = has_capability(CAP_PERFMON);
	if (has_kernel_privileges()) {
		found(capability, MR_CAPABILITY_OK, "%s",
		      bpf && perfmon ? "CAP_BPF and CAP_PERFMON" : "CAP_SYS_ADMIN");
		return;
	}
	found(capability, MR_CAPABILITY_MISSING, "lacks %s%s%s", bpf ? "" : "CAP_BPF",
	      bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
	remedy_privileges(capability);
}

static void probe_perf_events(struct mr_capability *capability)
{
	char value[32];
	if (!file_first_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof value)) {
		found(capability, MR_CAPABILITY_MISSING, "the kernel has no perf events");
		return;
	}
	bool allowed =
		atoi(value) <= 2 || has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
	found(capability, allowed ? MR_CAPABILITY_OK : MR_CAPABILITY_MISSING,
	      "kernel.perf_event_paranoid is %s%s", value,
	      allowed ? "" : "; what is recorded without privilege needs 2 or less");
	if (!allowed)
		remedy(capability, "sudo sysctl kernel.perf_event_paranoid=2");
}

static void probe_lockdown(struct mr_capability *capability)
{
	char modes[64];
	if (!file_first_line("/sys/kernel/security/lockdown", modes, sizeof modes))
		found(capability, MR_CAPABILITY_OK, "the kernel does not report a lockdown");
	else if (strstr(modes, "[confidentiality]"))
		found(capability, MR_CAPABILITY_MISSING,
		      "lockdown is %s: no program may read kernel memory", modes);
	else
		found(capability, MR_CAPABILITY_OK, "lockdown is %s", modes);
}

/* ---- runtimes, frameworks, tools ------------------------------------------------------------- */

/* What the dynamic linker would find, by its cache. */
static bool find_library(const char *name, char *path, size_t capacity)
{
	char line[512], file[64];
	snprintf(file, sizeof file, "%s.so", name);
	mr_auto(close_pipe) FILE *cache =
		popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>&1", "re");
	while (cache && read_line(cache, line, sizeof line)) {
		const char *target = strstr(line, " => ");
		if (!target || !strstr(line, file))
			continue;
		snprintf(path, capacity, "%s", target + strlen(" => "));
		return true;
	}
	return false;
}

/* The capability's name is the library's. */
static void probe_runtime(struct mr_capability *capability)
{
	char path[200];
	if (find_library(capability->name, path, sizeof path))
		found(capability, MR_CAPABILITY_MISSING,
		      "%s is installed, but this version of millrace has no hooks for it", path);
	else
		found(capability, MR_CAPABILITY_MISSING,
		      "not installed; this version of millrace has no hooks for it");
}

/* Names of the files by which drivers make themselves known to loaders. */
static void list_opencl_drivers(const char *folder, char *names, size_t capacity)
{
	DIR *files = opendir(folder);
	size_t length = 0;
	names[0] = '\0';
	for (struct dirent *entry; files && (entry = readdir(files)) && length < capacity;) {
		const char *ending = strrchr(entry->d_name, '.');
		if (ending && strcmp(ending, ".icd") == 0)
			length += (size_t)snprintf(names + length, capacity - length, "%s%s",
						   length ? ", " : "", entry->d_name);
	}
	if (files)
		closedir(files);
}

/* Loaders that know layers know the variable that names them. */
static bool knows_layers(const char *loader)
{
	static const char variable[] = "OPENCL_LAYERS";
	mr_auto(mapping) struct mr_mapping mapping = {0};
	return mr_mapping_open(AT_FDCWD, loader, &mapping) == 0 &&
	       memmem(mapping.bytes, mapping.size, variable, sizeof variable);
}

static void probe_opencl(struct mr_capability *capability)
{
	char path[100], drivers[100];
	const char *own = getenv("OCL_ICD_VENDORS"), *folder = own ? own : "/etc/OpenCL/vendors";
	list_opencl_drivers(folder, drivers, sizeof drivers);
	if (!find_library(capability->name, path, sizeof path)) {
		found(capability, MR_CAPABILITY_MISSING, "not installed");
		remedy(capability, "sudo apt-get install ocl-icd-libopencl1");
	} else if (!knows_layers(path)) {
		found(capability, MR_CAPABILITY_MISSING,
		      "%s is too old: it has no layers, through which millrace traces", path);
		remedy(capability, "sudo apt-get install ocl-icd-libopencl1");
	} else if (!drivers[0]) {
		found(capability, MR_CAPABILITY_MISSING, "%s has no driver: no .icd file in %.60s",
		      path, folder);
		remedy(capability, "sudo apt-get install pocl-opencl-icd  # runs on the CPU");
	} else {
		found(capability, MR_CAPABILITY_OK, "%s with %s", path, drivers);
	}
}

/* Asks Python where packages would come from, without importing them: lines "NAME PATH". Once for all,
 * as Python is slow to start. */
static const char *framework_origins(void)
{
	static char origins[4096];
	static bool is_asked;
	char names[256], command[512];
	if (is_asked)
		return origins;
	is_asked = true;
	list_names(probe_framework, names, sizeof names);
	snprintf(command, sizeof command,
		 "python3 -c 'import importlib.util as u, sys\n"
		 "for name in sys.argv[1:]:\n"
		 "    spec = u.find_spec(name)\n"
		 "    print(name, spec.origin if spec else None)' %s 2>&1",
		 names);
	mr_auto(close_pipe) FILE *output = popen(command, "re");
	size_t length = output ? fread(origins, 1, sizeof origins - 1, output) : 0;
	origins[length] = '\0';
	return origins;
}

static void probe_framework(struct mr_capability *capability)
{
	char start[64];
	if (!program_in_path("python3")) {
		found(capability, MR_CAPABILITY_MISSING, "python3 is not installed");
		return;
	}
	snprintf(start, sizeof start, "%s /", capability->name);
	const char *line = framework_origins();
	while (*line && strncmp(line, start, strlen(start)) != 0) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	const char *path = line + strcspn(line, "/");
	if (*path)
		found(capability, MR_CAPABILITY_MISSING,
		      "%.*s is installed, but this version of millrace has no hooks for it",
		      (int)mr_min(strcspn(path, "\n"), (size_t)200), path);
	else
		found(capability, MR_CAPABILITY_MISSING,
		      "not installed for python3; this version of millrace has no hooks for it");
}

static void probe_annotations(struct mr_capability *capability)
{
	found(capability, MR_CAPABILITY_OK, "programs annotated with millrace.h");
}

static void probe_babeltrace(struct mr_capability *capability)
{
	if (program_in_path("babeltrace2")) {
		found(capability, MR_CAPABILITY_OK, "installed");
		return;
	}
	found(capability, MR_CAPABILITY_MISSING,
	      "not installed; optional, another reader of traces");
	remedy(capability, "sudo apt-get install babeltrace2");
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const char *level;
	void (*probe)(struct mr_capability *capability);
} probes[] = {
	{"library", "core", probe_library},
	{"arena", "core", probe_arena},
	{"clock", "core", probe_clock},
	{"output", "core", probe_output},
	{"annotations", "dataflow", probe_annotations},
	{"tensorflow", "dataflow", probe_framework},
	{"torch", "dataflow", probe_framework},
	{"jax", "dataflow", probe_framework},
	{"onnxruntime", "dataflow", probe_framework},
	{"libcuda", "runtime", probe_runtime},
	{"libamdhip64", "runtime", probe_runtime},
	{"libhsa-runtime64", "runtime", probe_runtime},
	{"libOpenCL", "runtime", probe_opencl},
	{"kernel", "kernel", probe_kernel},
	{"btf", "kernel", probe_btf},
	{"privileges", "kernel", probe_privileges},
	{"perf-events", "kernel", probe_perf_events},
	{"lockdown", "kernel", probe_lockdown},
	{"babeltrace2", "tools", probe_babeltrace},
};

/* Names of all capabilities that `probe` looks at, separated by blanks. */
static void list_names(void probe(struct mr_capability *), char *names, size_t capacity)
{
	size_t length = 0;
	for (size_t i = 0; i < mr_countof(probes); i++)
		if (probes[i].probe == probe && length < capacity)
			length += (size_t)snprintf(names + length, capacity - length, "%s%s",
						   length ? " " : "", probes[i].name);
}

const char *mr_capability_state_name(enum mr_capability_state state)
{
	static const char *const names[] = {"ok", "degraded", "missing"};
	return names[state];
}

uint32_t mr_capability_count(void)
{
	return mr_countof(probes);
}

struct mr_capability mr_capability_probe(uint32_t index)
{
	struct mr_capability capability = {.name = probes[index].name,
					   .level = probes[index].level};
	probes[index].probe(&capability);
	return capability;
}
