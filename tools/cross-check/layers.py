"""Sections 5 and 6 of docs/strict-arithmetic.md: the layers of a model, forward and backward.

A layer has `tensors`: name, shape and initial value of each parameter (a number, or a tuple with
the inputs for which it is drawn). It is given them as `p`. `forward(x, step)` gives its result, at
no step on an evaluation; `backward(g, needed)` gives g', where it is needed, and leaves the
parameters' gradients in `grad`. `out` is the shape of its result for one row: `[numbers]`,
`[channels, height, width]`, or `[positions, width]` of a sequence.
"""

import numpy as np

import arithmetic as ar
from arithmetic import F32, CannotCheck, fma, nano
from philox import Stream

NORM_EPSILON = nano(10_000)


def mean_of_rows(x):
	"""The mean over the last axis, which stays."""
	return ar.over_rows(ar.reduce_sum, x) / F32(x.shape[-1])


def sum_rows(g):
	"""The sum over the first axis."""
	return ar.reduce_sum(g)


class Layer:
	"""A layer without parameters that changes no shape."""

	tensors = ()

	def __init__(self, shape):
		self.out, self.p, self.grad = shape, {}, {}


class Linear(Layer):
	"""Fully connected, over all numbers of a row or over each vector of a sequence."""

	def __init__(self, shape, outputs):
		sequence = len(shape) == 2
		super().__init__([shape[0], outputs] if sequence else [outputs])
		self.inputs = shape[1] if sequence else int(np.prod(shape))
		self.outputs = outputs
		self.tensors = ("weight", (outputs, self.inputs), (self.inputs,)), ("bias", (outputs,), 0)

	def forward(self, x, step):
		self.shape, self.x = x.shape, x.reshape(-1, self.inputs)
		z = ar.matmul(self.x, self.p["weight"].T) + self.p["bias"]
		return z.reshape(-1, *self.out)

	def backward(self, g, needed):
		g = g.reshape(-1, self.outputs)
		self.grad = {"weight": ar.matmul(g.T, self.x), "bias": sum_rows(g)}
		return ar.matmul(g, self.p["weight"]).reshape(self.shape) if needed else None


def windows(x, kernel, stride, padding):
	"""What each window reads, [images, rows, columns, channels, kernel, kernel]."""
	x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
	rows, columns = ((extent - kernel) // stride + 1 for extent in x.shape[2:])
	seen = [
		x[:, :, y * stride : y * stride + kernel, c * stride : c * stride + kernel]
		for y in range(rows)
		for c in range(columns)
	]
	return np.stack(seen, axis=1).reshape(len(x), rows, columns, x.shape[1], kernel, kernel)


def image(shape):
	"""The shape of a row, which must be an image's."""
	if len(shape) != 3:
		raise CannotCheck("a layer on images after something else")
	return shape


class Conv2d(Layer):
	"""Convolution with a bias for each filter."""

	def __init__(self, shape, filters, kernel, stride, padding):
		channels, height, width = image(shape)
		extents = [(extent + 2 * padding - kernel) // stride + 1 for extent in (height, width)]
		super().__init__([filters, *extents])
		self.window = kernel, stride, padding
		weight = (filters, channels, kernel, kernel)
		self.tensors = ("weight", weight, (channels * kernel**2,)), ("bias", (filters,), 0)

	def forward(self, x, step):
		self.shape, seen = x.shape, windows(x, *self.window)
		# One row of taps for each window.
		self.taps = seen.reshape(len(x), 1, -1, int(np.prod(seen.shape[3:])))
		weight = self.p["weight"]
		product = ar.dot(self.taps, weight.reshape(1, len(weight), 1, -1))
		return product.reshape(-1, *self.out) + self.p["bias"][:, None, None]

	def backward(self, g, needed):
		kernel, stride, padding = self.window
		weight = self.p["weight"]
		g = g.reshape(-1, *self.out)
		by_filter = g.transpose(1, 0, 2, 3).reshape(len(weight), 1, -1)
		by_tap = self.taps.reshape(-1, self.taps.shape[-1]).T[None]
		self.grad = {
			"weight": ar.dot(by_filter, by_tap).reshape(weight.shape),
			"bias": sum_rows(by_filter[:, 0].T),
		}
		if not needed:
			return None
		_, _, height, width = self.shape
		_, rows, columns = self.out
		out = np.zeros((*self.shape[:2], height + 2 * padding, width + 2 * padding), dtype=F32)
		for r in range(kernel):
			for s in range(kernel):
				part = ar.dot(g.transpose(0, 2, 3, 1)[:, None], weight[:, :, r, s].T[:, None, None])
				out[:, :, r : r + rows * stride : stride, s : s + columns * stride : stride] += part
		return out[:, :, padding : padding + height, padding : padding + width]


class Pool(Layer):
	"""What max and average pooling share."""

	def __init__(self, shape, kernel, stride):
		channels, height, width = image(shape)
		super().__init__([channels] + [(extent - kernel) // stride + 1 for extent in (height, width)])
		self.kernel, self.stride = kernel, stride

	def seen(self, x):
		"""The elements of each window, row by row, in the first axis."""
		seen = windows(x, self.kernel, self.stride, 0).transpose(4, 5, 0, 3, 1, 2)
		return seen.reshape(-1, *seen.shape[2:])

	def backward(self, g, needed):
		out = np.zeros(self.x.shape, dtype=F32)
		for y, x in np.ndindex(*self.out[1:]):
			for tap in range(self.kernel**2):
				r, s = divmod(tap, self.kernel)
				place = out[:, :, y * self.stride + r, x * self.stride + s]
				place[...] = self.added(place, g[:, :, y, x], tap, (y, x))
		return out


class MaxPool2d(Pool):
	"""The largest of each window."""

	def forward(self, x, step):
		self.x, seen = x, self.seen(x)
		maximum = ar.maximum(seen)
		self.first = (seen == maximum).argmax(axis=0)
		return maximum

	def added(self, place, g, tap, window):
		return np.where(self.first[(..., *window)] == tap, place + g, place)


class AvgPool2d(Pool):
	"""The mean of each window."""

	def forward(self, x, step):
		self.x, total = x, F32(0)
		for element in self.seen(x):
			total = total + element
		return total / F32(self.kernel**2)

	def added(self, place, g, tap, window):
		return place + g / F32(self.kernel**2)


# Of each its value, its gradient, and whether that reads the argument or the result.
ACTIVATIONS = {
	"relu": (ar.relu, ar.relu_grad, "result"),
	"gelu": (ar.gelu, ar.gelu_grad, "argument"),
	"silu": (ar.silu, ar.silu_grad, "argument"),
	"tanh": (ar.tanh, ar.tanh_grad, "result"),
	"sigmoid": (ar.sigmoid, ar.sigmoid_grad, "result"),
}


class Activation(Layer):
	"""An elementwise function."""

	def __init__(self, shape, function):
		super().__init__(shape)
		self.value, self.gradient, self.reads = ACTIVATIONS[function]

	def forward(self, x, step):
		y = self.value(x)
		self.at = y if self.reads == "result" else x
		return y

	def backward(self, g, needed):
		return self.gradient(g.reshape(self.at.shape), self.at)


class LayerNorm(Layer):
	"""Over all numbers of a row, or over each vector of a sequence."""

	def __init__(self, shape):
		super().__init__(shape)
		self.width = shape[1] if len(shape) == 2 else int(np.prod(shape))
		self.tensors = ("weight", (self.width,), 1), ("bias", (self.width,), 0)

	def forward(self, x, step):
		self.shape, x = x.shape, x.reshape(-1, self.width)
		d = x - mean_of_rows(x)
		self.s = ar.sqrt(mean_of_rows(d * d) + NORM_EPSILON)
		self.h = d / self.s
		return fma(self.h, self.p["weight"], self.p["bias"]).reshape(self.shape)

	def backward(self, g, needed):
		g = g.reshape(-1, self.width)
		self.grad = {"weight": sum_rows(g * self.h), "bias": sum_rows(g)}
		q = g * self.p["weight"]
		a, b = mean_of_rows(q), mean_of_rows(q * self.h)
		return (((q - a) - self.h * b) / self.s).reshape(self.shape)


class RmsNorm(Layer):
	"""Over all numbers of a row, or over each vector of a sequence."""

	def __init__(self, shape):
		super().__init__(shape)
		self.width = shape[1] if len(shape) == 2 else int(np.prod(shape))
		self.tensors = (("weight", (self.width,), 1),)

	def forward(self, x, step):
		self.shape, x = x.shape, x.reshape(-1, self.width)
		self.s = ar.sqrt(mean_of_rows(x * x) + NORM_EPSILON)
		self.h = x / self.s
		return (self.h * self.p["weight"]).reshape(self.shape)

	def backward(self, g, needed):
		g = g.reshape(-1, self.width)
		self.grad = {"weight": sum_rows(g * self.h)}
		q = g * self.p["weight"]
		b = mean_of_rows(q * self.h)
		return ((q - self.h * b) / self.s).reshape(self.shape)


class Mapping(Layer):
	"""Reflections that the seed fixes, of all numbers of a row or of the patches of an image, which become
	its channels. Nothing of it is trained.
	"""

	def __init__(self, shape, reflections, patch, seed):
		if len(shape) == 2 or patch and len(shape) != 3:
			raise CannotCheck(f"a mapping in patches of {patch} of a row of the shape {shape}")
		super().__init__(shape)
		self.patch, self.width = patch, int(np.prod(shape))
		if patch:
			channels, height, width = shape
			self.tiles = channels, height // patch, patch, width // patch, patch
			self.width = channels * patch * patch
			self.out = [self.width, height // patch, width // patch]
		self.vectors = {}
		for number in range(reflections):
			words = Stream(seed, "mapping").words(number, self.width)
			size = ar.sqrt(F32(1) / F32(self.width))
			signed = np.where((words & np.uint64(1)) == 0, size, -size)
			self.vectors[f"mapping.{number}"] = signed.astype(F32).reshape(1, self.width)

	def forward(self, x, step):
		rows = len(x)
		if self.patch:
			# [row, channel, above, down, beside, across] to [row, above, beside, channel, down, across]
			x = x.reshape(rows, *self.tiles).transpose(0, 2, 4, 1, 3, 5)
		x = x.reshape(-1, self.width)
		for vector in self.vectors.values():
			along = ar.matmul(x, vector.T)
			x = fma(-F32(2), ar.matmul(along, vector), x)
		if self.patch:
			x = x.reshape(rows, -1, self.width).transpose(0, 2, 1)
		return x.reshape(rows, *self.out)


class Dropout(Layer):
	"""Drops a share of the elements in training; `number` counts the dropouts of a model."""

	def __init__(self, shape, rate_nano, number, seed):
		super().__init__(shape)
		self.rate_nano, self.number, self.seed = rate_nano, number, seed

	def forward(self, x, step):
		if step is None:
			return x
		words = Stream(self.seed, "dropout").words(step, x.size, self.number << 32)
		least = (self.rate_nano << 32) // 10**9
		self.kept = (words >= np.uint64(least)).reshape(x.shape)
		return self.backward(x, True)

	def backward(self, g, needed):
		k = F32(1) / nano(10**9 - self.rate_nano)
		return np.where(self.kept, k * g.reshape(self.kept.shape), F32(0))


class Embedding(Layer):
	"""A vector for each token, plus one for its position."""

	def __init__(self, shape, width, vocabulary):
		[context] = shape
		super().__init__([context, width])
		tables = ("tokens", vocabulary), ("positions", context)
		self.tensors = tuple((name, (rows, width), (width,)) for name, rows in tables)

	def forward(self, x, step):
		self.tokens = x.astype(np.int64)
		return self.p["tokens"][self.tokens] + self.p["positions"]

	def backward(self, g, needed):
		table = np.zeros_like(self.p["tokens"])
		for token, row in zip(self.tokens.ravel(), g.reshape(-1, table.shape[1])):
			table[token] = table[token] + row
		self.grad = {"tokens": table, "positions": sum_rows(g.reshape(-1, *self.out))}


def causal_softmax(x, factor):
	"""Each row i of the last two axes over its columns up to i; +0 in the others."""
	out = np.zeros_like(x)
	for i in range(x.shape[-1]):
		s = factor * x[..., i, : i + 1]
		e = ar.exp(s - ar.over_rows(ar.maximum, s))
		out[..., i, : i + 1] = e / ar.over_rows(ar.reduce_sum, e)
	return out


def causal_softmax_grad(g, p, factor):
	"""The gradient of the argument of causal_softmax, whose result is p."""
	out = np.zeros_like(p)
	for i in range(p.shape[-1]):
		seen, part = p[..., i, : i + 1], g[..., i, : i + 1]
		d = ar.over_rows(ar.reduce_sum, part * seen)
		out[..., i, : i + 1] = factor * (seen * (part - d))
	return out


def transposed(x):
	"""The last two axes swapped."""
	return np.swapaxes(x, -1, -2)


class Attention(Layer):
	"""Causal attention of each position to itself and those before it."""

	def __init__(self, shape, heads):
		super().__init__(shape)
		self.heads, self.depth = heads, shape[1] // heads
		self.linear = {kind: Linear(shape, shape[1]) for kind in ("query", "key", "value", "output")}
		self.tensors = tuple(
			(f"{kind}.{name}", *rest)
			for kind, linear in self.linear.items()
			for name, *rest in linear.tensors
		)

	def split(self, x):
		"""[rows, heads, positions, depth] of [rows, positions, width]."""
		return x.reshape(len(x), -1, self.heads, self.depth).transpose(0, 2, 1, 3)

	def merge(self, x):
		"""The way back."""
		return x.transpose(0, 2, 1, 3).reshape(len(x), *self.out)

	def forward(self, x, step):
		for kind, linear in self.linear.items():
			linear.p = {name: self.p[f"{kind}.{name}"] for name, *_ in linear.tensors}
		parts = (self.linear[kind].forward(x, step) for kind in ("query", "key", "value"))
		self.q, self.k, self.v = map(self.split, parts)
		self.factor = F32(1) / ar.sqrt(F32(self.depth))
		self.attended = causal_softmax(ar.matmul(self.q, transposed(self.k)), self.factor)
		mixed = self.merge(ar.matmul(self.attended, self.v))
		return self.linear["output"].forward(mixed, step)

	def backward(self, g, needed):
		m = self.split(self.linear["output"].backward(g, True))
		gp = ar.matmul(m, transposed(self.v))
		gs = causal_softmax_grad(gp, self.attended, self.factor)
		parts = {
			"query": ar.matmul(gs, self.k),
			"key": ar.matmul(transposed(gs), self.q),
			"value": ar.matmul(transposed(self.attended), m),
		}
		parts = [self.linear[kind].backward(self.merge(g), needed) for kind, g in parts.items()]
		self.grad = {
			f"{kind}.{name}": gradient
			for kind, linear in self.linear.items()
			for name, gradient in linear.grad.items()
		}
		return (parts[0] + parts[1]) + parts[2] if needed else None


class Skip(Layer):
	"""Adds the input of the layer `back` places before it."""

	def __init__(self, shape, back):
		super().__init__(shape)
		self.back = back
