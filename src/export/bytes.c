/* SPDX-License-Identifier: Apache-2.0 */
#include "export/bytes.h"

#include "base/error.h"
#include "base/utf8.h"

void mr_bytes_text(struct mr_bytes *bytes, const char *text)
{
	while (*text) {
		const char *end = text;

		while (*end && mr_utf8_length(end))
			end += mr_utf8_length(end);
		mr_bytes_add(bytes, text, (size_t)(end - text));
		if (*end) {
			mr_bytes_add(bytes, "\xEF\xBF\xBD", 3);
			end++;
		}
		text = end;
	}
}

int mr_bytes_write(struct mr_bytes *bytes, FILE *file)
{
	if (bytes->is_incomplete)
		return mr_fail_errno(ENOMEM, "write the export");
	errno = 0;
	if (fwrite(bytes->items, 1, bytes->count, file) != bytes->count)
		return mr_fail_errno(errno ? errno : EIO, "write the export");
	bytes->count = 0;
	return 0;
}
