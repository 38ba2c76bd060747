/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes small traces of one process with events of a framework's own tracing. Times are milliseconds in MS(); the user
 * clock has two ticks for a nanosecond.
 *
 *     framework_start(texts, count);                  // a folder, clocks, and texts with the ids 1, 2, ...
 *     framework_begin(2, 2, 100, MR_PACKET_EVENTS);   // a stream
 *     framework_process_start();
 *     EMIT(traceme, MS(20), NULL, .text = 1, .start = REALTIME(10), .end = REALTIME(20));
 *     framework_end("ctf/main");
 *     mr_model_load(framework_directory, &model);     // then directory_remove(framework_directory)
 */
#ifndef MR_TESTS_UNIT_FRAMEWORK_TRACE_H
#define MR_TESTS_UNIT_FRAMEWORK_TRACE_H

#include "load/load.h"
#include "schema/packet.h"
#include "trace_writer.h"

#define MS(milliseconds)       ((uint64_t)(milliseconds)*1000000)
#define REALTIME(milliseconds) ((int64_t)(MS(milliseconds) + UINT64_C(1700000001000000456)))

extern struct packet framework_packet; /* that is being written */
extern char *framework_directory;

/* EMIT(traceme, ns, NULL, .text = RELU, ...) */
#define EMIT(name, ns, text, ...)                                       \
	packet_event_text(&framework_packet, MR_EVENT_##name, 2 * (ns), \
			  &(const struct mr_event_##name){__VA_ARGS__}, \
			  sizeof(struct mr_event_##name), text)

void framework_start(const char *const *texts, uint32_t text_count);
void framework_begin(uint64_t stream, uint32_t process, uint32_t tid, uint8_t kind);
void framework_end(const char *name);
void framework_process_start(void);

#endif
