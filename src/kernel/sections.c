/* SPDX-License-Identifier: Apache-2.0
 *
 * libbpf reads the kernel's types as soon as a program is of the type "tracing". So programs are of another type until
 * just before they are loaded.
 */
#include "kernel/sections.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/records.h"

/* The programs call bpf_rdonly_cast() by a number of ours: makes it a call of the kernel's function. */
static int fill_in_casts(struct bpf_program *program, uint32_t function)
{
	size_t count = bpf_program__insn_cnt(program);
	mr_auto(free) struct bpf_insn *copy = malloc(count * sizeof *copy);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bpf_program__insns(program), count * sizeof *copy);
	bool is_changed = false;
	for (size_t i = 0; i < count; i++) {
		if (copy[i].code != (BPF_JMP | BPF_CALL) || copy[i].imm != MR_BPF_CAST)
			continue;
		copy[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		copy[i].imm = (int32_t)function;
		is_changed = true;
	}
	return is_changed ? bpf_program__set_insns(program, copy, count) : 0;
}

static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	const struct mr_kernel_types *types = (const struct mr_kernel_types *)cookie;
	const char *section = bpf_program__section_name(program);
	const char *target = strchr(section, '/');
	if (!target)
		return -EINVAL;
	char iterator[64];
	snprintf(iterator, sizeof iterator, "bpf_iter_%s", target + 1);
	options->attach_btf_id = bpf_program__expected_attach_type(program) == BPF_TRACE_ITER
					 ? mr_kernel_types_function(types, iterator)
					 : mr_kernel_types_tracepoint(types, target + 1);
	if (options->attach_btf_id == 0)
		return -ESRCH;
	int result = bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
	uint32_t cast = mr_kernel_types_function(types, "bpf_rdonly_cast");
	return result < 0 || cast == 0 ? result : fill_in_casts(program, cast);
}

int mr_sections_begin(const struct mr_kernel_types *types, struct mr_sections *ret_sections)
{
	static const struct {
		const char *section;
		enum bpf_attach_type attach;
	} ours[] = {{"tp_btf+", BPF_TRACE_RAW_TP}, {"iter+", BPF_TRACE_ITER}};
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .cookie = (long)types,
		    .prog_prepare_load_fn = prepare);
	_Static_assert(mr_countof(ours) == mr_countof(ret_sections->handlers), "all are kept");
	struct mr_sections sections = {{0}};
	for (size_t i = 0; i < mr_countof(ours); i++) {
		sections.handlers[i] = libbpf_register_prog_handler(
			ours[i].section, BPF_PROG_TYPE_RAW_TRACEPOINT, ours[i].attach, &options);
		if (sections.handlers[i] < 0) {
			int error = -sections.handlers[i];
			mr_sections_end(&sections);
			return mr_fail_errno(error, "cannot prepare libbpf");
		}
	}
	*ret_sections = sections;
	return 0;
}

void mr_sections_end(struct mr_sections *sections)
{
	for (size_t i = 0; i < mr_countof(sections->handlers); i++)
		if (sections->handlers[i] > 0)
			libbpf_unregister_prog_handler(sections->handlers[i]);
	*sections = (struct mr_sections){{0}};
}
