"""Data files and decimal numbers, as docs/job-toml.md and section 1 of docs/strict-arithmetic.md say."""

import gzip
import io
from fractions import Fraction
from functools import partial

import numpy as np

from arithmetic import F32, CannotCheck, reduce_sum, sqrt
from philox import blake2_256
from states import read_safetensors


def nearest(text):
	"""The binary32 nearest to a decimal number, a tie to the even one.

	Reading it as binary64 first rounds twice. That goes wrong only where the binary64 lies in the
	middle between two binary32: there the text itself decides.
	"""
	double = float(text)
	single = F32(double)
	rounded = float(single)
	if rounded != double:
		neighbour = np.nextafter(single, F32(np.inf) if double > rounded else F32(-np.inf))
		if abs(double - rounded) == abs(float(neighbour) - double):
			difference = Fraction(text) - Fraction(double)
			if difference != 0:
				return max(single, neighbour) if difference > 0 else min(single, neighbour)
	return single


def is_number(text):
	"""Whether a cell of the first line is a finite number, as all of a row are."""
	text = text.strip()
	try:
		return text.isascii() and "_" not in text and bool(np.isfinite(nearest(text)))
	except (OverflowError, ValueError):
		return False


def whole(number):
	"""A label, which is a whole number from 0, as an integer."""
	label = float(number)
	if not label.is_integer() or label < 0:
		raise CannotCheck(f"the label {number} is not a whole number from 0")
	return int(label)


# Bytes that a CSV may have for each number: of a line, and of the whole file with one row more; and
# bytes of the file besides.
LINE_BYTES, FILE_BYTES, HEADER_BYTES = 64, 32, 1 << 20


def bounded(content, spec):
	"""The content, which may be compressed by gzip, if rows of the declared shape may be that long.

	It is decompressed no further. Files of other formats than CSV have the length of their shape.
	"""
	rows = spec["train_rows"] + spec["validation_rows"]
	most = FILE_BYTES * (rows + 1) * (spec["features"] + 1) + HEADER_BYTES
	if content[:2] == b"\x1f\x8b":
		with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
			content = file.read(most + 1)
	if len(content) > most:
		raise CannotCheck(f"the data have more than {most} bytes, the most for {rows} such rows")
	return content


def flat(inputs, labels):
	"""Inputs of arrays as binary32, [rows, features], and labels."""
	return inputs.reshape(len(inputs), -1).astype(F32), [whole(label) for label in labels]


def from_csv(position, content, spec):
	"""Inputs as binary32, and labels, of a CSV file whose label stands at this position."""
	content = bounded(content, spec)
	most = LINE_BYTES * (spec["features"] + 1)
	for number, line in enumerate(content.split(b"\n"), 1):
		if len(line.removesuffix(b"\r")) > most:
			raise CannotCheck(f"line {number} of the data has more than {most} bytes")
	lines = content.decode("utf-8-sig").strip().split("\n")
	rows = [line.split(",") for line in lines]
	if not all(map(is_number, rows[0])):
		rows = rows[1:]
	labels = [whole(row.pop(position)) for row in rows]
	read = {text: nearest(text) for text in {text for row in rows for text in row}}
	return np.array([[read[text] for text in row] for row in rows], dtype=F32), labels


def from_array(content, _):
	"""The same of a NumPy array [rows, features + 1], label last."""
	array = np.load(io.BytesIO(content), allow_pickle=False)
	return flat(array[:, :-1], array[:, -1])


def from_archive(content, _):
	"""The same of a NumPy archive with x and y, or x_train and y_train."""
	with np.load(io.BytesIO(content), allow_pickle=False) as archive:
		names = ("x", "y") if "x" in archive or "y" in archive else ("x_train", "y_train")
		return flat(*(archive[name] for name in names))


def from_safetensors(content, _):
	"""The same of a safetensors file with x and y."""
	tensors = read_safetensors(content)
	return flat(tensors["x"], tensors["y"])


# Types of numbers of an IDX file, big endian, by the third byte.
IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def idx_array(content, spec):
	"""The array in an IDX file: two zeros, type, number of axes, extents, numbers."""
	content = bounded(content, spec)
	zeros, kind, axes = content[:2], content[2], content[3]
	if zeros != b"\0\0" or kind not in IDX_TYPES:
		raise CannotCheck("an IDX file begins otherwise than those of this format")
	shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4)
	return np.frombuffer(content, dtype=IDX_TYPES[kind], offset=4 + 4 * axes).reshape(shape)


def from_idx(content, spec):
	"""The same of two IDX files."""
	return flat(idx_array(content, spec), idx_array(spec["labels"], spec))


def from_text(content, spec):
	"""Rows of tokens, and as many labels: the tokens one place further."""
	tokens = np.unique(np.frombuffer(content, dtype=np.uint8), return_inverse=True)[1].ravel()
	context = spec["features"]
	rows = (len(tokens) - 1) // context
	inputs = tokens[: rows * context].reshape(rows, context).astype(F32)
	return inputs, tokens[1 : rows * context + 1].reshape(rows, context)


def from_parquet(label_at, content, spec):
	"""The same of a Parquet file whose label is the column at this position, by pyarrow where that is there."""
	try:
		import pyarrow as pa
		import pyarrow.parquet as pq
	except ImportError as error:
		raise CannotCheck("Parquet is read by pyarrow, which is not here: pip install pyarrow") from error
	table = pq.read_table(pa.BufferReader(content))
	numbers = [pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
		for kind in table.schema.types]
	if not all(numbers) or any(column.null_count for column in table.columns):
		raise CannotCheck("the columns of a Parquet file must be numbers, all of which are there")
	columns = [column.to_numpy() for column in table.columns]
	labels = columns.pop(label_at)
	# Each column for itself: together they would become binary64 first, and be rounded twice.
	return flat(np.stack([column.astype(F32) for column in columns], axis=1), labels)


READERS = {
	"parquet": partial(from_parquet, -1),
	"parquet_label_first": partial(from_parquet, 0),
	"csv_label_last": partial(from_csv, -1),
	"csv_label_first": partial(from_csv, 0),
	"npy": from_array,
	"npz": from_archive,
	"safetensors": from_safetensors,
	"idx": from_idx,
	"text": from_text,
}


def checked(path, declared, what):
	"""The bytes of a file, which must be the declared one."""
	with open(path, "rb") as file:
		content = file.read()
	if "0x" + blake2_256(content).hex() != declared["content_hash"]:
		raise CannotCheck(f"{path} is not the {what} of this job: its content hash is another one")
	return content


def measures(rows):
	"""Mean and standard deviation of each feature; 1 for the latter where the feature does not vary."""
	count = F32(len(rows))
	mean = reduce_sum(rows) / count
	deviation = sqrt(reduce_sum((rows - mean) * (rows - mean)) / count)
	steady = (rows == rows[0]).all(axis=0) | (deviation == 0)
	return mean, np.where(steady, F32(1), deviation)


class Dataset:
	"""Training and validation rows of a data file: features divided and normalised, labels as integers."""

	def __init__(self, path, spec, labels_path=None):
		"""Reads the files that a specification's section `dataset` describes."""
		content = checked(path, spec, "data")
		if spec["format"] not in READERS:
			raise CannotCheck(f"data in the format {spec['format']}")
		apart = spec.get("labels") and checked(labels_path, spec["labels"], "file of labels")
		features, labels = READERS[spec["format"]](content, {**spec, "labels": apart})
		labels = np.array(labels, dtype=np.int64)
		features = features / F32(spec["feature_divisor"])

		every = spec["validation_every"]
		validates = np.arange(len(labels)) % every == every - 1
		normalization = spec.get("normalization", "none")
		if normalization == "standard":
			mean, deviation = measures(features[~validates])
			features = (features - mean) / deviation
		elif normalization != "none":
			raise CannotCheck(f"the normalisation {normalization}")
		self.features, self.labels = features[~validates], labels[~validates]
		self.validation_features, self.validation_labels = features[validates], labels[validates]
		shape = (len(self.labels), len(self.validation_labels), features.shape[1])
		declared = tuple(spec[key] for key in ("train_rows", "validation_rows", "features"))
		if shape != declared:
			raise CannotCheck(f"{path} has rows and features {shape}, declared are {declared}")
