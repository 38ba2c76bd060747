/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/vocabulary.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const char own_word[] = "queue";

const char *mr_queue_word(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;

	return survey->queue_words.count == 1 ? mr_survey_text(survey, survey->queue_words.items[0])
					      : own_word;
}

/* Where the word stands next; NULL: nowhere. */
static const char *find_word(const char *text, const char *from, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(from, word); at; at = strstr(at + 1, word)) {
		const char *end = at + length + (at[length] == 's');

		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)*end))
			return at;
	}
	return NULL;
}

const char *mr_reword(struct mr_region *region, const char *text, const char *ours,
		      const char *theirs)
{
	const char *at = find_word(text, text, ours);

	while (text && at) {
		size_t before = (size_t)(at - text), now = before + strlen(theirs);
		text = mr_region_print(region, "%.*s%s%s", (int)before, text, theirs,
				       at + strlen(ours));
		at = text ? find_word(text, text + now, ours) : NULL;
	}
	return text;
}

static int reword_columns(struct mr_region *region, struct mr_finding_table *table,
			  const char *word)
{
	size_t bytes = table->column_count * sizeof *table->columns;
	struct mr_finding_column *columns = mr_region_allocate(region, bytes);

	if (!columns)
		return -ENOMEM;
	memcpy(columns, table->columns, bytes);
	for (uint32_t i = 0; i < table->column_count; i++) {
		columns[i].title = mr_reword(region, columns[i].title, own_word, word);
		if (!columns[i].title)
			return -ENOMEM;
	}
	table->columns = columns;
	table->title = mr_reword(region, table->title, own_word, word);
	return table->title ? 0 : -ENOMEM;
}

static int reword_finding(struct mr_region *region, struct mr_finding *finding, const char *word)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < finding->tables.count; i++)
		result = reword_columns(region, finding->tables.items[i], word);
	return result;
}

int mr_vocabulary_apply(const struct mr_model *model, struct mr_findings *findings)
{
	const char *word = mr_queue_word(model);
	int result = 0;

	if (strcmp(word, own_word) == 0)
		return 0;
	for (size_t i = 0; result == 0 && i < findings->list.count; i++)
		result = reword_finding(&findings->region, findings->list.items[i], word);
	return result;
}
