"""The update of section 6 of docs/strict-arithmetic.md: rates, clipping, optimizers; and the optimizers'
tensors of section 7.
"""

import numpy as np

from arithmetic import F32, cos_pi, fma, nano, reduce_sum, sqrt

NANO = 10**9


def learning_rate(peak, schedule, warmup_steps, steps, step):
	"""The learning rate of a step; `schedule` is as in a specification, `peak` counts 10^-9."""
	if step < warmup_steps:
		return nano(peak * (step + 1) // warmup_steps)
	if schedule == "constant":
		return nano(peak)
	final = nano(schedule["cosine"]["final_rate_nano"])
	x = F32(np.float64(step - warmup_steps) / np.float64(steps - warmup_steps))
	c = cos_pi(x * F32(0.5))
	return fma(nano(peak) - final, c * c, final)


def clipped(gradients, largest):
	"""The gradients, scaled so that the norm of all of them together is at most `largest`; and the norm."""
	parts = [reduce_sum(np.square(gradient).ravel()) for gradient in gradients.values()]
	squares = parts[0]
	for part in parts[1:]:
		squares = squares + part
	norm = sqrt(squares)
	factor = largest / norm if norm > largest else F32(1)
	return {name: factor * gradient for name, gradient in gradients.items()}, norm


def ema(keep, take, average, x):
	"""The exponential moving average of x."""
	return fma(keep, average, take * x)


def ema_square(keep, take, average, x):
	"""The exponential moving average of x squared."""
	return fma(keep, average, take * (x * x))


class Optimizer:
	"""What optimizers share: weight decay, as a count of 10^-9."""

	def __init__(self, weight_decay):
		self.decays = weight_decay != 0
		self.weight_decay = nano(weight_decay)

	def decayed(self, x, gradient, rate):
		"""A parameter and its gradient after weight decay, which takes from the parameter."""
		if self.decays:
			x = fma(-rate, self.weight_decay, F32(1)) * x
		return x, gradient

	def step(self, state, gradients, rate):
		"""Takes the state one step on, at this learning rate."""
		self.begin_step(state)
		for name, gradient in gradients.items():
			self.update(state, name, *self.decayed(state[name], gradient, rate), rate)


class Sgd(Optimizer):
	"""Stochastic gradient descent with momentum, or with Nesterov's."""

	def __init__(self, weight_decay, momentum, nesterov):
		super().__init__(weight_decay)
		self.momentum, self.nesterov = nano(momentum), nesterov

	def initial(self, parameters):
		"""The optimizer's tensors before the first step."""
		return {f"optimizer.velocity.{name}": np.zeros_like(x) for name, x in parameters.items()}

	def begin_step(self, state):
		"""Nothing changes but the parameters and their velocities."""

	def update(self, state, name, x, gradient, rate):
		"""Updates one parameter, whose value after weight decay is x."""
		velocity = fma(self.momentum, state[f"optimizer.velocity.{name}"], gradient)
		state[f"optimizer.velocity.{name}"] = velocity
		direction = fma(self.momentum, velocity, gradient) if self.nesterov else velocity
		state[name] = fma(-rate, direction, x)


class AdamW(Optimizer):
	"""Adam with decoupled weight decay."""

	def __init__(self, weight_decay, beta1, beta2, epsilon):
		super().__init__(weight_decay)
		self.keep1, self.take1 = nano(beta1), nano(NANO - beta1)
		self.keep2, self.take2 = nano(beta2), nano(NANO - beta2)
		self.epsilon = nano(epsilon)

	def initial(self, parameters):
		"""The optimizer's tensors before the first step."""
		state = {}
		for name, x in parameters.items():
			state[f"optimizer.m.{name}"] = np.zeros_like(x)
			state[f"optimizer.v.{name}"] = np.zeros_like(x)
		state["optimizer.beta1_power"] = np.ones(1, dtype=F32)
		state["optimizer.beta2_power"] = np.ones(1, dtype=F32)
		return state

	def begin_step(self, state):
		"""Takes the powers of beta on."""
		state["optimizer.beta1_power"] = self.keep1 * state["optimizer.beta1_power"]
		state["optimizer.beta2_power"] = self.keep2 * state["optimizer.beta2_power"]

	def update(self, state, name, x, gradient, rate):
		"""Updates one parameter, whose value after weight decay is x."""
		m = ema(self.keep1, self.take1, state[f"optimizer.m.{name}"], gradient)
		v = ema_square(self.keep2, self.take2, state[f"optimizer.v.{name}"], gradient)
		state[f"optimizer.m.{name}"] = m
		state[f"optimizer.v.{name}"] = v
		corrected_m = m / (F32(1) - state["optimizer.beta1_power"])
		corrected_v = v / (F32(1) - state["optimizer.beta2_power"])
		direction = corrected_m / (sqrt(corrected_v) + self.epsilon)
		state[name] = fma(-rate, direction, x)


class Adam(AdamW):
	"""Adam whose weight decay is part of the gradient."""

	def decayed(self, x, gradient, rate):
		"""A parameter, and its gradient with the parameter's share."""
		return x, fma(self.weight_decay, x, gradient) if self.decays else gradient
