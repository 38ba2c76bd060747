/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads, categories and nodes of the events of a Chrome trace. Events name them by text; these functions find what
 * a text stands for in the builder, or add it there.
 *
 *     "pid": 7, "tid": "main"          ──► thread of a process; either may be a number or any text
 *     "cat": "b", "id": 1 (phase b e)  ──► thread of its own, named after the category and the id
 *     "cat": "cpu_op", "name": "add"   ──► node "add" of the graph "cpu_op"
 *     M; member deviceProperties       ──► what they are called
 *
 * Successive events mostly have the same thread and category, so the last of each is cached (struct mr_kineto): there
 * is no lookup while they stay the same.
 */
#ifndef MR_IMPORT_CHROME_KINETO_NAMES_H
#define MR_IMPORT_CHROME_KINETO_NAMES_H

#include "import/chrome/kineto.h"

/* The text of a string or a number; that of anything else is empty. Each returns 0 or -ENOMEM. */
int mr_kineto_string(struct mr_kineto *kineto, const struct mr_json_value *value,
		     uint32_t *ret_string);

/* "first second" as one string, both as they are written in the file. */
int mr_kineto_pair(struct mr_kineto *kineto, const struct mr_json_value *first,
		   const struct mr_json_value *second, uint32_t *ret_string);

int mr_kineto_thread(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     uint32_t *ret_thread);

/* The thread of an asynchronous interval. */
int mr_kineto_async_thread(struct mr_kineto *kineto, const struct mr_chrome_event *event,
			   uint32_t *ret_thread);

int mr_kineto_node(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		   uint32_t *ret_node);

/* What an event of the phase M says, and an element of deviceProperties. */
int mr_kineto_add_name(struct mr_kineto *kineto, const struct mr_chrome_event *event);
int mr_kineto_add_device_name(struct mr_kineto *kineto, const struct mr_json_value *properties);

#endif
