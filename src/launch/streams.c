/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/streams.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum {
	NAME_BYTES = 48,
	PIECES_PER_LIMIT = 64, /* how finely the limit is divided */
	PIECE_MAX_BYTES = 64 << 20,
	WRITE_BACK_BYTES = 8 << 20,
};

static bool is_limited(const struct mr_streams *streams)
{
	return streams->limits.bytes || streams->limits.age_ticks;
}

static uint64_t piece_limit_bytes(const struct mr_streams *streams)
{
	uint64_t share =
		streams->limits.bytes ? streams->limits.bytes / PIECES_PER_LIMIT : PIECE_MAX_BYTES;
	return mr_max(mr_min(share, (uint64_t)PIECE_MAX_BYTES), (uint64_t)MR_ARENA_PACKET_BYTES);
}

static void file_name(const struct mr_streams *streams, uint32_t stream, uint32_t piece,
		      char *ret_name)
{
	bool in_pieces = is_limited(streams) &&
			 streams->streams.items[stream].owner.kind == MR_PACKET_EVENTS;
	if (in_pieces)
		snprintf(ret_name, NAME_BYTES, "stream-%06u.%06u", stream, piece);
	else
		snprintf(ret_name, NAME_BYTES, "stream-%06u", stream);
}

void mr_streams_init(struct mr_streams *streams, int directory, struct mr_stream_limits limits,
		     struct mr_stream_clocks clocks)
{
	*streams = (struct mr_streams){.directory = directory, .limits = limits, .clocks = clocks};
}

static void close_file(struct mr_streams *streams, struct mr_stream *stream)
{
	if (stream->fd < 0)
		return;
	close(stream->fd);
	stream->fd = -1;
	streams->open_files--;
}

void mr_streams_fini(struct mr_streams *streams)
{
	for (size_t i = 0; i < streams->streams.count; i++)
		close_file(streams, &streams->streams.items[i]);
	mr_vec_free(&streams->streams);
	mr_vec_free(&streams->pieces);
}

/* ---- owners ------------------------------------------------------------------------------------- */

static bool same_owner(const struct mr_stream_owner *a, const struct mr_stream_owner *b)
{
	return a->process == b->process && a->tid == b->tid && a->kind == b->kind &&
	       a->depth == b->depth && a->stream_class == b->stream_class;
}

static uint32_t *bucket_of(const struct mr_streams *streams, const struct mr_stream_owner *owner)
{
	uint32_t hash = (owner->process * 2654435761u) ^ (owner->tid * 40503u) ^ owner->kind * 7u ^
			owner->depth;
	return (uint32_t *)&streams->buckets[hash % MR_STREAM_BUCKETS];
}

static struct mr_stream *find_owned(const struct mr_streams *streams,
				    const struct mr_stream_owner *owner)
{
	for (uint32_t at = *bucket_of(streams, owner); at;
	     at = streams->streams.items[at - 1].next_in_bucket) {
		struct mr_stream *stream = &streams->streams.items[at - 1];
		if (same_owner(&stream->owner, owner))
			return stream;
	}
	return NULL;
}

static void take(struct mr_streams *streams, uint32_t index, const struct mr_stream_owner *owner)
{
	struct mr_stream *stream = &streams->streams.items[index];
	uint32_t *bucket = bucket_of(streams, owner);
	stream->owner = *owner;
	stream->is_owned = true;
	stream->owner_packets = 0;
	stream->next_in_bucket = *bucket;
	*bucket = index + 1;
}

static void release(struct mr_streams *streams, struct mr_stream *stream)
{
	uint32_t index = (uint32_t)(stream - streams->streams.items);
	uint32_t *link = bucket_of(streams, &stream->owner);
	while (*link != index + 1)
		link = &streams->streams.items[*link - 1].next_in_bucket;
	*link = stream->next_in_bucket;
	stream->is_owned = false;
}

void mr_streams_release_process(struct mr_streams *streams, uint32_t process)
{
	for (size_t i = 0; i < streams->streams.count; i++) {
		struct mr_stream *stream = &streams->streams.items[i];
		if (stream->is_owned && stream->owner.process == process)
			release(streams, stream);
	}
}

/* A free stream that the owner may continue, or a new one. */
static struct mr_stream *take_stream(struct mr_streams *streams,
				     const struct mr_stream_owner *owner, uint64_t begin_ticks)
{
	for (size_t i = 0; i < streams->streams.count; i++) {
		struct mr_stream *stream = &streams->streams.items[i];
		if (stream->is_owned || stream->owner.kind != owner->kind ||
		    stream->owner.stream_class != owner->stream_class ||
		    stream->last_end_ticks > begin_ticks)
			continue;
		take(streams, (uint32_t)i, owner);
		return stream;
	}
	if (mr_vec_push(&streams->streams, ((struct mr_stream){.fd = -1})) < 0)
		return NULL;
	take(streams, (uint32_t)streams->streams.count - 1, owner);
	return &streams->streams.items[streams->streams.count - 1];
}

/* The owner's stream; another one if its packets do not come in order of time, since times must not
 * decrease within a stream. */
static struct mr_stream *stream_for(struct mr_streams *streams, const struct mr_stream_owner *owner,
				    uint64_t begin_ticks)
{
	struct mr_stream *owned = find_owned(streams, owner);
	if (owned && owned->last_end_ticks <= begin_ticks)
		return owned;
	uint32_t packets = owned ? owned->owner_packets : 0;
	if (owned)
		release(streams, owned);
	struct mr_stream *taken = take_stream(streams, owner, begin_ticks);
	if (taken)
		taken->owner_packets = packets;
	return taken;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* False if none is open. */
static bool close_least_used(struct mr_streams *streams)
{
	struct mr_stream *oldest = NULL;
	for (size_t i = 0; i < streams->streams.count; i++) {
		struct mr_stream *stream = &streams->streams.items[i];
		if (stream->fd >= 0 && (!oldest || stream->last_use < oldest->last_use))
			oldest = stream;
	}
	if (oldest)
		close_file(streams, oldest);
	return oldest != NULL;
}

static int open_file(struct mr_streams *streams, struct mr_stream *stream)
{
	if (stream->fd >= 0)
		return 0;
	if (streams->open_files >= MR_STREAMS_OPEN_MAX)
		close_least_used(streams);
	char name[NAME_BYTES];
	file_name(streams, (uint32_t)(stream - streams->streams.items), stream->piece, name);
	do
		stream->fd = openat(streams->directory, name,
				    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (stream->fd < 0 && errno == EMFILE && close_least_used(streams));
	if (stream->fd < 0)
		return mr_fail_errno(errno, "cannot open stream file %s", name);
	streams->open_files++;
	return 0;
}

/* Cuts off the half-written packet. Should that fail too: the reader ignores a torn last packet. */
static void take_back(int fd, size_t bytes)
{
	struct stat status;
	if (bytes > 0 && fstat(fd, &status) == 0)
		(void)!ftruncate(fd, status.st_size - (off_t)bytes);
}

static int write_whole(struct mr_streams *streams, struct mr_stream *stream, const void *bytes,
		       size_t count)
{
	size_t done = 0;
	while (done < count) {
		ssize_t written = write(stream->fd, (const char *)bytes + done, count - done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			int result = mr_fail_errno(written < 0 ? errno : ENOSPC,
						   "cannot write the trace");
			take_back(stream->fd, done);
			return result;
		}
		done += (size_t)written;
	}
	streams->bytes += count;
	streams->written_bytes += count;
	return 0;
}

/* Has the kernel begin to write now what it would otherwise let pile up until it makes us wait. */
static void start_writing_back(const struct mr_stream *stream, uint64_t new_bytes)
{
	uint64_t whole = stream->piece_bytes / WRITE_BACK_BYTES;
	if (whole != (stream->piece_bytes - new_bytes) / WRITE_BACK_BYTES)
		sync_file_range(stream->fd, (off_t)((whole - 1) * WRITE_BACK_BYTES),
				WRITE_BACK_BYTES, SYNC_FILE_RANGE_WRITE);
}

/* ---- pieces and limits -------------------------------------------------------------------------- */

/* A time of a stream of either class, in ticks of the user clock. */
static uint64_t to_user_ticks(const struct mr_streams *streams, uint8_t stream_class, uint64_t time)
{
	const struct mr_stream_clocks *clocks = &streams->clocks;
	if (stream_class == MR_STREAM_USER || clocks->ticks_per_second == 0)
		return time;
	__int128 ns = (__int128)time - clocks->monotonic_ns;
	__int128 ticks = clocks->user_ticks + ns * clocks->ticks_per_second / 1000000000;
	return ticks > 0 ? (uint64_t)ticks : 0;
}

static struct mr_stream_piece *find_piece(struct mr_streams *streams, uint32_t stream,
					  uint32_t piece)
{
	for (size_t i = streams->pieces.count; i-- > 0;)
		if (streams->pieces.items[i].stream == stream &&
		    streams->pieces.items[i].piece == piece)
			return &streams->pieces.items[i];
	return NULL;
}

bool mr_streams_is_finished(const struct mr_streams *streams, const char *name)
{
	unsigned stream, piece;
	return sscanf(name, "stream-%6u.%6u", &stream, &piece) == 2 &&
	       stream < streams->streams.count && piece < streams->streams.items[stream].piece;
}

static void delete_piece(struct mr_streams *streams, size_t index)
{
	struct mr_stream_piece piece = streams->pieces.items[index];
	struct mr_stream *stream = &streams->streams.items[piece.stream];
	char name[NAME_BYTES];
	file_name(streams, piece.stream, piece.piece, name);
	if (stream->piece == piece.piece) {
		close_file(streams, stream);
		stream->piece++;
		stream->piece_bytes = 0;
	}
	unlinkat(streams->directory, name, 0);
	streams->bytes -= piece.bytes;
	streams->event_bytes -= piece.bytes;
	streams->overwritten_bytes += piece.bytes;
	streams->overwritten_packets += piece.packets;
	if (stream->owner.stream_class == MR_STREAM_USER)
		streams->overwritten_user_packets += piece.packets;
	streams->kept_from_ticks = mr_max(streams->kept_from_ticks, piece.end_ticks);
	streams->pieces.items[index] = streams->pieces.items[--streams->pieces.count];
}

static size_t oldest_piece(const struct mr_streams *streams)
{
	size_t oldest = 0;
	for (size_t i = 1; i < streams->pieces.count; i++)
		if (streams->pieces.items[i].end_ticks < streams->pieces.items[oldest].end_ticks)
			oldest = i;
	return oldest;
}

void mr_streams_expire(struct mr_streams *streams, uint64_t now_ticks)
{
	uint64_t age = streams->limits.age_ticks;
	while (age && streams->pieces.count > 0) {
		size_t oldest = oldest_piece(streams);
		if (streams->pieces.items[oldest].end_ticks + age >= now_ticks)
			return;
		delete_piece(streams, oldest);
	}
}

static void begin_piece_if_needed(struct mr_streams *streams, struct mr_stream *stream,
				  uint64_t packet_bytes, uint64_t begin_ticks)
{
	if (stream->piece_bytes == 0) {
		stream->piece_begin_ticks = begin_ticks;
		return;
	}
	uint64_t age = streams->limits.age_ticks;
	bool too_long = stream->piece_bytes + packet_bytes > piece_limit_bytes(streams);
	bool too_old = age && begin_ticks - stream->piece_begin_ticks > age / PIECES_PER_LIMIT;
	if (!too_long && !too_old)
		return;
	close_file(streams, stream);
	stream->piece++;
	stream->piece_bytes = 0;
	stream->piece_begin_ticks = begin_ticks;
}

static int note_in_piece(struct mr_streams *streams, uint32_t stream, uint64_t bytes,
			 uint64_t begin_ticks, uint64_t end_ticks)
{
	uint32_t number = streams->streams.items[stream].piece;
	struct mr_stream_piece *piece = find_piece(streams, stream, number);
	if (!piece) {
		struct mr_stream_piece fresh = {
			.stream = stream, .piece = number, .begin_ticks = begin_ticks};
		if (mr_vec_push(&streams->pieces, fresh) < 0)
			return mr_fail(ENOMEM, "no memory for the list of stream files");
		piece = &streams->pieces.items[streams->pieces.count - 1];
	}
	piece->bytes += bytes;
	piece->packets++;
	piece->end_ticks = end_ticks;
	streams->event_bytes += bytes;
	while (streams->limits.bytes && streams->event_bytes > streams->limits.bytes &&
	       streams->pieces.count > 1)
		delete_piece(streams, oldest_piece(streams));
	return 0;
}

/* ---- packets ------------------------------------------------------------------------------------ */

static struct mr_stream_owner owner_of(const struct mr_packet *packet)
{
	const struct mr_packet_context *context = &packet->context;
	return (struct mr_stream_owner){.process = context->process,
					.tid = context->tid,
					.kind = context->kind,
					.depth = context->depth,
					.stream_class = (uint8_t)packet->header.stream_class};
}

uint32_t mr_streams_owner_packets(const struct mr_streams *streams, const struct mr_packet *packet)
{
	struct mr_stream_owner owner = owner_of(packet);
	const struct mr_stream *stream = find_owned(streams, &owner);
	return stream ? stream->owner_packets : 0;
}

int mr_streams_append(struct mr_streams *streams, struct mr_packet *packet, uint32_t content_bytes,
		      uint64_t end_ticks, uint64_t discarded_events, bool owner_ended)
{
	struct mr_stream_owner owner = owner_of(packet);
	struct mr_stream *stream = stream_for(streams, &owner, packet->context.begin_ticks);
	if (!stream)
		return mr_fail(ENOMEM, "no memory for another stream");
	uint32_t index = (uint32_t)(stream - streams->streams.items);
	uint32_t packet_bytes = mr_align_up(content_bytes, 8u);
	memset((char *)packet + content_bytes, 0, packet_bytes - content_bytes);
	bool in_pieces = is_limited(streams) && owner.kind == MR_PACKET_EVENTS;
	uint64_t begin_user_ticks =
		to_user_ticks(streams, owner.stream_class, packet->context.begin_ticks);
	if (in_pieces)
		begin_piece_if_needed(streams, stream, packet_bytes, begin_user_ticks);
	stream->discarded_events += discarded_events;
	packet->header.stream = index;
	packet->context.end_ticks = end_ticks;
	packet->context.content_bits = (uint64_t)content_bytes * 8;
	packet->context.packet_bits = (uint64_t)packet_bytes * 8;
	packet->context.sequence = stream->next_sequence;
	packet->context.discarded_events = stream->discarded_events;

	int result = open_file(streams, stream);
	if (result == 0)
		result = write_whole(streams, stream, packet, packet_bytes);
	if (result < 0)
		return result;
	stream->piece_bytes += packet_bytes;
	start_writing_back(stream, packet_bytes);
	stream->next_sequence++;
	stream->owner_packets++;
	stream->last_begin_ticks = packet->context.begin_ticks;
	stream->last_end_ticks = end_ticks;
	stream->last_use = ++streams->uses;
	if (owner_ended)
		release(streams, stream);
	return in_pieces ? note_in_piece(streams, index, packet_bytes, begin_user_ticks,
					 to_user_ticks(streams, owner.stream_class, end_ticks))
			 : 0;
}

/* ---- going on with an interrupted recording ------------------------------------------------------ */

bool mr_streams_has(const struct mr_streams *streams, const struct mr_packet *packet)
{
	struct mr_stream_owner owner = owner_of(packet);
	const struct mr_stream *stream = find_owned(streams, &owner);
	return stream && stream->last_begin_ticks == packet->context.begin_ticks;
}

/* Reads one packet's header and context at `offset`; false where the file holds no whole packet. */
static bool read_packet_head(int fd, uint64_t offset, uint64_t file_bytes,
			     struct mr_packet *ret_head)
{
	if (pread(fd, ret_head, sizeof *ret_head, (off_t)offset) != (ssize_t)sizeof *ret_head)
		return false;
	uint64_t bytes = ret_head->context.packet_bits / 8;
	return ret_head->header.magic == MR_CTF_MAGIC && bytes >= sizeof *ret_head &&
	       bytes <= MR_PACKET_MAX_BYTES && bytes <= file_bytes - offset;
}

static int resume_file(struct mr_streams *streams, const char *name)
{
	unsigned number = 0, piece = 0;
	if (sscanf(name, "stream-%6u.%6u", &number, &piece) < 1 || number > 1u << 20)
		return 0;
	mr_auto(close_fd) int fd =
		openat(streams->directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		return mr_fail_errno(errno, "cannot open %s", name);
	while (streams->streams.count <= number)
		if (mr_vec_push(&streams->streams, ((struct mr_stream){.fd = -1})) < 0)
			return mr_fail(ENOMEM, "no memory for the streams");
	struct mr_packet head, last = {0};
	uint64_t at = 0, size = (uint64_t)status.st_size;
	while (read_packet_head(fd, at, size, &head)) {
		at += head.context.packet_bits / 8;
		last = head;
	}
	if (at < size && ftruncate(fd, (off_t)at) < 0)
		return mr_fail_errno(
			errno, "cannot truncate the half-written packet at the end of %s", name);
	streams->bytes += at;
	struct mr_stream *stream = &streams->streams.items[number];
	if (at == 0 || last.context.end_ticks < stream->last_end_ticks)
		return 0;
	stream->piece = piece;
	stream->piece_bytes = at;
	stream->next_sequence = last.context.sequence + 1;
	stream->discarded_events = last.context.discarded_events;
	stream->last_end_ticks = last.context.end_ticks;
	stream->last_begin_ticks = last.context.begin_ticks;
	if (stream->is_owned)
		release(streams, stream);
	struct mr_stream_owner owner = owner_of(&last);
	take(streams, number, &owner);
	return 0;
}

int mr_streams_resume(struct mr_streams *streams)
{
	int copy = fcntl(streams->directory, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
	if (!folder)
		return mr_fail_errno(errno, "cannot read the folder of stream files");
	int result = 0;
	rewinddir(folder);
	for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
		result = resume_file(streams, entry->d_name);
	closedir(folder);
	return result;
}
