/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/permission.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective >> capability % 32 & 1;
}

/* In "confidentiality" mode no program may read the kernel's memory. */
static bool is_locked_down(void)
{
	char text[128] = "";
	mr_auto(close_file) FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	return file && fgets(text, sizeof text, file) && strstr(text, "[confidentiality]");
}

int mr_permission_explain(int error, const char *what)
{
	bool is_refused = error == EPERM || error == EACCES;
	bool is_privileged = has_capability(CAP_SYS_ADMIN) ||
			     (has_capability(CAP_BPF) && has_capability(CAP_PERFMON));
	if (is_refused && !is_privileged)
		return mr_fail(error,
			       "cannot %s: not permitted: use sudo, or run `sudo setcap "
			       "cap_bpf,cap_perfmon+ep` once on the millrace program",
			       what);
	if (is_refused && is_locked_down())
		return mr_fail(error, "cannot %s: the kernel is locked down (confidentiality)",
			       what);
	if (is_refused)
		return mr_fail(
			error,
			"cannot %s: not permitted despite sufficient privileges: a container or "
			"seccomp filter forbids bpf()",
			what);
	if (error == ENOSYS)
		return mr_fail(error, "cannot %s: the kernel has no bpf(), or a filter hides it",
			       what);
	return mr_fail_errno(error, "cannot %s", what);
}
