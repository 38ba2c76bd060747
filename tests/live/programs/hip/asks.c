/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks for functions by their names; asks.py loads it privately.
 */
#include <dlfcn.h>
#include <stddef.h>

extern int hipInit(unsigned int) __attribute__((weak));

/* The C library must know that we are the one who asks: nobody else sees what this library has. */
int finds_itself(void)
{
	return dlsym(RTLD_DEFAULT, "finds_itself") == (void *)finds_itself;
}

/* The next in line is the C library. */
int finds_next(void)
{
	return dlsym(RTLD_NEXT, "finds_itself") == NULL && dlsym(RTLD_NEXT, "strlen") != NULL;
}

/* As linked, though not with HIP. */
int has_hip(void)
{
	return hipInit != NULL;
}

int finds_hip(void)
{
	return dlsym(RTLD_DEFAULT, "hipInit") != NULL;
}

const char *error(void)
{
	return dlerror();
}
