"""The optimizers of section 6 of docs/strict-arithmetic.md, and their tensors of section 7."""

import numpy as np

from arithmetic import F32, fma, nano, sqrt

NANO = 10**9


def ema(keep, take, average, x):
	"""The exponential moving average of x."""
	return fma(keep, average, take * x)


def ema_square(keep, take, average, x):
	"""The exponential moving average of x squared."""
	return fma(keep, average, take * (x * x))


class Optimizer:
	"""What optimizers share: learning rate and decoupled weight decay, as counts of 10^-9."""

	def __init__(self, learning_rate, weight_decay):
		self.learning_rate = nano(learning_rate)
		self.decays = weight_decay != 0
		self.weight_decay = nano(weight_decay)

	def decay(self, x):
		"""The parameter after the step's weight decay."""
		if not self.decays:
			return x
		return fma(-self.learning_rate, self.weight_decay, F32(1)) * x

	def step(self, state, gradients):
		"""Takes the state one step on."""
		self.begin_step(state)
		for name, gradient in gradients.items():
			self.update(state, name, self.decay(state[name]), gradient)


class Sgd(Optimizer):
	"""Stochastic gradient descent with momentum."""

	def __init__(self, learning_rate, weight_decay, momentum):
		super().__init__(learning_rate, weight_decay)
		self.momentum = nano(momentum)

	def initial(self, parameters):
		"""The optimizer's tensors before the first step."""
		return {f"optimizer.velocity.{name}": np.zeros_like(x) for name, x in parameters.items()}

	def begin_step(self, state):
		"""Nothing changes but the parameters and their velocities."""

	def update(self, state, name, x, gradient):
		"""Updates one parameter, whose value after weight decay is x."""
		velocity = fma(self.momentum, state[f"optimizer.velocity.{name}"], gradient)
		state[f"optimizer.velocity.{name}"] = velocity
		state[name] = fma(-self.learning_rate, velocity, x)


class AdamW(Optimizer):
	"""Adam with decoupled weight decay."""

	def __init__(self, learning_rate, weight_decay, beta1, beta2, epsilon):
		super().__init__(learning_rate, weight_decay)
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

	def update(self, state, name, x, gradient):
		"""Updates one parameter, whose value after weight decay is x."""
		m = ema(self.keep1, self.take1, state[f"optimizer.m.{name}"], gradient)
		v = ema_square(self.keep2, self.take2, state[f"optimizer.v.{name}"], gradient)
		state[f"optimizer.m.{name}"] = m
		state[f"optimizer.v.{name}"] = v
		corrected_m = m / (F32(1) - state["optimizer.beta1_power"])
		corrected_v = v / (F32(1) - state["optimizer.beta2_power"])
		direction = corrected_m / (sqrt(corrected_v) + self.epsilon)
		state[name] = fma(-self.learning_rate, direction, x)
