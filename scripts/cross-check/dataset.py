"""Data files and decimal numbers, as docs/job-toml.md and section 1 of docs/strict-arithmetic.md say."""

from fractions import Fraction

import numpy as np

from arithmetic import F32, CannotCheck
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


class Dataset:
	"""Training and validation rows of a data file: features divided, labels as integers."""

	def __init__(self, path, spec):
		"""Reads the file that a specification's section `dataset` describes."""
		with open(path, "rb") as file:
			content = file.read()
		if "0x" + blake2_256(content).hex() != spec["content_hash"]:
			raise CannotCheck(f"{path} is not the data of this job: its content hash is another one")
		lines = content.decode("utf-8-sig").strip().split("\n")
		rows = [line.split(",") for line in lines[1:]]
		position = {"csv_label_last": -1, "csv_label_first": 0}.get(spec["format"])
		if position is None:
			raise CannotCheck(f"data in the format {spec['format']}")
		labels = np.array([int(row.pop(position)) for row in rows], dtype=np.int64)
		read = {text: nearest(text) for text in {text for row in rows for text in row}}
		features = np.array([[read[text] for text in row] for row in rows], dtype=F32)
		features = features / F32(spec["feature_divisor"])

		every = spec["validation_every"]
		validates = np.arange(len(rows)) % every == every - 1
		self.features, self.labels = features[~validates], labels[~validates]
		self.validation_features, self.validation_labels = features[validates], labels[validates]
		shape = (len(self.labels), len(self.validation_labels), features.shape[1])
		declared = tuple(spec[key] for key in ("train_rows", "validation_rows", "features"))
		if shape != declared:
			raise CannotCheck(f"{path} has rows and features {shape}, declared are {declared}")
