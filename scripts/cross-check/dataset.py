"""Data files and decimal numbers, as docs/job-toml.md and section 1 of docs/strict-arithmetic.md say."""

import gzip
import io
from fractions import Fraction

import numpy as np

from arithmetic import F32, CannotCheck, reduce_sum, sqrt
from philox import blake2_256


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


def whole(number):
	"""A label, which is a whole number from 0, as an integer."""
	label = float(number)
	if not label.is_integer() or label < 0:
		raise CannotCheck(f"the label {number} is not a whole number from 0")
	return int(label)


def from_csv(content, position):
	"""Inputs as binary32, and labels, of a CSV file whose label stands at this position."""
	if content[:2] == b"\x1f\x8b":
		content = gzip.decompress(content)
	lines = content.decode("utf-8-sig").strip().split("\n")
	rows = [line.split(",") for line in lines[1:]]
	labels = [whole(row.pop(position)) for row in rows]
	read = {text: nearest(text) for text in {text for row in rows for text in row}}
	return np.array([[read[text] for text in row] for row in rows], dtype=F32), labels


def from_array(content):
	"""The same of a NumPy array [rows, features + 1], label last."""
	array = np.load(io.BytesIO(content), allow_pickle=False)
	return array[:, :-1].astype(F32), [whole(label) for label in array[:, -1]]


def from_archive(content):
	"""The same of a NumPy archive with x and y, or x_train and y_train."""
	with np.load(io.BytesIO(content), allow_pickle=False) as archive:
		names = ("x", "y") if "x" in archive or "y" in archive else ("x_train", "y_train")
		inputs, labels = (archive[name] for name in names)
	return inputs.reshape(len(inputs), -1).astype(F32), [whole(label) for label in labels]


READERS = {
	"csv_label_last": lambda content: from_csv(content, -1),
	"csv_label_first": lambda content: from_csv(content, 0),
	"npy": from_array,
	"npz": from_archive,
}


def measures(rows):
	"""Mean and standard deviation of each feature; 1 for the latter where the feature does not vary."""
	count = F32(len(rows))
	mean = reduce_sum(rows) / count
	deviation = sqrt(reduce_sum((rows - mean) * (rows - mean)) / count)
	steady = (rows == rows[0]).all(axis=0) | (deviation == 0)
	return mean, np.where(steady, F32(1), deviation)


class Dataset:
	"""Training and validation rows of a data file: features divided and normalised, labels as integers."""

	def __init__(self, path, spec):
		"""Reads the file that a specification's section `dataset` describes."""
		with open(path, "rb") as file:
			content = file.read()
		if "0x" + blake2_256(content).hex() != spec["content_hash"]:
			raise CannotCheck(f"{path} is not the data of this job: its content hash is another one")
		if spec["format"] not in READERS:
			raise CannotCheck(f"data in the format {spec['format']}")
		features, labels = READERS[spec["format"]](content)
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
