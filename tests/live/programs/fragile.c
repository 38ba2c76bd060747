/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that libmillrace.so must stay out of: it exports a name by which programs with a sanitizer are known. Says
 * whether the library is there. (A sanitizer itself would also mind the library that makes faults.)
 */
#include <link.h>
#include <stdio.h>
#include <string.h>

void __hwasan_init(void);

void __hwasan_init(void)
{
}

static int is_millrace(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	return strstr(info->dlpi_name, "libmillrace.so") != NULL;
}

int main(void)
{
	puts(dl_iterate_phdr(is_millrace, NULL) ? "harmed" : "well");
}
