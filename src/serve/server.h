/* SPDX-License-Identifier: Apache-2.0
 *
 * The viewer's server: serves the page (report/assets.h) and answers its questions about traces (endpoints.h), over HTTP.
 *
 *     http://127.0.0.1:PORT/TOKEN/                     the page
 *                          /TOKEN/traces/0/NAME?…      an endpoint; progress from the start, all others once loaded
 *
 * Any web page can make a browser send requests to 127.0.0.1. A client must therefore know the token, 128 random bits,
 * and must address the server by a name of this machine, which excludes foreign names that resolve to it (DNS
 * rebinding). The server writes nothing, and serves nothing but the page and the trace's data.
 *
 * One thread per connection, at most MR_SERVER_CONNECTIONS; a connection ends after a time without traffic. Those that
 * have not shown the token keep nobody out (connections.h).
 */
#ifndef MR_SERVE_SERVER_H
#define MR_SERVE_SERVER_H

#include <stdint.h>

#include "serve/traces.h"

enum {
	MR_SERVER_CONNECTIONS = 512,
};

struct mr_server;

/* Listens on a port (0: any free one), so that clients can connect and wait. The token is a new one, or is kept in a
 * file (token.h) unless the path is NULL. If it fails, the error says what to do. */
int mr_server_open(uint16_t port, const char *token_file, struct mr_server **ret_server);

/* Answers from these traces, which must stay until the server is stopped. */
int mr_server_start(struct mr_server *server, struct mr_traces *traces);

/* Accepts no more requests and waits a short time for answers and loading in progress. -EBUSY if they take longer: then
 * the server is not stopped. */
int mr_server_stop(struct mr_server *server);

/* Stops it if necessary, however long that takes. */
void mr_server_free(struct mr_server *server);

static inline void mr_cleanup_server(struct mr_server **server)
{
	mr_server_free(*server);
}

/* Of the page; as long as the server. */
const char *mr_server_url(const struct mr_server *server);

#endif
