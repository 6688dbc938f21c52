#!/usr/bin/env python3
"""What a mapping of the inputs costs, in accuracy and in FLOP, for docs/mapping.md.

	mapping.py --bin TRAINYARD [--seeds N] [--write]    prints both tables, or puts them into the page
	mapping.py --bin TRAINYARD --assert                 trains a few runs, and checks what the page says of them
	mapping.py --fold BUNDLE MODEL.safetensors          folds the mapping of a trained model into its first layer

It trains the digits of ml-worker/examples and data of the shape of HEPMASS, with and without a mapping, under
the same seeds: initial weights and the order of the rows are the same in both. It needs NumPy and safetensors.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mapping.md"
EXAMPLES = ROOT / "ml-worker" / "examples" / "data"
HEPMASS_ROWS = 20_000

IMAGE = 'input = "image"\nchannels = 1\nheight = 8\nwidth = 8\n'
DIGITS = 'path = "{data}"\nvalidation_every = 5\nfeature_divisor = 16\n'
HEPMASS = 'path = "{data}"\nformat = "csv_label_first"\nvalidation_every = 4\nnormalization = "standard"\n'
PERCEPTRON = ["linear 64", "relu", "linear 32", "relu", "linear 10"]
BINARY = ["linear 64", "relu", "linear 64", "relu", "linear 2"]
AFTER = ["relu", "conv 32 3 padding 1", "relu", "linear 10"]
PIXELS = ["conv 16 3 padding 1", "relu", "max_pool 2", "conv 32 3 padding 1", "relu", "linear 10"]
ADAMW = "[training.optimizer.adamw]\n"

# Name, data, what the model's section says besides, steps, rate; the layers without a mapping, and with some.
MODELS = [
	(
		"digits, MLP 64-64-32-10",
		("digits.csv", DIGITS, "", 1_500, 0.002),
		PERCEPTRON,
		[[f"mapping {k}", *PERCEPTRON] for k in (1, 4, 16)],
	),
	(
		"shape of HEPMASS, MLP 28-64-64-2",
		("hepmass.csv.gz", HEPMASS, "", 1_000, 0.002),
		BINARY,
		[[f"mapping {k}", *BINARY] for k in (1, 4, 16)],
	),
	(
		"digits, convolution over patches of 2 x 2",
		("digits.csv", DIGITS, IMAGE, 900, 0.003),
		["conv 32 2 stride 2", *AFTER],
		[[f"mapping {k} patch 2", "conv 32 1", *AFTER] for k in (1, 4, 16)],
	),
	(
		"digits, convolution over pixels",
		("digits.csv", DIGITS, IMAGE, 900, 0.003),
		PIXELS,
		[["mapping 16", *PIXELS]],
	),
]


def job(of, layers, data):
	"""The text of a JOB.toml."""
	_, dataset, section, steps, rate = of
	return (
		f"[dataset]\n{dataset.format(data=data)}[model.layers]\n{section}layers = {json.dumps(layers)}\n"
		f"[training]\nsteps = {steps}\nbatch_size = 32\ncheckpoint_interval = {steps}\n"
		f"learning_rate = {rate}\n{ADAMW}"
	)


def run(*command):
	"""What a command printed; ends where it failed."""
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	if done.returncode != 0:
		sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
	return done.stdout


def train(binary, folder, text, seed):
	"""Trains a job under the seed of this number; returns the bundle's folder."""
	file, out = folder / "job.toml", folder / "bundle"
	file.write_text(text, encoding="utf-8")
	shutil.rmtree(out, ignore_errors=True)
	run(binary, "train", file, "--out", out, "--seed", f"{seed:064x}")
	return out


def accuracy(bundle):
	"""The share of the validation labels that the last checkpoint predicts, in percent."""
	last = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["checkpoints"][-1]
	return 100 * last["validation"]["correct"] / last["validation"]["rows"]


def data_of(folder, name):
	"""The file of this name: the example's, or one that is made."""
	if (EXAMPLES / name).exists():
		return EXAMPLES / name
	path = folder / name
	if not path.exists():
		run(sys.executable, EXAMPLES / "hepmass.py", str(HEPMASS_ROWS), path)
	return path


def mean_and_error(values):
	"""The mean, and its standard error."""
	mean = sum(values) / len(values)
	squares = sum((value - mean) ** 2 for value in values)
	return mean, math.sqrt(squares / max(1, len(values) - 1) / len(values))


def accuracies(binary, seeds):
	"""Yields of each model its name, and its layers with the accuracy under each seed, without a mapping first."""
	with tempfile.TemporaryDirectory() as folder:
		folder = pathlib.Path(folder)
		for name, of, plain, mapped in MODELS:
			data, found = data_of(folder, of[0]), []
			for layers in [plain, *mapped]:
				text = job(of, layers, data)
				found.append((layers, [accuracy(train(binary, folder, text, seed)) for seed in range(seeds)]))
				print(f"{name}: {layers[0]}: {sum(found[-1][1]) / seeds:.2f} %", file=sys.stderr)
			yield name, found


def table(columns, rows):
	"""A table of the page."""
	lines = [columns, *rows]
	text = ["| " + " | ".join(line) + " |" for line in lines]
	return "\n".join([text[0], "|" + "---|" * len(columns), *text[1:]])


def accuracy_table(binary, seeds):
	"""The table of accuracies, and what a mapping takes most of one, but of pixels as they lie."""
	rows = []
	for name, found in accuracies(binary, seeds):
		(_, without), *mapped = found
		for layers, values in mapped:
			lost, error = mean_and_error([a - b for a, b in zip(without, values)])
			rows.append(
				[
					name,
					f"`{layers[0]}`",
					f"{mean_and_error(without)[0]:.2f} %",
					f"{mean_and_error(values)[0]:.2f} %",
					f"{lost:+.2f} ± {error:.2f}",
				]
			)
	return table(["model", "mapping", "without", "with", "lost, in points"], rows)


# Cost

OF_IMAGES = 'input = "image"\nchannels = 3\nheight = 32\nwidth = 32\n'
OF_DATA = (
	'location = "https://example.org/x"\ncontent_hash = "{one}"\nrows = "{one}"\nbytes = 1000000\n'
	"train_rows = 40000\nvalidation_rows = 10000\nvalidation_every = 5\nfeatures = {features}\nclasses = 10\n"
)
NETWORK = ["conv 64 3 padding 1", "relu", "conv 64 3 padding 1", "relu", "max_pool 2", "linear 10"]
NARROW = ["conv 64 1", "relu", "conv 64 3 padding 1", "relu", "linear 10"]
COSTS = [
	("64 numbers, MLP 64-64-32-10", 64, "", PERCEPTRON, 64, 0),
	("3 x 32 x 32, its channels", 3072, OF_IMAGES, NETWORK, 3, 1),
	("3 x 32 x 32, patches of 4 x 4", 3072, OF_IMAGES, NARROW, 48, 4),
	("3 x 32 x 32, whole", 3072, OF_IMAGES, NETWORK, 3072, 0),
]


def flop(binary, folder, features, section, layers):
	"""FLOP of a training step for each row, and those of them that belong to no layer."""
	dataset = OF_DATA.format(one="01" * 32, features=features)
	file = folder / "job.toml"
	file.write_text(job(("", dataset, section, 1, 0.001), layers, ""), encoding="utf-8")
	found = json.loads(run(binary, "estimate", file, "--json"))["layers"]
	parts = [sum(layer[part] for part in ("forward", "backward", "update")) / 32 for layer in found]
	return sum(parts), parts[-1]


def cost_table(binary):
	"""What reflections count, beside the rest of a step; all that there are of a vector, and a matrix."""
	rows = []
	with tempfile.TemporaryDirectory() as folder:
		for name, features, section, layers, width, patch in COSTS:
			end = f" patch {patch}" if patch else ""

			def of(count):
				return flop(binary, pathlib.Path(folder), features, section, [f"mapping {count}{end}", *layers])

			(all_of_4, shared_of_4), (_, shared_of_8) = of(4), of(8)
			of_one = (shared_of_8 - shared_of_4) / 4
			rest = all_of_4 - 4 * of_one
			rows.append(
				[
					name,
					f"{width:,}",
					f"{rest:,.0f}",
					*(f"{n * of_one:,.0f} ({100 * n * of_one / rest:.1f} %)" for n in (4, width)),
					f"{2 * features * width:,} ({200 * features * width / rest:.1f} %)",
				]
			)
	columns = ["what is mapped", "numbers of a vector", "rest of a step", "4 reflections"]
	return table([*columns, "as many as numbers", "a matrix of as many rows"], rows)


# Folding


def orthogonal(model, names):
	"""The matrix Q of x' = Q x, in binary64: reflections by these vectors, the first one first."""
	import numpy as np

	whole = np.eye(model[names[0]].size)
	for name in names:
		vector = model[name].astype(np.float64).ravel()
		whole = whole - 2 * np.outer(vector, vector @ whole)
	return whole


def fold(bundle, out):
	"""Writes the model of a bundle with its mapping folded into its first layer; returns its layers, without
	a mapping.
	"""
	import numpy as np
	from safetensors.numpy import load_file, save_file

	bundle = pathlib.Path(bundle)
	config = json.loads((bundle / "config.json").read_text(encoding="utf-8"))
	model = load_file(bundle / "model.safetensors")
	mapping, first, *rest = config["layers"]
	if "mapping" not in config or "mapping" not in mapping:
		sys.exit(f"the model of {bundle} has no mapping")
	side = mapping["mapping"]["patch"]
	whole = orthogonal(model, config["mapping"])
	weight = model["layers.0.weight"].astype(np.float64)
	kind = next(iter(first))
	if kind == "linear" and side == 0:
		folded = weight @ whole
	elif kind == "conv2d" and side > 0:
		filters, _, kernel, _ = weight.shape
		channels = len(whole) // side**2
		# [filter, vector, row, column] by [vector, channel, down, across]: places of the window, then of a patch.
		parts = whole.reshape(len(whole), channels, side, side)
		folded = np.einsum("fvrs,vcde->fcrdse", weight, parts)
		folded = folded.reshape(filters, channels, kernel * side, kernel * side)
		fields = first["conv2d"]
		first = {"conv2d": {**fields, **{key: fields[key] * side for key in ("kernel", "stride", "padding")}}}
	else:
		sys.exit(
			f"a mapping in patches of {side} cannot be folded into {kind}: a mapping of all numbers can into a "
			"linear layer, one of patches into a convolution"
		)
	kept = {name: tensor for name, tensor in model.items() if name not in config["mapping"]}
	kept["layers.0.weight"] = np.ascontiguousarray(folded.astype(np.float32))
	save_file(kept, out)
	return [first, *rest]


def layer_text(layer):
	"""A layer of config.json as a JOB.toml has it."""
	name, fields = (layer, {}) if isinstance(layer, str) else next(iter(layer.items()))
	if name == "conv2d":
		return "conv {filters} {kernel} stride {stride} padding {padding}".format(**fields)
	if name in ("max_pool2d", "avg_pool2d"):
		return "{} {kernel} stride {stride}".format(name[:-2], **fields)
	if name == "activation":
		return fields["function"]
	if name == "dropout":
		return f"dropout {fields['rate_nano'] / 10**9:.9f}"
	return " ".join([name, *(str(number) for number in fields.values())])


def check(binary):
	"""Trains mapped models, folds each, and evaluates both: no label may be predicted otherwise but where two
	are as probable to a rounding, and no accuracy be lost by much.
	"""
	with tempfile.TemporaryDirectory() as folder:
		folder = pathlib.Path(folder)
		for _, of, plain, mapped in MODELS[:3]:
			data = data_of(folder, of[0])
			before = accuracy(train(binary, folder, job(of, plain, data), 1))
			bundle = train(binary, folder, job(of, mapped[-1], data), 1)
			after, out = accuracy(bundle), folder / "folded.safetensors"
			layers = [layer_text(layer) for layer in fold(bundle, out)]
			file = folder / "folded.toml"
			file.write_text(job(of, layers, data), encoding="utf-8")
			found = 100 * json.loads(run(binary, "evaluate", out, file, "--json"))["accuracy"]
			print(f"{mapped[-1][0]}: {before:.2f} % without, {after:.2f} % with, {found:.2f} % folded")
			if abs(found - after) > 0.05 or before - after > 1:
				sys.exit("a folded model predicts something else, or a mapping lost more than chance does")


def put(page, name, text):
	"""The page with this text between its marks."""
	marks = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
	if not marks.search(page):
		sys.exit(f"{PAGE} has no place for {name}")
	return marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main():
	"""The command line."""
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("--bin", help="the worker's binary")
	parser.add_argument("--seeds", type=int, default=20, help="runs of each model (20)")
	parser.add_argument("--write", action="store_true", help="put the tables into the page")
	parser.add_argument("--assert", dest="check", action="store_true", help="check a few runs")
	parser.add_argument("--fold", nargs=2, metavar=("BUNDLE", "MODEL"), help="fold a mapping into a model")
	arguments = parser.parse_args()
	if arguments.fold:
		layers = fold(*arguments.fold)
		print(f"layers = {json.dumps([layer_text(layer) for layer in layers])}")
		return
	if not arguments.bin:
		parser.error("--bin is missing")
	binary = os.path.abspath(arguments.bin)
	if arguments.check:
		check(binary)
		return
	tables = {"cost": cost_table(binary), "accuracy": accuracy_table(binary, arguments.seeds)}
	if arguments.write:
		page = PAGE.read_text(encoding="utf-8")
		for name, text in tables.items():
			page = put(page, name, text)
		PAGE.write_text(page, encoding="utf-8")
	else:
		print("\n\n".join(tables.values()))


if __name__ == "__main__":
	main()
