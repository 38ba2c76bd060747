# SPDX-License-Identifier: Apache-2.0
"""Every op of the software GPU against TensorFlow's CPU device, forward and gradient.

Nothing may fall back to the CPU: soft placement is off, so an op that the device lacks is an error.

Tolerance: OpenCL allows single functions up to 16 units in the last place (pow); elementwise results get that,
relative to the largest. Sums of n random terms differ, by the order in which they are added, by about sqrt(n)
such units, so results that add `terms` products get sqrt(terms) times as much.
"""

import os
import re
import unittest

import numpy as np
import harness
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import kernels, op_callbacks

CPU, XPU = "/device:CPU:0", "/device:XPU:0"
ULP = 2.0 ** -23

# As they come, broadcast in all ways, scalar, empty, and one in which no two dimensions can be taken as one.
SHAPES = [(), (1,), (7,), (300,), (3, 5, 7), (2, 3, 4, 5), (0, 3)]
PAIRS = [((7,), (7,)), ((3, 5, 7), (3, 5, 7)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 1), (1, 4)), ((2, 3, 4), (3, 1)),
         ((), (5,)), ((5,), ()), ((33, 17), ()), ((2, 1, 3, 1, 2), (1, 4, 1, 5, 2)), ((0, 3), (1, 3)),
         ((2, 1, 2, 1, 2), (1, 3, 1, 3, 1))]
ANY, POSITIVE, UNIT = (-3, 3), (0.1, 3), (-0.9, 0.9)

UNARY = {"Abs": ANY, "Ceil": ANY, "Cos": ANY, "Elu": ANY, "Erf": ANY, "Exp": ANY, "Expm1": ANY, "Floor": ANY,
         "Log": POSITIVE, "Log1p": POSITIVE, "Neg": ANY, "OnesLike": ANY, "Reciprocal": POSITIVE, "Relu": ANY,
         "Relu6": (-3, 9), "Rsqrt": POSITIVE, "Selu": ANY, "Sigmoid": ANY, "Sign": ANY, "Sin": ANY, "Softplus": ANY,
         "Sqrt": POSITIVE, "Square": ANY, "Tanh": ANY, "ZerosLike": ANY}
BINARY = {"AddV2": (ANY, ANY), "DivNoNan": (ANY, POSITIVE), "Maximum": (ANY, ANY), "Minimum": (ANY, ANY),
          "Mul": (ANY, ANY), "Pow": (POSITIVE, ANY), "RealDiv": (ANY, POSITIVE), "SquaredDifference": (ANY, ANY),
          "Sub": (ANY, ANY)}
COMPARE = ["Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"]
# op: its inputs' names and ranges
GRADIENTS = {"EluGrad": (("gradients", ANY), ("outputs", UNIT)), "ReluGrad": (("gradients", ANY), ("features", ANY)),
             "Relu6Grad": (("gradients", ANY), ("features", (-3, 9))), "RsqrtGrad": (("y", ANY), ("dy", ANY)),
             "SeluGrad": (("gradients", ANY), ("outputs", UNIT)), "SigmoidGrad": (("y", UNIT), ("dy", ANY)),
             "SoftplusGrad": (("gradients", ANY), ("features", ANY)), "SqrtGrad": (("y", POSITIVE), ("dy", ANY)),
             "TanhGrad": (("y", UNIT), ("dy", ANY))}


def random(shape, limits=ANY, seed=0):
    generator = np.random.RandomState(seed + 7919 * len(shape) + sum(shape))
    return generator.uniform(*limits, shape).astype(np.float32)


class OpTest(unittest.TestCase):
    def setUp(self):
        tf.config.set_soft_device_placement(False)
        self.assertTrue(tf.config.list_physical_devices("XPU"), "there is no software GPU")

    @staticmethod
    def on(device, function, inputs):
        with tf.device(device):
            outputs = function(*[tf.constant(value) for value in inputs])
            return [tf.identity(output) for output in tf.nest.flatten(outputs)]

    @staticmethod
    def gradients_on(device, function, inputs):
        """Of the outputs, weighted so that no two elements count the same."""
        with tf.device(device):
            tensors = [tf.constant(value) for value in inputs]
            watched = [tensor for tensor in tensors if tensor.dtype == tf.float32]
            with tf.GradientTape() as tape:
                tape.watch(watched)
                outputs = tf.nest.flatten(function(*tensors))
                weights = [tf.constant(random(tuple(output.shape), seed=11)) for output in outputs]
            return tape.gradient(outputs, watched, output_gradients=weights)

    def assert_same(self, ours, theirs, terms, what):
        self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape), what)
        ours, theirs = ours.numpy(), theirs.numpy()
        if ours.dtype != np.float32:
            np.testing.assert_array_equal(ours, theirs, what)
        elif ours.size:
            finite = np.abs(theirs[np.isfinite(theirs)])
            largest = max(finite.max() if finite.size else 0, np.finfo(np.float32).tiny)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=16 * ULP * max(terms, 1) ** 0.5 * largest,
                                       err_msg=what)

    def compare(self, function, *inputs, terms=1, gradient=False, soft=False, what=""):
        """`soft`: TensorFlow makes the gradient with ops that only the CPU has."""
        what = f"{what} {[np.shape(value) for value in inputs]}"
        with self.subTest(what):
            ours = self.on(XPU, function, inputs)
            for output in ours:
                self.assertIn("XPU", output.device, what)
            for output, expected in zip(ours, self.on(CPU, function, inputs)):
                self.assert_same(output, expected, terms, what)
            if gradient:
                tf.config.set_soft_device_placement(soft)
                ours = self.gradients_on(XPU, function, inputs)
                for number, (output, expected) in enumerate(zip(ours, self.gradients_on(CPU, function, inputs))):
                    self.assert_same(output, expected, terms, f"{what} gradient {number}")
                tf.config.set_soft_device_placement(False)


class Whole(unittest.TestCase):
    """Nothing is left out: runs last, and looks back on the other tests."""

    SEEN = set()

    @classmethod
    def watch(cls, op_type, inputs, attributes, outputs, op_name=None, graph=None):
        if any("XPU" in output.device for output in outputs):
            cls.SEEN.add(op_type)

    def test_every_op(self):
        with open(os.path.join(os.environ["SOURCE_DIR"], "soft", "ops.def")) as file:
            listed = {"Cast", *re.findall(r"^MR_(?:OP|ASSIGN)\((\w+)", file.read(), re.M)}
        registered = {kernel.op for kernel in kernels.get_all_registered_kernels().kernel
                      if kernel.device_type == "XPU"}
        self.assertEqual(registered, listed)
        # Changes of variables have no outputs, the fused op is made by TensorFlow's optimiser, and Cast is not told.
        silent = {op for op in listed if re.match("Assign|ResourceApply|_Fused|Cast", op)}
        self.assertEqual(listed - silent - self.SEEN, set(), "registered, but not tested")


class Elementwise(OpTest):
    def test_unary(self):
        for name, limits in UNARY.items():
            function = getattr(tf.raw_ops, name)
            argument = "features" if name in ("Elu", "Relu", "Relu6", "Selu", "Softplus") else "x"
            for shape in SHAPES:
                self.compare(lambda x: function(**{argument: x}), random(shape, limits), what=name)

    def test_unary_gradient(self):
        for function in (tf.exp, tf.math.log, tf.tanh, tf.sigmoid, tf.nn.relu, tf.nn.relu6, tf.nn.elu, tf.nn.selu,
                         tf.nn.softplus, tf.sqrt, tf.math.rsqrt, tf.square, tf.abs, tf.negative):
            self.compare(function, random((5, 9), POSITIVE), gradient=True, what=function.__name__)

    def test_binary(self):
        for name, (first, second) in BINARY.items():
            function = getattr(tf.raw_ops, name)
            for a, b in PAIRS:
                self.compare(lambda x, y: function(x=x, y=y), random(a, first), random(b, second, 1), what=name)

    def test_binary_gradient(self):
        for function in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.math.squared_difference,
                         tf.math.divide_no_nan):
            for a, b in PAIRS[:9]:
                self.compare(function, random(a, POSITIVE), random(b, POSITIVE, 1), gradient=True,
                             soft=function is tf.pow, terms=max(np.prod(a), np.prod(b)), what=function.__name__)

    def test_gradient_ops(self):
        for name, ((first, limits), (second, other)) in GRADIENTS.items():
            function = getattr(tf.raw_ops, name)
            for shape in SHAPES:
                self.compare(lambda x, y: function(**{first: x, second: y}), random(shape, limits),
                             random(shape, other, 1), what=name)

    def test_compare(self):
        for name in COMPARE:
            function = getattr(tf.raw_ops, name)
            for a, b in PAIRS:
                self.compare(lambda x, y: function(x=x, y=y), np.round(random(a)), np.round(random(b, seed=1)),
                             what=name)

    def test_special_values(self):
        special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-30, 1e30], np.float32)
        for name in ("Relu", "Relu6", "Neg", "Abs", "Sign", "Sqrt", "Sigmoid", "Tanh", "Exp", "Square"):
            function = getattr(tf.raw_ops, name)
            argument = "features" if name.startswith("Relu") else "x"
            self.compare(lambda x: function(**{argument: x}), special, what=name)
        pairs = np.meshgrid(special, special)
        for name in ("AddV2", "Mul", "DivNoNan", *COMPARE):
            function = getattr(tf.raw_ops, name)
            self.compare(lambda x, y: function(x=x, y=y), *pairs, what=name)

    def test_select(self):
        for condition, a, b in [((7,), (7,), (7,)), ((3, 1), (3, 4), (4,)), ((4,), (), (3, 4)), ((), (5,), (5,)),
                                ((2, 3, 1), (1, 3, 4), (2, 1, 1))]:
            self.compare(tf.where, random(condition) > 0, random(a, seed=1), random(b, seed=2), what="SelectV2")

    def test_add_n(self):
        for count in (1, 2, 3, 5):
            self.compare(lambda *x: tf.raw_ops.AddN(inputs=list(x)), *[random((4, 6), seed=i) for i in range(count)],
                         what="AddN")

    def test_bias_add(self):
        for shape in [(5, 3), (2, 5, 7, 4), (1, 1), (64, 33)]:
            self.compare(tf.nn.bias_add, random(shape), random(shape[-1:], seed=1), gradient=True,
                         terms=np.prod(shape), what="BiasAdd")

    def test_cast(self):
        numbers = np.array([0, 1, -1, 2.7, -2.7, 200, 1e6], np.float32)
        for source, targets in {"float32": ["int32", "int64", "bool"], "int32": ["float32", "int64"],
                                "int64": ["float32", "int32"], "bool": ["float32"], "uint8": ["float32"]}.items():
            for target in targets:
                self.compare(lambda x: tf.raw_ops.Cast(x=x, DstT=target), np.abs(numbers[:6]).astype(source)
                             if source == "uint8" else numbers.astype(source), what=f"Cast {source} {target}")


class Arrange(OpTest):
    def test_fill(self):
        for shape in [[], [3], [2, 0], [4, 5, 6]]:
            self.compare(lambda: tf.fill(shape, 2.5), what="Fill")

    def test_broadcast_and_tile(self):
        for shape, target in [((3,), (2, 3)), ((2, 1, 3), (2, 4, 3)), ((1,), (5, 5)), ((), (3,)), ((3, 1), (0, 3, 2))]:
            self.compare(lambda x: tf.broadcast_to(x, target), random(shape), gradient=shape != () and 0 not in target,
                         terms=np.prod(target), what="BroadcastTo")
        for shape, multiples in [((3,), [4]), ((2, 3), [2, 3]), ((2, 3, 4), [1, 3, 1]), ((2, 3, 4), [3, 1, 2]),
                                 ((1, 5), [7, 1])]:
            self.compare(lambda x: tf.tile(x, multiples), random(shape), what="Tile")

    def test_transpose(self):
        for shape, order in [((3, 5), [1, 0]), ((2, 3, 4), [2, 0, 1]), ((2, 3, 4, 5), [0, 3, 1, 2]),
                             ((2, 3, 4, 5), [3, 2, 1, 0]), ((2, 3, 4), [0, 1, 2])]:
            self.compare(lambda x: tf.transpose(x, order), random(shape), gradient=True, what="Transpose")

    def test_concat_slice_pad(self):
        for axis in (0, 1, 2, -1):
            shapes = [[3, 4, 5], [3, 4, 5], [3, 4, 5]]
            for number, shape in enumerate(shapes):
                shape[axis] = number + 1
            self.compare(lambda *x: tf.concat(x, axis), *[random(tuple(shape)) for shape in shapes], gradient=True,
                         soft=True, what="ConcatV2")
        for begin, size in [([0, 0, 0], [3, 4, 5]), ([1, 2, 3], [2, 1, 2]), ([0, 1, 0], [-1, 2, -1]),
                            ([1, 0, 0], [0, 4, 5])]:
            self.compare(lambda x: tf.slice(x, begin, size), random((3, 4, 5)), gradient=True, soft=True,
                         what="Slice")
        for paddings in ([[0, 0], [1, 2], [0, 1]], [[2, 0], [0, 0], [0, 0]]):
            self.compare(lambda x: tf.pad(x, paddings), random((2, 3, 4)), gradient=True, soft=True,
                         what="Pad")


class Reductions(OpTest):
    CASES = [((7,), [0]), ((3, 5), [0]), ((3, 5), [1]), ((3, 5), [0, 1]), ((3, 5), []), ((2, 3, 4, 5), [1, 2]),
             ((2, 3, 4, 5), [0, 2]), ((2, 3, 4, 5), [1, 3]), ((2, 3, 4, 5), [-1]), ((40, 50), [0]), ((), []),
             ((3, 0), [1]), ((3, 0), [0])]

    def test_reduce(self):
        for name in ("Sum", "Mean", "Prod", "Max", "Min"):
            function = getattr(tf.raw_ops, name)
            for shape, axes in self.CASES:
                # The mean of nothing is not a number, and TensorFlow's tests do not say which one either.
                if name == "Mean" and 0 in [shape[axis] for axis in axes]:
                    continue
                for keep in (False, True):
                    self.compare(lambda x: function(input=x, axis=np.array(axes, np.int32), keep_dims=keep),
                                 random(shape, (0.5, 1.5)), terms=np.prod(shape), what=f"{name} {axes}")

    def test_gradient(self):
        for function in (tf.reduce_sum, tf.reduce_mean):
            for shape, axes in self.CASES[:9]:
                self.compare(lambda x: function(x, axes), random(shape), gradient=True, terms=np.prod(shape),
                             what=f"{function.__name__} {axes}")

    def test_argument(self):
        values = np.round(random((4, 5, 6)) * 2)
        for function in (tf.argmax, tf.argmin):
            for axis in (0, 1, 2, -1):
                for kind in (tf.int32, tf.int64):
                    self.compare(lambda x: function(x, axis, kind), values, what=f"{function.__name__} {axis}")


class Layers(OpTest):
    def test_matmul(self):
        for height, width, depth in [(1, 1, 1), (4, 16, 8), (5, 17, 9), (33, 47, 65), (8, 10, 128), (128, 1, 3),
                                     (64, 64, 64), (3, 4, 0), (0, 4, 3)]:
            for transpose_a in (False, True):
                for transpose_b in (False, True):
                    a = random((depth, height) if transpose_a else (height, depth))
                    b = random((width, depth) if transpose_b else (depth, width), seed=1)
                    self.compare(lambda x, y: tf.matmul(x, y, transpose_a, transpose_b), a, b, gradient=True,
                                 terms=max(depth, height, width), what=f"MatMul {transpose_a} {transpose_b}")

    def test_convolution(self):
        for image, filters, strides in [((2, 8, 8, 3), (3, 3, 3, 4), 1), ((1, 9, 7, 2), (3, 3, 2, 5), 2),
                                        ((2, 5, 6, 4), (1, 1, 4, 8), 1), ((2, 7, 7, 4), (1, 1, 4, 8), 2),
                                        ((1, 11, 13, 1), (5, 3, 1, 16), (2, 3)), ((3, 6, 6, 2), (2, 2, 2, 3), 2),
                                        ((1, 4, 4, 1), (4, 4, 1, 1), 1), ((2, 10, 10, 16), (3, 3, 16, 32), 1)]:
            for padding in ("SAME", "VALID"):
                windows = image[0] * image[1] * image[2]
                self.compare(lambda x, f: tf.nn.conv2d(x, f, strides, padding), random(image), random(filters),
                             gradient=True, terms=max(windows, np.prod(filters)), what=f"Conv2D {strides} {padding}")

    def test_convolution_padded_and_dilated(self):
        image, filters = random((2, 9, 8, 3)), random((3, 2, 3, 4))
        self.compare(lambda x, f: tf.nn.conv2d(x, f, 2, [[0, 0], [1, 2], [0, 3], [0, 0]]), image, filters,
                     gradient=True, terms=200, what="Conv2D EXPLICIT")
        for padding in ("SAME", "VALID"):
            self.compare(lambda x, f: tf.nn.conv2d(x, f, 1, padding, dilations=(2, 3)), image, filters, terms=18,
                         what=f"Conv2D dilated {padding}")

    def test_pooling(self):
        for image in [(2, 8, 8, 3), (1, 7, 9, 4), (2, 5, 5, 1), (1, 2, 2, 16)]:
            for size, strides in [(2, 2), (3, 2), (2, 1), ((2, 3), (3, 1)), (1, 2)]:
                for padding in ("SAME", "VALID"):
                    if padding == "VALID" and np.max(size) > min(image[1:3]):
                        continue
                    # Few different values, so that the largest is often there twice.
                    for function in (tf.nn.max_pool2d, tf.nn.avg_pool2d):
                        self.compare(lambda x: function(x, size, strides, padding), np.round(random(image)),
                                     gradient=True, terms=9, what=f"{function.__name__} {size} {strides} {padding}")

    def test_batch_norm(self):
        for shape in [(4, 5, 6, 3), (2, 3, 3, 17), (1, 8, 8, 32)]:
            channels = shape[-1:]
            x, scale, offset = random(shape), random(channels, POSITIVE), random(channels, seed=1)
            mean, variance = random(channels, seed=2), random(channels, POSITIVE, 3)
            for training, factor in [(False, 1.0), (True, 1.0), (True, 0.1)]:
                with_mean = (mean, variance) if not training or factor != 1.0 else (np.float32([]), np.float32([]))
                self.compare(
                    lambda *arguments: tf.raw_ops.FusedBatchNormV3(
                        **dict(zip(("x", "scale", "offset", "mean", "variance"), arguments)), epsilon=1e-3,
                        is_training=training, exponential_avg_factor=factor)[:5 if training else 3],
                    x, scale, offset, *with_mean, terms=np.prod(shape[:3]), what=f"FusedBatchNormV3 {training} {factor}")
                self.compare(
                    lambda *arguments: tf.raw_ops.FusedBatchNormGradV3(
                        **dict(zip(("y_backprop", "x", "scale", "reserve_space_1", "reserve_space_2",
                                    "reserve_space_3"), arguments)), epsilon=1e-3, is_training=training)[:3],
                    random(shape, seed=5), x, scale, mean, variance, np.float32([]),
                    # Both sides subtract numbers that are nearly equal.
                    terms=16 * np.prod(shape[:3]), what=f"FusedBatchNormGradV3 {training}")

    def test_fused_batch_norm(self):
        """TensorFlow's optimiser makes one op of normalisation and Relu."""
        @tf.function
        def fused(x, scale, offset, mean, variance):
            return tf.nn.relu(tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=mean,
                                                          variance=variance, epsilon=1e-3, is_training=False).y)

        context.context().enable_run_metadata()
        self.compare(fused, random((2, 4, 4, 6)), random((6,), POSITIVE), random((6,)), random((6,), seed=1),
                     random((6,), POSITIVE), terms=4, what="_FusedBatchNormEx")
        graphs = context.context().export_run_metadata().partition_graphs
        context.context().disable_run_metadata()
        self.assertIn(("_FusedBatchNormEx", "XPU:0"),
                      {(node.op, node.device[-5:]) for graph in graphs for node in graph.node})

    def test_softmax(self):
        for shape in [(1, 1), (5, 10), (3, 4, 17), (64, 3)]:
            for function in (tf.nn.softmax, tf.nn.log_softmax):
                self.compare(function, 5 * random(shape), gradient=True, terms=shape[-1], what=function.__name__)

    def test_cross_entropy(self):
        for rows, classes in [(1, 2), (5, 10), (33, 17)]:
            logits = 4 * random((rows, classes))
            for kind in (np.int32, np.int64):
                labels = np.arange(rows, dtype=kind) % classes
                self.compare(lambda x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x), logits, labels,
                             gradient=True, terms=classes, what="SparseSoftmaxCrossEntropyWithLogits")
            for label_rows in {1, rows}:
                labels = random((label_rows, classes), (0, 1))
                self.compare(lambda x, y: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=y), logits,
                             labels, terms=classes, what="SoftmaxCrossEntropyWithLogits")

    def test_label_outside(self):
        with tf.device(XPU):
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([0, 7]), tf.zeros([2, 3]))
        np.testing.assert_allclose(loss.numpy(), [np.log(3), np.nan], rtol=1e-6)


class Errors(OpTest):
    """Told, not crashed: kernels that believed such shapes would read and write anywhere."""

    def test_shapes_that_do_not_fit(self):
        raw = tf.raw_ops
        vector, matrix, image = tf.zeros([3]), tf.zeros([2, 3]), tf.zeros([1, 4, 4, 2])
        for wrong in (
                lambda: vector + tf.zeros([2]),
                lambda: tf.matmul(matrix, tf.zeros([4, 5])),
                lambda: raw.AddN(inputs=[vector, tf.zeros([4])]),
                lambda: raw.BiasAdd(value=matrix, bias=tf.zeros([2])),
                lambda: raw.BroadcastTo(input=vector, shape=[2, 4]),
                lambda: raw.Fill(dims=[-1], value=1.0),
                lambda: raw.Tile(input=vector, multiples=[1, 2]),
                lambda: raw.Transpose(x=matrix, perm=[0, 0]),
                lambda: raw.ConcatV2(values=[matrix, tf.zeros([3, 3])], axis=1),
                lambda: raw.Slice(input=vector, begin=[2], size=[2]),
                lambda: raw.Pad(input=vector, paddings=[[-1, 0]]),
                lambda: raw.Sum(input=vector, axis=[1]),
                lambda: raw.ArgMax(input=vector, dimension=1),
                lambda: raw.SparseSoftmaxCrossEntropyWithLogits(features=matrix, labels=[0, 1, 2]),
                lambda: raw.Conv2DBackpropInput(input_sizes=[1, 4, 4, 2], filter=tf.zeros([3, 3, 2, 5]),
                                                out_backprop=image, strides=[1, 1, 1, 1], padding="SAME"),
                lambda: raw.MaxPoolGrad(orig_input=image, orig_output=image, grad=tf.zeros([1, 9, 9, 2]),
                                        ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
                lambda: raw.FusedBatchNormV3(x=image, scale=vector, offset=vector, mean=vector, variance=vector,
                                             is_training=False)):
            with tf.device(XPU), self.subTest(wrong), self.assertRaises(tf.errors.InvalidArgumentError):
                wrong()
        with tf.device(XPU):
            self.assertEqual(tf.reduce_sum(tf.ones([3])).numpy(), 3)

    def test_channels_first(self):
        with tf.device(XPU), self.assertRaises(tf.errors.UnimplementedError):
            tf.nn.conv2d(tf.zeros([1, 3, 4, 4]), tf.zeros([1, 1, 3, 2]), 1, "SAME", data_format="NCHW")

    def test_memory_is_limited(self):
        """To what the environment says; TensorFlow keeps some of it for itself."""
        limit = int(os.environ.get("MILLRACE_SOFT_MEMORY_MB", 1024)) << 20
        kept = []
        with tf.device(XPU), self.assertRaises(tf.errors.ResourceExhaustedError):
            while len(kept) < 100:
                kept.append(tf.zeros([4, 1024, 1024]))
        allocated = sum(4 * tf.size(tensor).numpy() for tensor in kept)
        self.assertLess(limit // 3, allocated)
        self.assertLess(allocated, limit)


if __name__ == "__main__":
    op_callbacks.add_op_callback(Whole.watch)
    harness.main()
