"""Hashes and files: sections 7 and 8 of docs/strict-arithmetic.md, and docs/bundle.md."""

import json
import sys

import numpy as np

try:
	from blake3 import blake3
except ImportError:
	sys.exit(
		"Python's package blake3 is missing: run ./scripts/setup, which installs it into a folder of "
		"its own (then set PYTHONPATH to that), or: pip install --user blake3"
	)

from arithmetic import CannotCheck, bits
from philox import blake2_256


def scale_compact(n):
	"""SCALE's compact form of a length below 2^30."""
	if n < 2**6:
		return (n << 2).to_bytes(1, "little")
	if n < 2**14:
		return (n << 2 | 1).to_bytes(2, "little")
	return (n << 2 | 2).to_bytes(4, "little")


def tensor_bytes(tensor):
	"""The elements, row major, little endian."""
	return np.ascontiguousarray(tensor, dtype="<f4").tobytes()


def content_hash(tensor):
	"""The content hash of a tensor: BLAKE3 of its elements."""
	return blake3(tensor_bytes(tensor)).digest()


def state_hash(state):
	"""The hash of a state; a state that holds a NaN has none."""
	leaves = []
	for name in sorted(state, key=str.encode):
		tensor = state[name]
		if np.isnan(tensor).any():
			raise CannotCheck(f"{name} holds a NaN: no run goes on from such a state")
		encoded = scale_compact(len(name.encode())) + name.encode() + b"\x00"
		encoded += scale_compact(tensor.ndim)
		encoded += b"".join(size.to_bytes(4, "little") for size in tensor.shape)
		leaves.append(merkle_leaf(encoded + content_hash(tensor)))
	count = len(leaves).to_bytes(4, "little")
	return blake2_256(b"trainyard/state/v2" + count + merkle_root(leaves))


def rows_root(data):
	"""The root of a dataset's rows, by which a specification names them."""
	tables = (data.features, data.labels), (data.validation_features, data.validation_labels)
	counts, contents = [len(features) for features, _ in tables], b""
	for features, labels in tables:
		labels_per_row = labels.size // len(labels)
		words = np.ascontiguousarray(labels, dtype="<u4").tobytes()
		contents += content_hash(features) + blake3(words).digest()
	counts += [data.features.shape[1], labels_per_row]
	encoded = b"".join(count.to_bytes(4, "little") for count in counts)
	return blake2_256(b"trainyard/rows/v1" + encoded + contents)


def merkle_leaf(content):
	"""The hash of a leaf."""
	return blake2_256(b"\x00" + content)


def merkle_root(leaves):
	"""The root over the hashes of leaves; the odd one of a level moves up unchanged. Of no leaves it is
	the hash of no bytes.
	"""
	level = leaves or [blake2_256(b"")]
	while len(level) > 1:
		pairs = [blake2_256(b"\x01" + a + b) for a, b in zip(level[::2], level[1::2])]
		level = pairs + level[len(pairs) * 2 :]
	return level[0]


def u32(n):
	"""A number in four bytes."""
	return int(n).to_bytes(4, "little")


def step_leaf(step, loss, logits):
	"""The leaf of a step in the trace of its segment; `logits` is a content hash."""
	return merkle_leaf(b"trainyard/step/v2" + u32(step) + u32(bits(loss)) + logits)


def slices_root(slices):
	"""The root over the slices of an evaluation: of each, two content hashes."""
	domain = b"trainyard/slice/v1"
	return merkle_root([merkle_leaf(domain + u32(i) + a + b) for i, (a, b) in enumerate(slices)])


def evaluation_bytes(loss, correct, labels):
	"""What leaves have of an evaluation."""
	return u32(bits(loss)) + u32(correct) + u32(labels)


def evaluation_leaf(step, evaluation, slices):
	"""The leaf of an evaluation after `step` steps, the last of a trace."""
	encoded = u32(step) + evaluation_bytes(*evaluation) + slices_root(slices)
	return merkle_leaf(b"trainyard/evaluation/v2" + encoded)


def sealed(leaves):
	"""What a bundle says of a trace with these leaves."""
	return blake2_256(b"trainyard/trace/v2" + merkle_root(leaves))


def checkpoint_leaf(step, state, evaluation, trace):
	"""The leaf of a checkpoint; `trace` is sealed."""
	encoded = u32(step) + state + evaluation_bytes(*evaluation) + trace
	return merkle_leaf(b"trainyard/checkpoint/v2" + encoded)


def diverged_leaf(step, trace):
	"""The last leaf of a run that diverged in this step; `trace` is sealed."""
	return merkle_leaf(b"trainyard/diverged/v2" + u32(step) + trace)


def bundle_root(checkpoints):
	"""The root over (step, state hash, evaluation, sealed trace) of all checkpoints."""
	return merkle_root([checkpoint_leaf(*checkpoint) for checkpoint in checkpoints])


def blob_root(content):
	"""The root under which a file is stored on chain in chunks."""
	size = len(content).to_bytes(8, "little")
	return blake2_256(b"trainyard/blob/v2" + size + blake3(content).digest())


def safetensors(tensors):
	"""The bytes of a safetensors file with these tensors, in the one form that bundles have."""
	header, content = {}, b""
	for name in sorted(tensors, key=str.encode):
		start = len(content)
		content += tensor_bytes(tensors[name])
		header[name] = {
			"dtype": "F32",
			"shape": list(tensors[name].shape),
			"data_offsets": [start, len(content)],
		}
	text = json.dumps(header, separators=(",", ":")).encode()
	text += b" " * (-len(text) % 8)
	return len(text).to_bytes(8, "little") + text + content


# Types of numbers of a safetensors file, little endian, by their names there.
TYPES = {"F32": "<f4", "F64": "<f8"}
TYPES.update({f"{name}{8 * size}": f"<{name.lower()}{size}" for name in "IU" for size in (1, 2, 4, 8)})


def read_safetensors(content):
	"""The tensors in the bytes of a safetensors file."""
	length = int.from_bytes(content[:8], "little")
	header, values = json.loads(content[8 : 8 + length]), content[8 + length :]
	header.pop("__metadata__", None)
	tensors = {}
	for name, about in header.items():
		if about["dtype"] not in TYPES:
			raise CannotCheck(f"{name} is of type {about['dtype']}")
		start, end = about["data_offsets"]
		tensor = np.frombuffer(values[start:end], dtype=TYPES[about["dtype"]])
		tensors[name] = tensor.reshape(about["shape"]).copy()
	return tensors
