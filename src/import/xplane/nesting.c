/* SPDX-License-Identifier: Apache-2.0
 *
 *     while   ├────────────────────────────┤        becomes   ├──┤      ├───┤       ├──┤
 *     body       ├──────┤   ├───────┤                            ├──────┤   ├───────┤
 *
 * Operations come in the order of their begin, the outer one first. One that overlaps others without enclosing them, or
 * comes late, is added as it is.
 */
#include <errno.h>

#include "import/xplane/xplane.h"

static int add_part(struct mr_xplane *xplane, struct mr_xplane_operation *operation, uint64_t end)
{
	struct mr_event_device_operation_work part = operation->event;

	part.start = operation->next;
	part.end = end;
	operation->next = end;
	if (operation->has_inner) {
		part.flops = 0;
		part.accessed_bytes = 0;
		if (part.start == end)
			return 0;
	}
	return mr_builder_add(xplane->builder, xplane->operation_thread, (int64_t)part.start,
			      (int64_t)end, MR_EVENT_device_operation_work, &part);
}

/* Ends what ended before a time. */
static int end_before(struct mr_xplane *xplane, struct mr_xplane_nest *nest, uint64_t time)
{
	while (nest->open.count > 0) {
		struct mr_xplane_operation *top = &nest->open.items[nest->open.count - 1];

		if (top->event.end > time)
			break;
		uint64_t end = top->event.end;
		if (add_part(xplane, top, end) < 0)
			return -ENOMEM;
		nest->open.count--;
		if (nest->open.count > 0) /* what follows is the outer one's again */
			nest->open.items[nest->open.count - 1].next =
				mr_max(nest->open.items[nest->open.count - 1].next, end);
	}
	return 0;
}

int mr_xplane_nest_add(struct mr_xplane *xplane, struct mr_xplane_nest *nest,
		       const struct mr_event_device_operation_work *operation)
{
	const struct mr_xplane_operation added = {.event = *operation, .next = operation->start};

	if (end_before(xplane, nest, operation->start) < 0)
		return -ENOMEM;
	if (nest->open.count > 0) {
		struct mr_xplane_operation *top = &nest->open.items[nest->open.count - 1];
		struct mr_xplane_operation alone = added;

		if (operation->start < top->next || operation->end > top->event.end)
			return add_part(xplane, &alone, operation->end);
		top->has_inner = true;
		if (operation->start > top->next && add_part(xplane, top, operation->start) < 0)
			return -ENOMEM;
	}
	return mr_vec_push(&nest->open, added);
}

int mr_xplane_nest_end(struct mr_xplane *xplane, struct mr_xplane_nest *nest)
{
	return end_before(xplane, nest, UINT64_MAX);
}
