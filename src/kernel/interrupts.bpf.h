/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Interrupt work: what is in progress on each CPU (so that a waking knows its source), and how much time it
 * takes from traced threads.
 */
#ifndef MR_KERNEL_INTERRUPTS_BPF_H
#define MR_KERNEL_INTERRUPTS_BPF_H

#include "kernel/syscalls.bpf.h"

enum {
	NONE = 0xffff,
};

/* Reserves the entry before filling it, so that an interrupt in between takes the next one. */
static __always_inline void enter(u32 kind, u32 number, u64 source, u64 name)
{
	struct mr_bpf_cpu *cpu = this_cpu();
	u32 depth = cpu->depth;
	struct mr_bpf_context *context = &cpu->contexts[depth & (MR_BPF_CONTEXTS - 1)];
	cpu->depth = depth + 1;
	barrier();
	context->kind = kind;
	context->number = number;
	context->source = source;
	context->name = name;
	context->begin_ns = bpf_ktime_get_ns();
}

static __always_inline void put_interrupt(const struct mr_bpf_context *context, u8 kind)
{
	struct mr_record_interrupt *record;
	if (!recorded_current() || !begin_record_of(record, MR_RECORD_INTERRUPT, current_tid()))
		return;
	record->head.detail = kind;
	record->duration_ns = record->head.time_ns - context->begin_ns;
	record->interrupt = context->number;
	end_record(record);
}

/* Finds the innermost context of this kind: its depth, or NONE if its beginning was not seen. */
static __always_inline u32 find_context(const struct mr_bpf_cpu *cpu, u32 kind)
{
	u32 depth = cpu->depth;
	for (int i = 0; i < MR_BPF_CONTEXTS && depth > 0; i++)
		if (cpu->contexts[--depth & (MR_BPF_CONTEXTS - 1)].kind == kind)
			return depth;
	return NONE;
}

/* Leaves the innermost context of this kind, and with it any whose end was not seen. */
static __always_inline int leave(u32 kind)
{
	struct mr_bpf_cpu *cpu = this_cpu();
	u32 depth = find_context(cpu, kind);
	if (depth != NONE)
		cpu->depth = depth;
	return 0;
}

/* The same, but records it first: once it is left, another interrupt might overwrite it. */
static __always_inline int leave_interrupt(u32 kind, u8 interrupt_kind)
{
	struct mr_bpf_cpu *cpu = this_cpu();
	u32 depth = find_context(cpu, kind);
	if (depth == NONE)
		return 0;
	put_interrupt(&cpu->contexts[depth & (MR_BPF_CONTEXTS - 1)], interrupt_kind);
	cpu->depth = depth;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq, struct irqaction *action)
{
	enter(MR_wake_context_irq, irq, irq, (u64)action->name);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq)
{
	return leave_interrupt(MR_wake_context_irq, MR_interrupt_kind_irq);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int number)
{
	enter(MR_wake_context_softirq, number, number, 0);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int number)
{
	return leave_interrupt(MR_wake_context_softirq, MR_interrupt_kind_softirq);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_entry, struct hrtimer *timer)
{
	enter(MR_wake_context_hrtimer, 0, (u64)timer->function ^ settings.address_mask, 0);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_exit)
{
	return leave(MR_wake_context_hrtimer);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_timer_entry, struct timer_list *timer)
{
	enter(MR_wake_context_timer, 0, (u64)timer->function ^ settings.address_mask, 0);
	return 0;
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	return leave(MR_wake_context_timer);
}

#define VECTOR(tracepoint, vector_source)                                          \
	SEC("tp_btf/" #tracepoint "_entry")                                        \
	int BPF_PROG(on_##tracepoint##_entry, int vector)                          \
	{                                                                          \
		enter(MR_wake_context_interrupt_vector, vector, vector_source, 0); \
		return 0;                                                          \
	}                                                                          \
	SEC("tp_btf/" #tracepoint "_exit")                                         \
	int BPF_PROG(on_##tracepoint##_exit)                                       \
	{                                                                          \
		return leave_interrupt(MR_wake_context_interrupt_vector,           \
				       MR_interrupt_kind_vector);                  \
	}

VECTOR(local_timer, MR_VECTOR_LOCAL_TIMER)
VECTOR(reschedule, MR_VECTOR_RESCHEDULE)
VECTOR(call_function, MR_VECTOR_CALL_FUNCTION)
VECTOR(call_function_single, MR_VECTOR_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, MR_VECTOR_IRQ_WORK)

#endif
