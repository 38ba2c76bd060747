/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the HIP programs of the tests: a call that must succeed, and comparing results.
 */
#ifndef LIVE_HIP_H
#define LIVE_HIP_H

#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <vector>

#define MUST(call)                                                            \
	do {                                                                  \
		hipError_t error_ = (call);                                   \
		if (error_ != hipSuccess) {                                   \
			printf("%s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                              \
		}                                                             \
	} while (0)

/* How many items of the device's memory are not as wanted. */
template <typename T> static int count_wrong(const T *device, size_t count, T wanted)
{
	std::vector<T> items(count);
	MUST(hipMemcpy(items.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
	int wrong = 0;
	for (const T &item : items)
		wrong += item != wanted;
	return wrong;
}

#endif
