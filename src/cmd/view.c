/* SPDX-License-Identifier: Apache-2.0
 *
 * millrace view: shows the trace in a browser.
 *
 * All threads block the signals that end the viewer; the main thread waits for them.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/error.h"
#include "cmd/browser.h"
#include "cmd/command.h"
#include "cmd/max_memory.h"
#include "cmd/progress_line.h"
#include "cmd/trace_argument.h"
#include "serve/server.h"

enum {
	AT_ONCE_MS =
		250,   /* a failure until then ends the command; a saved index is loaded by then */
	LOOK_MS = 100, /* interval of checking whether loading has ended */
};

static struct {
	uint64_t port;
	const char *token_file;
	bool no_open;
} given;

static const struct mr_option options[] = {
	MR_INTEGER(0, "port", &given.port, "N",
		   "serve on this port; 0, the default, means any free port"),
	MR_STRING(0, "token-file", &given.token_file, "FILE",
		  "keep the token of the address in FILE, which millrace creates; with --port, "
		  "addresses stay valid"),
	MR_FLAG(0, "no-open", &given.no_open, "do not open a browser, only print the address"),
	MR_MAX_MEMORY_OPTION,
	{0},
};

static const struct mr_example examples[] = {
	{"millrace view", "the newest trace in this folder"},
	{"millrace view --no-open", "on a machine without a display"},
	{0},
};

/* Hints appear only for people. */
static void hint(const char *text)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "millrace: %s\n", text);
}

static void open_browser(const char *url)
{
	char text[256];

	if (!given.no_open && mr_browser_open(url) < 0) {
		snprintf(text, sizeof text, "no browser was opened: %s", mr_error_text());
		hint(text);
	}
	hint("Ctrl-C ends the viewer");
}

/* The signals that end the viewer. A signal that is ignored, as under nohup, stays ignored. */
static sigset_t block_signals(void)
{
	struct sigaction hangup;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return signals;
}

/* Returns whether a signal arrived before loading ended. */
static bool is_ended_while_loading(struct mr_traces *traces, const sigset_t *signals)
{
	const struct timespec period = {.tv_nsec = LOOK_MS * 1000000};

	while (mr_traces_wait(traces, 0) == -ETIMEDOUT)
		if (sigtimedwait(signals, NULL, &period) > 0)
			return true;
	return false;
}

/* Runs once there is an address; returns the exit status. If the trace cannot be loaded, the page shows why. */
static int serve(struct mr_server *server, struct mr_traces *traces, const sigset_t *signals)
{
	int status = 0;

	printf("%s\n", mr_server_url(server));
	fflush(stdout);
	open_browser(mr_server_url(server));
	bool is_ended = is_ended_while_loading(traces, signals);
	mr_progress_line_stop();
	int result = mr_traces_wait(traces, 0);
	if (result < 0 && result != -ETIMEDOUT) {
		fprintf(stderr, "millrace: %s\n", mr_error_text());
		status = MR_EXIT_FAILURE;
	}
	while (!is_ended) /* SIGSTOP and SIGCONT interrupt the wait */
		is_ended = sigwaitinfo(signals, NULL) > 0;
	if (mr_server_stop(server) < 0)
		_exit(status); /* there is nothing to save */
	return status;
}

static int load_and_serve(const char *path)
{
	mr_auto(traces) struct mr_traces traces = {0};
	mr_auto(server) struct mr_server *server = NULL;
	sigset_t signals = block_signals();
	int result = mr_server_open((uint16_t)given.port, given.token_file, &server);

	if (result == 0)
		result = mr_traces_open(&traces, path);
	if (result < 0)
		return result;
	mr_progress_line_start();
	result = mr_traces_wait(&traces, AT_ONCE_MS);
	if (result == 0 || result == -ETIMEDOUT)
		result = mr_server_start(server, &traces);
	if (result == 0)
		result = serve(server, &traces, &signals);
	mr_progress_line_stop();
	return result;
}

static int run(int count, char **operands)
{
	mr_auto(free) char *path = NULL;

	if (given.port > UINT16_MAX)
		return mr_command_misused(&mr_command_view, "--port: not a number from 0 to %d",
					  UINT16_MAX);
	int result = mr_trace_argument(count, operands, &path);
	if (result < 0)
		return result;
	signal(SIGPIPE, SIG_IGN); /* a client that disconnects must not end the viewer */
	return load_and_serve(path);
}

const struct mr_command mr_command_view = {
	.name = "view",
	.summary = "look at the trace in a browser",
	.operands = "[TRACE]",
	.description =
		"Serves the viewer on this machine (127.0.0.1), prints its address and opens "
		"it in a browser. The address contains a random token; without it nobody "
		"can see the trace. Ctrl-C ends the viewer.\n\n"
		"TRACE is a trace folder, or a file of PyTorch's profiler or another file "
		"in the Chrome trace format. The default is the newest *.mill in the "
		"current folder.",
	.options = options,
	.examples = examples,
	.run = run,
	.operands_max = 1,
};
