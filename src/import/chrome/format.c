/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "import/chrome/kineto.h"

static bool is_blank(uint8_t byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Any JSON object or array may be one; the word that no other tool uses makes it sure. Blanks may fill the head. */
static enum mr_sniff sniff(const struct mr_head *head)
{
	static const char word[] = "\"traceEvents\"";
	const uint8_t *at = head->bytes, *end = at + head->count;

	if (head->count >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
		at += 3;
	while (at < end && is_blank(*at))
		at++;
	if (at == end)
		return head->is_whole ? MR_SNIFF_NO : MR_SNIFF_MAYBE;
	if (*at != '{' && *at != '[')
		return MR_SNIFF_NO;
	return memmem(at, (size_t)(end - at), word, sizeof word - 1) ? MR_SNIFF_SURE
								     : MR_SNIFF_MAYBE;
}

static int read_trace(struct mr_import *import)
{
	struct mr_kineto kineto;

	mr_kineto_start(&kineto, import);
	int result = mr_chrome_read(import->source, &kineto.reader);
	if (result == 0)
		result = mr_kineto_complete(&kineto);
	mr_kineto_free(&kineto);
	return result;
}

const struct mr_format mr_chrome_format = {
	.name = "Chrome trace JSON (Kineto, chrome://tracing)",
	.sniff = sniff,
	.read = read_trace,
};
