"""Computes a bundle's run again, from specification, seed and data alone."""

import json
import os

import mlp
import optimizers
from arithmetic import F32, CannotCheck, bits, nano
from dataset import Dataset, nearest
from philox import batch_rows, blake2_256
from states import blob_root, bundle_root, read_safetensors, safetensors, state_hash

# metrics.jsonl holds at least so many training losses of a longer run.
RECORDED_LOSSES = 2000


# What this program does not compute, and the values with which it changes nothing.
UNUSED = {
	"loss": "cross_entropy",
	"schedule": "constant",
	"warmup_steps": 0,
	"clip_norm_nano": 0,
	"input_noise_nano": 0,
	"nesterov": False,
	"labels": None,
}


def section(given, where, *known):
	"""The values of a section of the specification, which must have these fields and no others.

	A field that is not known here would change the run in a way that is not known here, unless
	it has the value that changes nothing.
	"""
	unused = {field for field in given if field in UNUSED and given[field] == UNUSED[field]}
	if set(given) - unused != set(known):
		odd = ", ".join(sorted((set(given) - unused) ^ set(known)))
		raise CannotCheck(f"{where} has other fields than this program knows: {odd}")
	return [given[field] for field in known]


def optimizer_of(training):
	"""The optimizer that a specification's section `training` names."""
	rates = training["learning_rate_nano"], training["weight_decay_nano"]
	[(name, settings)] = training["optimizer"].items()
	where = f"training.optimizer.{name}"
	if name == "sgd":
		return optimizers.Sgd(*rates, *section(settings, where, "momentum_nano"))
	if name == "adamw":
		betas_and_epsilon = section(settings, where, "beta1_nano", "beta2_nano", "epsilon_nano")
		return optimizers.AdamW(*rates, *betas_and_epsilon)
	raise CannotCheck(f"the optimizer {name}")


DATASET_FIELDS = (
	"content_hash bytes location format train_rows validation_rows validation_every features classes"
	" feature_divisor normalization"
).split()
TRAINING_FIELDS = (
	"steps batch_size checkpoint_interval optimizer learning_rate_nano weight_decay_nano"
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
	"""The initial model of a fine-tuning, which must have the names and shapes of a drawn one."""
	shapes = [{name: tensor.shape for name, tensor in model.items()} for model in (initial, drawn)]
	if shapes[0] != shapes[1]:
		raise CannotCheck("the initial model is not one of this job's model")
	return initial


def initial_model(folder, declared):
	"""The parameters with which the run of a bundle begins; None where they are drawn."""
	if declared is None:
		return None
	path = os.path.join(folder, "initial-model.safetensors")
	with open(path, "rb") as file:
		content = file.read()
	if "0x" + blake2_256(content).hex() != declared["content_hash"]:
		raise CannotCheck(f"{path} is not the initial model of this job")
	return read_safetensors(content)


class Run:
	"""A run that is computed step by step.

	`metrics` are its lines of metrics.jsonl: step, loss, None for a training loss; step, validation
	loss, accuracy for a checkpoint. A fine-tuning begins with the parameters `initial`.
	"""

	def __init__(self, spec, seed, data, initial=None):
		spec = {key: value for key, value in spec.items() if key != "initial_model"}
		dataset, model, training = section(spec, "spec", "dataset", "model", "training")
		section({"normalization": "none", **dataset}, "dataset", *DATASET_FIELDS)
		early_stop = training.pop("early_stop", None)
		section(training, "training", *TRAINING_FIELDS)
		[mlp_fields] = section(model, "model", "mlp")
		hidden, activation = section(mlp_fields, "model.mlp", "hidden", "activation")
		if activation != "relu":
			raise CannotCheck(f"the activation {activation}")
		self.seed, self.data = seed, data
		self.steps, self.batch_size = training["steps"], training["batch_size"]
		self.interval = training["checkpoint_interval"]
		self.optimizer = optimizer_of(training)
		widths = [dataset["features"], *hidden, dataset["classes"]]
		self.parameters = mlp.initial_parameters(widths, seed)
		if initial is not None:
			self.parameters = same_layout(initial, self.parameters)
		self.state = {**self.parameters, **self.optimizer.initial(self.parameters)}
		self.early_stop, self.ended = EarlyStop(early_stop), False
		self.loss_interval = max(1, self.steps // RECORDED_LOSSES)
		self.metrics, self.orders = [], {}

	def checkpoints(self):
		"""Yields the step of every checkpoint when the state has got there; it is evaluated then."""
		yield 0
		for step in range(self.steps):
			rows = batch_rows(self.seed, step, len(self.data.labels), self.batch_size, self.orders)
			batch = self.data.features[rows], self.data.labels[rows]
			loss, gradients = mlp.gradients(self.state, *batch)
			self.optimizer.step(self.state, gradients)
			if (step + 1) % self.loss_interval == 0:
				self.metrics.append((step + 1, loss, None))
			if (step + 1) % self.interval == 0 or step + 1 == self.steps:
				yield step + 1
				if self.ended:
					return

	def evaluate(self, step):
		"""The validation loss, and how many of the validation rows are classified correctly."""
		labels = self.data.validation_labels
		loss, correct = mlp.evaluate(self.state, self.data.validation_features, labels)
		self.metrics.append((step, loss, correct / len(labels)))
		self.ended = self.early_stop.ends(loss)
		return loss, correct

	def model(self):
		"""The bytes of model.safetensors."""
		return safetensors({name: self.state[name] for name in self.parameters})


def loss_text(loss):
	"""A loss as bits and as a decimal number."""
	return f"{int(bits(loss)):08X} {float(loss):.7g}"


def checkpoint_texts(checkpoint):
	"""What the manifest says of a checkpoint: state hash, validation loss, rows classified correctly."""
	validation = checkpoint["validation"]
	correct = f"{validation['correct']} of {validation['rows']}"
	return checkpoint["state_hash"][2:], loss_text(validation["loss"]), correct


def compare_metrics(path, lines):
	"""The row of the table for metrics.jsonl; `lines` are (step, loss or validation loss, correct)."""
	with open(path, encoding="utf-8") as file:
		written = [json.loads(line, parse_float=str) for line in file]
	expected = []
	for line in written:
		loss = line["loss"] if "loss" in line else line["validation_loss"]
		accuracy = line.get("validation_accuracy")
		share = None if accuracy is None else float(accuracy)
		expected.append((line["step"], int(bits(nearest(loss))), share))
	computed = [(step, int(bits(loss)), share) for step, loss, share in lines]
	unequal = [a[0] for a, b in zip(expected, computed) if a != b]
	result = f"unequal at step {unequal[0]}" if unequal else f"{len(computed)} lines"
	return "metrics.jsonl", f"{len(expected)} lines", result


def compare(folder, data_path):
	"""Yields (what, expected, computed) for all that a bundle says, expected being its word."""
	with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
		manifest = json.load(file, parse_float=nearest)
	if (manifest["format"], manifest["arithmetic"]) != ("trainyard/bundle/v2", "strict"):
		raise CannotCheck("a bundle of this format or class of arithmetic")
	if manifest.get("bundle_root") is None:
		raise CannotCheck(f"training in {folder} has not ended")
	spec = manifest["spec"]
	data = Dataset(data_path, spec["dataset"])
	initial = initial_model(folder, spec.get("initial_model"))
	run = Run(spec, bytes.fromhex(manifest["seed"][2:]), data, initial)

	listed = {checkpoint["step"]: checkpoint for checkpoint in manifest["checkpoints"]}
	leaves = []
	for step in run.checkpoints():
		state = state_hash(run.state)
		loss, correct = run.evaluate(step)
		labels = len(data.validation_labels)
		leaves.append((step, state, loss, int(correct), labels))
		computed = state.hex(), loss_text(loss), f"{correct} of {labels}"
		expected = checkpoint_texts(listed.pop(step)) if step in listed else ["missing"] * 3
		for what, *pair in zip(("state", "validation loss", "correct"), expected, computed):
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
