/* SPDX-License-Identifier: Apache-2.0
 *
 * From a packet's kernel object to a name, and from the name to a function of the host.
 *
 * The runtime keeps a list of the code objects it has loaded, for debuggers, and gives its address to the thunk. A kernel
 * object is the address of a symbol "NAME.kd" in one of them. The function is softk_NAME in a library that softcc made.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"

enum {
	BUCKETS = 256,
};

static struct soft_kernel *kernels[BUCKETS];
static const struct soft_code_list *code_list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void soft_kernels_listed_by(const struct soft_code_list *list)
{
	code_list = list;
}

/* ---- names ---- */

/* Where code objects say that they are: memory://PID#offset=0x..&size=N or file://PATH#offset=0x..&size=N. */
struct place {
	char path[4096]; /* empty: in memory */
	uint64_t offset;
	uint64_t bytes;
};

static bool parse(const char *uri, struct place *ret_place)
{
	const char *offset = strstr(uri, "offset="), *bytes = strstr(uri, "size=");
	bool is_file = strncmp(uri, "file://", 7) == 0;
	size_t length = 0;
	for (const char *at = uri + 7; is_file && *at && *at != '#'; at++) {
		unsigned int character = (unsigned char)*at;
		if (character == '%' && sscanf(at + 1, "%2x", &character) == 1)
			at += 2;
		if (length + 1 < sizeof ret_place->path)
			ret_place->path[length++] = (char)character;
	}
	ret_place->path[length] = 0;
	ret_place->offset = offset ? strtoull(offset + 7, NULL, 0) : 0;
	ret_place->bytes = bytes ? strtoull(bytes + 5, NULL, 0) : 0;
	return is_file || strncmp(uri, "memory://", 9) == 0;
}

/* Finds the symbol "NAME.kd" with that value. */
static bool find_symbol(const char *elf, uint64_t value, char *ret_name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(elf + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM && sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const Elf64_Sym *)(elf + sections[i].sh_offset);
		const char *names = elf + sections[sections[i].sh_link].sh_offset;
		for (uint64_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++) {
			const char *name = names + symbols[j].st_name;
			size_t length = strlen(name);
			if (symbols[j].st_value != value || length < 4 ||
			    strcmp(name + length - 3, ".kd") != 0)
				continue;
			snprintf(ret_name, SOFT_NAME_BYTES, "%.*s", (int)length - 3, name);
			return true;
		}
	}
	return false;
}

static bool find_in_file(const struct place *place, uint64_t value, char *ret_name)
{
	struct stat status;
	int file = open(place->path, O_RDONLY | O_CLOEXEC);
	bool is_open = file >= 0 && fstat(file, &status) == 0 &&
		       place->offset + place->bytes <= (uint64_t)status.st_size;
	char *content =
		is_open ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0)
			: MAP_FAILED;
	if (file >= 0)
		close(file);
	if (content == MAP_FAILED)
		return false;
	bool is_found = find_symbol(content + place->offset, value, ret_name);
	munmap(content, (size_t)status.st_size);
	return is_found;
}

static bool find_name(uint64_t object, char *ret_name)
{
	struct place place;
	for (const struct soft_code *code = code_list ? code_list->first : NULL; code;
	     code = code->next) {
		uint64_t value = object - code->address;
		if (!parse(code->uri, &place))
			continue;
		if (place.path[0] ? find_in_file(&place, value, ret_name)
				  : find_symbol((const char *)place.offset, value, ret_name))
			return true;
	}
	return false;
}

/* ---- functions ---- */

/* Looks in a library. True if it has the function. */
static bool bind_in(const char *path, struct soft_kernel *kernel)
{
	char symbol[SOFT_NAME_BYTES + 8];
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	snprintf(symbol, sizeof symbol, "softk_%s", kernel->name);
	*(void **)&kernel->run = dlsym(library, symbol);
	snprintf(symbol, sizeof symbol, "softb_%s", kernel->name);
	kernel->has_barrier = kernel->run && dlsym(library, symbol);
	return kernel->run != NULL;
}

static void bind_function(struct soft_kernel *kernel)
{
	kernel->run_all = soft_own_kernel_find(kernel->name);
	const char *listed = getenv("SOFT_AMD_KERNELS");
	char *list = strdup(listed ? listed : ""), *rest = list, *path;
	while (!kernel->run_all && rest && (path = strsep(&rest, ":")))
		if (*path && bind_in(path, kernel))
			break;
	free(list);
}

/* The lock is held. */
static struct soft_kernel *add(uint64_t object, struct soft_kernel **bucket)
{
	static struct soft_kernel nothing = {.name = "(no memory)"};
	struct soft_kernel *kernel = calloc(1, sizeof *kernel);
	if (!kernel)
		return &nothing;
	kernel->object = object;
	if (!find_name(object, kernel->name))
		strcpy(kernel->name, soft_own_kernel_name(object));
	bind_function(kernel);
	kernel->next = *bucket;
	*bucket = kernel;
	return kernel;
}

struct soft_kernel *soft_kernel_find(uint64_t object)
{
	struct soft_kernel **bucket = &kernels[(object >> 6) % BUCKETS];
	pthread_mutex_lock(&lock);
	struct soft_kernel *kernel = *bucket;
	while (kernel && kernel->object != object)
		kernel = kernel->next;
	if (!kernel)
		kernel = add(object, bucket);
	pthread_mutex_unlock(&lock);
	return kernel;
}

void soft_kernels_forget(const void *start, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUCKETS; i++)
		for (struct soft_kernel **link = &kernels[i], *kernel; (kernel = *link);) {
			if (kernel->object - (uint64_t)start >= bytes) {
				link = &kernel->next;
				continue;
			}
			*link = kernel->next;
			free(kernel);
		}
	pthread_mutex_unlock(&lock);
}
