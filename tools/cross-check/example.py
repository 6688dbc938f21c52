"""The whole run on docs/strict-arithmetic.md: its data, its specification, and what comes of it."""

import json
import os
import re
import tempfile
from functools import partial

from arithmetic import CannotCheck, bits
from dataset import Dataset
from philox import blake2_256
from replay import Run
from states import blob_root, bundle_root, rows_root, sealed, state_hash

SEED = bytes([7]) * 32


def block(page, language):
	"""The text of the page's one block of code in this language."""
	blocks = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
	if len(blocks) != 1:
		raise CannotCheck(f"the page holds {len(blocks)} blocks of {language}, not one")
	return blocks[0]


def words(values):
	"""The bits of numbers, as the vectors write them."""
	return " ".join(f"{word:08X}" for word in bits(values))


class Example:
	"""The run, computed when the first vector asks for it."""

	def __init__(self, page):
		self.page, self.run = page, None

	def load(self):
		"""Reads data and specification, and trains."""
		if self.run:
			return
		spec, content = json.loads(block(self.page, "json")), block(self.page, "csv")
		with tempfile.TemporaryDirectory() as folder:
			path = os.path.join(folder, "data.csv")
			with open(path, "w", encoding="utf-8", newline="") as file:
				file.write(content)
			self.data = Dataset(path, spec["dataset"])
		self.every, self.named = spec["dataset"]["validation_every"], spec["dataset"]["rows"]
		self.run, self.checkpoints = Run(spec, SEED, self.data), []
		for step in self.run.checkpoints():
			found = self.run.evaluate(step)
			state, trace = state_hash(self.run.state), sealed(self.run.trace)
			self.checkpoints.append((step, state, found, trace))

	def row(self, number):
		"""`row number`: the inputs of a row of the file."""
		self.load()
		group, place = divmod(int(number), self.every)
		if place == self.every - 1:
			return words(self.data.validation_features[group])
		return words(self.data.features[group * (self.every - 1) + place])

	def rows(self):
		"""`rows`: the root of all rows, which the specification names."""
		self.load()
		if self.named != "0x" + rows_root(self.data).hex():
			raise CannotCheck("the page's specification names other rows than its data are")
		return self.named[2:]

	def checkpoint(self, wanted):
		"""`checkpoint step`: state hash, validation loss, hits, sealed trace."""
		self.load()
		for step, state, (loss, correct, _), trace in self.checkpoints:
			if step == int(wanted):
				return f"{state.hex()} {words([loss])} {correct} {trace.hex()}"
		return "none"

	def bundle_root(self):
		"""`bundle_root`"""
		self.load()
		return bundle_root(self.checkpoints).hex()

	def model(self, function):
		"""`model`, `model_root`: a hash of the bytes of model.safetensors."""
		self.load()
		return function(self.run.model()).hex()

	def kinds(self):
		"""The kinds of vectors that speak of the run, with the function of each."""
		return {
			"row": self.row,
			"rows": self.rows,
			"checkpoint": self.checkpoint,
			"bundle_root": self.bundle_root,
			"model": partial(self.model, blake2_256),
			"model_root": partial(self.model, blob_root),
		}
