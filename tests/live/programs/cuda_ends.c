/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches twenty device kernels, waits for half of them, and ends in the way that its argument names.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static CUfunction function;

static void launch(int count)
{
	void *arguments[] = {NULL};
	for (int i = 0; i < count; i++)
		if (cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL) !=
		    CUDA_SUCCESS)
			printf("a launch failed\n");
}

/* CUDA does not work in a forked child; what the child calls fails, or works on nothing. */
static void end_in_child(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		int version = 0;
		cuDriverGetVersion(&version);
		_exit(version > 0 ? 3 : 4);
	}
	waitpid(child, &status, 0);
	printf("the child ended with %d\n", WEXITSTATUS(status));
}

int main(int count, char **arguments)
{
	const char *way = count > 1 ? arguments[1] : "return";
	CUcontext context;
	CUmodule module;
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, "") || cuModuleGetFunction(&function, module, "step"))
		return 1;
	launch(10);
	cuCtxSynchronize();
	launch(10);
	cuCtxSynchronize();
	printf("ends by %s\n", way);
	fflush(stdout);
	if (strcmp(way, "exit") == 0)
		exit(5);
	if (strcmp(way, "_exit") == 0)
		_exit(6);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "exec") == 0)
		execl("/bin/echo", "echo", "executed", NULL);
	if (strcmp(way, "fork") == 0)
		end_in_child();
	return 7;
}
