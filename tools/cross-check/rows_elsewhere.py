#!/usr/bin/env python3
"""Rows roots of data files, computed three times: by the worker, by the JavaScript package, and by the
reader of this folder, in NumPy. Files of every format, type of numbers and order of bytes, most of them
written by NumPy, must have one root; damaged files are refused by worker and package, or read alike.
Prints TAP.

	rows_elsewhere.py --bin TRAINYARD --dir FOLDER [--damaged N]
"""

import argparse
import gzip
import io
import json
import os
import random
import subprocess
import sys

import numpy as np
from safetensors.numpy import save

from arithmetic import F32, CannotCheck
from dataset import Dataset
from philox import blake2_256
from short_runs import Checks
from states import rows_root

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, EVERY = 37, 4

# What `trainyard estimate` needs beside the data.
JOB = """[model.{model}
[training]
steps = 4
batch_size = 2
checkpoint_interval = 2
learning_rate = 0.1
[training.optimizer.sgd]
"""
MODELS = {
	"text": "transformer]\nlayers = 1\nheads = 1\nwidth = 2",
	"numbers": "mlp]\nhidden = [2]",
}

SIGNED = ["|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"]
UNSIGNED = ["|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8"]
FLOATS = ["<f4", ">f4", "<f8", ">f8"]
# Types of numbers of an IDX file.
IDX_TYPES = {"|u1": 8, "|i1": 9, ">i2": 0xB, ">i4": 0xC, ">f4": 0xD, ">f8": 0xE}


class Case:
	"""A file of data, its labels where they are a file of their own, and how it is read."""

	def __init__(self, name, file_format, content, labels=None, **how):
		self.name, self.format, self.content, self.labels = name, file_format, content, labels
		self.divisor, self.context = how.get("divisor", 1), how.get("context", 0)
		self.normalization = how.get("normalization", "none")

	def write(self, folder):
		"""Writes the files."""
		self.path, self.labels_path = os.path.join(folder, self.name), None
		with open(self.path, "wb") as file:
			file.write(self.content)
		if self.labels is not None:
			self.labels_path = f"{self.path}.labels"
			with open(self.labels_path, "wb") as file:
				file.write(self.labels)

	def for_package(self):
		"""The case as rows_elsewhere.mjs takes it."""
		case = {"path": self.path, "format": self.format, "every": EVERY, "divisor": self.divisor}
		case |= {"normalization": self.normalization, "context": self.context}
		return case | ({"labelsPath": self.labels_path} if self.labels_path else {})

	def by_worker(self, binary):
		"""What `trainyard estimate` makes of it: (root, None), or (None, what it says against it)."""
		text = f'[dataset]\npath = "{self.path}"\nformat = "{self.format}"\nvalidation_every = {EVERY}\n'
		text += f'feature_divisor = {self.divisor}\nnormalization = "{self.normalization}"\n'
		if self.context:
			text += f"features = {self.context}\n"
		if self.labels_path:
			text += f'[dataset.labels]\npath = "{self.labels_path}"\n'
		text += JOB.format(model=MODELS["text" if self.format == "text" else "numbers"])
		with open(f"{self.path}.toml", "w", encoding="utf-8") as file:
			file.write(text)
		command = [binary, "estimate", "--json", f"{self.path}.toml"]
		done = subprocess.run(command, capture_output=True, text=True, check=False)
		if done.returncode == 0:
			return json.loads(done.stdout)["rows"], None
		return None, done.stderr

	def by_numpy(self, rows, features):
		"""The root that the reader of this folder computes."""
		spec = {"format": self.format, "content_hash": "0x" + blake2_256(self.content).hex()}
		spec |= {"train_rows": rows - rows // EVERY, "validation_rows": rows // EVERY, "features": features}
		spec |= {"validation_every": EVERY, "feature_divisor": self.divisor}
		spec |= {"normalization": self.normalization}
		if self.labels is not None:
			spec["labels"] = {"content_hash": "0x" + blake2_256(self.labels).hex()}
		return "0x" + rows_root(Dataset(self.path, spec, self.labels_path)).hex()


def npy(array, version=None):
	"""An array as NumPy writes it."""
	file = io.BytesIO()
	np.lib.format.write_array(file, np.asarray(array), version=version)
	return file.getvalue()


def npz(arrays, packed=False):
	"""An archive as NumPy writes it."""
	file = io.BytesIO()
	(np.savez_compressed if packed else np.savez)(file, **arrays)
	return file.getvalue()


def idx(array, kind):
	"""An IDX file."""
	extents = b"".join(extent.to_bytes(4, "big") for extent in array.shape)
	return bytes([0, 0, IDX_TYPES[kind], array.ndim]) + extents + array.astype(kind).tobytes()


def csv(inputs, labels, first=False, end="\n", name="x"):
	"""A CSV file; numbers are written as Python writes them."""
	columns = [f"{name}{i}" for i in range(inputs.shape[1])]
	lines = [["label", *columns] if first else [*columns, "label"]]
	for row, label in zip(inputs.tolist(), labels.tolist()):
		numbers = [repr(number) for number in row]
		lines.append([repr(label), *numbers] if first else [*numbers, repr(label)])
	return (end.join(",".join(line) for line in lines) + end).encode()


def numbers_of(generator, kind, shape):
	"""Numbers of this type of all magnitudes that it has, which are finite in binary32; half of the floats
	of 64 bits lie in the middle between two binary32 or beside it.
	"""
	kind = np.dtype(kind)
	if kind.kind in "iu":
		bounds = np.iinfo(kind)
		some = generator.integers(bounds.min, bounds.max, shape, dtype=kind.newbyteorder("="), endpoint=True)
		# All magnitudes, and of 64 bits those that lie about the middle between two binary32.
		some = some >> generator.integers(0, kind.itemsize * 8 - 1, shape).astype(some.dtype)
		if kind.itemsize == 8:
			near = (generator.integers(1 << 23, 1 << 24, shape) * 2 + 1) << 38
			near = near + generator.integers(-1, 2, shape)
			some = np.where(generator.random(shape) < 0.5, near.astype(some.dtype), some)
		return some.astype(kind)
	single = generator.integers(0, 0x7F00_0000, shape).astype("<u4").view("<f4")
	single = np.where(generator.random(shape) < 0.5, -single, single)
	if kind.itemsize == 4:
		return single.astype(kind)
	other = np.nextafter(single, F32(0)).astype("<f8")
	middle = (single.astype("<f8") + other) / 2
	middle = np.nextafter(middle, middle * generator.integers(0, 3, shape))
	return np.where(generator.random(shape) < 0.5, middle, single).astype(kind)


def good_cases():
	"""Files of every format, with the rows and features that they have."""
	generator = np.random.default_rng(13)
	labels = generator.integers(0, 7, ROWS)
	flat = (ROWS, 6)
	for number, kind in enumerate(UNSIGNED + SIGNED + FLOATS):
		x = numbers_of(generator, kind, flat)
		image, name = x.reshape(ROWS, 2, 3), kind.replace("<", "le-").replace(">", "be-").replace("|", "")
		divisor = (1, 3, 255, 4_294_967_295)[number % 4]
		y = labels.astype((UNSIGNED + SIGNED + FLOATS)[-1 - number])
		joined = np.concatenate([x, labels[:, None].astype(kind)], axis=1)
		version = ((1, 0), (2, 0), (3, 0))[number % 3]
		yield Case(f"{name}.npy", "npy", npy(joined, version), divisor=divisor), ROWS, 6
		for packed in (False, True):
			arrays = {"x": image, "y": y}
			if number % 2 == 1:
				arrays = {"y_test": y, "y_train": y, "x_test": x, "x_train": x, "other": np.arange(3)}
			content = npz(arrays, packed)
			yield Case(f"{name}-{packed}.npz", "npz", content, divisor=divisor), ROWS, 6
		if not kind.startswith(">"):
			small = labels.astype(y.dtype.newbyteorder("<"))
			content = save({"y": small, "x": np.ascontiguousarray(image), "a": np.arange(5)}, {"of": "a test"})
			yield Case(f"{name}.safetensors", "safetensors", content, divisor=divisor), ROWS, 6
		if kind in IDX_TYPES:
			files = idx(image, kind), idx(labels, (">i4", "|u1")[number % 2])
			yield Case(f"{name}.idx", "idx", *files, divisor=divisor), ROWS, 6
			packed = [gzip.compress(file) for file in files]
			yield Case(f"{name}.idx.gz", "idx", *packed, divisor=divisor), ROWS, 6
	yield from good_tables(generator)


def good_tables(generator):
	"""The same of tables and texts, and of what is normalised."""
	labels = generator.integers(0, 7, ROWS)
	x = numbers_of(generator, "<f8", (ROWS, 5))
	last = csv(x, labels)
	yield Case("last.csv", "csv_label_last", last, divisor=7), ROWS, 5
	first = csv(x, labels.astype("<f8"), first=True, end="\r\n", name="\ufeff é")
	yield Case("first.csv", "csv_label_first", first), ROWS, 5
	yield Case("no-header.csv", "csv_label_last", last.split(b"\n", 1)[1]), ROWS, 5
	marked = b"\xef\xbb\xbf" + first.split(b"\n", 1)[1]
	yield Case("mark.csv", "csv_label_first", marked), ROWS, 5
	yield Case("no-end.csv", "csv_label_last", last.rstrip()), ROWS, 5
	spaced = last.replace(b",", " ,\u3000+".encode()).replace(b"+-", b"-").replace(b"+label", b"label")
	yield Case("spaces.csv", "csv_label_last", spaced), ROWS, 5
	members = gzip.compress(last[:500]) + gzip.compress(b"") + gzip.compress(last[500:])
	yield Case("members.csv.gz", "csv_label_last", members), ROWS, 5
	text = bytes(generator.choice(list(b"abcdefg \n\xc3\xa4\x00"), 1000).tolist())
	for context in (1, 7, 240):
		yield Case(f"{context}.txt", "text", text, context=context), (len(text) - 1) // context, context
	# Rows of which one block of a sum trains, of two, and of more than one block of blocks has.
	for rows, name in ((ROWS, "few"), (2_000, "blocks"), (1_400_000, "many")):
		x = (generator.normal(3, 100, (rows, 3)) * 2.0 ** generator.integers(-9, 9, 3)).round(4)
		x[:, 1] = 0.1
		arrays = {"x": x, "y": generator.integers(0, 3, rows)}
		case = Case(f"{name}.npz", "npz", npz(arrays, True), divisor=3, normalization="standard")
		yield case, rows, 3
		if rows <= 2_000:
			content = csv(x, arrays["y"])
			yield Case(f"{name}.csv", "csv_label_last", content, normalization="standard"), rows, 3
	picture = generator.integers(0, 256, (ROWS, 4)).astype("|u1")
	files = idx(picture, "|u1"), idx(generator.integers(0, 3, ROWS), "|u1")
	yield Case("few.idx", "idx", *files, divisor=255, normalization="standard"), ROWS, 4


def parquet_files():
	"""Parquet files that pyarrow wrote (parquet_files.py), and the root of the same numbers as CSV. The package reads
	none of them and says so; the reader of this folder does where pyarrow is there.
	"""
	folder = os.path.join(HERE, "../../ml-worker/proof/tests/files")
	for name in sorted(os.listdir(folder)):
		if name.endswith(".parquet") and not name.startswith("refused-"):
			with open(os.path.join(folder, name), "rb") as file:
				of = "parquet_label_first" if "label-first" in name else "parquet"
				yield Case(name, of, file.read(), divisor=3)
	with open(os.path.join(folder, "numpy.csv"), "rb") as file:
		yield Case("as-parquet.csv", "csv_label_last", file.read(), divisor=3)


def refused_cases():
	"""Files that are whole, and that no trainer reads, with a word of what is wrong."""
	x, y = np.arange(24.0).reshape(8, 3), np.arange(8) % 3
	table = csv(x, y)
	between = table.replace(b"\n3.0", b"\n\n3.0")
	yield "an empty line", Case("empty-line.csv", "csv_label_last", between), "empty"
	yield "an empty last line", Case("empty-end.csv", "csv_label_last", table + b"\r\n"), "empty"
	wide = table.replace(b"3.0,", b"3.0" + b" " * 300 + b",", 1)
	yield "a long line", Case("long.csv", "csv_label_last", wide), "longer than 256"
	other = table.replace(b"\n3", b"\n\xff3")
	yield "not UTF-8", Case("bytes.csv", "csv_label_last", other), "UTF-8"
	classes = b"a,l\n" + b"1,65536\n" * 9
	yield "a class too many", Case("class.csv", "csv_label_last", classes), "65536 classes"
	zeros = gzip.compress(table) + b"\0\0"
	yield "zeros behind gzip", Case("zeros.csv.gz", "csv_label_last", zeros), "damaged"
	padded = b"a,l\n" + (b"1" + b" " * 120 + b",0\n") * 30_000
	yield "a padded file", Case("padded.csv", "csv_label_last", padded), "once decompressed"
	yield "Fortran order", Case("f.npy", "npy", npy(np.asfortranarray(x))), "Fortran"
	for kind in ("<f2", "<c8", "|b1", "<U3", "<M8[s]"):
		yield f"numbers {kind}", Case("kind.npy", "npy", npy(x.astype(kind))), "can be read"
	records = np.zeros(8, dtype=[("a", "<f4"), ("b", "<i4")])
	yield "records", Case("records.npy", "npy", npy(records)), "records"
	for what, bad in (("NaN", np.nan), ("infinity", -np.inf), ("no binary32", 3.5e38)):
		wrong = x.copy()
		wrong[5, 1] = bad
		arrays = {"x": wrong, "y": y}
		case = Case("number.npz", "npz", npz(arrays))
		yield what, case, "row 5 (from 0): input 1 (from 0) is not a finite number"
	for what, bad in (("half a class", 0.5), ("a class below 0", -1.0), ("a class above all", 2.0**32)):
		wrong = y.astype("<f8")
		wrong[6] = bad
		yield what, Case("label.npz", "npz", npz({"x": x, "y": wrong})), "row 6 (from 0): the label"
	yield "labels that lack", Case("few.npz", "npz", npz({"x": x, "y": y[:7]})), "7 labels"
	yield "no inputs", Case("no-x.npz", "npz", npz({"y": y})), "x.npy"
	yield "other names", Case("names.npz", "npz", npz({"a": x, "b": y})), "no array x and y"
	yield "a comment", Case("comment.npz", "npz", npz({"x": x, "y": y}) + b"!"), "comment"
	yield "three rows", Case("three.npz", "npz", npz({"x": x[:3], "y": y[:3]})), "rows"
	half = save({"x": x.astype("<f2"), "y": y})
	yield "binary16", Case("half.safetensors", "safetensors", half), "F16"
	yield "no tensor y", Case("x.safetensors", "safetensors", save({"x": x})), '"y"'
	above = b"a,l\n" + b"3.4028236e38,1\n" * 9
	yield "decimals above binary32", Case("above.csv", "csv_label_last", above), "not a finite number"
	vast = csv(np.array([[3e38], [-3e38]] * 9), np.arange(18) % 2)
	case = Case("deviation.csv", "csv_label_last", vast, normalization="standard")
	yield "an infinite deviation", case, "normalised"
	yield "one byte of a text", Case("one.txt", "text", b"a", context=1), "rows"


def damaged_cases(count):
	"""Small files with some bytes changed, cut out, put in or cut off."""
	x, y = np.arange(24.0).reshape(8, 3), np.arange(8) % 3
	arrays = {"x": x.astype("<f4"), "y": y.astype("|u1")}
	pixels = idx(x, "|u1")
	seeds = [
		("npy", npy(np.concatenate([x, y[:, None]], axis=1).astype(">i2")), None),
		("npz", npz(arrays), None),
		("npz", npz(arrays, True), None),
		("safetensors", save(arrays), None),
		("idx", pixels, idx(y, "|u1")),
		("idx", gzip.compress(pixels), gzip.compress(idx(y, "|i1"))),
		("csv_label_last", csv(x, y), None),
		("csv_label_first", gzip.compress(csv(x, y, first=True)), None),
	]
	some = random.Random(13)
	letters = b"0123456789.,-+eE \t\r\n\0\xff\xa0\xc2nif\"'{}[]()"
	for number in range(count):
		file_format, content, labels = seeds[number % len(seeds)]
		content = bytearray(content)
		for _ in range(some.randint(1, 3)):
			at = some.randrange(len(content))
			byte = some.choice(letters) if some.random() < 0.6 else some.randrange(256)
			way = some.randrange(8)
			if way < 5:
				content[at] = byte
			elif way == 5:
				del content[at]
			elif way == 6:
				content.insert(at, byte)
			else:
				content[at] ^= 1 << some.randrange(8)
		if some.random() < 0.1:
			del content[some.randrange(1, len(content)) :]
		if some.random() < 0.05:
			content += bytes(some.choices(letters, k=some.randint(1, 9)))
		yield Case(f"damaged-{number}", file_format, bytes(content), labels)


def by_package(cases):
	"""What the JavaScript package makes of cases."""
	command = ["node", os.path.join(HERE, "rows_elsewhere.mjs")]
	text = json.dumps([case.for_package() for case in cases])
	done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
	return json.loads(done.stdout)


def main():
	"""The command line; returns the exit status."""
	parser = argparse.ArgumentParser(
		description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
	)
	parser.add_argument("--bin", required=True, help="the worker's binary")
	parser.add_argument("--dir", required=True, help="folder for the files")
	parser.add_argument("--damaged", type=int, default=160, help="how many damaged files (160)")
	arguments = parser.parse_args()
	folder = os.path.abspath(arguments.dir)
	os.makedirs(folder, exist_ok=True)
	np.seterr(all="ignore")
	checks = Checks()

	good = list(good_cases())
	for case, _, _ in good:
		case.write(folder)
	for (case, rows, features), package in zip(good, by_package([case for case, _, _ in good])):
		worker, complaint = case.by_worker(arguments.bin)
		try:
			expected = case.by_numpy(rows, features)
		except (CannotCheck, ValueError) as error:
			expected = str(error)
		equal = expected == worker == package.get("root")
		checks.add(case.name, equal, f"NumPy {expected}\nworker {worker} {complaint}\npackage {package}")

	*files, csv_file = parquet_files()
	for case in [*files, csv_file]:
		case.write(folder)
	expected = csv_file.by_numpy(12, 4)
	for case, package in zip(files, by_package(files)):
		root, complaint = case.by_worker(arguments.bin)
		try:
			other = case.by_numpy(12, 4)
		except CannotCheck as error:
			other = expected if "pyarrow" in str(error) else str(error)
		says = "does not read Parquet" in package.get("error", "")
		text = f"expected {expected}\nNumPy {other}\nworker {root} {complaint}\npackage {package}"
		checks.add(case.name, expected == other == root and says, text)

	refused = list(refused_cases())
	for number, (_, case, _) in enumerate(refused):
		case.name = f"refused-{number}-{case.name}"
		case.write(folder)
	for (what, case, word), package in zip(refused, by_package([case for _, case, _ in refused])):
		root, complaint = case.by_worker(arguments.bin)
		named = case.path in package.get("error", "") and word in package["error"]
		text = f"worker {root} {complaint}\npackage {package}"
		checks.add(f"refused: {what}", root is None and named, text)

	damaged = list(damaged_cases(arguments.damaged))
	for case in damaged:
		case.write(folder)
	both, differing = 0, []
	for case, package in zip(damaged, by_package(damaged)):
		root, complaint = case.by_worker(arguments.bin)
		both += root is not None
		if root != package.get("root") or "fault" in package:
			differing.append(f"{case.path}: worker {root} {complaint}\npackage {package}")
	name = f"{len(damaged)} damaged files, of which {both} can be read"
	checks.add(name, not differing, "\n".join(differing))
	return checks.end()


if __name__ == "__main__":
	sys.exit(main())
