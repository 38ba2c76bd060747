/* SPDX-License-Identifier: Apache-2.0
 *
 * The viewer's server: the page (report/assets.h) and what it asks of traces (endpoints.h), over HTTP.
 *
 *     http://127.0.0.1:PORT/TOKEN/                     the page
 *                          /TOKEN/traces/0/NAME?…      an endpoint; progress from the start, all others once loaded
 *
 * Any web page can make a browser ask 127.0.0.1. So who asks must know the token, 128 random bits, and must
 * have called us by a name of this machine, which keeps out foreign names that lead here (DNS rebinding).
 * Nothing is written, and nothing is served but the page and the trace's data.
 *
 * One thread per connection, at most MR_SERVER_CONNECTIONS, ended after a time without traffic.
 */
#ifndef MR_SERVE_SERVER_H
#define MR_SERVE_SERVER_H

#include <stdint.h>

#include "serve/traces.h"

enum {
	MR_SERVER_CONNECTIONS = 512,
};

struct mr_server;

/* Takes a port, 0: any that is free, so that clients can connect and wait. Failing tells what to do. */
int mr_server_open(uint16_t port, struct mr_server **ret_server);

/* Answers from these traces, which must stay until the server is stopped. */
int mr_server_start(struct mr_server *server, struct mr_traces *traces);

/* Answers no more and waits, for a short time, for those answers and the loading that are under way; -EBUSY if
 * they take longer: then it is not stopped. */
int mr_server_stop(struct mr_server *server);

/* Stops it, if it is not, however long that takes. */
void mr_server_free(struct mr_server *server);

static inline void mr_cleanup_server(struct mr_server **server)
{
	mr_server_free(*server);
}

/* Of the page; as long as the server. */
const char *mr_server_url(const struct mr_server *server);

#endif
