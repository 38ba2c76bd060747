/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for roctx in each way in which one can look for a function by its name, where there is none.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *itself = dlopen(NULL, RTLD_NOW);
	printf("default %d", dlsym(RTLD_DEFAULT, "roctxMarkA") != NULL);
	printf(" next %d", dlsym(RTLD_NEXT, "roctxMarkA") != NULL);
	printf(" %s", dlerror() ? "says why" : "says nothing");
	printf(" program %d\n", dlsym(itself, "roctxMarkA") != NULL);
	return 0;
}
