/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of TensorFlow, JAX and PyTorch/XLA (`*.xplane.pb`): one protobuf message with planes, which have lines, which
 * have events. Names, and the names of an event's figures, stand behind the events that refer to them by number:
 *
 *     XSpace ─┬─ plane "/device:GPU:0" ─┬─ line "Stream #17" ── event: number 4, offset, duration, figures
 *             │                         └─ 4 = "loop_fusion"; figures: 2 = "correlation_id"
 *             └─ plane "/host:CPU" ...
 *
 * So the file is read twice: names and what lines there are (metadata.c), then events (events.c). Neither needs more
 * memory than the names and one event.
 *
 *     /device:GPU:N, TPU:N ...   a device. Lines of streams and of XLA's operations are queues. Operations of XLA nest (a
 *                                loop and its body): the outer one counts only where no inner one runs, so that
 *                                operations of a line do not overlap, and sum to its busy time (nesting.c)
 *     /host:...                  the process: lines are threads; events with a correlation are runtime calls, events
 *                                with a step's number also steps, all others executions of nodes
 *     others                     a process of that name
 *
 * Lines of a device that repeat its operations in groups (modules, framework operations, name scopes, source code) are
 * not imported. Its line of steps is, if the host marks none.
 */
#ifndef MR_IMPORT_XPLANE_XPLANE_H
#define MR_IMPORT_XPLANE_XPLANE_H

#include "import/formats.h"
#include "import/protobuf.h"
#include "import/step_marks.h"

/* The figures that mean something here. */
enum mr_xplane_figure {
	MR_XPLANE_OTHER,
	MR_XPLANE_CORRELATION,
	MR_XPLANE_KERNEL_DETAILS,
	MR_XPLANE_COPY_DETAILS,
	MR_XPLANE_FILL_DETAILS,
	MR_XPLANE_CATEGORY,
	MR_XPLANE_FLOPS,
	MR_XPLANE_BYTES_ACCESSED,
	MR_XPLANE_STEP,
	MR_XPLANE_BEGIN_TIME, /* of the profile, since the epoch */
};

/* The name of a figure; also a text that a figure refers to. */
struct mr_xplane_text {
	int64_t id;
	uint32_t string; /* of `texts` */
	enum mr_xplane_figure figure;
};

/* What events have in common. */
struct mr_xplane_kind {
	int64_t id;
	uint32_t name;     /* string of the builder */
	uint32_t category; /* likewise; 0: none */
	uint64_t flops;
	uint64_t bytes;
	size_t figures; /* where they stand until their names are known */
	size_t figure_bytes;
};

enum mr_xplane_role {
	MR_XPLANE_HOST,
	MR_XPLANE_DEVICE,
	MR_XPLANE_PROCESS, /* of another kind */
};

struct mr_xplane_plane {
	enum mr_xplane_role role;
	uint32_t name;    /* string of the builder */
	uint32_t device;  /* the builder's */
	bool has_streams; /* a GPU: what XLA's lines say, these say more exactly */
	mr_vec(struct mr_xplane_text) texts;
	mr_vec(struct mr_xplane_kind) kinds;
};

struct mr_xplane {
	struct mr_import *import;
	struct mr_builder *builder; /* the import's */
	struct mr_strings texts;
	mr_vec(struct mr_xplane_plane) planes; /* in the order of the file */
	mr_vec(uint8_t) figures;               /* of the kinds of one plane */
	uint32_t process;                      /* the host's */
	uint32_t operation_thread;             /* where device operations are recorded */
	bool has_thread;
	struct mr_step_marks marks;
	struct mr_step_marks device_marks; /* of the first device that has them */
	uint32_t steps_device;
};

/* A figure of an event, or of a kind. */
struct mr_xplane_value {
	enum mr_xplane_figure figure;
	uint64_t number;
	const char *text; /* not ended by zero */
	size_t length;
};

/* One line, as far as it is known before its events. */
struct mr_xplane_line {
	int64_t id;
	int64_t start_ns;
	const char *name; /* in `texts` */
	const char *display_name;
	uint64_t end; /* in the text */
};

/* Reads a line up to its first event, which *ret_event is; *ret_has_event: there is one. False: not a line. */
bool mr_xplane_enter_line(struct mr_xplane *xplane, struct mr_source *source, uint64_t end,
			  struct mr_xplane_line *ret_line, struct mr_field *ret_event,
			  bool *ret_has_event);

/* What a figure says. False: it is none. */
bool mr_xplane_figure_of(const struct mr_xplane *xplane, const struct mr_xplane_plane *plane,
			 const struct mr_field *field, struct mr_xplane_value *ret_value);

const struct mr_xplane_kind *mr_xplane_kind_of(const struct mr_xplane_plane *plane, int64_t id);

/* Both read the whole file; 0 or a negative errno. */
int mr_xplane_read_names(struct mr_xplane *xplane, struct mr_source *source);
int mr_xplane_read_events(struct mr_xplane *xplane, struct mr_source *source);

/* ---- events ------------------------------------------------------------------------------------- */

/* One event, in its line. */
struct mr_xplane_event {
	const struct mr_xplane_kind *kind;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t correlation;
	uint64_t step;
	const char *details; /* of a device operation; NULL: none */
	size_t detail_bytes;
	enum mr_operation_kind operation;
	bool has_step;
	bool is_sum; /* of several that happened: it has no time */
};

/* Where events of a line go. */
struct mr_xplane_place {
	const struct mr_xplane_plane *plane;
	uint32_t thread;
	uint32_t queue;
	bool is_steps;
	struct mr_xplane_nest *nest;
};

static inline const char *mr_xplane_name_of(const struct mr_xplane *xplane,
					    const struct mr_xplane_event *event)
{
	return mr_strings_text(&xplane->builder->strings, event->kind->name);
}

/* Adds an event of a device as an operation. 0 or a negative errno. */
int mr_xplane_add_operation(struct mr_xplane *xplane, const struct mr_xplane_place *place,
			    const struct mr_xplane_event *event);

/* ---- operations that nest (nesting.c) ---------------------------------------------------------- */

struct mr_xplane_operation {
	struct mr_event_device_operation_work event;
	uint64_t next;  /* when the part begins that is not given away yet */
	bool has_inner; /* whose work it counts, too */
};

struct mr_xplane_nest {
	mr_vec(struct mr_xplane_operation) open;
};

/* An operation begins; those that ended before are added to the builder. 0 or a negative errno. */
int mr_xplane_nest_add(struct mr_xplane *xplane, struct mr_xplane_nest *nest,
		       const struct mr_event_device_operation_work *operation);
int mr_xplane_nest_end(struct mr_xplane *xplane, struct mr_xplane_nest *nest);

#endif
