/* SPDX-License-Identifier: Apache-2.0
 *
 * Families of TensorFlow's operations. The names are those that TensorFlow 2.15 to 2.21 register; what they stand for
 * was read in its mkl_layout_pass, mkl_eager_op_rewrite and remapper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "base/macros.h"
#include "finding_lookup.h"
#include "load/tensorflow/families.h"
#include "runtime_trace.h"
#include "trace_writer.h"

static const struct {
	const char *type;
	const char *family;
} known[] = {
	{"_MklMatMul", "MatMul"},
	{"_FusedMatMul", "MatMul"},
	{"_MklFusedMatMul", "MatMul"},
	{"_MklNativeFusedMatMul", "MatMul"},
	{"_MklBatchMatMul", "BatchMatMul"},
	{"_MklBatchMatMulV2", "BatchMatMulV2"},
	{"_MklFusedBatchMatMulV2", "BatchMatMulV2"},
	{"_MklEinsum", "Einsum"},
	{"_MklNativeSparseMatrixMatMul", "SparseMatrixMatMul"},
	{"_FusedConv2D", "Conv2D"},
	{"_FusedConv3D", "Conv3D"},
	{"_MklConv2D", "Conv2D"},
	{"_MklConv2DWithBias", "Conv2D"},
	{"_MklFusedConv2D", "Conv2D"},
	{"_MklPadWithConv2D", "Conv2D"},
	{"_MklPadWithFusedConv2D", "Conv2D"},
	{"_MklNativeConv2D", "Conv2D"},
	{"_MklNativeConv2DWithBias", "Conv2D"},
	{"_MklNativeFusedConv2D", "Conv2D"},
	{"_MklNativePadWithConv2D", "Conv2D"},
	{"_MklNativePadWithFusedConv2D", "Conv2D"},
	{"_MklNativeConv3D", "Conv3D"},
	{"_MklNativeFusedConv3D", "Conv3D"},
	{"_MklConv2DBackpropFilter", "Conv2DBackpropFilter"},
	{"_MklConv2DBackpropFilterWithBias", "Conv2DBackpropFilter"},
	{"_MklNativeConv2DBackpropFilterWithBias", "Conv2DBackpropFilter"},
	{"_MklNativeConv2DBackpropInput", "Conv2DBackpropInput"},
	{"_MklNativeConv3DBackpropInputV2", "Conv3DBackpropInputV2"},
	{"_FusedDepthwiseConv2dNative", "DepthwiseConv2dNative"},
	{"_MklDepthwiseConv2dNative", "DepthwiseConv2dNative"},
	{"_MklFusedDepthwiseConv2dNative", "DepthwiseConv2dNative"},
	{"_MklNativeDepthwiseConv2dNative", "DepthwiseConv2dNative"},
	{"_MklNativeFusedDepthwiseConv2dNative", "DepthwiseConv2dNative"},
	{"_MklNativeDepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"},
	{"_FusedBatchNormEx", "FusedBatchNormV3"},
	{"_FusedBatchNormGradEx", "FusedBatchNormGradV3"},
	{"_MklFusedBatchNormEx", "FusedBatchNormV3"},
	{"_MklNativeFusedBatchNormEx", "FusedBatchNormV3"},
	{"_MklFusedBatchNorm", "FusedBatchNorm"},
	{"_MklNativeFusedBatchNormV3", "FusedBatchNormV3"},
	{"_MklNativeFusedBatchNormGradV3", "FusedBatchNormGradV3"},
	{"_MklFusedInstanceNorm", "InstanceNorm"},
	{"_MklFusedMish", "Mish"},
	{"_MklLayerNorm", "LayerNorm"},
	{"_MklNativeMaxPool", "MaxPool"},
	{"_MklNativeMaxPoolGrad", "MaxPoolGrad"},
	{"_MklAvgPool3DGrad", "AvgPool3DGrad"},
	{"_MklAddV2", "AddV2"},
	{"_MklIdentity", "Identity"},
	{"_MklLRNGrad", "LRNGrad"},
	{"_MklSquaredDifference", "SquaredDifference"},
	{"_MklRelu", "Relu"},
	{"_MklRelu6Grad", "Relu6Grad"},
	{"_MklSoftmax", "Softmax"},
	{"_MklSwish", "Swish"},
	{"_MklTanhGrad", "TanhGrad"},
	{"_MklConcatV2", "ConcatV2"},
	{"_MklTranspose", "Transpose"},
	{"_MklConjugateTranspose", "ConjugateTranspose"},
	{"_MklQuantizeV2", "QuantizeV2"},
	{"_MklDequantize", "Dequantize"},
	{"_MklQuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndRelu"},
	{"_MklQuantizedMatMulWithBias", "QuantizedMatMulWithBias"},
	{"_FusedQuantizedConv2D", "QuantizedConv2D"},
	{"_FusedQuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2D"},
	{"_QuantizedMatMul", "QuantizedMatMul"},
	{"_HostCast", "Cast"},
};

/* Whatever looks a little like those above, and stands for itself. */
static const char *const own[] = {
	"",
	"MatMul",
	"Conv2D",
	"FusedBatchNormV3",
	"FusedPadConv2D",
	"QuantizedMatMulWithBias",
	"MklMatMul",
	"_MklInputConversion",
	"_MklToTf",
	"_Arg",
	"_Retval",
	"_Send",
	"_HostSend",
	"_HostRecv",
	"_EagerConst",
	"_UnaryOpsComposition",
	"_If",
	"_While",
	"_XlaRun",
	"_NcclReduceSend",
	"_ReadVariablesOp",
	"__inference_train_step_12",
};

static void check(const char *type, const char *family)
{
	struct mr_slice found = mr_tensorflow_family(type);

	if (!mr_slice_is(found, family))
		fail_msg("%s is a %.*s, not a %s", type, (int)found.length, found.at, family);
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < mr_countof(known); i++)
		check(known[i].type, known[i].family);
}

static void test_own_families(void **state)
{
	(void)state;
	for (size_t i = 0; i < mr_countof(own); i++)
		check(own[i], own[i]);
}

/* Names that nobody registers: whatever is answered, it is a text. */
static void test_never_empty(void **state)
{
	(void)state;
	static const char *const odd[] = {"_Mkl",         "_MklNative",  "_Fused",
					  "_MklFused",    "_MklPadWith", "_MklFusedWithBias",
					  "_MklWithBias", "_Quantized"};

	for (size_t i = 0; i < mr_countof(odd); i++)
		assert_true(mr_tensorflow_family(odd[i]).length > 0);
}

static void execute(uint32_t node, uint64_t at_ns)
{
	EMIT(node_interval, TRACE_BEGIN + at_ns + 100, .node = node,
	     .duration_ticks = mr_u48_from(100));
}

/* Nodes of a type have its family; the table by type keeps types apart and says the family. */
static void test_table_by_type(void **state)
{
	struct mr_findings findings = {0};

	(void)state;
	runtime_trace_start();
	execute(define_node("first", "_MklMatMul"), 1000);
	execute(define_node("second", "_MklMatMul"), 2000);
	execute(define_node("third", "MatMul"), 3000);
	struct mr_model *model = runtime_trace_load();
	assert_int_equal(mr_tensorflow_set_families(model), 0);
	assert_int_equal(mr_analyse_operations(model, &findings), 0);
	const struct mr_finding_table *table = findings_table(&findings, "by_type");
	assert_int_equal(table->row_count, 2);
	assert_string_equal(findings_text(table, 0, "type"), "MatMul (as _MklMatMul)");
	assert_int_equal(findings_number(table, 0, "count"), 2);
	assert_string_equal(findings_text(table, 1, "type"), "MatMul");
	assert_int_equal(findings_number(table, 1, "count"), 1);
	mr_findings_free(&findings);
	runtime_trace_end(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_own_families),
		cmocka_unit_test(test_never_empty),
		cmocka_unit_test(test_table_by_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
