/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for HIP of ROCm 6 and later as far as a program takes functions by their names there.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int hipFree(void *address)
{
	return address ? 17 : 0;
}

/* hipErrorNotFound is 500. */
int hipGetProcAddress(const char *name, void **ret_function, int version, uint64_t flags,
		      int *ret_status)
{
	*ret_status = version == 60100 && flags == 7 ? 0 : 1;
	*ret_function = strcmp(name, "hipFree") == 0 ? (void *)hipFree : NULL;
	return *ret_function ? 0 : 500;
}
