#!/usr/bin/env python3
"""Opens what the worker wrote with Python's package safetensors, and uses the model without the
worker: its logits in NumPy, its accuracy and loss against the manifest. Reads the file for
TensorBoard by a reader of its own. Prints TAP.

	opened_elsewhere.py --bin TRAINYARD --dir FOLDER

Arithmetic is NumPy's here, not the strict one: this is what somebody does who bought a model.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy as np

import events
from dataset import Dataset
from short_runs import ROOT, Checks, train

try:
	import safetensors
	from safetensors.numpy import load, load_file, save_file
except ImportError:
	sys.exit(
		"Python's package safetensors is missing: run ./scripts/setup, which installs it into a "
		"folder of its own, or: pip install --user safetensors numpy"
	)

# Rows whose two largest logits are closer than this may be decided otherwise by other arithmetic.
CLOSE = 1e-4


def job(digits, activation):
	"""The text of the job."""
	return (
		f'[dataset]\npath = "{digits}"\nfeature_divisor = 16\n'
		f'[model.mlp]\nhidden = [64, 32]\nactivation = "{activation}"\n'
		"[training]\nsteps = 600\nbatch_size = 32\ncheckpoint_interval = 200\n"
		"learning_rate = 0.002\nclip_norm = 1.0\n[training.optimizer.adamw]\n"
	)


def logits(model, config, features):
	"""What config.json says of a multilayer perceptron: y = x W^T + b, and the activation between."""
	function = {"relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}[
		config["model"]["mlp"]["activation"]
	]
	names = config["parameters"]
	x = features.astype(np.float64)
	for layer, (weight, bias) in enumerate(names):
		x = x @ model[weight].astype(np.float64).T + model[bias]
		if layer + 1 < len(names):
			x = function(x)
	return x


def cross_entropy(x, labels):
	"""The mean cross-entropy of logits."""
	shifted = x - x.max(axis=1, keepdims=True)
	log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
	return -log_p[np.arange(len(labels)), labels].mean()


def read_json(*path):
	"""A JSON file."""
	with open(os.path.join(*path), encoding="utf-8") as file:
		return json.load(file)


def check_model(checks, name, bundle):
	"""The model of a bundle: tensors, accuracy, loss."""
	manifest, config = read_json(bundle, "manifest.json"), read_json(bundle, "config.json")
	model = load_file(os.path.join(bundle, "model.safetensors"))
	expected = {
		"layers.0.weight": (64, 64),
		"layers.0.bias": (64,),
		"layers.1.weight": (32, 64),
		"layers.1.bias": (32,),
		"layers.2.weight": (10, 32),
		"layers.2.bias": (10,),
	}
	found = {key: tensor.shape for key, tensor in model.items()}
	checks.add(f"{name}: names and shapes", found == expected, f"{found}")
	types = {str(tensor.dtype) for tensor in model.values()}
	named = sorted(sum(config["parameters"], [])) == sorted(model)
	checks.add(f"{name}: binary32, and config.json names all", types == {"float32"} and named, f"{types}")

	data = Dataset(os.path.join(bundle, "dataset.csv"), manifest["spec"]["dataset"])
	x = logits(model, config, data.validation_features)
	predicted = x.argmax(axis=1)
	correct = int((predicted == data.validation_labels).sum())
	margins = np.sort(x, axis=1)
	close = int((margins[:, -1] - margins[:, -2] < CLOSE).sum())
	last = manifest["checkpoints"][-1]["validation"]
	text = f"{correct} of {len(predicted)} rows, {close} close ones; the manifest says {last}"
	checks.add(
		f"{name}: {100 * correct / len(predicted):.2f} % of the validation rows, as in the manifest",
		abs(correct - last["correct"]) <= close and len(predicted) == last["rows"] and correct > 300,
		text,
	)
	loss = cross_entropy(x, data.validation_labels)
	checks.add(
		f"{name}: validation loss {loss:.6f}, as in the manifest",
		abs(loss - last["loss"]) <= 1e-5 * last["loss"],
		f"{loss} and {last['loss']}",
	)


def check_checkpoints(checks, bundle):
	"""Every checkpoint opens, and the last one holds the model."""
	manifest = read_json(bundle, "manifest.json")
	model = load_file(os.path.join(bundle, "model.safetensors"))
	steps = [checkpoint["step"] for checkpoint in manifest["checkpoints"]]
	states = [load_file(os.path.join(bundle, f"checkpoints/step-{step:08}.safetensors")) for step in steps]
	names = {frozenset(state) for state in states}
	checks.add("checkpoints: all open, with the same tensors", len(names) == 1, f"{steps}")
	same = all(states[-1][name].tobytes() == tensor.tobytes() for name, tensor in model.items())
	moved = any((states[0][name] != tensor).any() for name, tensor in model.items())
	checks.add("checkpoints: the last holds the model, the first another one", same and moved, "")


# Tags of the event file by the names of metrics.jsonl.
TAGS = {
	"loss": "loss/training",
	"validation_loss": "loss/validation",
	"validation_accuracy": "accuracy/validation",
	"gradient_norm": "gradient_norm",
}


def check_events(checks, bundle):
	"""The event file holds what metrics.jsonl holds, and its checksums hold."""
	expected = {}
	with open(os.path.join(bundle, "metrics.jsonl"), encoding="utf-8") as file:
		for line in map(json.loads, file):
			values = expected.setdefault(line.pop("step"), {})
			values.update({TAGS[name]: np.float32(number) for name, number in line.items()})
	with open(os.path.join(bundle, "events.out.tfevents.0.trainyard"), "rb") as file:
		content = file.read()
	found = events.scalars(content)
	rates = {step: values.pop("learning_rate", None) for step, values in found}
	trained = {step for step, values in expected.items() if "loss/training" in values}
	same = found == sorted(expected.items())
	checks.add(f"TensorBoard: {len(found)} steps, as in metrics.jsonl", same, f"{found[:3]}")
	rate = float(np.float32(0.002))
	good = all(rate_of == (rate if step in trained else None) for step, rate_of in rates.items())
	checks.add("TensorBoard: the learning rate stands beside each loss", good, f"{rates}")
	norms = [values["gradient_norm"] for _, values in found if "gradient_norm" in values]
	good = len(norms) == len(trained) and all(norm > 0 for norm in norms)
	checks.add("TensorBoard: the norm of each clipped gradient", good, f"{norms[:3]}")

	unnoticed = []
	for place in range(0, min(len(content), 400), 7):
		damaged = bytearray(content)
		damaged[place] ^= 1
		try:
			events.scalars(bytes(damaged))
			unnoticed.append(place)
		except ValueError:
			pass
	checks.add("TensorBoard: a flipped bit shows in the checksums", not unnoticed, f"{unnoticed}")


def check_the_way_back(checks, binary, bundle, folder, job_file):
	"""What Python writes, the worker reads; what is damaged, Python refuses."""
	path = os.path.join(bundle, "model.safetensors")
	copy = os.path.join(folder, "written-by-python.safetensors")
	save_file(load_file(path), copy, metadata={"format": "np"})
	command = [binary, "evaluate", copy, job_file, "--json"]
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	last = read_json(bundle, "manifest.json")["checkpoints"][-1]["validation"]
	good = done.returncode == 0 and json.loads(done.stdout)["loss"] == last["loss"]
	checks.add("a file that Python wrote evaluates to the last bit as before", good, done.stdout)

	with open(path, "rb") as file:
		content = file.read()
	for name, damaged in [("a byte less", content[:-1]), ("a byte more", content + b"\0")]:
		try:
			load(damaged)
			refused = False
		except safetensors.SafetensorError:
			refused = True
		checks.add(f"a model with {name} is refused", refused, "it was opened")


def main():
	"""The command line; returns the exit status."""
	parser = argparse.ArgumentParser(
		description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
	)
	parser.add_argument("--bin", required=True, help="the worker's binary")
	parser.add_argument("--dir", required=True, help="folder for jobs and bundles")
	arguments = parser.parse_args()
	folder = os.path.abspath(arguments.dir)
	shutil.rmtree(folder, ignore_errors=True)
	os.makedirs(folder)
	digits = os.path.abspath(os.path.join(ROOT, "ml-worker/examples/data/digits.csv"))

	print(f"# safetensors {safetensors.__version__}, NumPy {np.__version__}")
	checks = Checks()
	for activation in ("relu", "tanh"):
		bundle, text = train(arguments.bin, folder, activation, job(digits, activation))
		if bundle is None:
			checks.add(f"training with {activation}", False, text)
			continue
		check_model(checks, activation, bundle)
		check_checkpoints(checks, bundle)
		check_events(checks, bundle)
		check_the_way_back(checks, arguments.bin, bundle, folder, f"{bundle}.toml")
	return checks.end()


if __name__ == "__main__":
	sys.exit(main())
