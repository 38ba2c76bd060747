/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/raw_types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

/* ---- bytes -------------------------------------------------------------------------------------------- */

static int read_all(int fd, uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t got = read(fd, bytes + at, size - at);
		if (got <= 0)
			return got < 0 ? -errno : -EINVAL;
		at += (size_t)got;
	}
	return 0;
}

/* Where the kernel does not let them be mapped (before Linux 6.16), they are read. */
static int get_bytes(const char *path, struct mr_raw_types *types)
{
	struct stat status;
	mr_auto(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	size_t size = (size_t)status.st_size;
	if (size < sizeof(struct btf_header))
		return -EINVAL;
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	int result = 0;
	if (bytes == MAP_FAILED) {
		bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (bytes == MAP_FAILED)
			return -errno;
		result = read_all(fd, bytes, size);
	}
	types->bytes = bytes;
	types->size = size;
	return result;
}

/* ---- index -------------------------------------------------------------------------------------------- */

/* Bytes after the head; -1: a kind that is not known. */
static int64_t bytes_after(const struct btf_type *type)
{
	int64_t count = btf_vlen(type);
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return count * (int64_t)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return count * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * (int64_t)sizeof(struct btf_var_secinfo);
	default:
		return -1;
	}
}

static int make_index(struct mr_raw_types *types)
{
	const struct btf_header *head = (const struct btf_header *)types->bytes;
	uint64_t begin = (uint64_t)head->hdr_len + head->type_off, end = begin + head->type_len;
	uint64_t names = (uint64_t)head->hdr_len + head->str_off;
	if (head->magic != BTF_MAGIC || end > types->size || begin % 4 || head->str_len == 0 ||
	    names + head->str_len > types->size || types->bytes[names + head->str_len - 1] != 0)
		return -EINVAL;
	types->names = (const char *)types->bytes + names;
	types->name_bytes = head->str_len;
	types->by_number =
		calloc(head->type_len / sizeof(struct btf_type) + 1, sizeof(struct btf_type *));
	if (!types->by_number)
		return -ENOMEM;
	types->count = 1;
	while (begin + sizeof(struct btf_type) <= end) {
		const struct btf_type *type = (const struct btf_type *)(types->bytes + begin);
		int64_t after = bytes_after(type);
		begin += sizeof *type + (uint64_t)mr_max(after, INT64_C(0));
		if (after < 0 || begin > end)
			return -EINVAL;
		types->by_number[types->count++] = type;
	}
	return 0;
}

/* ---- for the caller ----------------------------------------------------------------------------------- */

int mr_raw_types_open(const char *path, struct mr_raw_types *ret_types)
{
	struct mr_raw_types types = {0};
	int result = get_bytes(path, &types);
	if (result == 0)
		result = make_index(&types);
	if (result < 0)
		mr_raw_types_close(&types);
	else
		*ret_types = types;
	return result;
}

const struct btf_type *mr_raw_type(const struct mr_raw_types *types, uint32_t number)
{
	return number < types->count ? types->by_number[number] : NULL;
}

const char *mr_raw_type_name(const struct mr_raw_types *types, uint32_t offset)
{
	return offset < types->name_bytes ? types->names + offset : "";
}

void mr_raw_types_close(struct mr_raw_types *types)
{
	if (types->bytes)
		munmap(types->bytes, types->size);
	free(types->by_number);
	*types = (struct mr_raw_types){0};
}
