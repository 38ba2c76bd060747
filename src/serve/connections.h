/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is connected. A connection is a stranger until it has sent a request with the right token. Anybody on the machine
 * can connect and stay silent, so strangers never keep anybody else out: when there are too many, the one that came
 * first is disconnected.
 *
 *     oldest                                    newest
 *     stranger ─► stranger ─► ... ─► stranger               at most MR_STRANGERS_MAX
 *        │
 *        └ disconnected when another one comes
 *
 * A connection that has sent a valid request is no stranger any more, and is left alone. Any number of threads.
 */
#ifndef MR_SERVE_CONNECTIONS_H
#define MR_SERVE_CONNECTIONS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>

enum {
	MR_STRANGERS_MAX = 256
};

struct mr_connection;

struct mr_connections {
	pthread_mutex_t lock;
	struct mr_connection *oldest; /* of the strangers, in the order in which they came */
	struct mr_connection *newest;
	uint32_t stranger_count;
};

void mr_connections_start(struct mr_connections *connections);
void mr_connections_end(struct mr_connections *connections);

/* For MHD_OPTION_NOTIFY_CONNECTION, with the connections as closure. */
void mr_connections_notify(void *cls, struct MHD_Connection *connection, void **context,
			   enum MHD_ConnectionNotificationCode what);

/* It has sent a request with the right token. */
void mr_connections_welcome(struct mr_connections *connections, struct MHD_Connection *connection);

#endif
