/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/macros.h"

struct mr_connection {
	struct mr_connection *before; /* of the strangers: the one that came earlier, and later */
	struct mr_connection *after;
	int socket; /* a duplicate: nobody else can get its number meanwhile; -1: not a stranger */
};

void mr_connections_start(struct mr_connections *connections)
{
	*connections = (struct mr_connections){0};
	pthread_mutex_init(&connections->lock, NULL);
}

void mr_connections_end(struct mr_connections *connections)
{
	pthread_mutex_destroy(&connections->lock);
}

/* ---- the list of strangers ------------------------------------------------------------------------ */

static void append(struct mr_connections *connections, struct mr_connection *stranger)
{
	stranger->before = connections->newest;
	if (connections->newest)
		connections->newest->after = stranger;
	else
		connections->oldest = stranger;
	connections->newest = stranger;
	connections->stranger_count++;
}

/* It is a stranger no more, or gone. */
static void release(struct mr_connections *connections, struct mr_connection *stranger)
{
	if (stranger->socket < 0)
		return;
	*(stranger->before ? &stranger->before->after : &connections->oldest) = stranger->after;
	*(stranger->after ? &stranger->after->before : &connections->newest) = stranger->before;
	connections->stranger_count--;
	close(stranger->socket);
	stranger->socket = -1;
}

/* Its thread sees the end of the connection, and closes it. */
static void disconnect_oldest(struct mr_connections *connections)
{
	shutdown(connections->oldest->socket, SHUT_RDWR);
	release(connections, connections->oldest);
}

/* ---- from the server ------------------------------------------------------------------------------ */

static struct mr_connection *make_stranger(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct mr_connection *stranger = calloc(1, sizeof *stranger);

	if (stranger)
		stranger->socket = info ? fcntl(info->connect_fd, F_DUPFD_CLOEXEC, 0) : -1;
	return stranger;
}

static void come(struct mr_connections *connections, struct mr_connection *stranger)
{
	if (!stranger || stranger->socket < 0)
		return; /* without memory or descriptors it is not watched */
	pthread_mutex_lock(&connections->lock);
	while (connections->stranger_count >= MR_STRANGERS_MAX)
		disconnect_oldest(connections);
	append(connections, stranger);
	pthread_mutex_unlock(&connections->lock);
}

static void go(struct mr_connections *connections, struct mr_connection *connection)
{
	if (!connection)
		return;
	pthread_mutex_lock(&connections->lock);
	release(connections, connection);
	pthread_mutex_unlock(&connections->lock);
	free(connection);
}

void mr_connections_notify(void *cls, struct MHD_Connection *connection, void **context,
			   enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = make_stranger(connection);
		come(cls, *context);
	} else {
		go(cls, mr_take(*context));
	}
}

void mr_connections_welcome(struct mr_connections *connections, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct mr_connection *known = info ? info->socket_context : NULL;

	if (!known)
		return;
	pthread_mutex_lock(&connections->lock);
	release(connections, known);
	pthread_mutex_unlock(&connections->lock);
}
