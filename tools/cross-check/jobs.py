"""Short jobs that between them meet every rule of the arithmetic, and the data that they train on."""

import gzip
import json
import os
import random

import numpy as np

# Numbers between two binary32, so near the middle that reading them as binary64 first ends at the
# wrong one; and forms that a decimal number may have.
ODD_NUMBERS = [
	"1.00000005960464477539062501",
	"1.00000017881393432617187499",
	"-1.00000005960464477539062501",
	"16777217.00000000000000001",
	"-0",
	"+.5",
	" 2. ",
	"-007",
	"1E2",
	"-2.5e-1",
]
# Subnormal in binary32, or at the edge of it. The second rounds away from zero only if it is exact.
TINY_NUMBERS = [
	"1e-45",
	"7.00649232162408535461864791644958065640130970938257885878534142e-46",
	"-1.1754943e-38",
	"3.3e-41",
	"-9e-40",
	"1.5e-38",
]


def write_odd_data(path):
	"""Ninety rows with the label first and CRLF: odd, tiny, large and ordinary numbers, and zeros."""
	draw = random.Random(3)
	with open(path, "w", encoding="utf-8", newline="") as file:
		file.write("label,odd,tiny,large,a,b\r\n")
		for row in range(90):
			label = row * 7 % 4
			large = draw.randrange(-3000, 3000)
			a, b = (draw.randrange(-(10**9), 10**9) / 10**9 + label for _ in range(2))
			odd, tiny = draw.choice(ODD_NUMBERS), draw.choice(TINY_NUMBERS)
			# Rows of zeros: the first model has all logits equal for them.
			numbers = "0,0,0,0,0" if row % 9 == 8 else f"{odd},{tiny},{large},{a!r},{b!r}"
			file.write(f"{label},{numbers}\r\n")


def write_wide_data(path):
	"""2,100 rows of 520 numbers in 33 classes: more than a block of every reduction."""
	draw = random.Random(5)
	with open(path, "w", encoding="utf-8") as file:
		file.write(",".join(f"x{i}" for i in range(520)) + ",label\n")
		for row in range(2100):
			label = draw.randrange(33)
			numbers = (draw.randrange(-40, 41) + (label if i % 33 == label else 0) for i in range(520))
			file.write(",".join(f"{n / 16:g}" for n in numbers) + f",{label}\n")


def write_float_data(path):
	"""1,400 rows in the manner of HEPMASS, compressed: the label first, every number with 18 decimals.

	More training rows than a block of a sum. One column is always 0.1, another mostly 0, and the
	columns are of very different sizes.
	"""
	draw = random.Random(7)
	with gzip.open(path, "wt", encoding="utf-8") as file:
		file.write("# label,f0,f1,f2,f3,f4,mass\n")
		for row in range(1400):
			label = draw.randrange(2)
			size = draw.gauss(label, 1)
			rare = 3 if row % 500 == 77 else 0
			numbers = (size, draw.gauss(0, 1) * size, 1e6 + draw.random(), 0.1, rare, draw.choice([500, 750]))
			file.write(",".join(f"{number:.18e}" for number in (label, *numbers)) + "\n")


def write_archive(path):
	"""Images of bytes and their labels as a compressed archive of NumPy."""
	draw = random.Random(9)
	labels = [draw.randrange(5) for _ in range(150)]
	pixels = [[draw.randrange(0, 51) * label for _ in range(12)] for label in labels]
	images = np.array(pixels, dtype=np.uint8).reshape(150, 3, 4)
	np.savez_compressed(path, x_train=images, y_train=np.array(labels))


def write_array(path):
	"""Rows of binary32 in big endian with their labels as a NumPy array."""
	draw = random.Random(15)
	labels = [draw.randrange(3) for _ in range(110)]
	rows = [[draw.gauss(label, 0.5) for _ in range(6)] + [label] for label in labels]
	np.save(path, np.array(rows, dtype=">f4"))


def write_idx(path, kind, array):
	"""An array as an IDX file, compressed."""
	head = bytes([0, 0, kind, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
	with gzip.open(path, "wb") as file:
		file.write(head + array.astype(array.dtype.newbyteorder(">")).tobytes())


def write_images(path, labels_path):
	"""Two files as MNIST's: images of bytes, and their labels."""
	draw = random.Random(11)
	labels = np.array([draw.randrange(4) for _ in range(160)], dtype=np.uint8)
	pixels = [[draw.randrange(64) * int(label) for _ in range(30)] for label in labels]
	write_idx(path, 0x08, np.array(pixels, dtype=np.uint8).reshape(160, 5, 6))
	write_idx(labels_path, 0x0C, labels.astype(np.int32))


def write_tensors(path):
	"""Inputs of binary64 between two binary32, and labels of 64 bits, as a safetensors file."""
	draw = random.Random(13)
	y = np.array([draw.randrange(3) for _ in range(120)], dtype="<i8")
	x = np.array([[draw.gauss(int(label), 1) / 3 for _ in range(7)] for label in y], dtype="<f8")
	header, content = {}, b""
	for name, dtype, tensor in ("x", "F64", x), ("y", "I64", y):
		start, content = len(content), content + tensor.tobytes()
		about = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [start, len(content)]}
		header[name] = about
	text = json.dumps(header).encode()
	with open(path, "wb") as file:
		file.write(len(text).to_bytes(8, "little") + text + content)


def job_of(data, dataset, model, training, optimizer, settings=""):
	"""The text of a JOB.toml; `settings` are the optimizer's."""
	return (
		f'[dataset]\npath = "{data}"\n{dataset}\n[model.{model}\n'
		f"[training]\n{training}\n[training.optimizer.{optimizer}]\n{settings}\n"
	)


def job(data, dataset, hidden, *rest):
	"""The same with an MLP of these hidden widths."""
	return job_of(data, dataset, f'mlp]\nhidden = {hidden}\nactivation = "relu"', *rest)


SHORT = "steps = 12\nbatch_size = 9\ncheckpoint_interval = 5\nlearning_rate = 0.01\n"


def jobs_of_other_models(digits, text):
	"""(name, JOB.toml) of jobs with other models than MLPs with ReLU, and every option."""
	image = "channels = 1\nheight = 8\nwidth = 8\n"
	cnn = (
		f'cnn]\n{image}activation = "gelu"\nlayers = ["conv 5 3 padding 1", "max_pool 3 stride 2", '
		'"dropout 0.3", "conv 4 3 stride 2 padding 1", "linear 9"]'
	)
	layers = (
		f'layers]\ninput = "image"\n{image}layers = ["conv 3 3 padding 1", "tanh", "layer_norm", '
		'"conv 3 3 padding 1", "skip 2", "avg_pool 3 stride 2", "sigmoid", "skip 1", "dropout 0.1", '
		'"rms_norm", "linear 10"]'
	)
	mapped = (
		f'layers]\ninput = "image"\n{image}layers = ["mapping 3 patch 2", "conv 5 3 padding 1", "relu", '
		'"linear 10"]'
	)
	whole = 'layers]\nlayers = ["mapping 12", "linear 20", "silu", "linear 10"]'
	of_digits = "validation_every = 5\nfeature_divisor = 16"
	of_text = 'format = "text"\nfeatures = 14\nvalidation_every = 300'
	clipped = "clip_norm = 0.5\n"
	scheduled = 'schedule = "cosine"\nfinal_learning_rate = 0.001\nwarmup_steps = 4\n'
	squared = 'loss = "mean_squared_error"\ninput_noise = 0.05\nweight_decay = 0.1\n'
	nesterov = "momentum = 0.9\nnesterov = true"
	# More than ten layers with parameters: their order is not that of their names.
	transformer = "transformer]\nlayers = 2\nheads = 2\nwidth = 12\nmlp_factor = 2\ndropout = 0.1"
	return [
		(
			"CNN by Adam, clipped",
			job_of(digits, of_digits, cnn, SHORT + clipped + "weight_decay = 0.1", "adam"),
		),
		(
			"List of layers by SGD, Nesterov, squared error, noise, warm-up and cosine",
			job_of(digits, of_digits, layers, SHORT + clipped + scheduled + squared, "sgd", nesterov),
		),
		(
			"Mapping of patches before a convolution by AdamW, clipped, noise",
			job_of(digits, of_digits, mapped, SHORT + clipped + "input_noise = 0.05", "adamw"),
		),
		(
			"Mapping of all numbers by SGD, normalised, weight decay",
			job_of(
				digits,
				of_digits + '\nnormalization = "standard"',
				whole,
				SHORT + "weight_decay = 0.1",
				"sgd",
				nesterov,
			),
		),
		(
			"Transformer by AdamW, clipped, cosine",
			job_of(text, of_text, transformer, SHORT + clipped + scheduled, "adamw"),
		),
	]


def short_jobs(digits, text, folder):
	"""Writes the data into the folder; (name, JOB.toml) of each job."""
	names = "odd.csv wide.csv float.csv.gz images.npz x.idx.gz y.idx.gz xy.safetensors rows.npy".split()
	odd, wide, floats, images, x, y, tensors, rows = (os.path.join(folder, name) for name in names)
	write_images(x, y)
	write_tensors(tensors)
	write_array(rows)
	write_odd_data(odd)
	write_wide_data(wide)
	write_float_data(floats)
	write_archive(images)
	of_digits = "validation_every = 5\nfeature_divisor = 16"
	of_odd = 'validation_every = 3\nfeature_divisor = 3\nformat = "csv_label_first"'
	of_wide = "validation_every = 2"
	of_floats = 'format = "csv_label_first"\nnormalization = "standard"'
	of_images = 'format = "npz"\nfeature_divisor = 255\nnormalization = "standard"'
	of_idx = f'format = "idx"\nfeature_divisor = 255\n[dataset.labels]\npath = "{y}"'
	of_tensors = 'format = "safetensors"\nfeature_divisor = 7'
	steps_of_digits = "steps = 100\nbatch_size = 32\ncheckpoint_interval = 20\n"
	steps_of_odd = "steps = 60\nbatch_size = 7\ncheckpoint_interval = 13\n"
	steps_of_wide = "steps = 4\nbatch_size = 1040\ncheckpoint_interval = 2\n"
	rate, small_rate = "learning_rate = 0.05", "learning_rate = 0.002"
	# With 0.37 the factor of Decay differs in its last bit where it is rounded twice.
	decay, other_decay = "\nweight_decay = 0.37", "\nweight_decay = 0.01"
	early_stop = "\n[training.early_stop]\npatience = 2\nmin_delta = 0.3"
	momentum, other_adamw = "momentum = 0.9", "beta1 = 0.8\nbeta2 = 0.95\nepsilon = 1e-6"
	return [
		("SGD", job(digits, of_digits, [64, 32], steps_of_digits + rate, "sgd")),
		("SGD with momentum", job(digits, of_digits, [48], steps_of_digits + rate, "sgd", momentum)),
		(
			"SGD on odd numbers, weight decay",
			job(odd, of_odd, [], steps_of_odd + rate + decay, "sgd", momentum),
		),
		(
			"SGD over several blocks, weight decay",
			job(wide, of_wide, [17], steps_of_wide + small_rate + other_decay, "sgd", momentum),
		),
		(
			"SGD that stops early",
			job(digits, of_digits, [32], steps_of_digits + rate + early_stop, "sgd", momentum),
		),
		(
			"SGD on compressed data with float labels, normalised",
			job(floats, of_floats, [9], steps_of_digits + rate, "sgd", momentum),
		),
		(
			"AdamW on a NumPy archive, normalised",
			job(images, of_images, [7], steps_of_odd + small_rate, "adamw"),
		),
		("SGD on IDX files", job(x, of_idx, [5], steps_of_odd + rate, "sgd", momentum)),
		("AdamW on safetensors", job(tensors, of_tensors, [6], steps_of_odd + rate, "adamw")),
		("SGD on a NumPy array", job(rows, 'format = "npy"', [4], steps_of_odd + rate, "sgd")),
		*jobs_of_other_models(digits, text),
		("AdamW", job(digits, of_digits, [64, 32], steps_of_digits + small_rate, "adamw")),
		(
			"AdamW on odd numbers, weight decay",
			job(odd, of_odd, [6, 5], steps_of_odd + rate + decay, "adamw"),
		),
		(
			"AdamW over several blocks",
			job(wide, of_wide, [17], steps_of_wide + rate, "adamw", other_adamw),
		),
	]
