"""Sections 5 and 6 of docs/strict-arithmetic.md: the operators and lists of a multilayer perceptron.

A state is a dict from the tensor's name to a float32 array.
"""

import numpy as np

import arithmetic as ar
from arithmetic import F32
from philox import initial_weight


def weight_name(layer):
	"""The name of a layer's weight, [outputs, inputs]."""
	return f"layers.{layer}.weight"


def bias_name(layer):
	"""The name of a layer's bias, [outputs]."""
	return f"layers.{layer}.bias"


def initial_parameters(widths, seed):
	"""The initial parameters of the layers between the widths: inputs, hidden ones, classes."""
	parameters = {}
	for layer, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
		parameters[weight_name(layer)] = initial_weight(seed, layer, outputs, inputs)
		parameters[bias_name(layer)] = np.zeros(outputs, dtype=F32)
	return parameters


# Operators


def relu(a):
	"""a where a > 0, otherwise +0."""
	return np.where(a > 0, a, F32(0))


def relu_grad(gradient, activation):
	"""The gradient where the activation is > 0, otherwise +0."""
	return np.where(activation > 0, gradient, F32(0))


def log_softmax(x):
	"""The logarithm of the softmax of each row."""
	shifted = x - ar.maximum(x.T)[:, None]
	total = ar.reduce_sum(ar.exp(shifted).T)
	return shifted - ar.log(total)[:, None]


def row_loss(log_p, labels):
	"""The cross-entropy of each row."""
	return -log_p[np.arange(len(labels)), labels]


def row_loss_grad(log_p, labels):
	"""The gradient of the mean cross-entropy by the logits."""
	hot = np.zeros_like(log_p)
	hot[np.arange(len(labels)), labels] = 1
	return (ar.exp(log_p) - hot) / F32(len(labels))


def correct(logits, labels):
	"""1 for each row whose label is the first index of the largest logit, otherwise +0."""
	best = logits[:, 0]
	index = np.zeros(len(logits), dtype=np.int64)
	for j in range(1, logits.shape[1]):
		larger = logits[:, j] > best
		best = np.where(larger, logits[:, j], best)
		index = np.where(larger, j, index)
	return (index == labels).astype(F32)


def mean(x):
	"""The mean of all elements."""
	return ar.reduce_sum(x) / F32(len(x))


# Lists


def layer_count(state):
	"""The number of layers whose parameters a state holds."""
	layers = 0
	while weight_name(layers) in state:
		layers += 1
	return layers


def forward(state, features):
	"""The input of each layer, and the logits behind the last."""
	layers = layer_count(state)
	inputs = [features]
	for layer in range(layers):
		product = ar.matmul(inputs[layer], state[weight_name(layer)].T)
		z = product + state[bias_name(layer)]
		if layer + 1 < layers:
			inputs.append(relu(z))
	return inputs, z


def loss_of(logits, labels):
	"""log_p, [rows, classes], and the mean loss."""
	log_p = log_softmax(logits)
	return log_p, mean(row_loss(log_p, labels))


def evaluate(state, features, labels):
	"""The mean loss over the rows, and how many of them are classified correctly."""
	_, logits = forward(state, features)
	_, loss = loss_of(logits, labels)
	return loss, int(ar.reduce_sum(correct(logits, labels)))


def gradients(state, features, labels):
	"""The loss of a batch, and the gradient of every parameter."""
	inputs, logits = forward(state, features)
	log_p, loss = loss_of(logits, labels)
	g = row_loss_grad(log_p, labels)
	found = {}
	for layer in reversed(range(len(inputs))):
		if layer + 1 < len(inputs):
			g = relu_grad(g, inputs[layer + 1])
		found[weight_name(layer)] = ar.matmul(g.T, inputs[layer])
		found[bias_name(layer)] = ar.reduce_sum(g)
		if layer > 0:
			g = ar.matmul(g, state[weight_name(layer)])
	return loss, found
