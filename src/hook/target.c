/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hook/target.h"
#include "record/own_call.h"

enum {
	SCRIPT_LEVELS = 5,       /* an interpreter may be a script: the kernel follows this many */
	SCRIPT_LINE_BYTES = 256, /* the kernel looks at no more of the first line */
	HEAD_BYTES = 16 << 10,   /* of the file: of most programs all that matters is in it */
	SEGMENTS = 32,
	DYNAMIC_ENTRIES = 512,
	STRINGS_BYTES = 1 << 20, /* read at once: more than nearly all programs have */
	LONGEST_MARK = 16,
};

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define OWN_LINKER  "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#define OWN_LINKER  "/lib/ld-linux-aarch64.so.1"
#endif

struct segments {
	uint32_t count;
	Elf64_Phdr items[SEGMENTS];
};

/* What mr_target_scratch holds. Most of it is never touched, and so costs nothing. */
struct inspection {
	char interpreter[SCRIPT_LINE_BYTES]; /* of a script: to be inspected next */
	union {
		char bytes[HEAD_BYTES];
		Elf64_Ehdr elf;
	} head;
	size_t head_bytes; /* that the file has */
	bool has_failed;   /* to read some of the file */
	struct segments segments;
	char linker[SCRIPT_LINE_BYTES]; /* path of the dynamic linker */
	Elf64_Dyn dynamic[DYNAMIC_ENTRIES];
	char strings[LONGEST_MARK + STRINGS_BYTES];
};

_Static_assert(sizeof(struct inspection) <= sizeof(struct mr_target_scratch), "fits");

/* Names in a program's dynamic string table which show that a sanitizer has taken over its memory or
 * its threads. (libubsan is missing on purpose: it takes over nothing and minds no company.) */
static const char *const sanitizer_marks[] = {
	"\0__asan_init", "\0__hwasan_init", "\0__tsan_init",
	"\0__msan_init", "\0liblsan.so.",   "\0libclang_rt.",
};

const char *mr_untraced_reason_text(enum mr_untraced_reason reason)
{
	switch (reason) {
	case MR_UNTRACED_NONE:
		return "traced";
	case MR_UNTRACED_STATIC:
		return "statically linked";
	case MR_UNTRACED_OTHER_LIBC:
		return "not linked with the GNU C library";
	case MR_UNTRACED_OTHER_CLASS:
		return "built for another processor or word size";
	case MR_UNTRACED_SANITIZER:
		return "built with a sanitizer";
	case MR_UNTRACED_PRIVILEGED:
		return "gains privileges when executed (setuid, setgid or file capabilities)";
	case MR_UNTRACED_NO_LIBRARY:
		return "libmillrace.so cannot be read from there";
	case MR_UNTRACED_NO_ARENA:
		return "the recording cannot be reached from there";
	case MR_UNTRACED_UNREADABLE:
		return "the program file cannot be read";
	case MR_UNTRACED_NO_MEMORY:
		return "there was no memory to look at the program file";
	case MR_UNTRACED_CONFINED:
		return "confined by a seccomp filter that may not allow what millrace needs";
	case MR_UNTRACED_OTHER_USER:
		return "runs as another user";
	case MR_UNTRACED_NO_DESCRIPTOR:
		return "no file descriptor was free";
	case MR_UNTRACED_LITTLE_MEMORY:
		return "a memory limit leaves no room for the recording";
	case MR_UNTRACED_OTHER_VERSION:
		return "another version of millrace is in its environment";
	case MR_UNTRACED_REASONS:
		break;
	}
	return "unknown";
}

/* Copies from the head, or reads what lies beyond it. */
static bool read_at(int file, struct inspection *inspection, void *bytes, size_t count,
		    uint64_t offset)
{
	if (offset > inspection->head_bytes || count > inspection->head_bytes - offset) {
		long result = mr_own_call(SYS_pread64, file, bytes, count, offset);
		inspection->has_failed |= result < 0;
		return result == (long)count;
	}
	memcpy(bytes, inspection->head.bytes + offset, count);
	return true;
}

/* The dynamic linker ignores the environment of a program whose real and effective ids differ, or that
 * has capabilities of its own. A root-owned setuid program run by root is like any other. */
static bool gains_privileges(int file, const struct stat *status)
{
	bool setuid = status->st_mode & S_ISUID;
	bool setgid = (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP);
	uid_t user, effective_user, saved_user;
	gid_t group, effective_group, saved_group;
	if (mr_own_call(SYS_getresuid, &user, &effective_user, &saved_user) < 0 ||
	    mr_own_call(SYS_getresgid, &group, &effective_group, &saved_group) < 0)
		return setuid || setgid;
	if (user != (setuid ? status->st_uid : effective_user) ||
	    group != (setgid ? status->st_gid : effective_group))
		return true;
	return user != 0 && file >= 0 &&
	       mr_own_call(SYS_fgetxattr, file, "security.capability", NULL, 0) > 0;
}

/* If the file begins with "#!", puts the interpreter's path there. */
static bool is_script(const char *head, size_t head_bytes, char ret_interpreter[SCRIPT_LINE_BYTES])
{
	if (head_bytes < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	size_t begin = 2;
	while (begin < head_bytes && (head[begin] == ' ' || head[begin] == '\t'))
		begin++;
	size_t end = begin;
	while (end < head_bytes && !memchr(" \t\n", head[end], 4))
		end++;
	memmove(ret_interpreter, head + begin, end - begin);
	ret_interpreter[end - begin] = 0;
	return true;
}

static bool read_segments(int file, struct inspection *inspection)
{
	const Elf64_Ehdr *header = &inspection->head.elf;
	struct segments *segments = &inspection->segments;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	segments->count = mr_min(header->e_phnum, (uint32_t)SEGMENTS);
	return read_at(file, inspection, segments->items, segments->count * sizeof(Elf64_Phdr),
		       header->e_phoff);
}

static const Elf64_Phdr *find_segment(const struct segments *segments, uint32_t type)
{
	for (uint32_t i = 0; i < segments->count; i++)
		if (segments->items[i].p_type == type)
			return &segments->items[i];
	return NULL;
}

/* Where in the file the byte for a virtual address stands; 0 if nowhere. */
static uint64_t file_offset_of(const struct segments *segments, uint64_t address)
{
	for (uint32_t i = 0; i < segments->count; i++) {
		const Elf64_Phdr *segment = &segments->items[i];
		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return address - segment->p_vaddr + segment->p_offset;
	}
	return 0;
}

/* The GNU C library's dynamic linker is called ld-linux-SOMETHING wherever it is installed. One that is
 * not the system's own belongs to another C library, perhaps older than the one we were built with. */
static bool is_own_linker(int file, const Elf64_Phdr *interpreter, struct inspection *inspection)
{
	char *path = inspection->linker;
	size_t bytes = mr_min(interpreter->p_filesz, (uint64_t)SCRIPT_LINE_BYTES - 1);
	if (!read_at(file, inspection, path, bytes, interpreter->p_offset))
		return false;
	path[bytes] = 0;
	const char *slash = strrchr(path, '/');
	if (strncmp(slash ? slash + 1 : path, "ld-linux", strlen("ld-linux")) != 0)
		return false;
	struct stat theirs, ours;
	return mr_own_stat(AT_FDCWD, OWN_LINKER, &ours) < 0 ||
	       mr_own_stat(AT_FDCWD, path, &theirs) < 0 ||
	       (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

/* Finds the dynamic string table: its place in the file and its size. */
static bool find_strings(int file, struct inspection *inspection, uint64_t *ret_offset,
			 uint64_t *ret_bytes)
{
	const Elf64_Phdr *segment = find_segment(&inspection->segments, PT_DYNAMIC);
	uint64_t address = 0;
	uint64_t bytes = 0;
	size_t count = segment ? segment->p_filesz / sizeof(Elf64_Dyn) : 0;
	count = mr_min(count, (size_t)DYNAMIC_ENTRIES);
	if (!segment || !read_at(file, inspection, inspection->dynamic, count * sizeof(Elf64_Dyn),
				 segment->p_offset))
		return false;
	for (size_t i = 0; i < count && inspection->dynamic[i].d_tag != DT_NULL; i++) {
		const Elf64_Dyn *entry = &inspection->dynamic[i];
		if (entry->d_tag == DT_STRTAB)
			address = entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRSZ)
			bytes = entry->d_un.d_val;
	}
	*ret_offset = file_offset_of(&inspection->segments, address);
	*ret_bytes = bytes;
	return *ret_offset != 0;
}

static bool has_mark(const char *bytes, size_t count)
{
	for (size_t i = 0; i < mr_countof(sanitizer_marks); i++) {
		size_t mark_bytes = 1 + strlen(sanitizer_marks[i] + 1);
		if (memmem(bytes, count, sanitizer_marks[i], mark_bytes))
			return true;
	}
	return false;
}

/* Names of libraries needed and of symbols both stand in the one table of strings. */
static bool is_sanitized(int file, struct inspection *inspection)
{
	char *strings = inspection->strings;
	uint64_t offset;
	uint64_t left;
	if (!find_strings(file, inspection, &offset, &left))
		return false;
	memset(strings, 0, LONGEST_MARK);
	while (left > 0) {
		size_t count = mr_min(left, (uint64_t)STRINGS_BYTES);
		if (!read_at(file, inspection, strings + LONGEST_MARK, count, offset))
			return false;
		if (has_mark(strings, LONGEST_MARK + count))
			return true;
		/* A mark may lie across two parts. */
		memmove(strings, strings + count, LONGEST_MARK);
		offset += count;
		left -= count;
	}
	return false;
}

static enum mr_untraced_reason inspect_elf(int file, struct inspection *inspection)
{
	const Elf64_Ehdr *header = &inspection->head.elf;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != OWN_MACHINE)
		return MR_UNTRACED_OTHER_CLASS;
	if (!read_segments(file, inspection))
		return MR_UNTRACED_NONE;
	const Elf64_Phdr *interpreter = find_segment(&inspection->segments, PT_INTERP);
	if (!interpreter)
		return MR_UNTRACED_STATIC;
	if (!is_own_linker(file, interpreter, inspection))
		return MR_UNTRACED_OTHER_LIBC;
	return is_sanitized(file, inspection) ? MR_UNTRACED_SANITIZER : MR_UNTRACED_NONE;
}

/* Inspects one file. If it is a script, inspection->interpreter is the file to inspect next, else
 * empty. */
static enum mr_untraced_reason inspect_file(int file, const struct stat *status,
					    struct inspection *inspection)
{
	long count = mr_own_call(SYS_pread64, file, &inspection->head, sizeof inspection->head, 0);
	inspection->interpreter[0] = 0;
	inspection->head_bytes = count > 0 ? (size_t)count : 0;
	inspection->has_failed = count < 0;
	if (is_script(inspection->head.bytes,
		      mr_min(inspection->head_bytes, (size_t)SCRIPT_LINE_BYTES - 1),
		      inspection->interpreter))
		return MR_UNTRACED_NONE; /* the kernel ignores a script's setuid bit */
	if (gains_privileges(file, status))
		return MR_UNTRACED_PRIVILEGED;
	if (inspection->head_bytes >= sizeof inspection->head.elf &&
	    memcmp(inspection->head.bytes, ELFMAG, SELFMAG) == 0)
		return inspect_elf(file, inspection);
	return MR_UNTRACED_NONE;
}

/* What a file is that cannot be looked up. Executing it will fail for these reasons as well, but may succeed after
 * another (ENOMEM ...). */
static enum mr_untraced_reason reason_of_error(int error)
{
	bool is_execution_to_fail = error == -ENOENT || error == -ENOTDIR || error == -EACCES ||
				    error == -ELOOP || error == -ENAMETOOLONG;
	return is_execution_to_fail ? MR_UNTRACED_NONE : MR_UNTRACED_UNREADABLE;
}

enum mr_untraced_reason mr_target_inspect(int directory, const char *path,
					  struct mr_target_scratch *scratch)
{
	struct inspection *inspection = (struct inspection *)scratch->bytes;
	for (int level = 0; level < SCRIPT_LEVELS; level++) {
		struct stat status;
		int result = mr_own_stat(directory, path, &status);
		/* Opening what is not a regular file might block or disturb a device. */
		if (result == 0 && !S_ISREG(status.st_mode))
			return MR_UNTRACED_NONE;
		if (result == 0)
			result = mr_own_access(directory, path, X_OK);
		if (result < 0)
			return reason_of_error(result);
		int file = (int)mr_own_call(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC);
		/* It is there: whatever keeps us from looking (EACCES, EMFILE ...), it may be harmed. */
		if (file < 0)
			return gains_privileges(file, &status) ? MR_UNTRACED_PRIVILEGED
							       : MR_UNTRACED_UNREADABLE;
		enum mr_untraced_reason reason = inspect_file(file, &status, inspection);
		mr_own_call(SYS_close, file);
		if (reason == MR_UNTRACED_NONE && inspection->has_failed)
			return MR_UNTRACED_UNREADABLE;
		if (!inspection->interpreter[0])
			return reason;
		path = inspection->interpreter;
		directory = AT_FDCWD;
	}
	return MR_UNTRACED_NONE;
}

static bool is_executable(const char *path)
{
	struct stat status;
	bool is_file = mr_own_stat(AT_FDCWD, path, &status) == 0 && S_ISREG(status.st_mode);
	int result = is_file ? mr_own_access(AT_FDCWD, path, X_OK) : -ENOENT;
	errno = result < 0 ? -result : errno;
	return result == 0;
}

bool mr_target_search(const char *name, char *ret_path, size_t bytes)
{
	bool is_denied = false;
	size_t name_bytes = strlen(name) + 1;
	if (strchr(name, '/')) {
		if (name_bytes > bytes)
			return false;
		memcpy(ret_path, name, name_bytes);
		return true;
	}
	const char *folders = getenv("PATH");
	if (!folders)
		folders = "/bin:/usr/bin"; /* as the C library has it */
	for (const char *folder = folders;; folder++) {
		size_t length = strcspn(folder, ":");
		if (length + 1 + name_bytes <= bytes) {
			memcpy(ret_path, folder, length);
			/* An empty element is the current folder. */
			size_t slash = length > 0;
			ret_path[length] = '/';
			memcpy(ret_path + length + slash, name, name_bytes);
			if (is_executable(ret_path))
				return true;
			is_denied |= errno == EACCES;
		}
		folder += length;
		if (!*folder)
			break;
	}
	errno = is_denied ? EACCES : ENOENT;
	return false;
}
