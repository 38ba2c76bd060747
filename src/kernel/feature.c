/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/feature.h"

#include <string.h>

const struct mr_feature mr_features[MR_FEATURE_COUNT] = {
	{"scheduling",
	 MR_FEATURE_INDISPENSABLE,
	 {"on_switch", "on_waking", "on_wakeup", "on_migrate"}},
	{"life of tasks",
	 MR_FEATURE_INDISPENSABLE,
	 {"on_fork", "on_wakeup_new", "on_exec", "on_exit", "on_free", MR_VISITOR}},
	{"names of threads", MR_FEATURE_OPTIONAL, {"on_rename"}},
	{"system calls", MR_FEATURE_FOR_ALL_CALLS, {"on_sys_enter", "on_sys_exit"}},
	{"irqs", MR_FEATURE_OPTIONAL, {"on_irq_entry", "on_irq_exit"}},
	{"softirqs", MR_FEATURE_OPTIONAL, {"on_softirq_entry", "on_softirq_exit"}},
	{"hrtimers", MR_FEATURE_OPTIONAL, {"on_hrtimer_entry", "on_hrtimer_exit"}},
	{"timers", MR_FEATURE_OPTIONAL, {"on_timer_entry", "on_timer_exit"}},
	{"local timer interrupts",
	 MR_FEATURE_OPTIONAL,
	 {"on_local_timer_entry", "on_local_timer_exit"}},
	{"reschedule interrupts",
	 MR_FEATURE_OPTIONAL,
	 {"on_reschedule_entry", "on_reschedule_exit"}},
	{"function call interrupts",
	 MR_FEATURE_OPTIONAL,
	 {"on_call_function_entry", "on_call_function_exit"}},
	{"single function call interrupts",
	 MR_FEATURE_OPTIONAL,
	 {"on_call_function_single_entry", "on_call_function_single_exit"}},
	{"irq work interrupts", MR_FEATURE_OPTIONAL, {"on_irq_work_entry", "on_irq_work_exit"}},
	{"disk requests",
	 MR_FEATURE_OPTIONAL,
	 {"on_block_start", "on_block_issue", "on_block_complete"}},
	{"major faults", MR_FEATURE_OPTIONAL, {"on_major_fault"}},
	{"durations of major faults", MR_FEATURE_OPTIONAL, {"on_user_fault", "on_kernel_fault"}},
	{"bytes of sockets", MR_FEATURE_OPTIONAL, {"on_socket_send", "on_socket_receive"}},
	{"signals", MR_FEATURE_OPTIONAL, {"on_signal_sent", "on_signal_delivered"}},
	{"io_uring submissions", MR_FEATURE_OPTIONAL, {"on_uring_submit"}},
	{"io_uring completions", MR_FEATURE_OPTIONAL, {"on_uring_complete"}},
};

const struct mr_feature *mr_feature_of(const struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	for (size_t i = 0; i < MR_FEATURE_COUNT; i++)
		for (size_t k = 0; k < MR_FEATURE_PROGRAMS && mr_features[i].programs[k]; k++)
			if (strcmp(mr_features[i].programs[k], name) == 0)
				return &mr_features[i];
	return NULL;
}
