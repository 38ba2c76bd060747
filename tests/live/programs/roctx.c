/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotates itself with roctx: by functions that it is linked with, and by those that it takes by their names from the
 * library (first argument).
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

void roctxMarkA(const char *text);
int roctxRangePushA(const char *text);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *text);
void roctxRangeStop(uint64_t range);

int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*push)(const char *) = (int (*)(const char *))dlsym(library, "roctxRangePushA");
	int (*pop)(void) = (int (*)(void))dlsym(library, "roctxRangePop");
	printf("%d\n", roctxRangePushA("outer"));
	printf("%d\n", push("inner"));
	roctxMarkA("here");
	printf("%d\n", pop());
	uint64_t across = roctxRangeStartA("across");
	printf("%d\n", roctxRangePop());
	printf("%d\n", roctxRangePop());
	roctxRangeStop(across);
	printf("%d\n", (int)across);
	return 0;
}
