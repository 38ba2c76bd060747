/* SPDX-License-Identifier: Apache-2.0
 *
 * Launch bound: device kernels are so short that launching them takes longer than running them.
 */
#include "analysis/problem/problem.h"
#include "base/sort.h"

enum {
	FEWEST_KERNELS = 100,
	KERNELS_PER_STEP = 10,      /* at least */
	LONGEST_KERNEL_NS = 50000,  /* longer ones are not short, whatever a launch takes */
	LONGEST_LAUNCH_NS = 200000, /* more than this per kernel is something else */
};

struct kernels {
	uint32_t count;
	int64_t median_ns; /* one that lost its CPU would spoil the mean, if the device is a CPU */
};

static int study_kernels(const struct mr_model *model, struct kernels *ret_kernels)
{
	const struct mr_device_operations *operations = &model->device_operations;
	struct kernels kernels = {0};
	mr_auto(free) struct mr_sort_item *items =
		malloc((2 * (size_t)operations->table.count + 1) * sizeof *items);

	if (!items)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++)
		if (operations->kind[row] == MR_operation_kind_kernel)
			items[kernels.count++] = (struct mr_sort_item){
				mr_sort_key(operations->duration_ns[row]), row};
	mr_sort(items, items + kernels.count, kernels.count);
	if (kernels.count)
		kernels.median_ns = operations->duration_ns[items[kernels.count / 2].index];
	*ret_kernels = kernels;
	return 0;
}

/* The host is busy with the step: it does not sleep, nor wait for a disk or the device. */
static bool is_launching(const struct mr_case *of, const struct mr_moment *moment)
{
	switch (mr_last_station(&of->subject, moment)->link.kind) {
	case MR_CAUSE_DEVICE:
	case MR_CAUSE_DEPENDENCY:
	case MR_CAUSE_DEVICE_BUSY:
	case MR_CAUSE_SLEEP:
	case MR_CAUSE_DISK:
	case MR_CAUSE_NETWORK:
	case MR_CAUSE_CHILD:
		return false;
	default:
		return true;
	}
}

int mr_find_launch_bound(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct kernels kernels;

	if (study_kernels(of->cut, &kernels) < 0)
		return -ENOMEM;
	if (kernels.count < FEWEST_KERNELS)
		return 0;
	mr_claim_if(of, is_launching);
	int64_t kernel_ns = kernels.median_ns;
	int64_t launch_ns = mr_claimed_ns(of) / kernels.count;
	if (kernel_ns > LONGEST_KERNEL_NS || launch_ns > LONGEST_LAUNCH_NS ||
	    launch_ns <= kernel_ns)
		return 0;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where =
		mr_region_print(region, "%s device kernels", mr_case_count(of, kernels.count));
	problem->why = mr_region_print(
		region,
		"The device kernels are too small: one runs for %s, and launching it "
		"takes the host %s.",
		mr_case_time(of, kernel_ns), mr_case_time(of, launch_ns));
	return problem->where && problem->why ? 0 : -ENOMEM;
}
