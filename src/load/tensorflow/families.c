/* SPDX-License-Identifier: Apache-2.0 */
#include "load/tensorflow/families.h"

#include <string.h>

/* Forms whose name has not the name of the operation in it. */
static const struct {
	const char *form;
	const char *family;
} other_names[] = {
	{"FusedBatchNormEx", "FusedBatchNormV3"},
	{"FusedBatchNormGradEx", "FusedBatchNormGradV3"},
};

/* These begin with "Fused" by themselves. */
static const char fused_family[] = "FusedBatchNorm";

static struct mr_slice slice_of(const char *text)
{
	return (struct mr_slice){text, strlen(text)};
}

static bool starts_with(struct mr_slice slice, const char *prefix)
{
	size_t length = strlen(prefix);
	return slice.length >= length && memcmp(slice.at, prefix, length) == 0;
}

static struct mr_slice without_start(struct mr_slice slice, const char *prefix)
{
	size_t length = strlen(prefix);

	if (slice.length > length && starts_with(slice, prefix))
		slice = (struct mr_slice){slice.at + length, slice.length - length};
	return slice;
}

static struct mr_slice without_end(struct mr_slice slice, const char *suffix)
{
	size_t length = strlen(suffix);

	if (slice.length > length && memcmp(slice.at + slice.length - length, suffix, length) == 0)
		slice.length -= length;
	return slice;
}

/* oneDNN's own, between operations of the two libraries. */
static bool is_conversion(struct mr_slice type)
{
	return mr_slice_is(type, "_MklInputConversion") || mr_slice_is(type, "_MklToTf");
}

static bool is_form(struct mr_slice type)
{
	if (is_conversion(type))
		return false;
	return starts_with(type, "_Mkl") || starts_with(type, "_Fused") ||
	       starts_with(type, "_Quantized") || mr_slice_is(type, "_HostCast");
}

/* Programs ask for quantized operations by names that say all that is done: QuantizedConv2DWithBiasAndRelu. */
static struct mr_slice without_fusion(struct mr_slice name)
{
	name = without_start(name, "PadWith");
	if (!starts_with(name, fused_family))
		name = without_start(name, "Fused");
	return starts_with(name, "Quantized") ? name : without_end(name, "WithBias");
}

struct mr_slice mr_tensorflow_family(const char *type)
{
	static const char *const makers[] = {"_", "Mkl", "Native", "Host"};
	struct mr_slice name = slice_of(type);

	if (!is_form(name))
		return name;
	for (size_t i = 0; i < mr_countof(makers); i++)
		name = without_start(name, makers[i]);
	for (size_t i = 0; i < mr_countof(other_names); i++)
		if (mr_slice_is(name, other_names[i].form))
			return slice_of(other_names[i].family);
	return without_fusion(name);
}

int mr_tensorflow_set_families(struct mr_model *model)
{
	struct mr_definitions *definitions = &model->survey->definitions;

	for (size_t i = 0; i < definitions->nodes.count; i++) {
		struct mr_node *node = &definitions->nodes.items[i];
		struct mr_slice family = mr_tensorflow_family(mr_model_text(model, node->type));

		if (mr_strings_intern(&definitions->strings, family.at, family.length,
				      &node->family) < 0)
			return -ENOMEM;
	}
	return 0;
}
