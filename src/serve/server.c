/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/error.h"
#include "serve/connections.h"
#include "serve/respond.h"
#include "serve/token.h"

enum {
	SILENCE_S = 60,           /* then a connection is ended */
	STRANGER_SILENCE_S = 10,  /* the same before its first valid request */
	REQUEST_BYTES = 64 << 10, /* request line and headers */
	BACKLOG = 256,
	STACK_BYTES = 1 << 20, /* of the thread of a connection: there may be many */
	PATIENCE_MS = 500,     /* with answers that are being made when the server shall stop */
};

struct mr_server {
	struct MHD_Daemon *daemon; /* NULL: not started, or stopped */
	int socket;                /* that listens; -1: it is the daemon's */
	struct mr_traces *traces;
	struct mr_connections connections;
	struct mr_access_token token;
	char hosts[2][32];                      /* what we may be called */
	char root[MR_ACCESS_TOKEN_LETTERS + 3]; /* /TOKEN/ */
	char url[96];
	_Atomic uint32_t answers; /* being made */
	_Atomic bool is_stopping; /* no more of them */
};

/* From the request line until its answer is sent. */
struct exchange {
	struct mr_request request;
	char *error;      /* what is wrong with the request line; NULL: nothing */
	bool has_headers; /* the headers were seen */
};

/* ---- requests ----------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_our_host(const struct mr_server *server, const char *host)
{
	for (size_t i = 0; host && i < mr_countof(server->hosts); i++)
		if (strcasecmp(host, server->hosts[i]) == 0)
			return true;
	return false;
}

/* Browsers say so themselves; what is none says nothing. */
static bool is_foreign(struct MHD_Connection *connection)
{
	const char *site = header(connection, "Sec-Fetch-Site");

	return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static enum MHD_Result answer(struct mr_server *server, struct MHD_Connection *connection,
			      struct mr_loading *trace, const char *name,
			      const struct mr_request *request)
{
	enum MHD_Result result;

	if (is_foreign(connection))
		return mr_respond_text(connection, MHD_HTTP_FORBIDDEN,
				       "Only pages of this server may send requests.\n");
	/* However long we take, the client is not silent. */
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0);
	atomic_fetch_add(&server->answers, 1);
	if (atomic_load(&server->is_stopping))
		result = mr_respond_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
					 "The server is stopping.\n");
	else
		result = mr_respond_answer(connection, trace, name, request);
	atomic_fetch_sub(&server->answers, 1);
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
				  (unsigned int)SILENCE_S);
	return result;
}

static enum MHD_Result respond(struct mr_server *server, struct MHD_Connection *connection,
			       const struct mr_request *request)
{
	const char *path = request->path, *name;

	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
				  (unsigned int)SILENCE_S);
	if (!path) /* without the slash, the page's links would lead astray */
		return mr_respond_redirect(connection, server->root);
	struct mr_loading *trace = mr_traces_find(server->traces, path, &name);
	if (trace)
		return answer(server, connection, trace, name, request);
	const struct mr_asset *asset = mr_asset_find(*path ? path : "index.html");
	return asset ? mr_respond_asset(connection, asset)
		     : mr_respond_text(connection, MHD_HTTP_NOT_FOUND, "No such page.\n");
}

static enum MHD_Result count_header(void *cls, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	static const char *const single[] = {MHD_HTTP_HEADER_HOST, MHD_HTTP_HEADER_CONTENT_LENGTH,
					     MHD_HTTP_HEADER_TRANSFER_ENCODING};
	uint32_t *counts = cls;

	(void)kind;
	(void)value;
	for (size_t i = 0; i < mr_countof(single); i++)
		counts[i] += strcasecmp(name, single[i]) == 0;
	return MHD_YES;
}

/* Whoever stands between us and the client may look at the other one: whose request is it then? */
static bool repeats_header(struct MHD_Connection *connection)
{
	uint32_t counts[3] = {0};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, counts);
	return counts[0] > 1 || counts[1] > 1 || counts[2] > 1 || (counts[1] && counts[2]);
}

static bool has_body(struct MHD_Connection *connection)
{
	const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* The message for a request that must be rejected; NULL if the request is acceptable. */
static const char *find_refusal(const struct mr_server *server, struct MHD_Connection *connection,
				const char *method, const struct exchange *exchange,
				unsigned int *ret_status)
{
	if (repeats_header(connection)) {
		*ret_status = MHD_HTTP_BAD_REQUEST;
		return "Host, Content-Length or Transfer-Encoding is given more than once.\n";
	}
	if (!is_our_host(server, header(connection, MHD_HTTP_HEADER_HOST))) {
		*ret_status = MHD_HTTP_MISDIRECTED_REQUEST;
		return "This is not the server's name: open the address that `millrace view` has "
		       "printed.\n";
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		*ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
		return "Only GET and HEAD are allowed.\n";
	}
	if (has_body(connection)) {
		*ret_status = MHD_HTTP_CONTENT_TOO_LARGE;
		return "Requests must not have a body.\n";
	}
	if (exchange->error) {
		*ret_status = MHD_HTTP_BAD_REQUEST;
		return exchange->error;
	}
	if (!mr_access_token_is(&server->token, exchange->request.token)) {
		*ret_status = MHD_HTTP_FORBIDDEN;
		return "The address is incomplete: open the one that `millrace view` has "
		       "printed, with everything after the port.\n";
	}
	return NULL;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **context)
{
	struct mr_server *server = cls;
	struct exchange *exchange = *context;
	unsigned int status;

	(void)url;
	(void)version;
	(void)upload;
	if (!exchange)
		return MHD_NO; /* there was no memory for it */
	*upload_size = 0;
	const char *refusal = find_refusal(server, connection, method, exchange, &status);
	if (refusal)
		return mr_respond_text(connection, status, refusal);
	mr_connections_welcome(&server->connections, connection);
	if (!exchange->has_headers) { /* an answer now would end the connection */
		exchange->has_headers = true;
		return MHD_YES;
	}
	return respond(server, connection, &exchange->request);
}

/* The target as it was sent: the library's own decoding is not used. */
static void *begin_exchange(void *cls, const char *target, struct MHD_Connection *connection)
{
	struct exchange *exchange = calloc(1, sizeof *exchange);

	(void)cls;
	(void)connection;
	if (!exchange)
		return NULL;
	if (mr_request_parse(target, &exchange->request) < 0 &&
	    asprintf(&exchange->error, "The request cannot be read: %s\n", mr_error_text()) < 0) {
		free(exchange);
		return NULL;
	}
	return exchange;
}

static void end_exchange(void *cls, struct MHD_Connection *connection, void **context,
			 enum MHD_RequestTerminationCode how)
{
	struct exchange *exchange = *context;

	(void)cls;
	(void)connection;
	(void)how;
	if (!exchange)
		return;
	mr_request_free(&exchange->request);
	free(exchange->error);
	free(exchange);
	*context = NULL;
}

/* ---- begin and end ------------------------------------------------------------------------------ */

static int listen_on(uint16_t port, uint16_t *ret_port, int *ret_socket)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof address;
	mr_auto(close_fd) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return mr_fail_errno(errno, "cannot create a socket");
	/* A server that has just ended still holds its port, else. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, BACKLOG) < 0) {
		if (errno == EADDRINUSE)
			return mr_fail(EADDRINUSE,
				       "port %u is in use: choose another, or omit --port "
				       "to get any free port",
				       port);
		return mr_fail_errno(errno, "cannot listen on port %u", port);
	}
	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return mr_fail_errno(errno, "cannot find out the port");
	*ret_port = ntohs(address.sin_port);
	*ret_socket = fd;
	fd = -1;
	return 0;
}

static void name_server(struct mr_server *server, uint16_t port)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < mr_countof(names); i++) {
		char *host = server->hosts[i];

		if (port == 80) /* browsers leave it out */
			snprintf(host, sizeof server->hosts[i], "%s", names[i]);
		else
			snprintf(host, sizeof server->hosts[i], "%s:%u", names[i], port);
	}
	snprintf(server->root, sizeof server->root, "/%s/", server->token.text);
	snprintf(server->url, sizeof server->url, "http://%s%s", server->hosts[0], server->root);
}

int mr_server_open(uint16_t port, const char *token_file, struct mr_server **ret_server)
{
	mr_auto(free) struct mr_server *server = calloc(1, sizeof *server);

	if (!server)
		return mr_fail_errno(ENOMEM, "cannot create the server");
	int result = mr_access_token_get(token_file, &server->token);
	if (result == 0)
		result = listen_on(port, &port, &server->socket);
	if (result < 0)
		return result;
	name_server(server, port);
	*ret_server = mr_take(server);
	return 0;
}

int mr_server_start(struct mr_server *server, struct mr_traces *traces)
{
	server->traces = traces;
	mr_connections_start(&server->connections);
	server->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC,
		0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, server->socket,
		MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		end_exchange, NULL, MHD_OPTION_NOTIFY_CONNECTION, mr_connections_notify,
		&server->connections, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)MR_SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)STRANGER_SILENCE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!server->daemon) {
		mr_connections_end(&server->connections);
		return mr_fail(EIO, "cannot start the HTTP server");
	}
	server->socket = -1; /* the daemon's */
	return 0;
}

static bool is_busy(struct mr_server *server)
{
	return atomic_load(&server->answers) > 0 || mr_traces_wait(server->traces, 0) == -ETIMEDOUT;
}

static void stop(struct mr_server *server)
{
	MHD_stop_daemon(mr_take(server->daemon));
	mr_connections_end(&server->connections);
}

int mr_server_stop(struct mr_server *server)
{
	atomic_store(&server->is_stopping, true);
	for (int waited_ms = 0; is_busy(server); waited_ms += 10) {
		if (waited_ms >= PATIENCE_MS)
			return mr_fail(EBUSY, "requests are still being answered");
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
	}
	stop(server);
	return 0;
}

void mr_server_free(struct mr_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		stop(server);
	if (server->socket >= 0)
		close(server->socket);
	free(server);
}

const char *mr_server_url(const struct mr_server *server)
{
	return server->url;
}
