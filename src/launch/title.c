/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/title.h"

#include <stdio.h>

#include "base/macros.h"

/* Terminals keep the title that was there before on a stack. */
void mr_title_begin(void)
{
	fputs("\033[22;0t", stderr);
}

void mr_title_end(void)
{
	fputs("\033[23;0t", stderr);
	fflush(stderr);
}

void mr_title_show(uint64_t since_start_ns, uint64_t written_bytes)
{
	double seconds = (double)mr_max(since_start_ns, (uint64_t)1) / 1e9;
	double megabytes = (double)written_bytes / 1e6;
	fprintf(stderr, "\033]0;millrace: %.0f s, %.1f MB, %.1f MB/s\007", seconds, megabytes,
		megabytes / seconds);
	fflush(stderr);
}
