/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Files: descriptor → file → number. A file gets its number, and one record that describes it, when a traced
 * thread first uses it. So there is no need to follow how it was opened, inherited or duplicated.
 */
#ifndef MR_KERNEL_FILES_BPF_H
#define MR_KERNEL_FILES_BPF_H

#include "kernel/guard.bpf.h"

enum {
	FILE_TYPE = 0170000,
	FILE_FIFO = 0010000,
	FILE_SOCKET = 0140000,
	MAGIC_PIPE = 0x50495045,
	MAGIC_ANONYMOUS = 0x09041934,
	MAGIC_PIDFD = 0x50494446,
	FAMILY_UNIX = 1,
	FAMILY_INET = 2,
	FAMILY_INET6 = 10,
	PATH_PARTS = MR_BPF_PATH_BYTES / 2,
	NAME_BYTES = 256, /* of one part */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64 << 10);
	__type(key, struct file_key);
	__type(value, u32);
} files SEC(".maps");

/* ---- description of a file ---------------------------------------------------------------------- */

struct walk {
	struct dentry *dentry;
	struct mount *mount;
	struct mr_record_file *record; /* in a scratch */
};

/* Adds the name of one directory. The length so far is in map memory and not in a register, so that the
 * verifier need not follow every possible length. */
static long walk_up(u32 step, struct walk *walk)
{
	struct dentry *dentry = walk->dentry;
	struct mount *mount = walk->mount;
	struct mr_record_file *record = walk->record;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		struct mount *above = BPF_CORE_READ(mount, mnt_parent);
		if (above == mount)
			return 1;
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = above;
		return 0;
	}
	if (dentry == parent && step > 0)
		return 1;
	u32 used = record->text_bytes;
	if (used > MR_BPF_PATH_BYTES - NAME_BYTES)
		return 1;
	long bytes = bpf_probe_read_kernel_str(&record->text[used & (MR_BPF_PATH_BYTES - 1)],
					       NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));
	if (bytes <= 0)
		return 1;
	record->text_bytes = used + bytes;
	walk->dentry = parent;
	return dentry == parent;
}

static __always_inline void describe_path(struct file *file, struct mr_record_file *record)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	void *mounted = BPF_CORE_READ(file, f_path.mnt);
	struct mount *mount = mounted - bpf_core_field_offset(struct mount, mnt);
	struct walk walk = {.dentry = dentry, .mount = mount, .record = record};
	/* A root is not in the name hash either. */
	record->head.number = !BPF_CORE_READ(dentry, d_hash.pprev) &&
			      dentry != BPF_CORE_READ(mount, mnt.mnt_root);
	bpf_loop(PATH_PARTS, walk_up, &walk, 0);
}

static __always_inline void describe_unix(struct sock *sock, struct mr_record_file *record)
{
	struct unix_sock *own = (struct unix_sock *)sock;
	struct unix_sock *peer = (struct unix_sock *)BPF_CORE_READ(own, peer);
	struct unix_address *address = BPF_CORE_READ(own, addr);
	if (!address && peer)
		address = BPF_CORE_READ(peer, addr);
	u64 peer_inode = 0;
	if (peer)
		peer_inode = BPF_CORE_READ((struct sock *)peer, sk_socket, file, f_inode, i_ino);
	__builtin_memcpy(record->remote_address, &peer_inode, sizeof peer_inode);
	record->protocol = BPF_CORE_READ(sock, sk_type);
	if (!address)
		return;
	int length = BPF_CORE_READ(address, len) - (int)sizeof(u16);
	if (length <= 0 || length > 108)
		return;
	/* An address that begins with a zero byte names no file. */
	if (bpf_probe_read_kernel(record->text, length & 127, &address->name[0].sun_path) == 0)
		record->text_bytes = length;
}

static __always_inline void describe_socket(struct file *file, struct mr_record_file *record)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);
	record->head.detail = MR_FILE_SOCKET;
	if (!sock)
		return;
	u16 family = BPF_CORE_READ(sock, __sk_common.skc_family);
	record->protocol = BPF_CORE_READ(sock, sk_protocol);
	record->local_port = BPF_CORE_READ(sock, __sk_common.skc_num);
	record->remote_port = BPF_CORE_READ(sock, __sk_common.skc_dport);
	if (family == FAMILY_INET) {
		record->head.detail = MR_FILE_SOCKET_INET;
		BPF_CORE_READ_INTO(&record->local_address, sock, __sk_common.skc_rcv_saddr);
		BPF_CORE_READ_INTO(&record->remote_address, sock, __sk_common.skc_daddr);
	} else if (family == FAMILY_INET6 &&
		   bpf_core_field_exists(sock->__sk_common.skc_v6_daddr)) {
		record->head.detail = MR_FILE_SOCKET_INET6;
		bpf_probe_read_kernel(record->local_address, 16,
				      &sock->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(record->remote_address, 16, &sock->__sk_common.skc_v6_daddr);
	} else if (family == FAMILY_UNIX && bpf_core_type_exists(struct unix_sock)) {
		record->head.detail = MR_FILE_SOCKET_UNIX;
		describe_unix(sock, record);
	}
}

/* Writes the record that assigns a file its number; false: the record is lost. */
static __always_inline bool describe(struct file *file, u32 number, struct file_key *key)
{
	struct scratch *scratch = take_scratch();
	if (!scratch)
		return false;
	struct mr_record_file *record = (struct mr_record_file *)scratch->room;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	u32 type = BPF_CORE_READ(inode, i_mode) & FILE_TYPE;
	u64 magic = BPF_CORE_READ(inode, i_sb, s_magic);
	__builtin_memset(record, 0, sizeof *record);
	record->head.time_ns = bpf_ktime_get_ns();
	record->head.type = MR_RECORD_FILE;
	record->head.tid = current_tid();
	record->file = number;
	record->device = key->device;
	record->inode = key->inode;
	if (type == FILE_SOCKET) {
		describe_socket(file, record);
	} else if (type == FILE_FIFO && magic == MAGIC_PIPE) {
		record->head.detail = MR_FILE_PIPE;
	} else if (magic == MAGIC_ANONYMOUS) {
		record->head.detail = MR_FILE_ANONYMOUS;
		long bytes = bpf_probe_read_kernel_str(
			record->text, NAME_BYTES, BPF_CORE_READ(file, f_path.dentry, d_name.name));
		record->text_bytes = bytes > 0 ? bytes : 0;
	} else if (magic == MAGIC_PIDFD) {
		record->head.detail = MR_FILE_ANONYMOUS;
		__builtin_memcpy(record->text, "[pidfd]", sizeof "[pidfd]");
		record->text_bytes = sizeof "[pidfd]";
	} else {
		describe_path(file, record);
	}
	u64 bytes = sizeof *record + record->text_bytes;
	bytes = (bytes + 7) & (2 * MR_BPF_PATH_BYTES - 1) & ~7ull;
	bool is_written = bytes <= sizeof scratch->room && put_definition(&record->head, bytes);
	release_scratch(scratch);
	return is_written;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* A value that changes when a socket is bound or connected. */
static __always_inline u64 state_of_socket(struct sock *plain_sock)
{
	struct sock *sock = cast(plain_sock, sock);
	u16 family = peek(sock, __sk_common.skc_family);
	if (family == FAMILY_UNIX && bpf_core_type_exists(struct unix_sock)) {
		struct unix_sock *unix_sock = cast(plain_sock, unix_sock);
		/* The only arithmetic of two pointers that the verifier permits. */
		return (u64)peek(unix_sock, peer) - (u64)peek(unix_sock, addr);
	}
	return (u64)peek(sock, __sk_common.skc_num) << 48 |
	       (u64)peek(sock, __sk_common.skc_dport) << 32 | peek(sock, __sk_common.skc_daddr);
}

static __always_inline u64 socket_state(struct file *file)
{
	struct socket *socket = cast(peek(file, private_data), socket);
	struct sock *sock = peek(socket, sk);
	return sock ? state_of_socket(sock) : 0;
}

static __always_inline void make_key(struct file *file, struct file_key *ret_key)
{
	struct inode *inode = peek(file, f_inode);
	struct dentry *dentry = peek(file, f_path.dentry);
	u32 type = peek(inode, i_mode) & FILE_TYPE;
	struct super_block *super = peek(inode, i_sb);
	ret_key->object = (u64)dentry;
	ret_key->inode = peek(inode, i_ino);
	u64 name = peek(dentry, d_name.hash_len);
	if (type == FILE_SOCKET)
		ret_key->name = socket_state(file);
	else if ((u32)name == 0) /* not hashed, as "[eventfd]": its operations identify it */
		ret_key->name = (u64)peek(file, f_op);
	else
		ret_key->name = name | (u64)(peek(dentry, d_hash.pprev) == NULL) << 63;
	ret_key->device = peek(super, s_dev);
	ret_key->generation = peek(inode, i_generation);
}

static __always_inline bool same_key(const struct file_key *a, const struct file_key *b)
{
	return a->object == b->object && a->inode == b->inode && a->name == b->name &&
	       a->device == b->device && a->generation == b->generation;
}

/* Assigns a number to a file (its address) that has none; 0 if it could not be described. Not static, as the other
 * functions that are called and not inlined: then the verifier looks at it once, and not at each call. */
__noinline u32 define_file(u64 address, struct file_key *key)
{
	struct file *file = (struct file *)address;
	if (!key)
		return 0;
	u32 number = __sync_fetch_and_add(&shared.files, 1) + 1;
	/* Another CPU may do the same at this moment: then one file has two numbers, which does no harm. */
	if (!describe(file, number, key))
		return 0;
	bpf_map_update_elem(&files, key, &number, BPF_ANY);
	return number;
}

/* The number of a file, for a record of this task. */
static __always_inline u32 number_of(struct file *plain_file, struct task *task)
{
	struct file *file = cast(plain_file, file);
	struct file_key key = {};
	make_key(file, &key);
	if (task->last_file && same_key(&key, &task->last_key))
		return task->last_file;
	u32 *known = bpf_map_lookup_elem(&files, &key);
	u32 number = known ? *known : define_file((u64)plain_file, &key);
	task->last_key = key;
	task->last_file = number;
	return number;
}

/* The file behind a descriptor; NULL if there is none. */
static __always_inline struct file *file_behind(struct task_struct *kernel_task, u32 descriptor)
{
	struct file *file = NULL;
	struct files_struct *open_files = plain_task(kernel_task)->files;
	if (!open_files)
		return NULL;
	struct fdtable *table = open_files->fdt;
	if (descriptor < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof file, table->fd + descriptor);
	return file;
}

/* Its number; 0 if there is none. */
static __always_inline u32 file_of(struct task_struct *kernel_task, u32 descriptor,
				   struct task *task)
{
	struct file *file = file_behind(kernel_task, descriptor);
	return file ? number_of(file, task) : 0;
}

#endif
