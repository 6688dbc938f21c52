"""Checks the vectors of docs/strict-arithmetic.md."""

import re

import numpy as np

import arithmetic as ar
import mlp
import optimizers
import philox
from arithmetic import F32, CannotCheck, number
from states import state_hash


def hexadecimal(values):
	"""The bits of numbers, or words, as the vectors write them."""
	values = np.ravel(np.asarray(values))
	words = ar.bits(values) if values.dtype == F32 else values
	return " ".join(f"{int(word):08X}" for word in words)


def x_numbers(i):
	"""x(i) of the vectors."""
	return ((37 * i + 11) % 101 - 50).astype(F32) / F32(64)


def y_numbers(i):
	"""y(i) of the vectors."""
	return ((53 * i + 29) % 97 - 48).astype(F32) / F32(3)


def seed_of(byte):
	"""The seed that is 32 times this byte."""
	return bytes.fromhex(byte) * 32


def philox_vector(*words):
	"""`philox c0 c1 c2 c3 k0 k1`"""
	values = [int(word, 16) for word in words]
	return hexadecimal(philox.philox(values[:4], values[4:]))


def key_vector(stream, seed):
	"""`key stream seed-byte`"""
	return hexadecimal(np.array(philox.Stream(seed_of(seed), stream).key))


def below_vector(stream, seed, step, index, bound):
	"""`below stream seed-byte step index bound`"""
	draws = philox.Stream(seed_of(seed), stream)
	return str(draws.below(int(step), int(index), int(bound)))


def dot_vector(n):
	"""`dot n`"""
	i = np.arange(int(n))
	return hexadecimal(ar.matmul(x_numbers(i)[None, :], y_numbers(i)[:, None]))


def weights_vector(seed, layer, fan_in):
	"""`weights seed-byte layer fan_in`"""
	return hexadecimal(philox.initial_weight(seed_of(seed), int(layer), 4, int(fan_in)).ravel()[:4])


def epoch_vector(seed, epoch, rows):
	"""`epoch seed-byte epoch rows`"""
	return " ".join(str(row) for row in philox.epoch_order(seed_of(seed), int(epoch), int(rows)))


def train_vector(name, steps):
	"""`train optimizer steps`: the hash of the last state, and the loss of the last step."""
	optimizer = {
		"sgd": optimizers.Sgd(20_000_000, 10_000_000, 900_000_000),
		"adamw": optimizers.AdamW(20_000_000, 10_000_000, 900_000_000, 999_000_000, 10),
	}[name]
	seed = seed_of("07")
	features = x_numbers(np.arange(50)).reshape(10, 5)
	labels = np.arange(10) % 3
	state = mlp.initial_parameters([5, 6, 3], seed)
	state.update(optimizer.initial(state))
	losses, orders = [], {}
	for step in range(int(steps)):
		rows = philox.batch_rows(seed, step, 10, 4, orders)
		loss, gradients = mlp.gradients(state, features[rows], labels[rows])
		optimizer.step(state, gradients)
		losses.append(hexadecimal(loss))
	return " ".join([state_hash(state).hex()] + losses[-1:])


def function_vector(function):
	"""The kind of vector that gives numbers to a function."""
	return lambda *words: hexadecimal(function(*(number(word) for word in words)))


KINDS = {
	"philox": philox_vector,
	"key": key_vector,
	"below": below_vector,
	"symmetric": lambda word: hexadecimal(philox.symmetric(int(word, 16))),
	"nano": lambda count: hexadecimal(ar.nano(int(count))),
	"fma": function_vector(ar.fma),
	"exp": function_vector(ar.exp),
	"log": function_vector(ar.log),
	"sqrt": function_vector(ar.sqrt),
	"inverse_normal": function_vector(ar.inverse_normal),
	"dot": dot_vector,
	"sum": lambda n: hexadecimal(ar.reduce_sum(y_numbers(np.arange(int(n))))),
	"max": function_vector(lambda *x: ar.maximum(np.array(x))),
	"log_softmax": function_vector(lambda *x: mlp.log_softmax(np.array([x]))[0]),
	"scale": lambda fan_in: hexadecimal(philox.scale(int(fan_in))),
	"weights": weights_vector,
	"epoch": epoch_vector,
	"train": train_vector,
}


# Vectors of models and options that only scripts/reference computes.
ELSEWHERE = set(
	"""erf tanh sigmoid cos_pi gelu gelu_grad silu silu_grad rate conv2d conv2d_weight_grad
	conv2d_input_grad max_pool max_pool_grad avg_pool avg_pool_grad layer_norm layer_norm_grad
	layer_norm_weight_grad causal_softmax causal_softmax_grad dropout noise""".split()
)
RUNS_ELSEWHERE = {"options", "cnn", "transformer"}


def is_elsewhere(kind, arguments):
	"""Whether the vector is one of scripts/reference."""
	return kind in ELSEWHERE or (kind == "train" and arguments[0] in RUNS_ELSEWHERE)


def check_vectors(page):
	"""Yields (vector, expected, computed) of every vector on the page that is of this program's
	models; computed may be an error.
	"""
	blocks = re.findall(r"^```vectors\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
	lines = [line for block in blocks for line in block.splitlines() if line.strip()]
	if not lines:
		raise CannotCheck("the page holds no block of vectors")
	for line in lines:
		vector, _, expected = (part.strip() for part in line.partition("="))
		kind, *arguments = vector.split()
		if is_elsewhere(kind, arguments):
			continue
		if kind not in KINDS:
			yield vector, expected, f"error: there is no kind of vector {kind} in vectors.py"
		else:
			yield vector, expected, KINDS[kind](*arguments)
