/* SPDX-License-Identifier: Apache-2.0
 *
 * What the BPF programs record, feature by feature: a feature works as a whole or is switched off.
 */
#ifndef MR_KERNEL_FEATURE_H
#define MR_KERNEL_FEATURE_H

#include <bpf/libbpf.h>

enum {
	MR_FEATURE_COUNT = 20,
	MR_FEATURE_PROGRAMS = 6, /* at most */
};

/* The program that is not attached: the collector runs it. */
#define MR_VISITOR "on_each_task"

enum mr_feature_need {
	MR_FEATURE_INDISPENSABLE,
	MR_FEATURE_OPTIONAL,
	MR_FEATURE_FOR_ALL_CALLS, /* only if the user wants all system calls */
};

/* Programs that are useful only together. */
struct mr_feature {
	const char *name;
	enum mr_feature_need need;
	const char *programs[MR_FEATURE_PROGRAMS];
};

extern const struct mr_feature mr_features[MR_FEATURE_COUNT];

/* Each program belongs to one. */
const struct mr_feature *mr_feature_of(const struct bpf_program *program);

#endif
