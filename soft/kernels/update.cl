/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes variables in place. Learning rates and other parameters are tensors of one element.
 */
#define ASSIGN(name, type, operator)                                                               \
	__kernel void name(TENSOR(variable), TENSOR(value), int count)                             \
	{                                                                                          \
		int i = get_global_id(0);                                                          \
                                                                                                   \
		if (i < count)                                                                     \
			AT(type, variable)[i] operator AT(type, value)[i];                         \
	}

ASSIGN(assign_add_float, float, +=)
ASSIGN(assign_subtract_float, float, -=)
ASSIGN(assign_add_long, long, +=)
ASSIGN(assign_subtract_long, long, -=)

__kernel void apply_gradient(TENSOR(variable), TENSOR(rate), TENSOR(gradient), int count)
{
	int i = get_global_id(0);

	if (i < count)
		AT(float, variable)[i] -= AT(float, rate)[0] * AT(float, gradient)[i];
}

__kernel void apply_momentum(TENSOR(variable), TENSOR(momentum), TENSOR(rate), TENSOR(gradient),
			     TENSOR(decay), int nesterov, int count)
{
	int i = get_global_id(0);
	float decay = AT(float, decay)[0];

	if (i < count) {
		float gradient = AT(float, gradient)[i];
		float momentum = AT(float, momentum)[i] * decay + gradient;
		float direction = nesterov ? gradient + decay * momentum : momentum;

		AT(float, momentum)[i] = momentum;
		AT(float, variable)[i] -= AT(float, rate)[0] * direction;
	}
}

__kernel void apply_adam(TENSOR(variable), TENSOR(m), TENSOR(v), TENSOR(beta1_power),
			 TENSOR(beta2_power), TENSOR(rate), TENSOR(beta1), TENSOR(beta2),
			 TENSOR(epsilon), TENSOR(gradient), int nesterov, int count)
{
	int i = get_global_id(0);
	float beta1 = AT(float, beta1)[0], beta2 = AT(float, beta2)[0];
	float unbias1 = 1 - AT(float, beta1_power)[0], unbias2 = 1 - AT(float, beta2_power)[0];
	float rate = AT(float, rate)[0] * sqrt(unbias2) / unbias1;

	if (i < count) {
		float gradient = AT(float, gradient)[i];
		float m = AT(float, m)[i] + (1 - beta1) * (gradient - AT(float, m)[i]);
		float v = AT(float, v)[i] + (1 - beta2) * (gradient * gradient - AT(float, v)[i]);
		float direction = nesterov ? beta1 * m + (1 - beta1) * gradient : m;

		AT(float, m)[i] = m;
		AT(float, v)[i] = v;
		AT(float, variable)[i] -= rate * direction / (sqrt(v) + AT(float, epsilon)[0]);
	}
}
