/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vector.h"

/* ---- leaving sudo ----------------------------------------------------------------------------------- */

/* Digits and nothing else; the highest number means "no user". */
static bool parse_id(const char *text, uint32_t *ret_id)
{
	uint64_t id = 0;
	const char *at = text;
	for (; at && *at >= '0' && *at <= '9' && id < UINT32_MAX; at++)
		id = id * 10 + (uint64_t)(*at - '0');
	if (!at || at == text || *at || id >= UINT32_MAX)
		return false;
	*ret_id = (uint32_t)id;
	return true;
}

static int set_groups(uid_t uid, gid_t gid)
{
	const struct passwd *user = getpwuid(uid);
	int result = user ? initgroups(user->pw_name, gid) : setgroups(1, &gid);
	return result == 0 ? 0 : mr_fail_errno(errno, "cannot set the groups of user %u", uid);
}

static int become(const struct mr_privilege *privilege)
{
	uid_t uid = privilege->user;
	gid_t gid = privilege->group;
	int result = set_groups(uid, gid);
	if (result < 0)
		return result;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return mr_fail_errno(errno, "cannot become user %u", uid);
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	return 0;
}

int mr_privilege_find(bool as_root, struct mr_privilege *ret_privilege)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");
	uint32_t uid, gid;
	*ret_privilege = (struct mr_privilege){.user = geteuid(), .group = getegid()};
	if (as_root || geteuid() != 0 || (!user && !group))
		return 0;
	if (!parse_id(user, &uid) || !parse_id(group, &gid))
		return mr_fail(EINVAL,
			       "SUDO_UID and SUDO_GID do not say who ran sudo: --as-root runs the "
			       "program as root");
	if (uid != 0)
		*ret_privilege = (struct mr_privilege){.user = uid, .group = gid, .is_left = true};
	return 0;
}

/* ---- capabilities ------------------------------------------------------------------------------------ */

#define BIT(capability) (UINT64_C(1) << (capability))

/* Of what we may use, keeps this much; and of what programs inherit that we execute. */
static int limit_capabilities(uint64_t kept, uint64_t inherited)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data) < 0)
		return mr_fail_errno(errno, "cannot read the recorder's capabilities");
	for (size_t i = 0; i < mr_countof(data); i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable &= (uint32_t)(inherited >> 32 * i);
	}
	if (syscall(SYS_capset, &header, data) < 0)
		return mr_fail_errno(errno, "cannot drop the recorder's capabilities");
	return 0;
}

/* What every program gets that we execute. */
static uint64_t ambient_capabilities(void)
{
	uint64_t ambient = 0;
	for (unsigned i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1)
			ambient |= BIT(i);
	return ambient;
}

int mr_privilege_leave(const struct mr_privilege *privilege, bool needs_perf)
{
	uint64_t kept = needs_perf ? BIT(CAP_PERFMON) : 0;
	if (!privilege->is_left)
		return geteuid() == 0
			       ? 0
			       : limit_capabilities(kept | ambient_capabilities(), UINT64_MAX);
	int result = become(privilege);
	if (result == 0)
		result = limit_capabilities(kept, 0);
	if (result == 0 && setuid(0) == 0)
		result = mr_fail(EPERM, "cannot drop root privileges");
	return result;
}

/* Root's files may lie in a folder of anybody's, and the program may have become anybody. */
int mr_privilege_drop(void)
{
	uint64_t kept = geteuid() == 0 ? BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) |
						 BIT(CAP_KILL) | BIT(CAP_SYS_PTRACE)
				       : 0;
	for (unsigned capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
	     capability++)
		if (!(kept >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); /* if we may */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return limit_capabilities(kept, 0);
}

int mr_privilege_drop_of_file(void)
{
	return geteuid() == 0 || !getauxval(AT_SECURE) ? 0 : limit_capabilities(0, 0);
}

/* ---- the environment --------------------------------------------------------------------------------- */

/* A process with capabilities is one that others may not look into; its own files in /proc belong to
 * root. It may say that it does not mind. */
static FILE *open_own_environment(void)
{
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	FILE *file = fopen("/proc/self/environ", "re");
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return file;
}

char **mr_privilege_environment(void)
{
	mr_vec(char *) variables = {0};
	if (!getauxval(AT_SECURE))
		return environ;
	mr_auto(close_file) FILE *file = open_own_environment();
	if (!file)
		return environ;
	char *variable = NULL;
	for (size_t capacity = 0; getdelim(&variable, &capacity, 0, file) > 0; capacity = 0) {
		if (mr_vec_push(&variables, variable) < 0)
			return NULL;
		variable = NULL;
	}
	free(variable);
	return mr_vec_push(&variables, (char *)NULL) < 0 ? NULL : variables.items;
}
