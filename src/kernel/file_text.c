/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/file_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/macros.h"

enum {
	END_POINT_BYTES = INET6_ADDRSTRLEN + 16,
};

/* Reverses the order of the parts: the record has the last one first. */
static void write_path(const struct mr_record_file *record, char *text)
{
	char *at = text;
	const char *end = record->text + mr_min(record->text_bytes, (__u32)MR_BPF_PATH_BYTES);
	while (end > record->text) {
		const char *begin = end - 1; /* the part's zero byte */
		while (begin > record->text && begin[-1] != 0)
			begin--;
		size_t length = (size_t)(end - 1 - begin);
		/* The root of a tree that is mounted nowhere is itself named "/". */
		if (length != 1 || *begin != '/') {
			*at++ = '/';
			memcpy(at, begin, length);
			at += length;
		}
		end = begin;
	}
	if (at == text)
		*at++ = '/';
	strcpy(at, record->head.number ? " (deleted)" : "");
}

static const char *protocol_name(const struct mr_record_file *record)
{
	switch (record->protocol) {
	case IPPROTO_TCP:
		return "TCP";
	case IPPROTO_UDP:
		return "UDP";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "ICMP";
	case IPPROTO_SCTP:
		return "SCTP";
	}
	return "RAW";
}

static void end_point(bool is_inet6, const __u8 *address, uint16_t port, char *ret_text)
{
	char numbers[INET6_ADDRSTRLEN];
	inet_ntop(is_inet6 ? AF_INET6 : AF_INET, address, numbers, sizeof numbers);
	snprintf(ret_text, END_POINT_BYTES, is_inet6 ? "[%s]:%u" : "%s:%u", numbers, port);
}

static void write_internet_socket(const struct mr_record_file *record, char *text)
{
	bool is_inet6 = record->head.detail == MR_FILE_SOCKET_INET6;
	char local[END_POINT_BYTES], remote[END_POINT_BYTES];
	if (record->local_port == 0 && record->remote_port == 0) {
		snprintf(text, MR_KERNEL_FILE_TEXT_BYTES, "%s%s:[%llu]", protocol_name(record),
			 is_inet6 ? "v6" : "", record->inode);
		return;
	}
	end_point(is_inet6, record->local_address, record->local_port, local);
	end_point(is_inet6, record->remote_address, ntohs(record->remote_port), remote);
	snprintf(text, MR_KERNEL_FILE_TEXT_BYTES, "%s%s:[%s%s%s]", protocol_name(record),
		 is_inet6 ? "v6" : "", local, record->remote_port ? "->" : "",
		 record->remote_port ? remote : "");
}

static void write_unix_socket(const struct mr_record_file *record, char *text)
{
	const char *type = record->protocol == SOCK_DGRAM       ? "DGRAM"
			   : record->protocol == SOCK_SEQPACKET ? "SEQPACKET"
								: "STREAM";
	uint64_t peer;
	memcpy(&peer, record->remote_address, sizeof peer);
	int length =
		snprintf(text, MR_KERNEL_FILE_TEXT_BYTES, "UNIX-%s:[%llu", type, record->inode);
	if (peer)
		length += snprintf(text + length, MR_KERNEL_FILE_TEXT_BYTES - (size_t)length,
				   "->%lu", peer);
	/* An abstract address begins with a zero byte, which is shown as @. */
	if (record->text_bytes > 0)
		length += snprintf(text + length, MR_KERNEL_FILE_TEXT_BYTES - (size_t)length,
				   ",\"%s%.*s\"", record->text[0] ? "" : "@",
				   (int)record->text_bytes - (record->text[0] == 0),
				   record->text + (record->text[0] == 0));
	snprintf(text + length, MR_KERNEL_FILE_TEXT_BYTES - (size_t)length, "]");
}

void mr_kernel_file_text(const struct mr_record_file *record,
			 char ret_text[MR_KERNEL_FILE_TEXT_BYTES])
{
	switch ((enum mr_file_kind)record->head.detail) {
	case MR_FILE_PATH:
		write_path(record, ret_text);
		return;
	case MR_FILE_PIPE:
		snprintf(ret_text, MR_KERNEL_FILE_TEXT_BYTES, "pipe:[%llu]", record->inode);
		return;
	case MR_FILE_ANONYMOUS:
		snprintf(ret_text, MR_KERNEL_FILE_TEXT_BYTES, "anon_inode:%.*s",
			 (int)record->text_bytes, record->text);
		return;
	case MR_FILE_SOCKET:
		snprintf(ret_text, MR_KERNEL_FILE_TEXT_BYTES, "socket:[%llu]", record->inode);
		return;
	case MR_FILE_SOCKET_INET:
	case MR_FILE_SOCKET_INET6:
		write_internet_socket(record, ret_text);
		return;
	case MR_FILE_SOCKET_UNIX:
		write_unix_socket(record, ret_text);
		return;
	}
	snprintf(ret_text, MR_KERNEL_FILE_TEXT_BYTES, "unknown");
}
