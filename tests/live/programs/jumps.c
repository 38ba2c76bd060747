/* SPDX-License-Identifier: Apache-2.0
 *
 * jumps SITUATION: signal handlers that jump out of whatever they have interrupted, hundreds of times, and then a
 * thousand events that nobody disturbs.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include "emit.h"

enum {
	JUMPS = 100,
	AFTER = 1000,
	SWITCHES = 2000,
	STACK_BYTES = 64 << 10,
};

static sigjmp_buf back;
static volatile sig_atomic_t jumps;
static volatile sig_atomic_t is_emitting; /* in the handler, before it jumps */

static void on_signal(int number)
{
	(void)number;
	if (is_emitting)
		millrace_node_instant(emitting_node, 0);
	jumps++;
	siglongjmp(back, 1);
}

static void set_timer(int microseconds)
{
	const struct itimerval timer = {.it_interval = {0, microseconds},
					.it_value = {0, microseconds}};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void let_signals_in(void)
{
	sigset_t alarms;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
}

/* As deep in the stack as it is told. */
static __attribute__((noinline)) void emit_down(int calls, void (*work)(uint32_t), uint32_t step)
{
	volatile char frame[64] = {0};
	if (calls > 0)
		emit_down(calls - 1, work, step);
	else
		work(step);
	(void)frame[0];
}

static void instant(uint32_t step)
{
	millrace_node_instant(emitting_node, step);
}

static void interval(uint32_t step)
{
	struct millrace_span span = millrace_node_begin(emitting_node, step);
	millrace_node_end(&span);
}

static void definition(uint32_t step)
{
	char text[32];
	snprintf(text, sizeof text, "text %u", step % 1000);
	millrace_string(text);
}

static void everything(uint32_t step)
{
	instant(step);
	interval(step);
	definition(step);
}

static int jump_out_of(void (*work)(uint32_t), int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	sigaction(SIGALRM, &action, NULL);
	static volatile uint32_t step;
	if (sigsetjmp(back, 0) == 0)
		set_timer(50);
	let_signals_in();
	while (jumps < JUMPS) {
		emit_down((int)(step % 7), work, step);
		step++;
	}
	set_timer(0);
	signal(SIGALRM, SIG_IGN);
	emitting_node = millrace_node(millrace_graph("after"), "after", "type", 0);
	emit(AFTER);
	emit_report();
	return 0;
}

static int out_of_instants(void)
{
	return jump_out_of(instant, 0);
}

static int out_of_intervals(void)
{
	return jump_out_of(interval, 0);
}

static int out_of_definitions(void)
{
	return jump_out_of(definition, 0);
}

static int out_of_everything(void)
{
	is_emitting = 1;
	return jump_out_of(everything, 0);
}

/* The handler's stack is a part of the main one, above everything that emits. */
static int out_of_signal_stack(void)
{
	char memory[STACK_BYTES];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	sigaltstack(&stack, NULL);
	is_emitting = 1;
	return jump_out_of(everything, SA_ONSTACK);
}

static ucontext_t scheduler, routines[2];

static void routine(void)
{
	for (int i = 0; i < AFTER / 2; i++) {
		int which = atomic_load(emitted) % 2;
		emit(1);
		swapcontext(&routines[which], &routines[!which]);
	}
}

/* Coroutines, switched between their events by the program itself. */
static int coroutines(void)
{
	static char stacks[2][STACK_BYTES];
	for (int i = 0; i < 2; i++) {
		getcontext(&routines[i]);
		routines[i].uc_stack = (stack_t){.ss_sp = stacks[i], .ss_size = STACK_BYTES};
		routines[i].uc_link = &scheduler;
		makecontext(&routines[i], routine, 0);
	}
	swapcontext(&scheduler, &routines[0]);
	emit_report();
	return 0;
}

static volatile sig_atomic_t running;

static void on_signal_switch(int number)
{
	(void)number;
	int before = running;
	if (jumps == SWITCHES)
		return; /* one more, before the timer was stopped */
	running = !before;
	if (++jumps < SWITCHES)
		swapcontext(&routines[before], &routines[!before]);
	else
		setcontext(&scheduler);
}

static void endless_routine(void)
{
	for (uint32_t step = 0;; step++)
		everything(step);
}

/* Threads that the program switches itself, in the midst of whatever they do. One's stack lies right above the
 * other's. */
static int switched_by_signals(void)
{
	static char stacks[2][STACK_BYTES];
	struct sigaction action = {.sa_handler = on_signal_switch};
	for (int i = 0; i < 2; i++) {
		getcontext(&routines[i]);
		routines[i].uc_stack = (stack_t){.ss_sp = stacks[i], .ss_size = STACK_BYTES};
		makecontext(&routines[i], endless_routine, 0);
	}
	sigaction(SIGALRM, &action, NULL);
	set_timer(200);
	swapcontext(&scheduler, &routines[0]);
	set_timer(0);
	printf("switched %d times\n", (int)jumps);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct situation situations[] = {
		{"out_of_instants", out_of_instants},
		{"out_of_intervals", out_of_intervals},
		{"out_of_definitions", out_of_definitions},
		{"out_of_everything", out_of_everything},
		{"out_of_signal_stack", out_of_signal_stack},
		{"coroutines", coroutines},
		{"switched_by_signals", switched_by_signals},
		{NULL, NULL},
	};
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
