/* SPDX-License-Identifier: Apache-2.0 */
#include "import/formats.h"

#include <errno.h>

#include "base/error.h"
#include "import/unread.h"

const struct mr_format *const mr_formats[] = {
#define MR_FORMAT(name) &mr_##name##_format,
#include "import/formats.def"
#undef MR_FORMAT
	NULL,
};

const struct mr_format *mr_format_choose(const struct mr_format *const *formats,
					 const struct mr_head *head)
{
	const struct mr_format *chosen = NULL;
	enum mr_sniff surest = MR_SNIFF_NO;

	for (; *formats; formats++) {
		enum mr_sniff sure = (*formats)->sniff(head);

		if (sure > surest) {
			surest = sure;
			chosen = *formats;
		}
	}
	return chosen;
}

/* "A", "A or B", "A, B or C". NULL without memory. */
static const char *list_names(const struct mr_format *const *formats, struct mr_region *region)
{
	const char *names = formats[0] ? formats[0]->name : "";

	for (size_t i = 1; names && formats[i]; i++)
		names = mr_region_print(region, "%s%s%s", names, formats[i + 1] ? ", " : " or ",
					formats[i]->name);
	return names;
}

int mr_format_refuse(const struct mr_format *const *formats, const struct mr_head *head)
{
	const struct mr_unread *unread = mr_unread_find(head);
	struct mr_region region = {0};

	if (head->count == 0)
		return mr_fail(EINVAL, "not a trace: the file is empty");
	if (unread)
		return mr_fail(EINVAL, "this is %s, which millrace does not read: %s", unread->name,
			       unread->advice);
	const char *names = list_names(formats, &region);
	mr_fail(EINVAL, "not a trace: it is neither a recording of millrace nor %s",
		names ? names : "of another tool");
	mr_region_free(&region);
	return -EINVAL;
}
