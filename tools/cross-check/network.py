"""Section 6 of docs/strict-arithmetic.md: models as lists of layers, and their losses.

A state is a dict from the tensor's name to a float32 array.
"""

import numpy as np

import arithmetic as ar
import layers
from arithmetic import F32, CannotCheck
from philox import drawn


def section(given, where, *known):
	"""The values of a section of a specification, which must have these fields and no others: a field
	that is not known here would change the run in a way that is not known here.
	"""
	if set(given) != set(known):
		odd = ", ".join(sorted(set(given) ^ set(known)))
		raise CannotCheck(f"{where} has other fields than this program knows: {odd}")
	return [given[field] for field in known]


def only(given, where):
	"""Name and fields of a choice: text where it has no fields."""
	if isinstance(given, str):
		return given, {}
	if len(given) != 1:
		raise CannotCheck(f"{where} has not one section")
	[(name, fields)] = given.items()
	return name, fields


def active(layer, activation):
	"""A layer and the activation after it."""
	return [layer, {"activation": {"function": activation}}]


def linear(outputs):
	"""A fully connected layer."""
	return {"linear": {"outputs": outputs}}


def mlp(fields):
	"""The hidden layers of a multilayer perceptron."""
	hidden, activation = section(fields, "model.mlp", "hidden", "activation")
	return [layer for width in hidden for layer in active(linear(width), activation)]


IMAGE_LAYERS = {"conv": "conv2d", "max_pool": "max_pool2d", "avg_pool": "avg_pool2d"}


def cnn(fields):
	"""The shape of the image, and the layers but the last of a convolutional network."""
	known = "channels", "height", "width", "layers", "activation"
	*shape, given, activation = section(fields, "model.cnn", *known)
	found = []
	for layer in given:
		name, settings = only(layer, "model.cnn.layers")
		layer = {IMAGE_LAYERS.get(name, name): settings}
		found += active(layer, activation) if name in ("conv", "linear") else [layer]
	return shape, found


def transformer(fields):
	"""The layers but the last of a transformer."""
	known = "layers", "heads", "width", "mlp_factor", "dropout_nano"
	blocks, heads, width, factor, rate = section(fields, "model.transformer", *known)
	dropout = [{"dropout": {"rate_nano": rate}}] if rate else []

	def skipped(*part):
		part = [*part, *dropout]
		return [*part, {"skip": {"back": len(part)}}]

	attention = skipped("layer_norm", {"attention": {"heads": heads}})
	hidden = active(linear(factor * width), "gelu")
	block = attention + skipped("layer_norm", *hidden, linear(width))
	return [{"embedding": {"width": width}}, *dropout, *(block * blocks), "layer_norm"]


def as_layers(model, features, classes):
	"""The shape of a row, and all layers, of a specification's section `model`."""
	kind, fields = only(model, "model")
	if kind == "mlp":
		return [features], [*mlp(fields), linear(classes)]
	if kind == "cnn":
		shape, found = cnn(fields)
		return shape, [*found, linear(classes)]
	if kind == "transformer":
		return [features], [*transformer(fields), linear(classes)]
	if kind == "layers":
		given, found = section(fields, "model.layers", "input", "layers")
		given, fields = only(given, "model.layers.input")
		image = given == "image"
		shape = section(fields, "model.layers.input", "channels", "height", "width") if image else [features]
		return shape, found
	raise CannotCheck(f"the model {kind}")


# The layers by their names in a specification, with the fields of each.
LAYERS = {
	"linear": (layers.Linear, "outputs"),
	"conv2d": (layers.Conv2d, "filters", "kernel", "stride", "padding"),
	"max_pool2d": (layers.MaxPool2d, "kernel", "stride"),
	"avg_pool2d": (layers.AvgPool2d, "kernel", "stride"),
	"activation": (layers.Activation, "function"),
	"layer_norm": (layers.LayerNorm,),
	"rms_norm": (layers.RmsNorm,),
	"dropout": (layers.Dropout, "rate_nano"),
	"embedding": (layers.Embedding, "width"),
	"attention": (layers.Attention, "heads"),
	"skip": (layers.Skip, "back"),
	"mapping": (layers.Mapping, "reflections", "patch"),
}


class Network:
	"""The model of a specification."""

	def __init__(self, model, features, classes, seed):
		shape, given = as_layers(model, features, classes)
		self.shape, self.seed, self.layers = shape, seed, []
		for layer in given:
			name, fields = only(layer, "a layer")
			if name not in LAYERS:
				raise CannotCheck(f"the layer {name}")
			kind, *known = LAYERS[name]
			settings = section(fields, f"the layer {name}", *known)
			if kind is layers.Dropout:
				settings += [sum(isinstance(other, kind) for other in self.layers), seed]
			elif kind is layers.Embedding:
				settings.append(classes)
			elif kind is layers.Mapping:
				settings.append(seed)
			if kind is layers.Mapping and self.layers:
				raise CannotCheck("a mapping that is not the first layer")
			self.layers.append(kind(shape, *settings))
			shape = self.layers[-1].out
		self.weighted = [layer for layer in self.layers if layer.tensors]

	def kept(self):
		"""What belongs to the model and is not trained: the vectors of a mapping, by name."""
		first = self.layers[0]
		return dict(first.vectors) if isinstance(first, layers.Mapping) else {}

	def initial(self):
		"""The parameters before the first step, by name."""
		parameters, number = {}, 0
		for index, layer in enumerate(self.weighted):
			for name, shape, value in layer.tensors:
				name = f"layers.{index}.{name}"
				if isinstance(value, tuple):
					parameters[name] = drawn(self.seed, number, shape, *value)
					number += 1
				else:
					parameters[name] = np.full(shape, value, dtype=F32)
		return parameters

	def forward(self, state, features, step=None):
		"""The outputs, [labels, classes], at a training step, or on an evaluation."""
		for index, layer in enumerate(self.weighted):
			layer.p = {name: state[f"layers.{index}.{name}"] for name, *_ in layer.tensors}
		x, inputs = features.reshape(-1, *self.shape), []
		for index, layer in enumerate(self.layers):
			inputs.append(x)
			skips = isinstance(layer, layers.Skip)
			x = x + inputs[index - layer.back] if skips else layer.forward(x, step)
		return x.reshape(-1, x.shape[-1])

	def backward(self, g):
		"""The gradient of every parameter, by name, in the order of the state."""
		first = self.layers.index(self.weighted[0])
		waiting = {}
		g = g.reshape(-1, *self.layers[-1].out)
		for index in range(len(self.layers) - 1, first - 1, -1):
			layer = self.layers[index]
			if isinstance(layer, layers.Skip):
				at = index - layer.back
				waiting[at] = waiting[at] + g if at in waiting else g
			else:
				g = layer.backward(g, index > first)
			if index > first and index in waiting:
				g = g + waiting[index]
		return {
			f"layers.{index}.{name}": layer.grad[name]
			for index, layer in enumerate(self.weighted)
			for name, *_ in layer.tensors
		}


# Losses


def one_hot(x, labels):
	"""1 at each row's label, otherwise +0, in the shape of x."""
	hot = np.zeros_like(x)
	hot[np.arange(len(labels)), labels] = 1
	return hot


def log_softmax(x):
	"""The logarithm of the softmax of each row."""
	shifted = x - ar.over_rows(ar.maximum, x)
	return shifted - ar.log(ar.over_rows(ar.reduce_sum, ar.exp(shifted)))


def cross_entropy(logits, labels):
	"""The loss of each row, and the gradient of the mean loss."""
	log_p = log_softmax(logits)
	gradient = (ar.exp(log_p) - one_hot(log_p, labels)) / F32(len(labels))
	return -log_p[np.arange(len(labels)), labels], gradient


def squared_error(outputs, labels):
	"""The same of the mean squared error."""
	d = outputs - one_hot(outputs, labels)
	losses = ar.reduce_sum((d * d).T) / F32(outputs.shape[1])
	return losses, (d + d) / F32(outputs.size)


LOSSES = {"cross_entropy": cross_entropy, "mean_squared_error": squared_error}


def mean(x):
	"""The mean of all elements."""
	return ar.reduce_sum(x) / F32(len(x))


def hits(logits, labels):
	"""1 for each row whose label is the first index of the largest logit, otherwise +0."""
	best = logits[:, 0]
	index = np.zeros(len(logits), dtype=np.int64)
	for j in range(1, logits.shape[1]):
		larger = logits[:, j] > best
		best = np.where(larger, logits[:, j], best)
		index = np.where(larger, j, index)
	return (index == labels).astype(F32)
