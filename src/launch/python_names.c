/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/python_names.h"

#include <string.h>

#include "base/macros.h"
#include "hook/python/thread_object.h"

enum {
	FIRST_WAIT_NS = 2000000,
	LONGEST_WAIT_NS = 500000000,
};

static bool read_name(const struct mr_python *python, struct mr_python_memory *memory,
		      uintptr_t thread_state, char ret_name[MR_PYTHON_THREAD_NAME_BYTES])
{
	const struct mr_python_reader reader = mr_python_memory_reader(memory);
	uintptr_t self = mr_python_thread_object(python, &reader, thread_state);
	uintptr_t name = self ? mr_python_attribute(python, &reader, self, "_name") : 0;
	return name &&
	       mr_python_text_read(python, &reader, name, ret_name, MR_PYTHON_THREAD_NAME_BYTES);
}

bool mr_python_name_update(struct mr_python_thread *thread, const struct mr_python *python,
			   struct mr_python_memory *memory, uint64_t now_ns)
{
	char first[MR_PYTHON_THREAD_NAME_BYTES], second[MR_PYTHON_THREAD_NAME_BYTES];
	if (now_ns < thread->name_next_ns)
		return false;
	thread->name_wait_ns = thread->name_wait_ns == 0 ? FIRST_WAIT_NS
							 : mr_min(2 * thread->name_wait_ns,
								  (uint32_t)LONGEST_WAIT_NS);
	thread->name_next_ns = now_ns + thread->name_wait_ns;
	if (!read_name(python, memory, thread->state, first) || strcmp(first, thread->name) == 0)
		return false;
	/* The thread runs meanwhile: what is read twice was there. */
	mr_python_memory_forget(memory);
	if (!read_name(python, memory, thread->state, second) || strcmp(first, second) != 0)
		return false;
	memcpy(thread->name, first, sizeof first);
	thread->name_wait_ns = LONGEST_WAIT_NS;
	return true;
}
