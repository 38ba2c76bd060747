/* SPDX-License-Identifier: Apache-2.0 */
#include "record/identity.h"

#include <dlfcn.h>
#include <pthread.h>

#include "record/own_call.h"
#include "record/recorder.h"

enum {
	DESCRIPTOR_BYTES = 2048, /* it has more than these */
};

/* How the C library describes a field to debuggers. */
struct field {
	uint32_t bits;
	uint32_t count;
	uint32_t offset;
};

static uint32_t tid_offset; /* 0: not known */

static uint32_t read_tid(uint32_t offset)
{
	return *(const volatile uint32_t *)((const char *)pthread_self() + offset);
}

void mr_identity_prepare(void)
{
	const struct field *field = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");
	if (field && field->bits == 32 && field->count == 1 && field->offset % 4 == 0 &&
	    field->offset < DESCRIPTOR_BYTES &&
	    read_tid(field->offset) == (uint32_t)mr_own_call(SYS_gettid))
		tid_offset = field->offset;
}

uint32_t mr_libc_tid(void)
{
	return tid_offset ? read_tid(tid_offset) : 0;
}

uint32_t mr_own_tid(void)
{
	const uint32_t known = mr_libc_tid();
	if (known && mr_this_process.is_known_to_libc)
		return known;
	long tid = mr_own_call(SYS_gettid);
	if (tid > 0)
		return (uint32_t)tid;
	/* One that was made since is known to the C library. The first one has the process's id. */
	return known != mr_self.libc_tid ? known : mr_this_process.pid;
}

uint32_t mr_child_pid(bool is_by_fork)
{
	const uint32_t known = mr_libc_tid();
	if (known && is_by_fork)
		return known;
	long pid = mr_own_call(SYS_getpid);
	if (pid > 0)
		return (uint32_t)pid;
	/* _Fork() has told the C library of the child, a raw clone has not. */
	return mr_self.generation != 0 && known != mr_self.libc_tid ? known : 0;
}

uint32_t mr_own_pid(void)
{
	long pid = mr_own_call(SYS_getpid);
	return pid > 0 ? (uint32_t)pid : mr_this_process.pid;
}

bool mr_is_own_process(void)
{
	return mr_this_process.generation != 0 &&
	       mr_own_call(SYS_getpid) == (long)mr_this_process.pid;
}
