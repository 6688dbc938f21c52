"""Checks the vectors of docs/strict-arithmetic.md."""

import re
from functools import partial

import numpy as np

import arithmetic as ar
import layers
import philox
import states
from arithmetic import F32, CannotCheck, nano, number
from dataset import measures
from example import Example
from network import log_softmax
from optimizers import learning_rate
from replay import EarlyStop, Run
from states import blob_root, state_hash


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


def product_vector(*words):
	"""`product a b a b ...`"""
	a, b = (np.array([number(word) for word in words[i::2]]) for i in (0, 1))
	return hexadecimal(ar.matmul(a[None, :], b[:, None]))


def weights_vector(seed, layer, fan_in):
	"""`weights seed-byte layer fan_in`"""
	return hexadecimal(philox.drawn(seed_of(seed), int(layer), (4,), int(fan_in)))


def epoch_vector(seed, epoch, rows):
	"""`epoch seed-byte epoch rows`"""
	return " ".join(str(row) for row in philox.epoch_order(seed_of(seed), int(epoch), int(rows)))


def position_vector(seed, epoch, rows, position):
	"""`position seed-byte epoch rows position`"""
	return str(philox.rows_at(seed_of(seed), int(epoch), int(rows), [int(position)])[0])


def of_x(*shape):
	"""x(0), x(1), ... in this shape."""
	return x_numbers(np.arange(np.prod(shape))).reshape(shape)


def of_y(*shape):
	"""y(0), y(1), ... in this shape."""
	return y_numbers(np.arange(np.prod(shape))).reshape(shape)


def conv2d_vector(what):
	"""`conv2d`, `conv2d_weight_grad`, `conv2d_input_grad`"""
	conv = layers.Conv2d([60, 5, 4], 3, 3, 2, 1)
	conv.p = {"weight": of_y(3, 60, 3, 3), "bias": np.zeros(3, dtype=F32)}
	out = conv.forward(of_x(2, 60, 5, 4), 0)
	if what != "conv2d":
		by_input = conv.backward(of_y(*out.shape), True)
		out = by_input if what == "conv2d_input_grad" else conv.grad["weight"]
	return hexadecimal(np.concatenate([out.ravel()[:3], out.ravel()[-3:]]))


def pool_vector(kind, numbers, is_gradient):
	"""`max_pool`, `max_pool_grad`, `avg_pool`, `avg_pool_grad`"""
	pool = kind([1, 3, 4], 2, 1)
	out = pool.forward(numbers(1, 1, 3, 4), 0)
	return hexadecimal(pool.backward(of_y(*out.shape), True) if is_gradient else out)


def norm_vector(kind, what, rows, cols):
	"""`layer_norm`, `rms_norm` with `rows cols`, and their `_grad` and `_weight_grad`"""
	shape = int(rows), int(cols)
	norm = kind(shape[1:])
	norm.p = {"weight": of_x(shape[1]), "bias": of_y(shape[1])}
	out = norm.forward(of_x(*shape), 0)
	if what != "result":
		by_input = norm.backward(of_y(*shape), True)
		out = norm.grad["weight"] if what == "weight_grad" else by_input
	return hexadecimal(out)


def causal_softmax_vector(is_gradient, *shape):
	"""`causal_softmax`, `causal_softmax_grad` with `size size`"""
	shape, factor = [int(extent) for extent in shape], F32(1) / ar.sqrt(F32(3))
	p = layers.causal_softmax(of_x(*shape), factor)
	return hexadecimal(layers.causal_softmax_grad(of_y(*shape), p, factor) if is_gradient else p)


def billionths(text):
	"""A decimal number with at most 9 decimals, as a count of 10^-9."""
	whole, _, decimals = text.partition(".")
	return int(whole) * 10**9 + int(decimals.ljust(9, "0"))


def dropout_vector(seed, step, number, rate, count):
	"""`dropout seed-byte step number rate count`"""
	dropout = layers.Dropout([int(count)], billionths(rate), int(number), seed_of(seed))
	return hexadecimal(dropout.forward(of_y(int(count)), int(step)))


def noise_vector(seed, step, _, deviation, count):
	"""`noise seed-byte step 0 deviation count`"""
	deviation = nano(billionths(deviation))
	return hexadecimal(philox.noise(seed_of(seed), int(step), deviation, of_y(int(count))))


def rate_vector(peak, final, warmup, steps, step):
	"""`rate peak final warmup steps step`"""
	schedule = {"cosine": {"final_rate_nano": billionths(final)}}
	times = int(warmup), int(steps), int(step)
	return hexadecimal(learning_rate(billionths(peak), schedule, *times))


def stop_vector(patience, min_delta, *losses):
	"""`stop patience min_delta loss loss ...`"""
	rule = EarlyStop({"patience": int(patience), "min_delta_nano": billionths(min_delta)})
	ends = (i for i, loss in enumerate(losses) if rule.ends(number(loss)))
	return str(next(ends, "none"))


def blob_vector(length):
	"""`blob length`"""
	return blob_root(bytes(i % 251 for i in range(int(length)))).hex()


def standard_vector(rows):
	"""`standard rows`: mean, then standard deviation"""
	inputs = F32(1000) + of_y(int(rows), 1)
	return hexadecimal(np.concatenate(measures(inputs)))


class Rows:
	"""The training rows of a run of the vectors; it has no others."""

	def __init__(self, features, labels):
		self.features, self.labels = features, labels


DECAYED = {"learning_rate_nano": 20_000_000, "weight_decay_nano": 10_000_000}
BETAS = {"beta1_nano": 900_000_000, "beta2_nano": 999_000_000, "epsilon_nano": 10}
PLAIN = {
	"steps": 50,
	"batch_size": 4,
	"checkpoint_interval": 50,
	"loss": "cross_entropy",
	"schedule": "constant",
	"warmup_steps": 0,
	"clip_norm_nano": 0,
	"input_noise_nano": 0,
	"early_stop": None,
}
OPTIONS = {
	"loss": "mean_squared_error",
	"schedule": {"cosine": {"final_rate_nano": 1_000_000}},
	"warmup_steps": 5,
	"clip_norm_nano": 300_000_000,
	"input_noise_nano": 10_000_000,
}
LAYERS_OF_CNN = [
	{"conv": {"filters": 4, "kernel": 3, "stride": 1, "padding": 1}},
	{"max_pool": {"kernel": 2, "stride": 2}},
	{"conv": {"filters": 3, "kernel": 3, "stride": 2, "padding": 1}},
	{"avg_pool": {"kernel": 2, "stride": 1}},
]
LAYERS_OF_SKIPS = [
	{"linear": {"outputs": 6}},
	{"activation": {"function": "silu"}},
	{"linear": {"outputs": 6}},
	{"skip": {"back": 2}},
	{"linear": {"outputs": 6}},
	{"skip": {"back": 4}},
	{"linear": {"outputs": 6}},
	{"skip": {"back": 6}},
	{"linear": {"outputs": 3}},
]
LAYERS_OF_NORM = [
	{"conv2d": {"filters": 2, "kernel": 3, "stride": 1, "padding": 1}},
	"layer_norm",
	{"activation": {"function": "relu"}},
	{"linear": {"outputs": 3}},
]
LAYERS_OF_RMS = [
	{"linear": {"outputs": 6}},
	"rms_norm",
	{"activation": {"function": "silu"}},
	{"linear": {"outputs": 4}},
	"rms_norm",
	{"linear": {"outputs": 3}},
]
MAPPED = [
	{"mapping": {"reflections": 2, "patch": 0}},
	{"linear": {"outputs": 6}},
	{"activation": {"function": "relu"}},
	{"linear": {"outputs": 3}},
]
LAYERS_OF_PATCHES = [
	{"mapping": {"reflections": 3, "patch": 2}},
	{"conv2d": {"filters": 4, "kernel": 2, "stride": 1, "padding": 0}},
	{"activation": {"function": "relu"}},
	{"linear": {"outputs": 3}},
]
IMAGE = {"image": {"channels": 1, "height": 6, "width": 6}}
CNN = {"channels": 1, "height": 6, "width": 6, "layers": LAYERS_OF_CNN, "activation": "relu"}
TRANSFORMER = {"layers": 1, "heads": 2, "width": 8, "mlp_factor": 2, "dropout_nano": 100_000_000}


def short_run(name):
	"""Model, optimizer, options and rows of a run of the vectors."""

	def momentum(nesterov):
		return {"sgd": {"momentum_nano": 900_000_000, "nesterov": nesterov}}

	def mlp(activation):
		return {"mlp": {"hidden": [6], "activation": activation}}

	rows = Rows(of_x(10, 5), np.arange(10) % 3)
	if name == "sgd":
		return mlp("relu"), momentum(False), {}, rows
	if name == "adamw":
		return mlp("relu"), {"adamw": BETAS}, {}, rows
	if name == "options":
		return mlp("silu"), momentum(True), OPTIONS, rows
	if name == "clip":
		deep = {"mlp": {"hidden": [6] * 10, "activation": "silu"}}
		return deep, momentum(False), {"clip_norm_nano": 300_000_000}, rows
	if name == "skips":
		model = {"layers": {"input": "numbers", "layers": LAYERS_OF_SKIPS}}
		return model, momentum(False), {}, rows
	if name == "rms":
		model = {"layers": {"input": "numbers", "layers": LAYERS_OF_RMS}}
		return model, momentum(False), {}, rows
	if name == "mapping":
		model = {"layers": {"input": "numbers", "layers": MAPPED}}
		return model, momentum(False), {"input_noise_nano": 10_000_000}, rows
	images = Rows(of_x(10, 36), np.arange(10) % 3)
	if name == "patches":
		model = {"layers": {"input": IMAGE, "layers": LAYERS_OF_PATCHES}}
		return model, {"adamw": BETAS}, {}, images
	if name == "norm":
		model = {"layers": {"input": IMAGE, "layers": LAYERS_OF_NORM}}
		return model, momentum(False), {}, images
	if name == "cnn":
		return {"cnn": CNN}, {"adam": BETAS}, {}, images
	if name == "transformer":
		i = np.arange(61)
		tokens = (i * i + i // 3) % 3
		rows = Rows(tokens[:-1].reshape(10, 6).astype(F32), tokens[1:].reshape(10, 6))
		return {"transformer": TRANSFORMER}, {"adamw": BETAS}, {}, rows
	raise CannotCheck(f"there is no run {name} in vectors.py")


def train_vector(name, steps):
	"""`train name steps`: the hash of the last state, and the loss of the last step."""
	model, optimizer, options, rows = short_run(name)
	of_files = "content_hash bytes location format train_rows validation_rows validation_every"
	dataset = dict.fromkeys(f"{of_files} feature_divisor labels normalization rows".split())
	dataset.update(features=rows.features.shape[1], classes=3)
	training = {**PLAIN, **DECAYED, **options, "optimizer": optimizer}
	spec = {"dataset": dataset, "model": model, "training": training, "initial_model": None}
	run = Run(spec, seed_of("07"), rows)
	losses = [run.step(step) for step in range(int(steps))]
	return " ".join([state_hash(run.state).hex()] + [hexadecimal(loss) for loss in losses[-1:]])


def reflection_vector(seed, number, width):
	"""`reflection seed-byte number width`: the vector of a reflection of that number."""
	mapping = layers.Mapping([int(width)], int(number) + 1, 0, seed_of(seed))
	return hexadecimal(mapping.vectors[f"mapping.{number}"])


def content_vector(name, count):
	"""The content hash of the first `count` of the numbers `x` or `y`."""
	kinds = {"x": of_x, "y": lambda n: y_numbers(np.arange(n))}
	return states.content_hash(kinds[name](int(count)))


def trace_vector(what, step):
	"""`trace what step`: a leaf of a trace or of a bundle, or a sealed trace."""
	step, a, b = int(step), content_vector("x", 12), content_vector("y", 7)
	loss = of_x(2)[1]
	found, slices = (loss, 7, 9), [(a, b)] * 3

	def steps():
		return [states.step_leaf(i, loss, a) for i in range(step)]

	def trace():
		return states.sealed([*steps(), states.evaluation_leaf(step, found, slices)])

	return {
		"step": lambda: states.step_leaf(step, loss, a),
		"slices": lambda: states.slices_root([(a, b)] * step),
		"evaluation": lambda: states.evaluation_leaf(step, found, slices),
		"sealed": trace,
		"checkpoint": lambda: states.checkpoint_leaf(step, a, found, trace()),
		"diverged": lambda: states.diverged_leaf(step, states.sealed(steps())),
	}[what]().hex()


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
	"erf": function_vector(ar.erf),
	"sigmoid": function_vector(ar.sigmoid),
	"tanh": function_vector(ar.tanh),
	"cos_pi": function_vector(ar.cos_pi),
	"gelu": function_vector(ar.gelu),
	"silu": function_vector(ar.silu),
	"gelu_grad": function_vector(lambda x: ar.gelu_grad(F32(1), x)),
	"silu_grad": function_vector(lambda x: ar.silu_grad(F32(1), x)),
	"dot": dot_vector,
	"product": product_vector,
	"sum": lambda n: hexadecimal(ar.reduce_sum(y_numbers(np.arange(int(n))))),
	"max": function_vector(lambda *x: ar.maximum(np.array(x))),
	"log_softmax": function_vector(lambda *x: log_softmax(np.array([x]))),
	"conv2d": partial(conv2d_vector, "conv2d"),
	"conv2d_weight_grad": partial(conv2d_vector, "conv2d_weight_grad"),
	"conv2d_input_grad": partial(conv2d_vector, "conv2d_input_grad"),
	"max_pool": partial(pool_vector, layers.MaxPool2d, of_x, False),
	"max_pool_grad": partial(pool_vector, layers.MaxPool2d, of_x, True),
	"avg_pool": partial(pool_vector, layers.AvgPool2d, of_y, False),
	"avg_pool_grad": partial(pool_vector, layers.AvgPool2d, of_y, True),
	"layer_norm": partial(norm_vector, layers.LayerNorm, "result"),
	"layer_norm_grad": partial(norm_vector, layers.LayerNorm, "grad"),
	"layer_norm_weight_grad": partial(norm_vector, layers.LayerNorm, "weight_grad"),
	"rms_norm": partial(norm_vector, layers.RmsNorm, "result"),
	"rms_norm_grad": partial(norm_vector, layers.RmsNorm, "grad"),
	"rms_norm_weight_grad": partial(norm_vector, layers.RmsNorm, "weight_grad"),
	"causal_softmax": partial(causal_softmax_vector, False),
	"causal_softmax_grad": partial(causal_softmax_vector, True),
	"dropout": dropout_vector,
	"noise": noise_vector,
	"rate": rate_vector,
	"stop": stop_vector,
	"blob": blob_vector,
	"scale": lambda fan_in: hexadecimal(philox.scale(int(fan_in))),
	"weights": weights_vector,
	"reflection": reflection_vector,
	"epoch": epoch_vector,
	"position": position_vector,
	"standard": standard_vector,
	"train": train_vector,
	"content": lambda name, count: content_vector(name, count).hex(),
	"trace": trace_vector,
}


def check_vectors(page):
	"""Yields (vector, expected, computed) of every vector on the page; computed may be an error."""
	blocks = re.findall(r"^```vectors\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
	lines = [line for block in blocks for line in block.splitlines() if line.strip()]
	if not lines:
		raise CannotCheck("the page holds no block of vectors")
	kinds = {**KINDS, **Example(page).kinds()}
	for line in lines:
		vector, _, expected = (part.strip() for part in line.partition("="))
		kind, *arguments = vector.split()
		if kind not in kinds:
			yield vector, expected, f"error: there is no kind of vector {kind} in vectors.py"
		else:
			yield vector, expected, kinds[kind](*arguments)
