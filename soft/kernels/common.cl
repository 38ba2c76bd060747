/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by all device kernels. All files in this folder form one program, in the order of
 * soft/meson.build.
 *
 * A tensor takes two arguments, a buffer and the offset of the tensor in it: TENSOR(x) declares them,
 * AT(float, x) is its first element. Sums use double precision, which costs little on a CPU.
 */
#define TENSOR(name)   __global uchar *name##_buffer, ulong name##_begin
#define AT(type, name) ((__global type *)(name##_buffer + name##_begin))

/* The position of an element of the box in each operand. */
struct place {
	int at[MR_OPERANDS];
};

struct place locate(const struct mr_layout *layout, uint index)
{
	struct place place = {{0, 0, 0}};

	for (int i = layout->rank - 1; i >= 0; i--) {
		uint rest = index / (uint)layout->extents[i];
		int step = (int)(index - rest * (uint)layout->extents[i]);

		for (int operand = 0; operand < MR_OPERANDS; operand++)
			place.at[operand] += step * layout->strides[operand][i];
		index = rest;
	}
	return place;
}

/* Locating an element costs divisions, so a work-item handles a run of neighbours: a row of the box, or
 * a part of a long one. */
struct run {
	int index; /* of its first element */
	int count; /* 0 beyond the end of the box */
	int at[MR_OPERANDS];
	int step[MR_OPERANDS];
};

struct run run_of(const struct mr_layout *layout, int task)
{
	int last = layout->rank - 1;
	int extent = last < 0 ? 1 : layout->extents[last];
	int parts = (extent + MR_RUN - 1) / MR_RUN;
	int row = task / parts, first = task % parts * MR_RUN;
	struct run run = {row * extent + first, min(MR_RUN, extent - first)};
	struct place place = locate(layout, run.index);

	if (run.index >= layout->count)
		run.count = 0;
	for (int operand = 0; operand < MR_OPERANDS; operand++) {
		run.at[operand] = place.at[operand];
		run.step[operand] = last < 0 ? 0 : layout->strides[operand][last];
	}
	return run;
}
