/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chrome trace event format: a JSON array of events, or an object whose member traceEvents is one. This finds
 * the events and their common members; the caller interprets them.
 *
 * An invalid event does not affect others. If the text stops being JSON or ends too early, the reader finds no
 * further events: it lists this as the last fault, and everything before it counts.
 */
#ifndef MR_IMPORT_CHROME_CHROME_H
#define MR_IMPORT_CHROME_CHROME_H

#include "import/chrome/json.h"
#include "import/source.h"

/* Members that are absent are of the kind MR_JSON_ABSENT; of members that come twice the last counts. */
struct mr_chrome_event {
	struct mr_json_value category;
	struct mr_json_value name;
	struct mr_json_value pid;
	struct mr_json_value tid;
	struct mr_json_value time;     /* microseconds */
	struct mr_json_value duration; /* microseconds */
	struct mr_json_value id;
	struct mr_json_value args;
	uint64_t offset; /* in the text */
	uint64_t bytes;
	char phase; /* 0: absent, or no single letter */
};

/* Who wants them. What the values point to is valid during the call. Each returns 0 or a negative errno,
 * which ends the reading. */
struct mr_chrome_reader {
	int (*add_event)(struct mr_chrome_reader *reader, const struct mr_chrome_event *event);
	/* A member of the object beside traceEvents. */
	int (*add_member)(struct mr_chrome_reader *reader, const struct mr_json_value *key,
			  const struct mr_json_value *value);
	/* Bytes that could not be read, and why. */
	int (*add_fault)(struct mr_chrome_reader *reader, const char *reason, uint64_t offset,
			 uint64_t bytes);
};

/* Fails if the text holds no list of events. */
int mr_chrome_read(struct mr_source *source, struct mr_chrome_reader *reader);

#endif
