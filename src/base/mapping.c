/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/error.h"

enum {
	NAME_BYTES = 64
};

/* One for each mapping. The handler may walk the list at any time: entries are used again, but never freed. */
struct mr_mapping_entry {
	struct mr_mapping_entry *next;  /* never changes once the entry is in the list */
	struct mr_mapping_entry *spare; /* another that is not in use */
	_Atomic(const uint8_t *) bytes; /* NULL: not in use */
	_Atomic size_t size;
	_Atomic bool is_cut;
	char name[NAME_BYTES];
};

static _Atomic(struct mr_mapping_entry *) entries;
static struct mr_mapping_entry *spares;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER; /* for changes */
static struct sigaction earlier;                                 /* of SIGBUS */

/* ---- files that become shorter -------------------------------------------------------------------- */

static struct mr_mapping_entry *find_entry(const uint8_t *address)
{
	for (struct mr_mapping_entry *entry = atomic_load(&entries); entry; entry = entry->next) {
		const uint8_t *bytes = atomic_load(&entry->bytes);

		if (bytes && address >= bytes && address < bytes + atomic_load(&entry->size))
			return entry;
	}
	return NULL;
}

/* Puts zeros in the place of the page and all that follow: what lies behind the end of a file is missing. */
static bool fill_with_zeros(struct mr_mapping_entry *entry, const uint8_t *address)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uint8_t *bytes = atomic_load(&entry->bytes);
	size_t first = (size_t)(address - bytes) / page * page;

	atomic_store(&entry->is_cut, true);
	return mmap((void *)(bytes + first), atomic_load(&entry->size) - first, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int error = errno;
	bool is_fault = info->si_code > 0;
	struct mr_mapping_entry *entry = is_fault ? find_entry(info->si_addr) : NULL;

	(void)context;
	if (!entry || !fill_with_zeros(entry, info->si_addr)) {
		/* Not ours. A fault happens again, now under the earlier action. */
		sigaction(number, &earlier, NULL);
		if (!is_fault)
			raise(number);
	}
	errno = error;
}

static void install_handler(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO}, found;

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, &found) == 0 && found.sa_sigaction != on_sigbus)
		earlier = found;
}

static struct mr_mapping_entry *take_entry(void)
{
	struct mr_mapping_entry *entry = spares;

	if (entry) {
		spares = entry->spare;
		return entry;
	}
	entry = calloc(1, sizeof *entry);
	if (entry) {
		entry->next = atomic_load(&entries);
		atomic_store(&entries, entry);
	}
	return entry;
}

static int add_entry(struct mr_mapping *mapping, const char *name)
{
	pthread_mutex_lock(&entries_lock);
	install_handler();
	struct mr_mapping_entry *entry = take_entry();
	if (entry) {
		snprintf(entry->name, sizeof entry->name, "%s", name);
		atomic_store(&entry->is_cut, false);
		atomic_store(&entry->size, mapping->size);
		atomic_store(&entry->bytes, mapping->bytes);
	}
	mapping->entry = entry;
	pthread_mutex_unlock(&entries_lock);
	return entry ? 0 : -ENOMEM;
}

static void remove_entry(struct mr_mapping_entry *entry)
{
	pthread_mutex_lock(&entries_lock);
	atomic_store(&entry->bytes, NULL);
	entry->spare = spares;
	spares = entry;
	pthread_mutex_unlock(&entries_lock);
}

int mr_mappings_check(void)
{
	char name[NAME_BYTES] = "";

	pthread_mutex_lock(&entries_lock);
	for (struct mr_mapping_entry *entry = atomic_load(&entries); entry && !*name;
	     entry = entry->next)
		if (atomic_load(&entry->bytes) && atomic_load(&entry->is_cut))
			memcpy(name, entry->name, sizeof name);
	pthread_mutex_unlock(&entries_lock);
	return *name ? mr_fail(EIO,
			       "%s was truncated, or the disk failed, while it was read: try again",
			       name)
		     : 0;
}

/* ---- mapping -------------------------------------------------------------------------------------- */

int mr_mapping_open(int directory, const char *name, struct mr_mapping *ret_mapping)
{
	/* O_NONBLOCK: a named pipe must not make us wait for a writer. */
	mr_auto(close_fd) int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return mr_fail_errno(errno, "cannot open %s", name);
	struct stat status;
	if (fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "cannot examine %s", name);
	if (!S_ISREG(status.st_mode))
		return mr_fail(EINVAL, "%s is not a regular file", name);
	struct mr_mapping mapping = {.size = (size_t)status.st_size};
	if (mapping.size > 0) {
		void *bytes = mmap(NULL, mapping.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes == MAP_FAILED)
			return mr_fail_errno(errno, "cannot map %s", name);
		mapping.bytes = bytes;
		if (add_entry(&mapping, name) < 0) {
			munmap(bytes, mapping.size);
			return mr_fail_errno(ENOMEM, "cannot map %s", name);
		}
	}
	*ret_mapping = mapping;
	return 0;
}

void mr_mapping_close(struct mr_mapping *mapping)
{
	if (mapping->entry)
		remove_entry(mapping->entry);
	if (mapping->bytes)
		munmap((void *)mapping->bytes, mapping->size);
	*mapping = (struct mr_mapping){0};
}
