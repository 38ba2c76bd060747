/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that process each element independently. The device kernels have the names of the ops.
 */
#define UNARY(name, expression)                                                                    \
	__kernel void name(TENSOR(x), TENSOR(y), int count)                                        \
	{                                                                                          \
		int i = get_global_id(0);                                                          \
                                                                                                   \
		if (i < count) {                                                                   \
			float a = AT(float, x)[i];                                                 \
			AT(float, y)[i] = (expression);                                            \
		}                                                                                  \
	}

/* One device kernel for operands of the same shape, one for all others. */
#define BINARY(name, type, expression)                                                             \
	__kernel void name(TENSOR(x), TENSOR(y), TENSOR(z), int count)                             \
	{                                                                                          \
		int i = get_global_id(0);                                                          \
                                                                                                   \
		if (i < count) {                                                                   \
			float a = AT(float, x)[i], b = AT(float, y)[i];                            \
			AT(type, z)[i] = (expression);                                             \
		}                                                                                  \
	}                                                                                          \
	__kernel void name##_broadcast(TENSOR(x), TENSOR(y), TENSOR(z), struct mr_layout layout)   \
	{                                                                                          \
		struct run run = run_of(&layout, get_global_id(0));                                \
		__global const float *x = AT(float, x) + run.at[0], *y = AT(float, y) + run.at[1]; \
		__global type *z = AT(type, z) + run.index;                                        \
                                                                                                   \
		for (int i = 0; i < run.count; i++) {                                              \
			float a = x[i * run.step[0]], b = y[i * run.step[1]];                      \
			z[i] = (expression);                                                       \
		}                                                                                  \
	}

#define SELU_SCALE 1.0507009873554805f
#define SELU_ALPHA 1.6732632423543772f

UNARY(Abs, fabs(a))
UNARY(Ceil, ceil(a))
UNARY(Cos, cos(a))
UNARY(Elu, a < 0 ? expm1(a) : a)
UNARY(Erf, erf(a))
UNARY(Exp, exp(a))
UNARY(Expm1, expm1(a))
UNARY(Floor, floor(a))
UNARY(Log, log(a))
UNARY(Log1p, log1p(a))
UNARY(Neg, -a)
UNARY(Reciprocal, 1.0f / a)
UNARY(Relu, a < 0 ? 0.0f : a)
UNARY(Relu6, a < 0 ? 0.0f : a > 6 ? 6.0f : a)
UNARY(Rsqrt, 1.0f / sqrt(a))
UNARY(Selu, SELU_SCALE * (a < 0 ? SELU_ALPHA * expm1(a) : a))
UNARY(Sigmoid, 1.0f / (1.0f + exp(-a)))
UNARY(Sign, a == 0 || a != a ? a : copysign(1.0f, a))
UNARY(Sin, sin(a))
UNARY(Softplus, fmax(a, 0.0f) + log1p(exp(-fabs(a))))
UNARY(Sqrt, sqrt(a))
UNARY(Square, a * a)
UNARY(Tanh, tanh(a))

BINARY(AddV2, float, a + b)
BINARY(DivNoNan, float, b == 0 ? 0.0f : a / b)
BINARY(Maximum, float, a != a || a > b ? a : b)
BINARY(Minimum, float, a != a || a < b ? a : b)
BINARY(Mul, float, a * b)
BINARY(Pow, float, pow(a, b))
BINARY(RealDiv, float, a / b)
BINARY(SquaredDifference, float, (a - b) * (a - b))
BINARY(Sub, float, a - b)

BINARY(Equal, uchar, a == b)
BINARY(Greater, uchar, a > b)
BINARY(GreaterEqual, uchar, a >= b)
BINARY(Less, uchar, a < b)
BINARY(LessEqual, uchar, a <= b)
BINARY(NotEqual, uchar, a != b)

/* Gradients. Depending on the op, as TensorFlow defines it, a is the incoming gradient or the output,
 * and b is the other. */
BINARY(EluGrad, float, b < 0 ? a * (b + 1) : a)
BINARY(ReluGrad, float, b > 0 ? a : 0.0f)
BINARY(Relu6Grad, float, b > 0 && b < 6 ? a : 0.0f)
BINARY(RsqrtGrad, float, -0.5f * b * a * a * a)
BINARY(SeluGrad, float, b < 0 ? a * (b + SELU_SCALE * SELU_ALPHA) : a * SELU_SCALE)
BINARY(SigmoidGrad, float, b * a * (1 - a))
BINARY(SoftplusGrad, float, a / (1 + exp(-b)))
BINARY(SqrtGrad, float, b * 0.5f / a)
BINARY(TanhGrad, float, b * (1 - a * a))

__kernel void SelectV2(TENSOR(condition), TENSOR(x), TENSOR(y), TENSOR(z), struct mr_layout layout)
{
	struct run run = run_of(&layout, get_global_id(0));
	__global const uchar *condition = AT(uchar, condition) + run.at[0];
	__global const float *x = AT(float, x) + run.at[1], *y = AT(float, y) + run.at[2];
	__global float *z = AT(float, z) + run.index;

	for (int i = 0; i < run.count; i++)
		z[i] = condition[i * run.step[0]] ? x[i * run.step[1]] : y[i * run.step[2]];
}

#define CAST(from, to)                                                                             \
	__kernel void Cast_##from##_##to(TENSOR(x), TENSOR(y), int count)                          \
	{                                                                                          \
		int i = get_global_id(0);                                                          \
                                                                                                   \
		if (i < count)                                                                     \
			AT(to, y)[i] = (to)AT(from, x)[i];                                         \
	}

CAST(int, float)
CAST(long, float)
CAST(uchar, float)
CAST(float, int)
CAST(float, long)
CAST(int, long)
CAST(long, int)

/* Anything but 0 is true, also what would become 0 when truncated. */
__kernel void Cast_float_bool(TENSOR(x), TENSOR(y), int count)
{
	int i = get_global_id(0);

	if (i < count)
		AT(uchar, y)[i] = AT(float, x)[i] != 0;
}

__kernel void Fill(TENSOR(y), float value, int count)
{
	int i = get_global_id(0);

	if (i < count)
		AT(float, y)[i] = value;
}

/* Moves elements; the layout says from where and to where. */
__kernel void move(TENSOR(x), TENSOR(y), struct mr_layout layout, int from, int to)
{
	struct run run = run_of(&layout, get_global_id(0));
	__global const float *x = AT(float, x) + from + run.at[0];
	__global float *y = AT(float, y) + to + run.at[1];

	for (int i = 0; i < run.count; i++)
		y[i * run.step[1]] = x[i * run.step[0]];
}

__kernel void bias_add(TENSOR(x), TENSOR(bias), TENSOR(y), int count, int channels)
{
	int i = get_global_id(0);

	if (i < count)
		AT(float, y)[i] = AT(float, x)[i] + AT(float, bias)[i % channels];
}
