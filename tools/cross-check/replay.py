"""Computes a bundle's run again, from specification, seed and data alone."""

import json
import os

import optimizers
from arithmetic import F32, CannotCheck, bits, nano
from dataset import Dataset, checked, nearest
from network import LOSSES, Network, hits, mean, only, section
from philox import batch_rows, blake2_256, noise
from states import (
	blob_root,
	bundle_root,
	content_hash,
	evaluation_leaf,
	read_safetensors,
	rows_root,
	safetensors,
	sealed,
	state_hash,
	step_leaf,
)

# metrics.jsonl holds at least this many training losses of a longer run.
RECORDED_LOSSES = 2000
# A slice of an evaluation has the rows of this many labels.
SLICE_LABELS = 1024


OPTIMIZERS = {
	"sgd": (optimizers.Sgd, "momentum_nano", "nesterov"),
	"adam": (optimizers.Adam, "beta1_nano", "beta2_nano", "epsilon_nano"),
	"adamw": (optimizers.AdamW, "beta1_nano", "beta2_nano", "epsilon_nano"),
}


def optimizer_of(training):
	"""The optimizer that a specification's section `training` names."""
	name, settings = only(training["optimizer"], "training.optimizer")
	if name not in OPTIMIZERS:
		raise CannotCheck(f"the optimizer {name}")
	kind, *known = OPTIMIZERS[name]
	return kind(training["weight_decay_nano"], *section(settings, f"training.optimizer.{name}", *known))


DATASET_FIELDS = (
	"content_hash bytes location format train_rows validation_rows validation_every features classes"
	" feature_divisor labels normalization rows"
).split()
TRAINING_FIELDS = (
	"steps batch_size checkpoint_interval optimizer learning_rate_nano weight_decay_nano loss schedule"
	" warmup_steps clip_norm_nano input_noise_nano early_stop"
).split()


class EarlyStop:
	"""When a training ends before its last step: the rule of section 6 of docs/strict-arithmetic.md."""

	def __init__(self, rule):
		"""The rule of a specification's field `early_stop`, or none."""
		self.patience, self.least, self.waited = None, None, 0
		if rule is not None:
			self.patience, min_delta = section(rule, "training.early_stop", "patience", "min_delta_nano")
			self.min_delta = nano(min_delta)

	def ends(self, loss):
		"""Whether training ends at the next checkpoint, which has this validation loss."""
		if self.patience is None:
			return False
		if self.least is None or loss < F32(self.least - self.min_delta):
			self.least, self.waited = loss, 0
			return False
		self.waited += 1
		return self.waited >= self.patience


def same_layout(initial, drawn):
	"""The initial model of a fine-tuning, which must have names, shapes and type of a drawn one; in
	its order, which clipping follows.
	"""
	about = [{name: (t.shape, t.dtype) for name, t in model.items()} for model in (initial, drawn)]
	if about[0] != about[1]:
		raise CannotCheck("the initial model is not one of this job's model")
	return {name: initial[name] for name in drawn}


def initial_model(folder, declared):
	"""The parameters with which the run of a bundle begins; None where they are drawn."""
	if declared is None:
		return None
	file, _ = section(declared, "initial_model", "file", "parameters")
	path = os.path.join(folder, "initial-model.safetensors")
	return read_safetensors(checked(path, file, "initial model"))


class Run:
	"""A run that is computed step by step.

	`metrics` are its lines of metrics.jsonl: step, loss, norm of the gradient (None where it is not
	clipped); step, validation loss, accuracy for a checkpoint. A fine-tuning begins with the parameters `initial`.
	"""

	def __init__(self, spec, seed, data, initial=None):
		known = "dataset", "model", "training", "initial_model"
		dataset, model, training, _ = section(spec, "spec", *known)
		section(dataset, "dataset", *DATASET_FIELDS)
		section(training, "training", *TRAINING_FIELDS)
		if training["schedule"] != "constant":
			section(training["schedule"]["cosine"], "training.schedule.cosine", "final_rate_nano")
		if training["loss"] not in LOSSES:
			raise CannotCheck(f"the loss {training['loss']}")
		self.seed, self.data, self.training = seed, data, training
		self.steps, self.interval = training["steps"], training["checkpoint_interval"]
		self.loss = LOSSES[training["loss"]]
		self.optimizer = optimizer_of(training)
		self.network = Network(model, dataset["features"], dataset["classes"], seed)
		self.parameters = self.network.initial()
		if initial is not None:
			self.parameters = same_layout(initial, self.parameters)
		optimizer = self.optimizer.initial(self.parameters)
		# The model of a mapped training has the mapping's vectors beside its parameters.
		self.delivered = {**self.network.kept(), **self.parameters}
		self.state = {**self.delivered, **optimizer}
		self.early_stop, self.ended = EarlyStop(training["early_stop"]), False
		self.loss_interval = max(1, self.steps // RECORDED_LOSSES)
		self.metrics, self.orders = [], {}
		# Of the last step's gradient, where it is clipped.
		self.norm = None
		# The leaves of the segment under way, and those of the last one that ended.
		self.leaves, self.trace = [], []

	def step(self, step):
		"""Takes the state one step on; returns the loss before the update."""
		t = self.training
		schedule = t["schedule"], t["warmup_steps"], self.steps
		rate = optimizers.learning_rate(t["learning_rate_nano"], *schedule, step)
		rows = batch_rows(self.seed, step, len(self.data.features), t["batch_size"], self.orders)
		features, labels = self.data.features[rows], self.data.labels[rows].ravel()
		if t["input_noise_nano"]:
			features = noise(self.seed, step, nano(t["input_noise_nano"]), features)
		outputs = self.network.forward(self.state, features, step)
		losses, g = self.loss(outputs, labels)
		self.leaves.append(step_leaf(step, mean(losses), content_hash(outputs)))
		gradients = self.network.backward(g)
		if t["clip_norm_nano"]:
			gradients, self.norm = optimizers.clipped(gradients, nano(t["clip_norm_nano"]))
		self.optimizer.step(self.state, gradients, rate)
		return mean(losses)

	def checkpoints(self):
		"""Yields the step of every checkpoint when the state has got there; it is evaluated then."""
		yield 0
		for step in range(self.steps):
			loss = self.step(step)
			if (step + 1) % self.loss_interval == 0:
				self.metrics.append((step + 1, loss, self.norm))
			if (step + 1) % self.interval == 0 or step + 1 == self.steps:
				yield step + 1
				if self.ended:
					return

	def evaluate(self, step):
		"""The validation loss, how many of the validation labels are predicted, and how many there are.
		It ends the trace of a segment.
		"""
		labels = self.data.validation_labels.ravel()
		outputs = self.network.forward(self.state, self.data.validation_features)
		losses, _ = self.loss(outputs, labels)
		right = hits(outputs, labels).astype(F32)
		loss, correct = mean(losses), int(right.sum())
		self.metrics.append((step, loss, correct / len(labels)))
		self.ended = self.early_stop.ends(loss)
		per_row = len(labels) // len(self.data.validation_features)
		size = max(1, SLICE_LABELS // per_row) * per_row
		parts = [slice(start, start + size) for start in range(0, len(labels), size)]
		slices = [(content_hash(losses[part]), content_hash(right[part])) for part in parts]
		found = loss, correct, len(labels)
		self.trace = [*self.leaves, evaluation_leaf(step, found, slices)]
		self.leaves = []
		return found

	def model(self):
		"""The bytes of model.safetensors."""
		return safetensors({name: self.state[name] for name in self.delivered})


def loss_text(loss):
	"""A loss as bits and as a decimal number."""
	return f"{int(bits(loss)):08X} {float(loss):.7g}"


def checkpoint_texts(checkpoint):
	"""What the manifest says of a checkpoint: state hash, validation loss, rows classified correctly,
	sealed trace.
	"""
	validation = checkpoint["validation"]
	correct = f"{validation['correct']} of {validation['rows']}"
	return checkpoint["state_hash"][2:], loss_text(validation["loss"]), correct, checkpoint["trace"][2:]


def line_texts(step, loss, other):
	"""A line of metrics.jsonl; `other` is a norm as a binary32, or an accuracy, or None."""
	return step, loss_text(loss), loss_text(other) if isinstance(other, F32) else other


def compare_metrics(path, lines):
	"""The row of the table for metrics.jsonl; `lines` are those of a Run."""
	expected = []
	with open(path, encoding="utf-8") as file:
		for line in file:
			line = json.loads(line, parse_float=str)
			if "loss" in line:
				norm = line.get("gradient_norm")
				numbers = nearest(line["loss"]), None if norm is None else nearest(norm)
			else:
				numbers = nearest(line["validation_loss"]), float(line["validation_accuracy"])
			expected.append(line_texts(line["step"], *numbers))
	computed = [line_texts(*line) for line in lines]
	unequal = [a[0] for a, b in zip(expected, computed) if a != b]
	result = f"unequal at step {unequal[0]}" if unequal else f"{len(computed)} lines"
	return "metrics.jsonl", f"{len(expected)} lines", result


def compare(folder, data_path):
	"""Yields (what, expected, computed) for all that a bundle says, expected being its word."""
	with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
		manifest = json.load(file, parse_float=nearest)
	if (manifest["format"], manifest["arithmetic"]) != ("trainyard/bundle/v3", "strict"):
		raise CannotCheck("a bundle of this format or class of arithmetic")
	if manifest.get("model_root") is None:
		raise CannotCheck(f"training in {folder} has not ended")
	if manifest.get("diverged"):
		raise CannotCheck("a run that diverged")
	spec = manifest["spec"]
	data = Dataset(data_path, spec["dataset"], os.path.join(folder, "labels.idx"))
	yield "rows root", spec["dataset"]["rows"][2:], rows_root(data).hex()
	initial = initial_model(folder, spec.get("initial_model"))
	if initial is not None:
		declared = spec["initial_model"]["parameters"][2:]
		yield "initial parameters", declared, state_hash(initial).hex()
	run = Run(spec, bytes.fromhex(manifest["seed"][2:]), data, initial)

	listed = {checkpoint["step"]: checkpoint for checkpoint in manifest["checkpoints"]}
	leaves = []
	for step in run.checkpoints():
		state = state_hash(run.state)
		found = loss, correct, labels = run.evaluate(step)
		trace = sealed(run.trace)
		leaves.append((step, state, found, trace))
		computed = state.hex(), loss_text(loss), f"{correct} of {labels}", trace.hex()
		expected = checkpoint_texts(listed.pop(step)) if step in listed else ["missing"] * 4
		for what, *pair in zip(("state", "validation loss", "correct", "trace"), expected, computed):
			yield (f"step {step} {what}", *pair)
	for step, checkpoint in listed.items():
		yield f"step {step} state", checkpoint_texts(checkpoint)[0], "no checkpoint of this job"
	yield compare_metrics(os.path.join(folder, "metrics.jsonl"), run.metrics)
	yield "bundle root", manifest["bundle_root"][2:], bundle_root(leaves).hex()
	with open(os.path.join(folder, "model.safetensors"), "rb") as file:
		expected = blake2_256(file.read()).hex()
	model = run.model()
	yield "hash of model.safetensors", expected, blake2_256(model).hex()
	yield "model root", manifest["model_root"][2:], blob_root(model).hex()
